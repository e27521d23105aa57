"""Finite hypothesis classes: `nk.classes.thresholds(100)` and its kin.

A class numbers its hypotheses 0 .. size-1 and gives a version space that polls and filters them.
"""

from __future__ import annotations

from collections.abc import Callable

from novikoff.classes.matrix import Table, cube
from novikoff.classes.predicate import Functions
from novikoff.classes.threshold import Thresholds
from novikoff.errors import ModelFileError
from novikoff.types import HypothesisClass, State

thresholds = Thresholds
table = Table
functions = Functions

__all__ = ["cube", "functions", "restore_class", "table", "thresholds"]

_BY_NAME: dict[str, Callable[..., HypothesisClass]] = {"thresholds": Thresholds, "table": Table}


def restore_class(state: State) -> HypothesisClass:
    """The class whose `state` this is."""
    arguments = dict(state)
    name = arguments.pop("class", None)
    if name not in _BY_NAME:
        raise ModelFileError(f"a hypothesis class must be one of {', '.join(sorted(_BY_NAME))}: got {name!r}.")
    return _BY_NAME[name](**arguments)
