"""Tracker of comparators in the feature space of a kernel during a game."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.rows import Labels, Rows
from novikoff.comparators.tracker import ComparatorFacts, ScorerTracker
from novikoff.core.errors import InputError
from novikoff.core.state import Part
from novikoff.kernel.comparators.functions import KernelScorer
from novikoff.kernel.kernels import Kernel


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelComparatorFacts(ComparatorFacts):
    """Facts of comparators in the feature space of a kernel.

    Attributes:
        error: Upper bound on the error of one computed K(z,x), in units of R^2.
        points: Number of points z_j of the comparators.
        similarity: Kernel K of the comparators; a theorem requires that of the learner.
    """

    error: Fraction
    points: int
    similarity: Kernel


class KernelTracker(ScorerTracker[KernelScorer]):
    """Comparators in the feature space of a kernel.

    Args:
        similarity: The learner's kernel.
        keep: Number of rows to fit on.
        additive: Whether a mistake adds y K(x, .) to the learner's function and nothing else changes it; checked as
            long as no support was removed.
    """

    block = 128
    kind = "kernel"
    fields = (
        Part("similarity", Kernel, argument=True),
        *ScorerTracker.fields,
        Part("scorer", KernelScorer, optional=True, given=("similarity",)),
    )

    def __init__(self, similarity: Kernel, keep: int = 400, additive: bool = False) -> None:
        if keep < 0:
            raise InputError(f"rows to fit on must be at least 0: got {keep}.")
        super().__init__(keep, 64_000_000, additive)
        self.similarity = similarity

    def _fit(self, x: Rows, y: Labels, played: NDArray[Any]) -> KernelScorer:
        return KernelScorer.fitted(self.similarity, x, y)

    @property
    def _points(self) -> int:
        return 0 if self.scorer is None else len(self.scorer.points)

    def functions(self) -> tuple[Rows, NDArray[np.float64]]:
        """Return the points z_j and the matrix beta: direction k is the sum of beta_kj K(z_j, .)."""
        scorer = self._now()
        return scorer.points, scorer.betas

    def facts(self, learner: Any = None) -> KernelComparatorFacts:
        scorer = self._now()
        reason, unexplained = scorer.invalid_reason, None
        if self.additive and learner is not None and learner.supports.evictions == 0:
            unexplained = scorer.unexplained(*learner.supports.expansion())
        penalized = tuple(scorer.penalized())
        return KernelComparatorFacts(
            rows=scorer.tally.rows,
            mistakes=scorer.tally.mistakes,
            square=Fraction(0) if reason else scorer.square(),
            mistakes_square=Fraction(0) if reason else scorer.tally.mistakes_square(),
            comparators=tuple(scorer.comparators()),
            penalized=penalized,
            over_mistakes=tuple(scorer.over_mistakes({u.scale for u in penalized})),
            unexplained=unexplained,
            invalid_reason=reason,
            error=Fraction(0) if reason else Fraction(scorer.error),
            points=len(scorer.points),
            similarity=self.similarity,
        )
