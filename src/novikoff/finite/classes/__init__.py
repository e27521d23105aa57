"""Finite hypothesis classes, such as `nk.classes.thresholds(100)`.

A class numbers its hypotheses 0 .. size-1 and creates a version space that polls and filters them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from novikoff.core.errors import ModelFileError
from novikoff.core.hypotheses import HypothesisClass
from novikoff.core.state import Field, require
from novikoff.core.types import State
from novikoff.finite.classes.halfspace import Halfspaces
from novikoff.finite.classes.matrix import Table, cube
from novikoff.finite.classes.predicate import Functions
from novikoff.finite.classes.program import Programs
from novikoff.finite.classes.rectangle import Rectangles
from novikoff.finite.classes.sphere import SphereCover
from novikoff.finite.classes.threshold import Thresholds

thresholds = Thresholds
rectangles = Rectangles
halfspaces = Halfspaces
sphere_cover = SphereCover
programs = Programs
functions = Functions
table = Table

__all__ = [
    "Hypotheses",
    "cube",
    "functions",
    "halfspaces",
    "programs",
    "rectangles",
    "restore_class",
    "sphere_cover",
    "table",
    "thresholds",
]

# Constructor of each class by its saved name; Functions cannot be saved.
_RESTORED_BY: dict[str, Callable[..., HypothesisClass]] = {
    "halfspaces": Halfspaces,
    "programs": Programs,
    "rectangles": Rectangles,
    "sphere-cover": SphereCover,
    "table": Table,
    "thresholds": Thresholds,
}


def restore_class(state: State) -> HypothesisClass:
    """Return the hypothesis class with this `state`."""
    arguments = dict(state)
    name = arguments.pop("class", None)
    if name not in _RESTORED_BY:
        raise ModelFileError(f"a hypothesis class must be one of {', '.join(_RESTORED_BY)}: got {name!r}.")
    return _RESTORED_BY[name](**arguments)


@dataclass(frozen=True)
class Hypotheses(Field):
    """State field of a hypothesis class; if `counted`, it may be the number of experts instead."""

    counted: bool = False

    def pack(self, value: Any, owner: object) -> object:
        return value if isinstance(value, int) else value.state()

    def unpack(self, state: State, owner: object, of: str) -> object:
        saved = state[self.name]
        if self.counted and type(saved) is int:
            return saved
        require(isinstance(saved, dict), f"{self.name} of {of} must be a hypothesis class", saved)
        return restore_class(saved)
