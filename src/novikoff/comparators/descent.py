"""Dual coordinate descent on all rows, until what was asked for is reached.

Algorithm
    comparators/_loops/dual.py, epoch by epoch, with shrinking: rows that look settled are not visited. Now and then the
    margins of all rows are taken; they say how far the dual is from the primal, and which rows to visit from there on.
    Rows that do not fit in memory come block by block, each visited several times while it is there.
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
"""Epochs on a block that does not stay in memory."""

WIDE, NARROWER = 0.5, 0.4
"""Margins are taken when the gradients are that close to each other, then when they are closer by that factor."""

CONVERGED = 1e-10
EPOCHS = 3_000
"""At most, for one problem: a few rows are no reason to go on for ever."""


class Descent:
    """alpha and u, and how they were found.

    cost, diagonal, kappa   of the problem that was solved last
    epochs, visits          so far; a visit is one row in one epoch
    """

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        self.alpha, self.u = np.zeros(blocks.rows), np.zeros(blocks.width)
        self.cost, self.diagonal, self.kappa = 0.0, 0.0, 0.0
        self.epochs = self.visits = 0
        self.seconds = 0.0
        self.over: Callable[[], bool] | None = None  # is what it looks for no longer wanted?

    def without_rows(self) -> Descent:
        """The same, to be sent: whoever goes on with it gives it the rows."""
        sent = copy.copy(self)
        del sent.blocks
        return sent

    def scale(self, factor: float) -> None:
        """alpha and u times a factor: where to start with another cost."""
        self.alpha *= factor
        self.u *= factor

    def go_on_from(self, other: Descent) -> None:
        """Start where another stands, on the same rows or on the first of them."""
        self.alpha[: len(other.alpha)] = other.alpha
        self.u[:] = other.u
        self.cost, self.diagonal = other.cost, other.diagonal

    def margins(self) -> Vector:
        """<u, z> of every row."""
        return self.blocks.margins(self.u)

    def solve(
        self,
        cost: float,
        diagonal: float,
        enough: Callable[[Vector], bool],
        visits: float = math.inf,
        kappa: float = 0.0,
    ) -> bool:
        """Descend until `enough(margins)` says so: True; or until so many visits were made, or nothing moves: False."""
        began = clock()
        self.cost, self.diagonal, self.kappa = cost, diagonal, kappa
        try:
            return self._solve(enough, visits)
        finally:
            self.seconds += clock() - began

    def _solve(self, enough: Callable[[Vector], bool], visits: float) -> bool:
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
                    self._several(block, high, low, seen)
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
        """The rows to visit: those that are not at an end of their range, or should leave it."""
        gradient = margins - 1.0 - self.kappa * self.blocks.sample.square + self.diagonal * self.alpha
        out = ((self.alpha == 0.0) & (gradient > max(high, 0.0))) | (self.alpha == self.cost) & (
            gradient < min(low, 0.0)
        )
        return np.asarray((self.blocks.sample.square != 0.0) & ~out)

    def _several(self, block: Block, high: float, low: float, seen: Vector) -> None:
        """A few epochs on a block; what the last one saw counts."""
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
        """One epoch on rows of a block; those to visit again."""
        from novikoff.comparators._loops import dual

        word = coin(0, "hindsight", self.visits)
        shift = word % dual.GROUP
        groups = np.arange(-(-(len(order) + shift) // dual.GROUP), dtype=np.uint32)
        dual.shuffle(groups, word >> 1)
        self.visits += len(order)
        alpha = self.alpha[block.first : block.first + len(block)]
        problem = dual.Problem(self.cost, self.diagonal, self.kappa)
        active = dual.epoch(
            block.packed(), block.square, alpha, order, groups, shift, self.u, astuple(problem), high, low, seen
        )
        return order[:active]
