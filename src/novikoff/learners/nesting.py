"""Learners inside a learner, as plain data: each by the name it is registered by, and its own state.

A file from a stranger can name a learner that is known on this machine and nothing else (registry.py).
"""

from __future__ import annotations

from typing import Any

from novikoff.learners.restoring import require
from novikoff.registry import find, learner_name
from novikoff.types import Learner, State


def saved(learner: Learner) -> State:
    """Which learner it is, and all of it."""
    return {"learner": learner_name(type(learner)), "state": learner.state()}


def restored(state: State) -> Learner:
    """The learner that was `saved`."""
    name = state["learner"]
    known = find(name, "learner") if isinstance(name, str) else None
    require(known is not None, "a learner in a team must be known here", name)
    kind: Any = known and known.load()
    learner: Learner = kind.restore(state["state"])
    return learner
