"""Tracker of comparators in the feature space of a kernel during a game."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.rows import Labels, RowBuffer, Rows
from novikoff.comparators.tally import Comparator
from novikoff.comparators.tracker import ComparatorFacts, ScorerTracker
from novikoff.comparators.witness import Witness
from novikoff.core.errors import InputError
from novikoff.core.state import Part
from novikoff.kernel.comparators.functions import KernelScorer
from novikoff.kernel.comparators.separation import separate, verified
from novikoff.kernel.kernels import Kernel


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelComparatorFacts(ComparatorFacts):
    """Facts of comparators in the feature space of a kernel.

    Attributes:
        error: Upper bound on the error of one computed K(z,x), in units of R^2.
        points: Number of points z_j of the comparators.
        similarity: Kernel K of the comparators; a theorem requires that of the learner.
        nonzeros: Largest number of features of a row.
        functions: The points z_j, and the coefficients beta of each direction, for proof files.
    """

    error: Fraction
    points: int
    similarity: Kernel
    nonzeros: int = 0
    functions: tuple[Rows, NDArray[np.float64]] | None = field(default=None, compare=False)

    @property
    def space(self) -> str:  # type: ignore[override]
        """Where examples are compared, if different ones may be the same there."""
        return self.similarity.space


MOST_HELD, BYTES_HELD = 2_048, 16_000_000
"""Maximum number of rows that are held for the search of a separator, and of their bytes."""


class KernelTracker(ScorerTracker[KernelScorer]):
    """Comparators in the feature space of a kernel.

    Up to MOST_HELD rows are held in addition to those that comparators are fitted on: as long as all rows are held, the
    function with the widest margin on them is a comparator too (kernel/comparators/separation.py).

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
        Part("held", RowBuffer, optional=True, at="_held", default=lambda: None),
    )

    def __init__(self, similarity: Kernel, keep: int = 400, additive: bool = False) -> None:
        if keep < 0:
            raise InputError(f"rows to fit on must be at least 0: got {keep}.")
        super().__init__(keep, 64_000_000, additive)
        self.similarity = similarity
        self._held: RowBuffer | None = RowBuffer() if keep else None  # None once there are too many rows
        self._searched: tuple[int, Comparator | None, Witness | None] = (
            0,
            None,
            None,
        )  # number of rows, and the result

    def _see(self, x: Rows, y: NDArray[np.generic], played: NDArray[np.generic]) -> None:
        if self._held is not None and self._held.rows + len(y) <= MOST_HELD and self._held.size <= BYTES_HELD:
            self._held.add(x, y, played)
        elif len(y):
            self._held = None
        super()._see(x, y, played)

    def _separation(self, rows: int) -> tuple[Comparator | None, Witness | None]:
        """Return the separator with the widest margin on all rows, or a proof that there is none."""
        if self._held is None or self._held.rows != rows or not rows:
            return None, None
        if self._searched[0] != rows:
            x, y, _ = self._held.together()
            found = separate(self.similarity, x, y)
            self._searched = (rows, verified(self.similarity, found, [(x, y)]), found.witness)
        return self._searched[1:]

    @property
    def rows_held(self) -> int:
        return max(super().rows_held, 0 if self._held is None else self._held.rows)

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
        widest, witness = (None, None) if reason else self._separation(scorer.tally.rows)
        comparators = tuple(scorer.comparators())
        if widest is not None:
            comparators += (replace(widest, direction=scorer.tally.directions + 1),)
        return KernelComparatorFacts(
            rows=scorer.tally.rows,
            mistakes=scorer.tally.mistakes,
            square=Fraction(0) if reason else scorer.square(),
            mistakes_square=Fraction(0) if reason else scorer.tally.mistakes_square(),
            comparators=comparators,
            penalized=penalized,
            over_mistakes=tuple(scorer.over_mistakes({u.scale for u in penalized})),
            unexplained=unexplained,
            invalid_reason=reason,
            witness=witness,
            error=Fraction(0) if reason else Fraction(scorer.error),
            points=len(scorer.points),
            similarity=self.similarity,
            nonzeros=scorer.width,
            functions=(scorer.points, scorer.betas),
        )
