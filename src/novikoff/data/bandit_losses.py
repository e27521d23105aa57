"""Losses of arms, one of which is better: a simulator for bandits.

Rows
    Each of K arms has loss 0 or 1 in each round, by an independent coin: 1 with probability 1/2, or 1/2 - gap for the
    best arm. The seed draws the best arm. The rounds form `switches` + 1 equal intervals, each with a different best
    arm than the one before. With `means` each arm has the given probability instead, or one that the seed draws from
    the uniform distribution on [0, 1]. The table is fixed in advance.
Forces
    Nothing: it is for observing a bandit, because the table, and so the true regret, is known.
Witness
    The arm with the smallest total loss: `witness()` computes it.
Cost
    K coins per round. Row t is a function of the arguments and t.
Reference
    [auer2002] for the lower bound of such tables; [steele2014] for the coins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import SourceError, shown
from novikoff.core.types import Domain
from novikoff.data.generated import integer
from novikoff.data.random_losses import RandomLosses
from novikoff.numerics.coins import coin, coins


class BanditLosses(RandomLosses):
    """Stream of the losses of `arms` arms, the best of which loses `gap` less on average.

    Args:
        arms: Number of arms.
        gap: Difference between the expected loss of the best arm and that of the others, from 0 to 0.5.
        rounds: Number of rows.
        switches: Number of changes of the best arm.
        seed: Seed of the coins and the best arms.
        means: Expected loss of each arm, or "uniform" to draw them; then `gap` has no effect. None for those of `gap`.
    """

    def __init__(
        self,
        arms: int = 10,
        gap: float = 0.1,
        rounds: int = 100_000,
        switches: int = 0,
        seed: int = 0,
        means: Sequence[float] | str | None = None,
    ) -> None:
        self._means = None if means is None or isinstance(means, str) else _checked(means)
        if isinstance(means, str) and means != "uniform":
            raise SourceError(f'means must be numbers from 0 to 1, or "uniform": got {shown(means)}.')
        self.uniform = means == "uniform"
        self._width = integer("arms", arms, 1) if self._means is None else len(self._means)
        self.rounds = self.rows = integer("rounds", rounds, 1)
        self.switches = integer("switches", switches, 0, self.rounds - 1)
        self.seed = integer("seed", seed, -(2**64), 2**64)
        if not isinstance(gap, (int, float)) or not 0.0 <= gap <= 0.5:
            raise SourceError(f"gap must be from 0 to 0.5: got {shown(gap)}.")
        self.gap = float(gap)
        self.domain = Domain("losses", self._width)
        kind = f"arms={self._width},gap={self.gap:g}"
        if means is not None:
            if self.switches:
                raise SourceError(f"switches must be 0 if means are given: got {self.switches}.")
            given = "" if self._means is None else ",".join(f"{mean:g}" for mean in self._means)
            kind = f"arms={self._width},means=uniform" if self.uniform else f"means=[{given}]"
        self.name = f"bandit-losses:{kind},rounds={self.rounds},switches={self.switches},seed={self.seed}"

    def reseeded(self, seed: int) -> Self:
        """Return the stream of the same arguments with another seed."""
        means = "uniform" if self.uniform else self._means
        return type(self)(self._width, self.gap, self.rounds, self.switches, seed, means)

    def means(self) -> NDArray[np.float64]:
        """Return the expected loss of each arm; raise `SourceError` if the best arm changes."""
        if self.switches:
            raise SourceError(f"the means of the arms must be fixed: got {self.switches} switches.")
        if self._means is not None:
            return np.array(self._means)
        if self.uniform:
            return (coins(self.seed, "mean of an arm", 0, self._width) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        found = np.full(self._width, 0.5)
        found[self.best(0)] -= self.gap
        return found

    @property
    def experts(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the arms."""
        return tuple(f"arm {i}" for i in range(self._width))

    def best(self, stretch: int) -> int:
        """Return the best arm of an interval, always different from that of the previous one."""
        first = coin(self.seed, "best arm", 0) % self._width
        if self._width == 1:
            return 0
        steps = sum(1 + coin(self.seed, "best arm", k) % (self._width - 1) for k in range(1, stretch + 1))
        return (first + steps) % self._width

    def losses(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return the losses of rounds start + 1 .. stop."""
        width = self._width
        drawn = (coins(self.seed, "bandit-losses", start * width, stop * width) >> np.uint64(11)).reshape(-1, width)
        if self.uniform or self._means is not None:
            return (drawn < (self.means() * 2.0**53).astype(np.uint64)).astype(np.float64)
        table = drawn < np.uint64(2**52)
        stretches = np.arange(start, stop) * (self.switches + 1) // self.rounds
        for stretch in range(int(stretches[0]), int(stretches[-1]) + 1):
            rows, arm = stretches == stretch, self.best(stretch)
            table[rows, arm] = drawn[rows, arm] < np.uint64(int((0.5 - self.gap) * 2**53))
        return table.astype(np.float64)


def _checked(means: Sequence[float]) -> tuple[float, ...]:
    """Return the means as floats; raise `SourceError` if they are not numbers from 0 to 1."""
    try:
        found = tuple(float(mean) for mean in means)
    except (TypeError, ValueError):
        found = ()
    if not found or not all(0.0 <= mean <= 1.0 for mean in found):
        raise SourceError(f'means must be numbers from 0 to 1, or "uniform": got {shown(means)}.')
    return found
