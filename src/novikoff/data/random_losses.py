"""Random losses: nobody knows which of the experts will have been the best.

Rows
    Each of N experts loses 0 or 1 in each round, by a fair coin of its own: a stream of losses, fixed by its seed.
Forces
    On every learner, random or not, an expected regret against the best expert of exactly
        T/2 - E[ min of N binomial(T, 1/2) ]  =  `expected_regret(T, N)`,
    as every expert, and so every mixture of them, loses 1/2 on average in every round. Divided by sqrt(T ln N / 2),
    what exponential weights promise (experts/theorems/fixed_rate_regret.py), it tends to 1 as T and then N grow: 0.87
    for 1,000 experts, 0.93 for a million. So that constant cannot be improved. Two experts that are each other's
    opposite: adversaries/coin_flip.py.
Witness
    The expert that lost least: `witness()` counts.
Cost
    O(N/64) coins a round. Row t is a function of the seed, N and t.
Reference
    [cesabianchi2006], section 3.7; [cesabianchi1997]; [steele2014] for the coins.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Position, count_at
from novikoff.data.generated import integer
from novikoff.numerics.coins import coins

CELLS_PER_BATCH = 2**20


class RandomLosses(Stream):
    """A stream of `rounds` rows, in each a fair coin for every expert: a loss of 0 or 1."""

    rereadable = True
    loss = "table"

    def __init__(self, experts: int, rounds: int = 10_000, seed: int = 0) -> None:
        self._width = integer("experts", experts, 1)
        self.rounds = self.rows = integer("rounds", rounds, 1)
        self.seed = integer("seed", seed, -(2**64), 2**64)
        self.domain = Domain("losses", self._width)
        self.name = f"random-losses:experts={self._width},rounds={self.rounds},seed={self.seed}"

    @property
    def experts(self) -> tuple[str, ...]:  # type: ignore[override]
        """Their names."""
        return tuple(f"e{i}" for i in range(self._width))

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        size = max(1, CELLS_PER_BATCH // self._width)
        first = count_at(start)
        while first < self.rounds:
            stop = min(first + size, self.rounds)
            yield Batch(None, self.losses(first, stop), first + 1, {"row": stop}, "owned")
            first = stop

    def losses(self, start: int, stop: int) -> NDArray[np.float64]:
        """The losses of rounds start + 1 .. stop: bit i of a row's coins is the loss of expert i."""
        words = -(-self._width // 64)
        drawn = coins(self.seed, "random-losses", start * words, stop * words).astype("<u8")
        bits = np.unpackbits(drawn.view(np.uint8).reshape(-1, words * 8), axis=1, bitorder="little", count=self._width)
        return bits.astype(np.float64)

    def witness(self) -> tuple[int, int]:
        """The best expert, the first of equals, and its loss."""
        total = np.zeros(self._width)
        for batch in self.batches():
            total += batch.y.sum(axis=0)
        best = int(total.argmin())
        return best, int(total[best])


def expected_regret(rounds: int, experts: int) -> float:
    """T/2 - E[min of N binomial(T, 1/2)], to nine figures or so.

    E[min] is the sum over k >= 0 of P(all are above k) = P(binomial > k)^N.
    """
    from scipy.special import bdtrc

    above = bdtrc(np.arange(rounds), rounds, 0.5)
    return rounds / 2.0 - float(np.sum(above**experts))
