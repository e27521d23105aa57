"""Separation of labelled rows by a function in the feature space of a kernel: the widest margin, or a proof of none.

Algorithm
    The rows are the corners of a polytope in the feature space; its point nearest to the origin is the function with
    the widest margin (comparators/nearest_point.py), as a sum of K(z, .) over few rows z. If there are more rows than
    MOST_ROWS, cutting planes as in comparators/separation.py: rows with the smallest margins become corners.
    If that point is the origin, a proof is tried: two rows with the same example and opposite labels, for any kernel;
    for the linear and the polynomial kernel, weights with which the signed rows sum to zero, from inner products in
    exact fractions (comparators/witness.py). The rbf kernel separates any labels of distinct examples.
Promise
    As in comparators/separation.py. The margin is verified on every row by kernel/comparators/functions.py.
Cost
    Rows^2 values of K, up to MOST_ROWS rows; corral^3 operations per step, at most WORK in all.
Reference
    [wolfe1976]; [aizerman1964].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.blas import one_blas_thread
from novikoff.comparators.nearest_point import NearestPoint
from novikoff.comparators.rows import Labels, Rows, chosen, without_zeros
from novikoff.comparators.separation import FLAT, GAP, Chunk, Outcome
from novikoff.comparators.tally import Comparator, Tally
from novikoff.comparators.witness import Witness, gram_witness
from novikoff.core.types import Sparse
from novikoff.kernel.comparators.functions import KernelScorer
from novikoff.kernel.kernels import Kernel

Vector = NDArray[np.float64]

MOST_ROWS = 1_024
"""Number of rows up to which all of them are corners at once."""
MOST_CORNERS = 4_096
"""Maximum number of corners: their inner products take 128 MB."""
CUTS = 256
"""Maximum number of rows that become corners after one reading."""
READINGS = 40
"""Maximum number of readings of rows that are not all corners."""
TOGETHER = 1_024
"""Maximum number of corners that enter the corral together: most rows are in it at the end."""
WORK, WORK_PATIENT = 3e9, 5e11
"""Maximum number of multiplications of one search: after one pass, and in hindsight."""
MOST_EXACT = 64
"""Maximum number of rows of a proof."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelSeparation:
    """Result of a search.

    Attributes:
        outcome: "separated" if there is a candidate; "inseparable" with a witness.
        points: Rows z of the candidate.
        beta: Coefficient of each point.
        limit: About the widest margin of a function of length 1; infinite if it is unknown.
        witness: Proof that no function separates the rows; None if there is none.
    """

    outcome: Outcome
    points: Rows = field(default_factory=lambda: np.zeros((0, 0)))
    beta: Vector = field(default_factory=lambda: np.zeros(0))
    limit: float = math.inf
    witness: Witness | None = None


NOT_SEARCHED = KernelSeparation("unknown")
"""Result if no search was made."""


def separate(similarity: Kernel, x: Rows, y: Labels, work: float = WORK) -> KernelSeparation:
    """Search on rows in memory, at most MOST_CORNERS."""
    search = _Search(similarity, work)
    if len(y) <= MOST_ROWS:
        return search.run(lambda: [Chunk(x, y, 0)], len(y))
    return search.run(lambda: (Chunk(x[k : k + MOST_ROWS], y[k : k + MOST_ROWS], k)
                               for k in range(0, len(y), MOST_ROWS)), CUTS)  # fmt: skip


def separate_chunks(similarity: Kernel, chunks: Callable[[], Iterable[Chunk]], work: float) -> KernelSeparation:
    """Search on rows that are read as often as needed."""
    return _Search(similarity, work).run(chunks, CUTS)


class _Search:
    """Corners of one search."""

    def __init__(self, similarity: Kernel, work: float) -> None:
        self.similarity, self.work = similarity, work
        self.nearest = NearestPoint()
        self.rows: Rows | None = None
        self.labels, self.numbers = np.zeros(0, np.int8), np.zeros(0, np.int64)

    def run(self, chunks: Callable[[], Iterable[Chunk]], cuts: int) -> KernelSeparation:
        """Read the rows until the function has the widest margin, or none has one, or the budget is spent."""
        with one_blas_thread(with_scipy=False):
            for _ in range(READINGS):
                changed = False
                for chunk in chunks():
                    if not self._compare(chunk, cuts):
                        continue
                    changed = True
                    if self._is_flat():
                        return self._flat()
                    if self.work <= 0.0 or self.nearest.count + cuts > MOST_CORNERS:
                        break
                if not changed or self.work <= 0.0 or self.nearest.count + cuts > MOST_CORNERS:
                    break
        if self.rows is None:
            return NOT_SEARCHED
        corral = self.nearest.corral
        beta = self.nearest.weights * self.labels[corral]
        return KernelSeparation("separated", chosen(self.rows, corral), beta, math.sqrt(max(self.nearest.square, 0.0)))

    def _is_flat(self) -> bool:
        return self.nearest.square <= FLAT * self.nearest.largest

    def _compare(self, chunk: Chunk, cuts: int) -> bool:
        """Add the rows of a chunk with the smallest margins as corners; return whether there were any."""
        y = chunk.y.astype(np.float64)
        if self.rows is None:
            low = np.arange(min(cuts, len(y)))
        else:
            corral = self.nearest.corral
            values = self.similarity.matrix(chosen(self.rows, corral), chunk.x)
            self.work -= values.size * 10.0
            margins = y * np.einsum("j,jt->t", self.nearest.weights * self.labels[corral], values)
            low = np.flatnonzero(margins < self.nearest.square * (1.0 - GAP))
            low = np.sort(low[np.argsort(margins[low], kind="stable")[:cuts]])
            # A corner that is already there is at the margin up to rounding.
            low = low[~np.isin(low + chunk.first, self.numbers)]
        if not len(low):
            return False
        new, labels = chosen(chunk.x, low), chunk.y[low]
        own = self.similarity.matrix(new, new) * (labels[:, None] * labels[None, :].astype(np.float64))
        if self.rows is None:
            self.nearest.add(np.zeros((0, len(low))), own)
            self.rows = new
        else:
            across = self.similarity.matrix(self.rows, new) * (self.labels[:, None] * labels.astype(np.float64))
            self.nearest.add(across, own)
            self.rows = _both(self.rows, new)
        self.labels, self.numbers = np.append(self.labels, labels), np.append(self.numbers, low + chunk.first)
        self._solve()
        return True

    def _solve(self) -> None:
        """Move to the nearest point, in steps, until the budget is spent."""
        while self.work > 0.0:
            steps = self.nearest.solve(FLAT * self.nearest.largest, 8, TOGETHER)
            k = len(self.nearest.corral)
            self.work -= 8.0 * (float(k) ** 3 + float(k) * self.nearest.count)
            if steps < 8:
                return

    def _flat(self) -> KernelSeparation:
        """Return the proof that the corners give; "unknown" if they give none."""
        assert self.rows is not None
        witness = self._conflict() or self._weights()
        if witness is None:
            return KernelSeparation("unknown")
        return KernelSeparation("inseparable", limit=0.0, witness=witness)

    def _conflict(self) -> Witness | None:
        """Return two corners with the same example and opposite labels."""
        assert self.rows is not None
        seen: dict[tuple[bytes, bytes], tuple[int, int]] = {}
        for (indices, values), label, number in zip(
            without_zeros(self.rows).rows(), self.labels.tolist(), self.numbers.tolist(), strict=True
        ):
            order = np.argsort(indices, kind="stable")
            key = indices[order].tobytes(), values[order].astype(np.float64).tobytes()
            other = seen.setdefault(key, (label, number))
            if other[0] != label:
                return Witness.of([other[1], number], [other[0], label], [1, 1])
        return None

    def _weights(self) -> Witness | None:
        """Return weights with which the corners of the corral sum to zero, for a kernel with exact values."""
        assert self.rows is not None
        corral, weights, K = self.nearest.corral, self.nearest.weights, self.similarity
        exact = K.kind in ("linear", "polynomial") and not (K.normalized and K.bias != 0.0)
        if not exact or len(corral) > MOST_EXACT:
            return None
        order = np.argsort(self.numbers[corral])
        corral, weights = corral[order], weights[order]
        labels = self.labels[corral].tolist()
        rows = [
            {int(place): Fraction(float(value)) for place, value in zip(*row, strict=True)}
            for row in without_zeros(chosen(self.rows, corral)).rows()
        ]
        below = math.lcm(*(value.denominator for row in rows for value in row.values()), 1)
        whole = [{place: int(value * below) for place, value in row.items()} for row in rows]

        def value(one: dict[int, int], other: dict[int, int]) -> Fraction:
            dot = Fraction(sum(number * other.get(place, 0) for place, number in one.items()), below**2)
            power = dot if K.kind == "linear" else (Fraction(K.constant) + dot) ** K.degree
            return power + Fraction(K.bias) ** 2  # a normalised row is a multiple of the row

        gram = [
            [labels[i] * labels[j] * value(one, other) for j, other in enumerate(whole)] for i, one in enumerate(whole)
        ]
        return gram_witness(self.numbers[corral].tolist(), labels, gram, weights.tolist())


def verified(similarity: Kernel, found: KernelSeparation, parts: Iterable[tuple[Rows, Labels]]) -> Comparator | None:
    """Return the candidate at the scale at which its least margin is 1, evaluated on every row; None if it has none."""
    scorer = scorer_of(similarity, found)
    if scorer is None:
        return None
    for x, y in parts:
        scorer.see(x, y, np.zeros(len(y), np.bool_))
    return widest_of(scorer)


def scorer_of(similarity: Kernel, found: KernelSeparation) -> KernelScorer | None:
    """Return the candidate as a comparator that has seen no rows; None if there is none."""
    if found.outcome != "separated" or not len(found.beta) or not np.all(np.isfinite(found.beta)):
        return None
    longest = float(np.max(similarity.self_product(found.points)))
    length = found.limit
    if not (0.0 < length < math.inf and 0.0 < longest < math.inf):
        return None
    # By a power of two to a length from 1/2 to 1, as the error analysis assumes.
    beta = np.ldexp(found.beta, -math.frexp(length)[1])
    tally = Tally(1, (math.frexp(longest)[1] + 1) // 2)
    return KernelScorer(similarity, found.points, beta[None, :].copy(), tally)


def widest_of(scorer: KernelScorer) -> Comparator | None:
    """Return the comparator of the least margin on the rows seen; None if that is not positive."""
    if scorer.invalid_reason:
        return None
    separating = [u for u in scorer.tally.comparators(scorer.norms2) if u.direction and u.hinge == 0]
    return min(separating, key=lambda u: u.square, default=None)


def _both(one: Rows, other: Rows) -> Rows:
    if isinstance(one, Sparse) or isinstance(other, Sparse):
        return Sparse.concatenated([without_zeros(one), without_zeros(other)])
    return np.concatenate([one, other])
