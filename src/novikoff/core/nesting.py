"""Saved form of learners that contain other learners: the registered name of each and its state.

A model file can only name learners that are registered on this machine (registry.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from novikoff.core.adapt import adapt
from novikoff.core.learner import Learner
from novikoff.core.registry import find, learner_name
from novikoff.core.state import Field, require
from novikoff.core.types import State


def saved(learner: Learner) -> State:
    """Return the registered name of a learner and its state."""
    kind = type(learner.original)
    return {"learner": kind if learner.live else learner_name(kind), "state": learner.state()}


def restored(state: State) -> Learner:
    """Return the learner that `saved` has packed."""
    name = state["learner"]
    if isinstance(name, type):  # a copy within this process; a file cannot contain a class
        live: Any = name
        return adapt(live.restore(state["state"]))
    known = find(name, "learner") if isinstance(name, str) else None
    require(known is not None, "a learner in an ensemble must be registered here", name)
    kind: Any = known and known.load()
    return adapt(kind.restore(state["state"]))


@dataclass(frozen=True)
class Nested(Field):
    """A field that holds one learner."""

    def pack(self, value: Any, owner: object) -> object:
        return saved(value)

    def unpack(self, state: State, owner: object, of: str) -> object:
        return restored(state[self.name])


@dataclass(frozen=True)
class Team(Field):
    """A field that holds a list of learners; an empty list is restored as None."""

    def pack(self, value: Any, owner: object) -> object:
        return [saved(learner) for learner in value or ()]

    def unpack(self, state: State, owner: object, of: str) -> object:
        team = state[self.name]
        require(isinstance(team, list), f"{self.name} of {of} must be a list", team)
        return [restored(learner) for learner in team] or None
