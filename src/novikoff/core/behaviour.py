"""Behaviour of learners from outside: which theorems apply, by what a learner was seen to do in every round.

An object with `predict_one` and `learn_one` declares no theorem. `Adapted` (core/adapt.py) shows each of its rounds to
the behaviours below; one whose assumptions held in all of them gives the learner its theorems. What is checked in a
round is the assumption of the theorem itself, on the state before and after, so the certificates are as sound as
those of the learners here.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from novikoff.core.types import Theorem

if TYPE_CHECKING:
    from novikoff.core.certificate import Assumption
    from novikoff.core.proof import Proof

KNOWN = (("novikoff.linear.behaviour", "PerceptronBehaviour"), ("novikoff.finite.behaviour", "ClassBehaviour"))
"""Behaviours with theorems: module and class, imported when a learner from outside is adapted."""
LARGEST_STATE = 20_000
"""Largest number of values of a state that is compared before and after each round."""


class Behaviour(ABC):
    """What a learner was seen to do, as assumptions of theorems.

    Attributes:
        name: Name of the learner that behaves like this.
        rounds: Rounds seen.
    """

    name: str = ""
    rounds = 0

    @classmethod
    @abstractmethod
    def of(cls, learner: object) -> Self | None:
        """Return a behaviour to watch this learner; None if it lacks what the assumptions are about."""

    @abstractmethod
    def look(self, learner: Any) -> None:
        """Read the state before a round."""

    @abstractmethod
    def see(self, learner: object, x: object, y: object, prediction: object) -> None:
        """Check the round that was played."""

    @property
    @abstractmethod
    def claims(self) -> list[Assumption]:
        """Assumptions, each checked or refuted by the rounds so far; empty if they do not concern this learner."""

    @property
    def promises(self) -> tuple[Theorem, ...]:
        """Theorems whose assumptions held in every round."""
        return ()

    @property
    def before(self) -> object:
        """Facts for the theorems, before the first round."""
        return None

    def facts(self) -> object:
        """Return the present facts for the theorems."""
        return None

    def tracked(self) -> Any:
        """Return the facts of the comparators; None if the theorems need none."""
        return None

    def proof(self) -> Proof | None:
        """Return the proof to follow in a game that starts now; None if there is none."""
        return None


class UpdateBehaviour(Behaviour):
    """Whether the state changes at mistakes only."""

    name = "a conservative learner"

    def __init__(self) -> None:
        self._state: object = None
        self._changed = self._unknown = False

    @classmethod
    def of(cls, learner: object) -> Self | None:
        return cls() if isinstance(getattr(learner, "__dict__", None), dict) else None

    def look(self, learner: Any) -> None:
        if self._changed or self._unknown:
            return
        try:
            self._state = deepcopy(vars(learner))
        except Exception:  # whatever the object holds: its state cannot be compared
            self._unknown = True

    def see(self, learner: object, x: object, y: object, prediction: object) -> None:
        self.rounds += 1
        if prediction != y or self._changed or self._unknown:
            return
        same = _same(self._state, vars(learner), [LARGEST_STATE])
        self._unknown, self._changed = same is None, same is False

    @property
    def claims(self) -> list[Assumption]:
        from novikoff.core.certificate import seen

        return [] if self._unknown or not self.rounds else [seen("it changed at its mistakes only", not self._changed)]


def behaviours_of(learner: object) -> list[Behaviour]:
    """Return the behaviours that may apply to an object with `predict_one` and `learn_one`."""
    kinds: list[type[Behaviour]] = [UpdateBehaviour]
    kinds += [getattr(importlib.import_module(module), name) for module, name in KNOWN]
    return [found for kind in kinds if (found := kind.of(learner)) is not None]


def _same(one: Any, two: Any, left: list[int]) -> bool | None:
    """Return whether two values are equal; None if unknown or too large. `left` is counted down."""
    left[0] -= one.size if isinstance(one, np.ndarray) else 1
    if left[0] < 0:
        return None
    if one is two:
        return True
    if type(one) is not type(two):
        return False
    if isinstance(one, np.ndarray):
        return one.shape == two.shape and bool(np.array_equal(one, two))
    if isinstance(one, Mapping):
        if one.keys() != two.keys():
            return False
        pairs = [(value, two[key]) for key, value in one.items()]
    elif isinstance(one, (list, tuple)):
        if len(one) != len(two):
            return False
        pairs = list(zip(one, two, strict=True))
    elif isinstance(one, (int, float, str, bytes, bool, complex, set, frozenset, np.generic)):
        return bool(one == two) or (one != one and two != two)
    elif isinstance(getattr(one, "__dict__", None), dict):
        return _same(vars(one), vars(two), left)
    else:
        return None
    found: bool | None = True
    for first, second in pairs:
        same = _same(first, second, left)
        if same is False:
            return False
        found = found if same else None
    return found
