"""A finite separable set, shown in the order that is hardest for the Perceptron."""

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
"""The numbers of the set are multiples of this."""


class HardOrder(Stream):
    """A finite separable set in an order that makes the Perceptron err often.

    The set, `x` and `y`, is `examples` dense rows of `Separable`, their numbers cut to multiples of 2^-20: the sums of
    a Perceptron are exact, so all of them make the same mistakes. Still y <target, x> >= margin, and ||x|| <= 1.

    The order: of the examples that the Perceptron gets wrong now, the one that leaves its weights w with the smallest
    <target, w>/||w||; the first of equal ones. When none is wrong, the whole set in turn, again and again. Novikoff's
    proof ends where that cosine would exceed 1: the slower it grows, the nearer the mistakes come to 1/margin^2 (96 of
    100 for the margin 0.1). In a plane that greed ends at once: three features are the fewest.
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
        """The examples shown while the Perceptron errs; at most 1/margin^2, and no more than rounds."""
        signed = self.x * self.y[:, None]
        gains, squares = (signed * self.target).sum(axis=1), (signed * signed).sum(axis=1)
        scores = np.zeros(len(signed))  # y <w, x>; wrong below 0, and at 0 too where y = -1, as 0 says +1
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
