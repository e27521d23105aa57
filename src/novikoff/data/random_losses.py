"""Random losses: fair coins for every expert, which force regret on every learner.

Rows
    Each of N experts has loss 0 or 1 in each round, by an independent fair coin: a stream of losses, fixed by its seed.
Forces
    On every learner, randomised or not, an expected regret against the best expert of exactly
        T/2 - E[ min of N binomial(T, 1/2) ]  =  `expected_regret(T, N)`,
    as every expert, and so every mixture of them, has expected loss 1/2 in every round. Divided by sqrt(T ln N / 2),
    the bound of exponential weights (experts/theorems/fixed_rate_regret.py), it tends to 1 as T and then N grow: 0.87
    for 1,000 experts, 0.93 for a million. So that constant cannot be improved. For two experts with opposite losses
    see adversaries/coin_flip.py.
Witness
    The expert with the smallest total loss: `witness()` computes it.
Cost
    O(N/64) coins per round. Row t is a function of the seed, N and t.
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
from novikoff.data.memory import CELLS_PER_BATCH
from novikoff.numerics.coins import coins


class RandomLosses(Stream):
    """Stream of losses, 0 or 1 by a fair coin for every expert and round.

    Args:
        experts: Number of experts.
        rounds: Number of rows.
        seed: Seed of the coins.
    """

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
        """Names of the experts."""
        return tuple(f"e{i}" for i in range(self._width))

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        size = max(1, CELLS_PER_BATCH // self._width)
        first = count_at(start)
        while first < self.rounds:
            stop = min(first + size, self.rounds)
            yield Batch(None, self.losses(first, stop), first + 1, {"row": stop}, "owned")
            first = stop

    def losses(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return the losses of rounds start + 1 .. stop: bit i of a row's coins is the loss of expert i."""
        words = -(-self._width // 64)
        drawn = coins(self.seed, "random-losses", start * words, stop * words).astype("<u8")
        bits = np.unpackbits(drawn.view(np.uint8).reshape(-1, words * 8), axis=1, bitorder="little", count=self._width)
        return bits.astype(np.float64)

    def witness(self) -> tuple[int, int]:
        """Return the best expert (the first in case of ties) and its total loss."""
        total = np.zeros(self._width)
        for batch in self.batches():
            total += batch.y.sum(axis=0)
        best = int(total.argmin())
        return best, int(total[best])


def expected_regret(rounds: int, experts: int) -> float:
    """Return T/2 - E[min of N binomial(T, 1/2)], to about nine digits.

    E[min] is the sum over k >= 0 of P(all are above k) = P(binomial > k)^N.
    """
    from scipy.special import bdtrc

    above = bdtrc(np.arange(rounds), rounds, 0.5)
    return rounds / 2.0 - float(np.sum(above**experts))
