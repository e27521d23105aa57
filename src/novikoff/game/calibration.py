"""Calibration: of the rounds in which P(+1) was said to be about so much, how many were +1?

Rounds are sorted by what was said into ten bins, before the label was known; each has its rounds, how many of them were
+1, and the sum of what was said. A learner is calibrated if in each bin the mean of what was said is the share of +1.
Batches of any size leave the same bits.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import ModelFileError
from novikoff.core.types import State

BINS = 10


class Bin(NamedTuple):
    """Rounds in which P(+1) was from `low` to `high`.

    predicted   the mean of P(+1) in these
    observed    the share of them that was +1
    """

    low: float
    high: float
    rounds: int
    predicted: float
    observed: float


@dataclass(slots=True)
class Calibration:
    """What was counted so far, bin by bin."""

    rounds: list[int] = field(default_factory=lambda: [0] * BINS)
    positives: list[int] = field(default_factory=lambda: [0] * BINS)
    sums: list[float] = field(default_factory=lambda: [0.0] * BINS)

    def write(self, chances: NDArray[np.float64], y: NDArray[Any]) -> None:
        """Rounds with these labels, each of which had been given this probability; NaN is in no bin."""
        numbers = ~np.isnan(chances)
        chances, y = (chances, y) if numbers.all() else (chances[numbers], y[numbers])
        up = y == 1
        said = np.where(up, chances, 1.0 - chances)
        bins = np.minimum((said * BINS).astype(np.int64), BINS - 1)
        sums = np.array(self.sums)
        np.add.at(sums, bins, said)  # one after the other
        self.sums = sums.tolist()
        for counts, chosen in ((self.rounds, bins), (self.positives, bins[up])):
            counts[:] = (np.array(counts) + np.bincount(chosen, minlength=BINS)).tolist()

    def write_one(self, chance: float, y: int) -> None:
        """One round."""
        if chance == chance:
            said = chance if y == 1 else 1.0 - chance
            k = min(int(said * BINS), BINS - 1)
            self.rounds[k] += 1
            self.positives[k] += y == 1
            self.sums[k] += said

    @property
    def predicted(self) -> float:
        """The sum of P(+1) over all rounds."""
        return math.fsum(self.sums)

    @property
    def error(self) -> float:
        """The mean over rounds of |predicted - observed| of their bin: the expected calibration error."""
        off = math.fsum(abs(said - up) for said, up in zip(self.sums, self.positives, strict=True))
        return off / max(sum(self.rounds), 1)

    def table(self) -> list[Bin]:
        """The bins that have rounds."""
        return [
            Bin(k / BINS, (k + 1) / BINS, rounds, self.sums[k] / rounds, self.positives[k] / rounds)
            for k, rounds in enumerate(self.rounds)
            if rounds
        ]

    def state(self) -> State:
        return asdict(self)

    @classmethod
    def restore(cls, state: State) -> Self:
        counts = [*state["rounds"], *state["positives"]]
        sound = len(counts) == 2 * BINS and all(type(n) is int and n >= 0 for n in counts)
        if not sound or any(up > rounds for rounds, up in zip(state["rounds"], state["positives"], strict=True)):
            raise ModelFileError(f"calibration must be counts of rounds: got {state!r}.")
        if not all(0.0 <= said <= rounds for rounds, said in zip(state["rounds"], state["sums"], strict=True)):
            raise ModelFileError(f"calibration must be sums of probabilities: got {state!r}.")
        return cls(list(state["rounds"]), list(state["positives"]), list(state["sums"]))
