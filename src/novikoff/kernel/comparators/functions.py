"""Comparators f = sum of beta_j K(z_j, .), and their sums over all rounds.

Floats
    u = 2^-53, J points z_j, k < 1 the error of one computed K in units of sqrt(K(z,z) K(x,x)), given by
    `Kernel.relative_error`. W = sum |beta_j| sqrt K(z_j,z_j) and l = sqrt K(x,x). The terms of f(x) sum to at most
    (1 + k) W l in absolute value, so it is computed with an error of at most (k + (1 + k) g) W l,
    g = (J+2) u / (1 - (J+2) u), plus underflow. The margin is reduced by
        e = (k + (J + 8) 2u) W^ (l^ + 2^-500),
    where W^ and l^ are the computed values, slightly increased. This also covers the rounding of e itself and of the
    subtraction, so y f(x) - e is at most the true margin. f has a computed length of at least 1/2, so W is at least
    about 1/2, and e far exceeds any underflow.
    ||f||^2 is at most beta'K beta + (2J + 8) 2u |beta|'|K||beta| + k W^2, the values as computed. The first term alone
    may be 0 or negative for an f that is not zero: without the others certificates would be false. If the sum of all
    three is negative, no feature space has these inner products, and `invalid_reason` says so.
    R^2 is at most the largest computed K(x,x) / (1 - k); it must be within 2^-900 .. 2^900, or 0. For a normalised K
    the same must hold for every K(x,x) before normalisation. The gamma of the rbf must be within these limits too: with
    a smaller one ||x-z||^2 may overflow, and K be computed as 0 although it is near 1; with a larger one underflow
    would matter.
Check that the learner is the kernel Perceptron
    If each mistake adds y K(x, .) to the learner's function w and nothing else changes it, then for every f the sum
    over mistakes of y f(x) is <f, w> = sum of beta_j w(z_j). A margin is at most 2e too small, and <f, w> is computed
    with an error of at most (k + (J + L + 8) 2u) W R C, where L is the number of examples of the learner and C the sum
    of the absolute values of their coefficients. The tolerance is twice the sum of these errors.
Reference
    the error of a sum in any order: [higham2002], chapters 3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.linear import KAPPAS, LONGEST, SHORTEST, Wrong, ratio
from novikoff.comparators.rows import Labels, Rows, SavedRows, chosen, most_numbers, numbers, wider
from novikoff.comparators.tally import UNIT, Comparator, PenalizedComparator, Tally
from novikoff.comparators.tracker import MOST_PLACES
from novikoff.core.state import Array, Count, Field, Part, Stateful, Value, require
from novikoff.core.types import Sparse, State
from novikoff.kernel.comparators.fit import fit, times
from novikoff.kernel.kernels import Kernel

Matrix = NDArray[np.float64]

BLOCK = 128
"""Number of rows evaluated together; a fixed number, so that sums do not depend on how rows arrive."""
AT_ONCE = 1024
"""Number of supports of the learner compared with the points at once, to limit memory."""
FLOOR = 2.0**-500
"""Absolute allowance for underflow."""
LITTLE = 1.0 + 2.0**-40
"""Factor that makes a computed bound safe: above the rounding error of a few operations."""
NOT_FINITE = "a feature was NaN or infinite"
NOT_SAFE = "rescale the features: the largest K(x,x) must be between 2^-900 and 2^900"
INACCURATE = "rescale the features: they are so large that K cannot be computed with any accuracy"
NOT_SAFE_GAMMA = "rescale the features: gamma must be between 2^-900 and 2^900"
NO_PRODUCT = "the kernel is not an inner product: the square of a length is negative"


class KernelScorer(Stateful):
    """Comparators as points and coefficients, with their sums so far; the kernel is not saved."""

    measured: ClassVar[tuple[Field, ...]] = (
        Array("largest", (2,), finite=False, at="_largest", nonnegative=True),
        Count("width", most=MOST_PLACES),
        Value("reason", str, at="_reason"),
    )
    """State fields that are measured on the rows."""
    fields: ClassVar[tuple[Field, ...]] = (
        SavedRows("points", argument=True),
        Array("betas", (None, None), finite=False, argument=True),
        Part("tally", Tally, argument=True),
        *measured,
    )
    described = "comparators"

    def __init__(self, similarity: Kernel, points: Rows, betas: Matrix, tally: Tally) -> None:
        self.similarity, self.points, self.betas, self.tally = similarity, points, betas, tally
        self.longest = self.norm2 = 0.0  # largest K(x,x) and, for sparse rows, ||x||^2
        self.width = 0  # largest number of features in a row
        self._reason = ""
        self.norms2: list[Fraction] = []  # upper bounds on ||f||^2
        self._heavy = np.zeros(len(betas))  # W^ of each comparator: upper bound on sum |beta_j| sqrt K(z_j,z_j)
        if len(points):
            self._measure()

    @classmethod
    def fitted(cls, similarity: Kernel, x: Rows, y: Labels) -> Self:
        """Return comparators fitted on these rows, on which they are still to be evaluated."""
        longest = float(np.max(similarity.self_product(x))) if len(y) else 0.0
        if not SHORTEST <= longest <= LONGEST:
            return cls(similarity, x[:0], np.zeros((0, 0)), Tally(0, 0))
        gram = similarity.matrix(x, x)
        with np.errstate(over="ignore", invalid="ignore"):
            betas, kappa = fit(gram, y)
            used = np.flatnonzero(np.any(betas != 0.0, axis=0))
            betas, gram = betas[:, used], gram[np.ix_(used, used)]
            # A negative ||f||^2 is reported by `_measure`.
            lengths2 = np.array([float(np.sum(beta * times(gram, beta))) for beta in betas])
        sound = (lengths2 != 0.0) & np.isfinite(lengths2)
        # Scale each f by a power of two to a length from 1/2 to 1: exact, and the error analysis assumes at least 1/2.
        halves = [math.frexp(math.sqrt(abs(size)))[1] for size in lengths2[sound]]
        scaled = np.ldexp(betas[sound], -np.array(halves, dtype=np.int64)[:, None])
        last = len(scaled) - 1
        kappas = [math.ldexp(kappa * smaller, -halves[-1]) for smaller in KAPPAS] if len(sound) and sound[-1] else []
        tally = Tally(len(scaled), (math.frexp(longest)[1] + 1) // 2, [(last, kappa) for kappa in kappas])
        return cls(similarity, chosen(x, used), scaled, tally)

    def _measure(self) -> None:
        """Compute an upper bound on ||f||^2 of each comparator, and W^."""
        gram, self_product = self.similarity.matrix(self.points, self.points), self.similarity.self_product(self.points)
        error = Fraction(self._error(self.points))
        lengths, sizes = np.sqrt(np.maximum(self_product, 0.0)), np.abs(gram)
        for k, beta in enumerate(self.betas):
            with np.errstate(over="ignore", invalid="ignore"):
                value, size = float(np.sum(beta * times(gram, beta))), np.abs(beta)
                absolute = float(np.sum(size * times(sizes, size)))  # |beta|'|K||beta|
                self._heavy[k] = float(np.sum(np.abs(beta) * lengths)) * LITTLE
            if not math.isfinite(value + absolute + float(self._heavy[k])):
                self._reason = self._reason or NOT_SAFE
                self.norms2.append(Fraction(0))
                continue
            rounding = (2 * len(beta) + 8) * 2 * UNIT * Fraction(absolute)
            norm2 = Fraction(value) + rounding + error * Fraction(float(self._heavy[k])) ** 2 + Fraction(FLOOR)
            if norm2 < 0:
                self._reason = self._reason or NO_PRODUCT
            self.norms2.append(max(norm2, Fraction(0)))

    def _error(self, x: Rows) -> float:
        """Return the error of one K between these rows or the points, in units of sqrt(K(z,z) K(x,x))."""
        for rows in (self.points, x):
            self.width = max(self.width, most_numbers(rows))
            if isinstance(rows, Sparse) and len(rows):
                squares = Kernel.of("linear").self_product(rows)
                self.norm2 = max(self.norm2, float(np.max(squares)) * (1.0 + (self.width + 8) * 2.0**-52))
        return self.similarity.relative_error(self.width, self.norm2)

    @property
    def error(self) -> float:
        """Error of one K between any two rows so far, in units of sqrt(K(z,z) K(x,x))."""
        return self.similarity.relative_error(self.width, self.norm2)

    def see(self, x: Rows, y: Labels, wrong: Wrong) -> None:
        """Evaluate the comparators on rows in order, in blocks of BLOCK."""
        if not isinstance(x, Sparse):
            self.points = wider(self.points, x.shape[1])
        for start in range(0, len(y), BLOCK):
            some = slice(start, start + BLOCK)
            self._see(x[some], y[some], wrong[some])

    def _see(self, x: Rows, y: Labels, wrong: Wrong) -> None:
        self_product = self.similarity.self_product(x)
        finite = bool(np.all(np.isfinite(numbers(x)))) and not bool(np.isnan(self_product).any())
        margins = self.margins(x, y, self_product) if finite else np.full((len(y), len(self.betas)), np.nan)
        if not finite or np.isnan(margins).any():
            self._reason = self._reason or (NOT_FINITE if not finite else NOT_SAFE)
            margins = np.full_like(margins, -1.0)  # any finite value: the certificate is void from here on
        if finite:
            self.longest = max(self.longest, float(np.max(self_product)))
            self._reason = self._reason or (NO_PRODUCT if np.min(self_product) < 0.0 else "")
            self._reason = self._reason or ("" if self._divisible(x) else NOT_SAFE)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = self_product * (LITTLE / (1.0 - min(self.error, 0.5))) if finite else np.ones(len(y))
        self.tally.add(np.column_stack([margins, np.maximum(squares, 0.0)]), wrong)

    def _divisible(self, x: Rows) -> bool:
        """Return whether a normalised K is accurate: its divisor must neither underflow nor overflow."""
        if not self.similarity.normalized or self.similarity.kind == "own":
            return True
        plain = replace(self.similarity, normalized=False, bias=0.0).self_product(x)
        return not np.any((plain > LONGEST) | ((plain > 0.0) & (plain < SHORTEST)))

    def margins(self, x: Rows, y: Labels, self_product: Matrix) -> Matrix:
        """Return lower bounds on y f(x) for each row and comparator; `self_product` is K(x,x) as computed."""
        error = self._error(x)  # also without points, because it bounds the error of the learner's K too
        if len(self.points) == 0:
            return np.zeros((len(y), len(self.betas)))
        with np.errstate(over="ignore", invalid="ignore"):
            scores = np.einsum("kj,jt->tk", self.betas, self.similarity.matrix(self.points, x))
            lengths = np.sqrt(np.maximum(self_product, 0.0)) * LITTLE + FLOOR
            off = (error * LITTLE + (len(self.points) + 8) * 2.0**-52) * (lengths[:, None] * self._heavy)
            return np.asarray(y[:, None] * scores - off)

    def square(self) -> Fraction:
        """Return an upper bound on R^2; valid if `invalid_reason` is empty."""
        limit = self.similarity.limit
        if limit is not None:
            return Fraction(limit) * (1 if self.similarity.bias == 0.0 else 1 + 4 * UNIT)
        return Fraction(self.longest) / (1 - Fraction(self.error))

    @property
    def invalid_reason(self) -> str:
        """Why no bound can be computed for these rows; "" if one can."""
        if self._reason:
            return self._reason
        if self.similarity.kind == "rbf" and not SHORTEST <= self.similarity.gamma <= LONGEST:
            return NOT_SAFE_GAMMA
        if not (self.longest == 0.0 or SHORTEST <= self.longest <= LONGEST):
            return NOT_SAFE
        return "" if self.error < 0.5 else INACCURATE

    def comparators(self) -> list[Comparator]:
        """Return every f at every scale, and f = 0."""
        square = Fraction(0) if self.invalid_reason else self.square()
        if square == 0:
            return list(self.tally.comparators([]))
        return list(self.tally.comparators(self.norms2, self.tally.rows / square))

    def penalized(self) -> list[PenalizedComparator]:
        """Return every f whose targets grow with K(x,x)."""
        return [] if self.invalid_reason else list(self.tally.penalized(self.norms2))

    def over_mistakes(self, scales: Collection[float] | None = None) -> list[PenalizedComparator]:
        """Return every f, or those of some `scales`, with losses summed over the mistakes only."""
        return [] if self.invalid_reason else list(self.tally.over_mistakes(self.norms2, (), scales))

    def unexplained(self, examples: Rows, coefficients: Matrix) -> float | None:
        """Return the distance of the learner's function from the sum of its mistakes, in units of the rounding error.

        Args:
            examples: Supports of the learner.
            coefficients: Coefficients of the supports.

        Returns:
            At most 1 if the mistakes explain the function; None if nothing was fitted.
        """
        if len(self.points) == 0 or self.invalid_reason:
            return None
        weight, M, R = float(np.sum(np.abs(coefficients))), float(self.tally.mistakes), math.sqrt(float(self.square()))
        values = np.zeros(len(self.points))  # learner's function at the points
        for start in range(0, len(coefficients), AT_ONCE):
            some = np.arange(start, min(start + AT_ONCE, len(coefficients)))
            values += times(self.similarity.matrix(self.points, chosen(examples, some)), coefficients[some])
        dots = times(self.betas, values)
        unit, J = 2.0**-53, len(self.points)
        margin = 2.0 * M * (self.error * LITTLE + (J + 8) * 2.0 * unit) * R
        score = (self.error + (J + len(coefficients) + 8) * 2.0 * unit) * R * weight
        gained = self.tally.added[: len(dots)].sum(axis=1)
        pairs = zip(gained.tolist(), dots.tolist(), self._heavy.tolist(), strict=True)
        return max((ratio(one - other, 2.0 * heavy * (margin + score)) for one, other, heavy in pairs), default=None)

    @property
    def _largest(self) -> Matrix:
        """Largest K(x,x) and, for sparse rows, largest ||x||^2, as saved."""
        return np.array([self.longest, self.norm2])

    @_largest.setter
    def _largest(self, largest: Matrix) -> None:
        self.longest, self.norm2 = largest.tolist()

    @classmethod
    def arguments(cls, state: State) -> dict[str, object]:
        found: State = super().arguments(state)
        betas, count = found["betas"], len(found["points"])
        must = f"there must be one coefficient for each of {count:,} points"
        require(betas.shape[1] == (count if len(betas) else betas.shape[1]), must, betas.shape)
        if "tally" in found:
            directions = found["tally"].directions
            require(len(betas) == directions, f"there must be coefficients of {directions:,} comparators", betas.shape)
        return found
