"""Finite separable set in an order that is hard for the Perceptron."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from novikoff.core.encode import LARGEST_INDEX
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Position, count_at
from novikoff.data.generated import LARGEST_SHARE, ROWS_PER_BLOCK, Separable, check_margin, integer

GRID = 2.0**-20
"""Grid of the numbers: all are multiples of it, so that sums are exact."""


class HardOrder(Stream):
    """Finite separable set in an order that forces many Perceptron mistakes.

    The set, `x` and `y`, has `examples` dense rows of `Separable`, truncated to multiples of 2^-20: sums are exact, so
    every implementation of the Perceptron makes the same mistakes. Still y <target, x> >= margin and ||x|| <= 1.

    The order is greedy: next comes, among the examples that the Perceptron gets wrong now, the one after which its
    weights w have the smallest <target, w>/||w||, the first in case of ties. When none is wrong, the whole set follows
    in a cycle.
    Novikoff's proof ends where that cosine would exceed 1: the slower it grows, the closer the mistakes get to
    1/margin^2 (96 of 100 for margin 0.1). In two dimensions the greedy order ends at once, so `width` is at least 3.

    Args:
        rounds: Number of rows.
        width: Number of features, at least 3.
        margin: Margin of the target.
        seed: Seed of the set.
        examples: Size of the set.
    """

    rereadable = True
    rows: int

    def __init__(
        self, rounds: int = 10_000, width: int = 20, margin: float = 0.1, seed: int = 0, examples: int = 1000
    ) -> None:
        width, count = integer("width", width, 3, LARGEST_INDEX + 1), integer("examples", examples, 1)
        lost = math.sqrt(width) * GRID  # each of the numbers is cut by less than GRID, and |u_i| = 1/sqrt(width)
        check_margin(margin, LARGEST_SHARE - lost)
        source = Separable(count, width, margin + lost, seed)
        self.rows = integer("rounds", rounds, 1)
        self.target = source.target
        self.domain, self.labels = source.domain, source.labels
        self.name = f"hard-order:rounds={self.rows},width={width},margin={float(margin)},seed={seed},examples={count}"
        parts = [(batch.x, batch.y) for batch in source.batches()]
        self.x = np.trunc(np.concatenate([x for x, _ in parts]) / GRID) * GRID
        self.y: NDArray[np.int8] = np.concatenate([y for _, y in parts])

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Examples while the Perceptron makes mistakes, in order: at most 1/margin^2, and at most `rounds`."""
        signed = self.x * self.y[:, None]
        gains, squares = (signed * self.target).sum(axis=1), (signed * signed).sum(axis=1)
        scores = np.zeros(len(signed))  # y <w, x>; wrong below 0, and at 0 if y = -1: score 0 predicts +1
        along = square = 0.0  # <target, w> and ||w||^2
        shown: list[int] = []
        while len(shown) < self.rows:
            wrong = np.flatnonzero((scores < 0.0) | ((scores == 0.0) & (self.y == -1)))
            if not len(wrong):
                break
            # the gain is at least the margin, so no w is 0 after a mistake
            cosines = (along + gains[wrong]) / np.sqrt(square + 2.0 * scores[wrong] + squares[wrong])
            worst = int(wrong[np.argmin(cosines)])
            along += float(gains[worst])
            square += 2.0 * float(scores[worst]) + float(squares[worst])
            scores += signed @ signed[worst]
            shown.append(worst)
        return np.array(shown, dtype=np.int64)

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        for first in range(count_at(start), self.rows, ROWS_PER_BLOCK):
            stop = min(first + ROWS_PER_BLOCK, self.rows)
            erring = self.order[first:stop]
            after = np.arange(first + len(erring), stop) - len(self.order)
            which = np.concatenate([erring, after % len(self.y)])
            yield Batch(self.x[which], self.y[which], first + 1, {"row": stop})
