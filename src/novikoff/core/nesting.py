"""Learners inside a learner, as plain data: each by the name it is registered by, and its own state.

A file from a stranger can name a learner that is known on this machine and nothing else (registry.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from novikoff.core.learner import Learner, adapt
from novikoff.core.registry import find, learner_name
from novikoff.core.state import Field, require
from novikoff.core.types import State


def saved(learner: Learner) -> State:
    """Which learner it is, and all of it."""
    kind: Any = type(adapt(learner).original)
    return {"learner": kind if adapt(learner).live else learner_name(kind), "state": learner.state()}


def restored(state: State) -> Learner:
    """The learner that was `saved`."""
    name = state["learner"]
    if isinstance(name, type):  # no file holds one
        live: Any = name
        return live.restore(state["state"])  # type: ignore[no-any-return]
    known = find(name, "learner") if isinstance(name, str) else None
    require(known is not None, "a learner in a team must be known here", name)
    kind: Any = known and known.load()
    learner: Learner = kind.restore(state["state"])
    return learner


@dataclass(frozen=True)
class Nested(Field):
    """A learner inside a learner."""

    def pack(self, value: Any, owner: object) -> Any:
        return saved(value)

    def unpack(self, state: State, owner: object, of: str) -> Any:
        return restored(state[self.name])


@dataclass(frozen=True)
class Team(Field):
    """A list of learners inside a learner; None where it is empty."""

    def pack(self, value: Any, owner: object) -> Any:
        return [saved(learner) for learner in value or ()]

    def unpack(self, state: State, owner: object, of: str) -> Any:
        team = state[self.name]
        require(isinstance(team, list), f"{self.name} of {of} must be a list", team)
        return [restored(learner) for learner in team] or None
