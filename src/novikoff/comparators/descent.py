"""Dual coordinate descent over all rows, until a stopping rule holds.

Algorithm
    comparators/_loops/dual.py, epoch by epoch, with shrinking: rows that appear settled are skipped. From time to time
    the margins of all rows are computed; they give the duality gap, and the rows to visit in the following epochs. If
    the rows do not fit in memory they are read block by block, and each block is visited several times while it is
    there.
Promise
    `alpha` is never outside 0 .. cost, and `u` is `base` + the sum of alpha_t z_t up to rounding.
Reference
    [hsieh2008].
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.blocks import Block, Blocks
from novikoff.numerics.clock import clock
from novikoff.numerics.coins import coin
from novikoff.numerics.records import astuple

Vector = NDArray[np.float64]

INNER = 2
"""Number of epochs on a block that does not stay in memory."""

WIDE, NARROWER = 0.5, 0.4
"""Spread of the gradients at which margins are first computed, and its factor for each further time."""

CONVERGED = 1e-10
"""Spread of the gradients at which the descent has converged."""
EPOCHS = 3_000
"""Maximum number of epochs per problem; it is reached only if there are few rows."""


class Descent:
    """Dual variables alpha and u, and the work spent on them.

    Attributes:
        cost: Upper limit of alpha in the last problem.
        diagonal: Diagonal of the last problem.
        kappa: kappa of the last problem.
        epochs: Epochs so far.
        visits: Visits so far; a visit is one row in one epoch.
    """

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        self.alpha, self.u = np.zeros(blocks.rows), np.zeros(blocks.width)
        self.cost, self.diagonal, self.kappa = 0.0, 0.0, 0.0
        self.epochs = self.visits = 0
        self.seconds = 0.0
        self.over: Callable[[], bool] | None = None  # whether the search was cancelled

    def without_rows(self) -> Descent:
        """Return a copy without rows, to send to another process that has them."""
        sent = copy.copy(self)
        del sent.blocks
        return sent

    def scale(self, factor: float) -> None:
        """Multiply alpha and u by a factor, as the initial value for another cost."""
        self.alpha *= factor
        self.u *= factor

    def continue_from(self, other: Descent) -> None:
        """Copy the solution of another descent on the same rows, or on some of the first."""
        self.alpha[: len(other.alpha)] = other.alpha
        self.u[:] = other.u
        self.cost, self.diagonal = other.cost, other.diagonal

    def margins(self) -> Vector:
        """Return <u, z> of every row."""
        return self.blocks.margins(self.u)

    def solve(
        self,
        cost: float,
        diagonal: float,
        enough: Callable[[Vector], bool],
        visits: float = math.inf,
        kappa: float = 0.0,
    ) -> bool:
        """Descend until `enough(margins)` holds (True), or until `visits` visits or no progress (False)."""
        began = clock()
        self.cost, self.diagonal, self.kappa = cost, diagonal, kappa
        try:
            return self._solve(enough, visits)
        finally:
            self.seconds += clock() - began

    def _solve(self, enough: Callable[[Vector], bool], visits: float) -> bool:
        # high and low: largest and least projected gradient of the last epoch, beyond which settled rows are dropped.
        # wide: spread of the gradients at which all margins are computed next; since: visits since the last time.
        high, low = math.inf, -math.inf
        order = np.flatnonzero(self.blocks.sample.square).astype(np.uint32) if self.blocks.fits else None
        wide, since, done, last = WIDE, 0, 0, self.epochs + EPOCHS
        while True:
            if self.over is not None and self.over():
                raise InterruptedError
            seen = np.array([-math.inf, math.inf])
            before = self.visits
            if order is not None:
                order = self._epoch(self.blocks.sample, order, high, low, seen)
            else:
                for block in self.blocks.each():
                    self._visit_block(block, high, low, seen)
            self.epochs += 1
            since, done = since + self.visits - before, done + self.visits - before
            spread = seen[0] - seen[1] if seen[0] > -math.inf else 0.0
            high, low = seen[0] if seen[0] > 0.0 else math.inf, seen[1] if seen[1] < 0.0 else -math.inf
            if spread > wide and since < 2 * self.blocks.rows and done < visits and self.epochs < last:
                continue
            margins = self.margins()
            if enough(margins):
                return True
            settled = spread <= CONVERGED and (order is None or self._unsettled(margins, high, low).sum() <= len(order))
            if done >= visits or self.epochs >= last or settled or not np.all(np.isfinite(self.u)):
                return False
            wide, since = min(wide, max(spread, CONVERGED)) * NARROWER, 0
            if order is not None:
                order = np.flatnonzero(self._unsettled(margins, high, low)).astype(np.uint32)

    def _unsettled(self, margins: Vector, high: float, low: float) -> NDArray[np.bool_]:
        """Return which rows to visit: those inside their range, or at an end that they should leave."""
        gradient = margins - 1.0 - self.kappa * self.blocks.sample.square + self.diagonal * self.alpha
        out = ((self.alpha == 0.0) & (gradient > max(high, 0.0))) | (self.alpha == self.cost) & (
            gradient < min(low, 0.0)
        )
        return np.asarray((self.blocks.sample.square != 0.0) & ~out)

    def _visit_block(self, block: Block, high: float, low: float, seen: Vector) -> None:
        """Run a few epochs on a block; the gradients of the last one are recorded in `seen`."""
        order = np.flatnonzero(block.square).astype(np.uint32)
        for _ in range(INNER):
            last = np.array([-math.inf, math.inf])
            order = self._epoch(block, order, high, low, last)
            if last[0] - last[1] <= CONVERGED:
                break
            high, low = last[0] if last[0] > 0.0 else math.inf, last[1] if last[1] < 0.0 else -math.inf
        seen[0], seen[1] = max(seen[0], last[0]), min(seen[1], last[1])

    def _epoch(
        self, block: Block, order: NDArray[np.uint32], high: float, low: float, seen: Vector
    ) -> NDArray[np.uint32]:
        """Run one epoch on rows of a block; return those to visit again."""
        from novikoff.comparators._loops import dual

        word = coin(0, "hindsight", self.visits)
        shift = word % dual.GROUP  # groups begin elsewhere in each epoch
        groups = np.arange(-(-(len(order) + shift) // dual.GROUP), dtype=np.uint32)
        dual.shuffle(groups, word >> 1)
        self.visits += len(order)
        alpha = self.alpha[block.first : block.first + len(block)]
        problem = dual.Problem(self.cost, self.diagonal, self.kappa)
        active = dual.epoch(
            block.packed(), block.square, alpha, order, groups, shift, self.u, astuple(problem), high, low, seen
        )
        return order[:active]
