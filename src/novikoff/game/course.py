"""Points along a game, for charts: log loss, time, and a sample of the rows with their errors.

A `Recorder` observes the game and keeps them in `ledger.course`. The number of points grows with the logarithm of the
rounds. The sample has every row of a short game; in a long one each row is in it with the same probability, which is
halved whenever the sample is full, by coins that are functions of the round (numerics/coins.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from novikoff.core.observer import Observer
from novikoff.core.types import Batch, Sparse, StepResult
from novikoff.game.ledger import Ledger
from novikoff.numerics.clock import clock
from novikoff.numerics.coins import coins

GROWTH, DENSE = 1.04, 64
"""Ratio of successive rounds with a point, and the round up to which every round has one."""
MOST_ROWS, MOST_CELLS = 40_000, 4_000_000
"""Largest number of rows in a sample, and of their values."""
SURE = 2**64 - 1
"""Limit of coins at which every row is kept."""


@dataclass(eq=False)
class Sample:
    """Rows of a game with their errors.

    Attributes:
        seen: Number of rows from which the sample was drawn.
        rows: Number of rows in the sample.
        limit: Coin up to which a row is kept.
        parts: (coins, rows, errors) of each batch.
    """

    seen: int = 0
    rows: int = 0
    limit: int = SURE
    parts: list[tuple[NDArray[np.uint64], NDArray[np.number] | Sparse, NDArray[np.float64]]] = field(
        default_factory=list
    )
    _cells: int = 0

    def add(self, first: int, x: NDArray[np.number] | Sparse, errors: NDArray[np.float64]) -> None:
        """Add the rows of a batch.

        Args:
            first: Round of the first row, which determines the coins.
            x: (rows, features) examples.
            errors: (rows,) error of each prediction.
        """
        self.seen += len(errors)
        self._keep(coins(0, "sample of rows", first, first + len(errors)), x, errors)
        while self.rows > MOST_ROWS or self._cells > MOST_CELLS:
            self.limit //= 2
            parts, self.parts, self.rows, self._cells = self.parts, [], 0, 0
            for part in parts:
                self._keep(*part)

    def _keep(
        self, drawn: NDArray[np.uint64], x: NDArray[np.number] | Sparse, errors: NDArray[np.float64]
    ) -> None:  # fmt: skip
        kept = drawn <= np.uint64(self.limit)
        if not kept.any():
            return
        rows = x.take(kept) if isinstance(x, Sparse) else x[kept]
        self.parts.append((drawn[kept], rows, errors[kept]))
        self.rows += int(np.count_nonzero(kept))
        self._cells += len(rows.indices) if isinstance(rows, Sparse) else rows.size

    @property
    def whole(self) -> bool:
        """Whether the sample has every row."""
        return self.rows == self.seen

    def errors(self) -> NDArray[np.float64]:
        """Return the error of each row of the sample."""
        return np.concatenate([np.zeros(0), *(errors for _, _, errors in self.parts)])


@dataclass(eq=False)
class Course:
    """Points along a game.

    Attributes:
        log_loss: (t, total log loss after t rows), of a learner with probabilities.
        log_bounds: (t, bound on the total log loss of the first t rounds) at some t; reports/bound_curve.py.
        seconds: (t, seconds after t rounds).
        sample: Rows with their errors.
    """

    log_loss: list[tuple[int, float]] = field(default_factory=list)
    log_bounds: list[tuple[int, float]] = field(default_factory=list)
    seconds: list[tuple[int, float]] = field(default_factory=list)
    sample: Sample = field(default_factory=Sample)


class Recorder(Observer):
    """Observer that records the course of a game.

    Example:
        >>> import novikoff as nk
        >>> from novikoff.game.course import Recorder
        >>> ledger = nk.play("logistic", "demo:breast-cancer", observers=[Recorder()])
        >>> ledger.course.sample.rows, ledger.course.seconds[-1][0]
        (569, 569)
    """

    def __init__(self) -> None:
        self._begun = clock()
        self._next: int | None = None
        self._ledger: Ledger | None = None

    def begin_pass(self, ledger: Ledger) -> None:
        if ledger.course is None:
            ledger.course = Course()
            self._begun = clock()
        self._ledger = ledger

    def due(self, ledger: Ledger, rounds: int) -> int:
        if self._next is None or self._next < ledger.rounds:
            self._next = _after(ledger.rounds)
        return min(self._next - ledger.rounds, rounds)

    def look(self, ledger: Ledger) -> None:
        self._point(ledger)
        self._next = _after(ledger.rounds)

    def see(self, batch: Batch, result: StepResult) -> None:
        ledger = self._ledger
        if ledger is None or ledger.course is None or not isinstance(batch.y, np.ndarray) or batch.y.ndim != 1:
            return
        if batch.weights is not None or ledger.weighted is not None:
            return
        if isinstance(batch.x, Sparse):
            if ledger.player.encoding is None or ledger.player.encoding.bits is not None:
                return
        elif not isinstance(batch.x, np.ndarray) or batch.x.ndim != 2:
            return
        if ledger.player.task == "regression":
            errors = np.abs(np.asarray(result.predictions, dtype=np.float64) - batch.y)
        elif ledger.player.learns_labels:
            errors = (result.predictions != batch.y).astype(np.float64)
        else:
            return
        ledger.course.sample.add(batch.first, batch.x, errors)

    def rest(self, ledger: Ledger) -> None:
        """Record the end of a chunk, so that the last point is that of the last round."""
        if self._ledger is None:
            self.begin_pass(ledger)
        self._point(ledger)

    def end_pass(self, ledger: Ledger, whole: bool) -> None:
        self._point(ledger)

    def _point(self, ledger: Ledger) -> None:
        """Record the present round; the last point moves along until it is far enough from the one before."""
        course = ledger.course
        if course is None or not ledger.rounds:
            return
        total = ledger.metrics.log_loss
        points = [(course.seconds, (ledger.rounds, clock() - self._begun))]
        if total is not None and math.isfinite(total) and ledger.weighted is None:
            points.append((course.log_loss, (ledger.rounds, total)))
        for known, point in points:
            if len(known) > 1 and (known[-1][0] == point[0] or point[0] < _after(known[-2][0])):
                known.pop()
            known.append(point)


def _after(rounds: int) -> int:
    """Return the next round with a point."""
    return rounds + 1 if rounds < DENSE else math.ceil(GROWTH * rounds)
