"""Facts about a run for the theorem on mixing."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from novikoff.comparators.tally import Comparator


@dataclass(frozen=True, slots=True, kw_only=True)
class MixingFacts:
    """Facts about epochs: in each, every shard was played once from the same weights, and then mixed.

    Attributes:
        mistakes: k, the mistakes of each shard in each epoch.
        parts: Integers c: in that epoch shard i has the weight mu_i = c_i / (sum of c).
        rows: Number of rows of each shard.
        comparators: Every u, with its hinge loss D summed over epochs and shards, each times its mu.
        square: At least R^2.
        nonzeros: Largest number of non-zeros of an x~, the bias included.
        unexplained: Distance of the final weights of shards from the sums of their mistakes, in units of rounding
            error; above 1, something else changed them.
        started: Whether the weights were zero before the first epoch.
        same_rows: Whether every epoch read the same rows, by their number and the fingerprint of the source.
        own_mistakes: Whether every shard changed its weights on its mistakes only.
        invalid_reason: Why the theorem does not apply to these rows; "" if it does.
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
        """Value of K if every round were a mistake."""
        return total(self.parts, [self.rows] * len(self.parts))

    @property
    def most(self) -> int:
        """Largest number of mistakes of one shard in one epoch."""
        return max((k for epoch in self.mistakes for k in epoch), default=0)


def total(parts: tuple[tuple[int, ...], ...], counts: object) -> Fraction:
    """Return the sum over epochs and shards of mu times a count."""
    each: list[tuple[int, ...]] = list(counts)  # type: ignore[call-overload]
    return sum(
        (Fraction(sum(c * k for c, k in zip(mix, of_shards, strict=True)), sum(mix)) for mix, of_shards in
         zip(parts, each, strict=True)),
        Fraction(0),
    )  # fmt: skip
