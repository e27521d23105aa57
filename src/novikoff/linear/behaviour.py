"""The Perceptron, recognised by its behaviour: an attribute `weights`, and what happens to it in every round.

Checked in each round, with w before it and w' after it:
    a mistake: w' = w + y x, to the bit; any other round: w' = w; between two rounds w stays the same;
    the prediction p agrees with the sign of <w,x>: p <w,x> >= -g sum |w_i x_i|, g = n u/(1 - n u), which is what
    the theorems allow a score in doubles (linear/theorems/perceptron_facts.py). It holds if a dot product in any order
    has the sign p; otherwise the sums are compared in exact fractions.
`weights` has one number per feature, or one more, the last, for a constant feature of value 1; None counts as zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.linear_tracker import LinearTracker
from novikoff.core.behaviour import Behaviour
from novikoff.core.certificate import Assumption, seen
from novikoff.core.types import Theorem
from novikoff.linear.proofs import PerceptronProof
from novikoff.linear.theorems.perceptron_facts import PerceptronFacts
from novikoff.linear.theorems.perceptron_hinge import perceptron_hinge
from novikoff.linear.theorems.perceptron_lengths import perceptron_lengths
from novikoff.linear.theorems.perceptron_margin import perceptron_margin
from novikoff.linear.theorems.perceptron_squared_hinge import perceptron_squared_hinge

Vector = NDArray[np.float64]

THEOREMS: tuple[Theorem, ...] = (perceptron_lengths, perceptron_hinge, perceptron_margin, perceptron_squared_hinge)
"""Theorems of the Perceptron."""


@dataclass(frozen=True, slots=True)
class _Weights:
    """Weights of the learner, as a tracker reads them."""

    weights: Vector
    bias_weight: float


class PerceptronBehaviour(Behaviour):
    """Whether a learner is the Perceptron, by its attribute `weights`."""

    name = "the Perceptron"

    def __init__(self) -> None:
        self._before: Vector | None = None
        self._weights: Vector | None = None  # after the last round
        self._width = self._updates = 0
        self._bias = 0.0
        self._start: Vector | None = None
        self._tracker: LinearTracker | None = None
        self._outside = False  # whether rows or weights have another form
        self._added = self._only = self._signs = True

    @classmethod
    def of(cls, learner: object) -> Self | None:
        return cls() if hasattr(learner, "weights") else None

    def look(self, learner: Any) -> None:
        self._before = _vector(learner.weights)
        self._outside |= self._before is None and learner.weights is not None
        if self._weights is not None and self._before is not None:  # nothing may change them between two rounds either
            self._only &= bool(np.array_equal(self._before, self._weights))

    def see(self, learner: Any, x: Any, y: Any, prediction: Any) -> None:
        self.rounds += 1
        row, after = None if isinstance(x, dict) else _vector(x), _vector(learner.weights)
        if self._outside or row is None or (after is None and learner.weights is not None):
            self._outside = True
            return
        known = next((len(w) for w in (self._before, after) if w is not None), len(row))
        before = np.zeros(known) if self._before is None else self._before
        after = np.zeros(known) if after is None else after
        if self._tracker is None:
            self._begin(len(row), before)
        if len(row) != self._width or not len(before) == len(after) == self._width + (self._bias != 0.0):
            self._outside = True
            return
        full = np.append(row, 1.0) if self._bias else row
        mistake = prediction != y
        self._updates += mistake
        self._weights = after
        if mistake:
            self._added &= bool(np.array_equal(after, before + y * full))
        else:
            self._only &= bool(np.array_equal(after, before))
        self._signs &= prediction in (-1, 1) and _agrees(int(prediction), before, full)
        if self._tracker is not None:
            self._tracker.see_row(row, int(y), bool(mistake))

    def _begin(self, width: int, weights: Vector) -> None:
        """Fix the number of features, and start the comparators."""
        self._width, self._bias = width, float(len(weights) == width + 1)
        self._start = weights
        start = weights if self._bias else np.append(weights, 0.0)
        self._tracker = LinearTracker(self._bias, False, start if np.any(weights) else None, additive=True)

    @property
    def claims(self) -> list[Assumption]:
        if self._outside or self._start is None:
            return []
        return [
            seen("its weights changed at mistakes only", self._only),
            seen("each mistake added y x to its weights", self._added),
            seen("its prediction is the sign of <w, x>", self._signs),
        ]

    @property
    def promises(self) -> tuple[Theorem, ...]:
        held = self._added and self._only and self._signs
        return THEOREMS if held and self._start is not None and not self._outside else ()

    @property
    def before(self) -> PerceptronFacts:
        return self._facts(self._start, 0, 0)

    def facts(self) -> PerceptronFacts:
        return self._facts(self._weights, self.rounds, self._updates)

    def _facts(self, weights: Vector | None, rounds: int, updates: int) -> PerceptronFacts:
        held = self._split(weights)
        return PerceptronFacts.of(held.weights, held.bias_weight, rounds, updates, self._bias, False)

    def _split(self, weights: Vector | None) -> _Weights:
        if weights is None:
            return _Weights(np.zeros(self._width), 0.0)
        return _Weights(weights[: self._width], float(weights[-1]) if self._bias else 0.0)

    def tracked(self) -> Any:
        return None if self._tracker is None else self._tracker.facts(self._split(self._weights))

    def proof(self) -> PerceptronProof:
        return FoundPerceptronProof()


class FoundPerceptronProof(PerceptronProof):
    """Proof of a Perceptron from outside, whose number of features is known from the first round on."""

    def __init__(self) -> None:
        super().__init__(None, read=lambda learner: (np.zeros(0), 0.0))
        self._read = lambda learner: (_plain(learner.weights), 0.0)

    def see(self, learner: Any, played: Any) -> Any:
        width, weights = len(np.asarray(played.x).reshape(-1)), _plain(learner.weights)
        self._last_is_bias = len(weights) == width + 1
        if self._last_is_bias:
            self._bias = 1.0
            self._read = lambda learner: _without_last(learner.weights)
        return super().see(learner, played)


def _plain(weights: object) -> Vector:
    return np.zeros(0) if weights is None else np.array(weights, dtype=np.float64).reshape(-1)


def _without_last(weights: object) -> tuple[Vector, float]:
    found = _plain(weights)
    return (found[:-1], float(found[-1])) if len(found) else (found, 0.0)


def _vector(values: object) -> Vector | None:
    """Return a copy of finite numbers as an array; None for anything else."""
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return found if found.ndim == 1 and len(found) and bool(np.all(np.isfinite(found))) else None


def _agrees(prediction: int, weights: Vector, x: Vector) -> bool:
    """Return whether a prediction is the sign of <w,x>, up to the rounding that the theorems allow."""
    with np.errstate(over="ignore", under="ignore"):
        if prediction * float(np.dot(weights, x)) >= 0.0:
            return True
    products = [Fraction(w) * Fraction(v) for w, v in zip(weights.tolist(), x.tolist(), strict=True)]
    unit = Fraction(int(np.count_nonzero(x)), 2**53)
    return prediction * sum(products) >= -unit / (1 - unit) * sum(map(abs, products))
