"""Names: "halving:[thresholds:n=100],conservative=true" is a learner.

A spec is `name` or `name:argument,argument,...`; an argument is `value` (in order) or `key=value`. A value is a
number, true, false, none, a word, or something nested in brackets: another spec, or a list of values.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from novikoff.errors import SpecError

Room = Literal["learner", "adversary", "class"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A name of the catalog and where what it names is written."""

    room: Room
    module: str
    attribute: str

    def load(self) -> Callable[..., Any]:
        """The constructor; imports its module."""
        constructor: Callable[..., Any] = getattr(importlib.import_module(f"novikoff.{self.module}"), self.attribute)
        return constructor

    def doc(self) -> str:
        """The docstring of its module."""
        return inspect.cleandoc(importlib.import_module(f"novikoff.{self.module}").__doc__ or "")


CATALOG: Mapping[str, Entry] = {
    "consistent": Entry("learner", "learners.consistent", "Consistent"),
    "halving": Entry("learner", "learners.halving", "Halving"),
    "threshold-halving": Entry("learner", "learners.threshold_halving", "ThresholdHalving"),
    "thresholds": Entry("class", "classes.threshold", "Thresholds"),
    "cube": Entry("class", "classes.matrix", "cube"),
}


def names(room: Room) -> list[str]:
    """The names of one room, in order."""
    return [name for name, entry in CATALOG.items() if entry.room == room]


def learner_name(kind: type) -> str:
    """The catalog's name of a learner's class."""
    for name, entry in CATALOG.items():
        if entry.room == "learner" and entry.attribute == kind.__name__:
            return name
    raise SpecError(f"a saved learner must be of the catalog: {kind.__name__} is not.")


def learner_class(name: str) -> Any:
    """The class of a learner, by its catalog name."""
    return _entry(name, "learner").load()


def _entry(name: str, room: Room | None = None) -> Entry:
    entry = CATALOG.get(name)
    if entry is None or (room and entry.room != room):
        known = ", ".join(names(room) if room else CATALOG)
        raise SpecError(f"a {room or 'name'} must be one of {known}: got {name!r}.")
    return entry
