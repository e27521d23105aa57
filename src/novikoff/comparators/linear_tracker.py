"""Tracker of linear comparators during a game (tracker.py), for learners on vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.comparators.linear import HEAVIEST, LinearScorer, longest_of
from novikoff.comparators.rounding import length_of
from novikoff.comparators.rows import Labels, Rows, without_zeros
from novikoff.comparators.separation import NOT_SEARCHED, Separation, Separator, in_memory
from novikoff.comparators.tracker import NO_LIMIT, ComparatorFacts, ScorerTracker
from novikoff.comparators.witness import Witness
from novikoff.core.state import Argument, Array, Coded, Number, Part
from novikoff.core.types import Sparse


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearComparatorFacts(ComparatorFacts):
    """Facts about linear comparators.

    Attributes:
        nonzeros: Largest number of non-zeros of an x~, the bias included.
        start_square: At least ||w_1||^2, for a learner that did not start at zero.
        bias: Value of the constant feature.
        normalize: Whether each x is divided by its norm.
        top: Exponent of the largest threshold, 2^top.
        directions: Each U, feature by feature, the bias weight last; empty if there are millions of features.
        probed: Sums of the probe's margins over all rounds, above and below 0 (comparators/second_pass.py).
    """

    nonzeros: int
    start_square: Fraction
    bias: float
    normalize: bool
    top: int
    directions: tuple[NDArray[np.float64], ...] = field(default=(), compare=False, repr=False)
    probed: tuple[float, float] = (0.0, 0.0)

    @property
    def unbiased(self) -> bool:  # type: ignore[override]
        """Whether there is no constant feature."""
        return self.bias == 0.0


class LinearTracker(ScorerTracker[LinearScorer]):
    """Tracker of linear comparators.

    Args:
        bias: The learner's value of the constant feature; 0 for none.
        normalize: Whether the learner divides each x by its norm.
        start: The learner's weights before the first round, the bias weight last; None if all are zero.
        keep: Bytes of rows to fit on.
        additive: Whether to check that a mistake adds y x~ to the learner's weights and nothing else changes them.
    """

    kind = "linear"
    fields = (
        Number("bias", argument=True),
        Argument("normalize", bool),
        Array("start", (None,), finite=False, optional=True, argument=True),
        *ScorerTracker.fields,
        Part("scorer", LinearScorer, optional=True, given=("bias", "normalize")),
        Coded("witness", Witness.plain, Witness.of_plain, "rows with labels and weights", optional=True,
              default=lambda: None),
    )  # fmt: skip

    def __init__(
        self, bias: float = 0.0, normalize: bool = False, start: ArrayLike | None = None, keep: int = 16_000_000,
        additive: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(NO_LIMIT, keep, additive)
        self.bias, self.normalize = float(bias), bool(normalize)
        self.start = None if start is None else np.array(start, dtype=np.float64)
        if self.start is not None and not np.any(self.start):
            self.start = None
        self.witness: Witness | None = None  # of the kept rows, once there are comparators
        self._searched: tuple[int, Separation] = (0, NOT_SEARCHED)  # number of kept rows, and the search on them

    def _as_kept(self, x: Rows) -> Rows:
        return without_zeros(x)

    def _fit(self, x: Rows, y: Labels, played: NDArray[Any]) -> LinearScorer:
        rows = without_zeros(x)
        found = self._separation(rows, y, played)
        return LinearScorer.fitted(rows, y, self.bias, self.normalize, found.u if found.found else None)

    def _settle(self) -> None:
        super()._settle()
        self.witness = self._searched[1].witness
        self._searched = (0, NOT_SEARCHED)

    def _separation(self, x: Sparse, y: Labels, wrong: NDArray[np.generic]) -> Separation:
        """Return the search on the kept rows, made once for each number of them."""
        if self._searched[0] != len(y):
            longest, mistakes = longest_of(x, self.bias, self.normalize), int(np.count_nonzero(wrong))
            self._searched = (len(y), in_memory(x, y, longest, self.bias, self.normalize, mistakes))
        return self._searched[1]

    def _separator(self) -> Separator | None:
        """Return the separator of all rows, evaluated on them; None if some are not kept, or none was found."""
        if self._kept is None or not self._searched[1].found:
            return None
        x, y, wrong = self._kept.together()
        separator = Separator(self._searched[1].u, self.bias, self.normalize)
        separator.see(x, y, np.asarray(wrong, dtype=np.bool_))
        return separator

    def facts(self, learner: Any = None) -> LinearComparatorFacts:
        scorer = self._now()
        start, reason = self.start, scorer.invalid_reason
        if start is not None and not np.max(np.abs(start)) <= HEAVIEST:
            start, reason = None, reason or "the weights at the start were too large"
        unexplained = None
        if self.additive and learner is not None and not reason:
            unexplained = scorer.unexplained(start, np.append(learner.weights, learner.bias_weight))
        penalized = tuple(scorer.penalized(start))
        comparators, directions = tuple(scorer.comparators(start)), scorer.directions()
        separator = None if reason or start is not None else self._separator()
        widest = None if separator is None else separator.comparator(scorer.tally.directions + 1)
        if separator is not None and widest is not None:
            comparators += (widest,)
            directions += (separator.u,) if directions else ()
        return LinearComparatorFacts(
            rows=scorer.tally.rows,
            mistakes=scorer.tally.mistakes,
            square=Fraction(0) if reason else scorer.square(),
            mistakes_square=Fraction(0) if reason else scorer.tally.mistakes_square(),
            comparators=comparators,
            penalized=penalized,
            over_mistakes=tuple(scorer.over_mistakes(start, {u.scale for u in penalized})),
            unexplained=unexplained,
            invalid_reason=reason,
            witness=None if reason else self.witness or self._searched[1].witness,
            nonzeros=scorer.nonzeros,
            start_square=Fraction(0) if start is None else length_of(start),
            bias=self.bias,
            normalize=self.normalize,
            top=scorer.tally.top,
            directions=directions,
            probed=(float(scorer.probed[0]), float(scorer.probed[1])),
        )
