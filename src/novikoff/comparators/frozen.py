"""The learner's own weights as comparators: frozen after 2^k rounds, they see every row since.

Algorithm
    After 2, 4, 8 ... rounds the weights of the learner are copied, and what it had added up until then; the last four
    copies are kept. Each sees every later row. Nothing is fitted, and no row is kept.
Promise
    Losses of a copy are summed over every round since, rounded up (kernels/log_losses.py).
Cost
    O(4 non-zeros) per round, four numbers a feature.
Reference
    [mcmahan2017].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff import kernels
from novikoff.comparators.metric import U0
from novikoff.types import State

COPIES = 4
AFTER, GAINED, SQUARE, PULL, PULL_DOUBT, PAID, LINEAR, NOTES = range(8)
"""Noted with a copy u: after how many rounds it was made, the sum of Delta until then, u'Au, <G, u>, and what rounding
may have done to that; the log losses, and the g z, of the scores until then."""


@dataclass(frozen=True, slots=True)
class FrozenFacts:
    """One copy u.

    after         rounds before it was made
    paid          the learner's log loss since, from its scores, and what rounding may have done to it
    log_loss      that of u since, rounded up
    gained        what the theorem adds up since, and what is paid for the growth of the metric
    dual, least   what these leave in the learner's sums, at least and at most: rounding may have done the rest
    unexplained   how far these are from the scores it played, in units of what rounding explains
    """

    after: int
    paid: float
    doubt: float
    log_loss: float
    gained: float
    dual: float
    least: float
    unexplained: float

    @property
    def bound(self) -> float:
        """On what is paid since."""
        return self.log_loss + max(self.gained, self.dual) + self.doubt


class FrozenWeights:
    """Copies of the weights of one learner of the kind of learners/ftrl.py. first: rounds before the first copy."""

    def __init__(self, first: int = 2) -> None:
        self.next, self.copies = int(first), 0
        self._vectors = np.zeros((0, COPIES))
        self._sums = np.zeros((1, kernels.log_losses.SUMS, COPIES))
        self._told = np.zeros((1, kernels.log_losses.TOLD))  # of the scores, since the first copy was made
        self._notes = np.zeros((COPIES, NOTES))

    def freeze(self, learner: Any, rows: int) -> None:
        """Copy the weights of the learner, which has played so many rounds of the game."""
        k, u, goal = self.copies % COPIES, learner.weights_by_place(), learner.goals()[0]
        self._make_room(len(u))
        self._vectors[:, k] = 0.0
        self._vectors[: len(u), k] = u
        self._sums[:, :, k] = 0.0
        added, off = goal.added
        size = float(np.abs(added) @ np.abs(u))
        square = goal.penalty.square(u) * (1.0 - (len(u) + 10) * 4.0 * U0)
        pulled, doubt = float(added @ u), (len(u) + 10) * 2.0 * U0 * size + float(off @ np.abs(u))
        at, told = kernels.log_losses, self._told[0]
        self._notes[k] = (rows, learner.facts().gained, square, pulled, doubt, told[at.LOSS], told[at.LINEAR])
        self.copies += 1
        self.next = 2 * rows if rows else 2

    def _make_room(self, places: int) -> None:
        if places > len(self._vectors):
            more = places - len(self._vectors) + min(len(self._vectors), 2**20)
            self._vectors = np.vstack([self._vectors, np.zeros((more, COPIES))])

    def see(self, rows: Any, y: NDArray[np.int8], scores: NDArray[np.float64], places: int) -> None:
        """The next rows, and the scores that were played."""
        if not self.copies:
            return
        self._make_room(places)
        see: Any = kernels.log_losses.see
        see(self._vectors, *rows, y, scores, np.zeros(1), np.ones(1, np.bool_), -1.0, self._sums, self._told)

    def facts(self, learner: Any, rounds: int) -> tuple[FrozenFacts, ...]:
        """Of every copy, with the metric that the learner has now."""
        goal, gained, at = learner.goals()[0], learner.facts().gained, kernels.log_losses
        added, off = goal.added
        self._make_room(len(added))
        told, slip = self._told[0].tolist(), (rounds + 20) * 2.0 * U0
        (low, high), found = goal.penalty.inverse_between(added, np.zeros(len(added))), []
        for k in range(min(self.copies, COPIES)):
            u, sums, notes = self._vectors[: len(added), k], self._sums[0, :, k], self._notes[k].tolist()
            square, doubt = goal.penalty.square(u), float(off @ np.abs(u)) + notes[PULL_DOUBT]
            linear, doubt_of_linear = told[at.LINEAR] - notes[LINEAR], 2.0 * slip * told[at.LINEAR_SIZE]
            rounded = doubt + doubt_of_linear + (len(u) + 10) * 2.0 * U0 * square + slip * gained
            grown, size = float(added @ u) - notes[PULL], float(np.abs(added) @ np.abs(u))
            explained = doubt + (slip + len(u) * 2.0 * U0) * (size + abs(notes[PULL]))
            explained += float(sums[at.PULL_DOUBT]) + 2.0 * slip * abs(float(sums[at.PULL]))
            found.append(
                FrozenFacts(
                    after=int(notes[AFTER]),
                    paid=told[at.LOSS] - notes[PAID],
                    doubt=2.0 * slip * told[at.LOSS],
                    log_loss=(float(sums[at.LOG]) + float(sums[at.DOUBT])) * (1.0 + slip),
                    gained=gained - notes[GAINED] + 0.5 * (square - notes[SQUARE]),
                    dual=linear + doubt_of_linear + 0.5 * high + notes[PULL] + doubt + 0.5 * square,
                    least=linear + 0.5 * low + notes[PULL] + 0.5 * square - rounded,
                    unexplained=abs(grown - float(sums[at.PULL])) / (4.0 * explained + 1e-300),
                )
            )
        return tuple(one for one in found if math.isfinite(one.bound) and math.isfinite(one.unexplained))

    def state(self) -> State:
        return {"next": self.next, "copies": self.copies, "vectors": self._vectors.copy(), "sums": self._sums.copy(),
                "told": self._told.copy(), "notes": self._notes.copy()}  # fmt: skip

    @classmethod
    def restore(cls, state: State) -> Self:
        frozen = cls(state["next"])
        frozen.copies = int(state["copies"])
        frozen._vectors, frozen._sums, frozen._told, frozen._notes = (
            np.array(state[name]) for name in ("vectors", "sums", "told", "notes")
        )
        return frozen
