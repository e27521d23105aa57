"""What the theorem on mixing needs to know of a run."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from novikoff.comparators.tally import Comparator


@dataclass(frozen=True, slots=True, kw_only=True)
class MixingFacts:
    """Of epochs, in each of which every shard was played once from the same weights, and the ends were mixed.

    mistakes         k, of each shard in each epoch
    parts            c, whole numbers: in that epoch the end of shard i weighed mu_i = c_i / (sum of c)
    rows             of each shard
    comparators      every u, its hinge loss D summed over epochs and shards, each times its mu
    square           at least R^2
    nonzeros         the most non-zeros of an x~, the bias included
    unexplained      how far the ends of shards are from what their mistakes made of their beginnings, in units of what
                     rounding explains: more than 1, and somebody did something else
    started          the weights were zero before the first epoch
    same_rows        every epoch read the same rows, by their number and the fingerprint of the source
    own_mistakes     every shard changed its weights on its mistakes only
    invalid_reason   why nothing can be said of these rows; "" if something can
    """

    mistakes: tuple[tuple[int, ...], ...]
    parts: tuple[tuple[int, ...], ...]
    rows: tuple[int, ...]
    comparators: tuple[Comparator, ...]
    square: Fraction
    nonzeros: int
    unexplained: float
    started: bool = True
    same_rows: bool = True
    own_mistakes: bool = True
    invalid_reason: str = ""

    @property
    def weighted(self) -> Fraction:
        """K: the mistakes of all epochs and shards, each times its mu."""
        return total(self.parts, self.mistakes)

    @property
    def rounds(self) -> Fraction:
        """What K would be if every round were a mistake."""
        return total(self.parts, [self.rows] * len(self.parts))

    @property
    def most(self) -> int:
        """The most mistakes of one shard in one epoch."""
        return max((k for epoch in self.mistakes for k in epoch), default=0)


def total(parts: tuple[tuple[int, ...], ...], counts: object) -> Fraction:
    """The sum over epochs of the sum of mu times a count."""
    each: list[tuple[int, ...]] = list(counts)  # type: ignore[call-overload]
    return sum(
        (Fraction(sum(c * k for c, k in zip(mix, own, strict=True)), sum(mix)) for mix, own in
         zip(parts, each, strict=True)),
        Fraction(0),
    )  # fmt: skip
