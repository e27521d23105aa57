"""Three linear comparators, and the sums of their margins over all rounds.

Rounding
    u = 2^-53; n non-zeros in a row, the bias included. A margin is computed with an error of at most
    n u/(1 - n u) ||x~|| ||U|| + n 2^-1075, the last term for products that underflow (a sum of doubles never does), in
    any order of summation. Subtracted is e = (n+4) 2u (l + 2^-500) U^, where l is the computed length of x~
    and U^ >= ||U||: squares that underflow are missing from l^2, at most n 2^-1075 in all, so l + 2^-500 is at least
    ||x~|| (1 - (n+2) u); and as U^ >= 1/2, e is far above n 2^-1075 even for a row of zeros. So e, about twice the
    error, also covers its own rounding and that of the subtraction while n < 2^32: m - e is at most the true margin.
    ||x~||^2 is at most the computed sum of squares * (1 + (n+5) 2u), except for squares that underflowed, n 2^-1075 at
    most: R^2 is at least 2^-900 or exactly 0, and a kappa is at most 2^400, so that e covers kappa n 2^-1075 too.
    R must be within 2^-450 .. 2^450, otherwise products may over- or underflow: `invalid_reason` reports it.
Check that the learner is the Perceptron
    For every fixed U the sum over mistakes of y<U,x~> is <U, w_end> - <U, w_1> if each mistake adds y x~ to the weights
    and nothing else changes them. This is checked for each direction and for the probe, which has a weight between 1/2
    and 1 in size for every feature, a hash of its number, also for features that the fit did not see. In floats the two
    may differ by
        ||U|| (M R (n+4) 4u + M u lambda sqrt(||w_1||^2 + R^2 M) + (d+8) 2u (||w_1|| + ||w_end||)):
    the margins', each at most 2e too small; the learner's own rounding (linear/theorems/perceptron_facts.py); and that
    of <U, w> over d weights. The tolerance is twice that. For the probe, ||U|| is taken over the features present:
    sqrt n in the first two terms, sqrt d in the last.
Check that the rows are the same
    The probe's margins are summed over all rows, positive and negative ones separately (`probed`): the same rows read
    again must give the same two sums, for any weights of the directions (comparators/second_pass.py).
Reference
    the error of a sum in any order: [higham2002], chapters 3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.fit import fit
from novikoff.comparators.rounding import length_of, of_length, root
from novikoff.comparators.rows import Labels, Rows, most_numbers, numbers
from novikoff.comparators.tally import UNIT, Comparator, PenalizedComparator, Tally
from novikoff.core.state import Array, Coded, Count, Part, Stateful, Value, require
from novikoff.core.types import Sparse, State
from novikoff.numerics.coins import coins
from novikoff.numerics.total import Total

Vector = NDArray[np.float64]
Wrong = NDArray[np.bool_]

BLOCK = 16384
"""Number of rows scored at a time."""
LONGEST, SHORTEST = 2.0**900, 2.0**-900
"""Largest and smallest squared length of the longest row."""
LIGHTEST = 2.0**-100
"""Smallest weight that is not rounded to 0, relative to ||U|| of about 1."""

HEAVIEST = 2.0**450
"""Largest initial weight whose square is safe."""
BEYOND = 2.0**500
"""Size that no weight of a Perceptron reaches: it would take more than 2^49 of the longest rows."""

MOST_STORED = 2**20
"""Maximum number of features for which directions are returned."""
KAPPAS = (1.0, 0.25, 0.0625)
"""Factors of the kappa that was best in the fit: on longer streams the best kappa is smaller."""


class LinearScorer(Stateful):
    """Three directions and a probe, with the sums of their margins.

    The last row of U is used for features that the fit did not see: zero for a direction. The probe has a weight for
    each of them, so U is widened to the rows (`_widened`) before they are evaluated.

    Args:
        U: (features + 1, 4) weights of the directions and the probe.
        bias_weights: (4,) bias weights.
        tally: Sums of the margins.
        bias: Value of the constant feature; 0 for none.
        normalize: Whether each x is divided by its norm.
    """

    fields = (
        Array("U", (None, None), np.float32, finite=False, argument=True),
        Array("bias_weights", (None,), finite=False, argument=True),
        Array("longest", (1,), finite=False),
        Part("tally", Tally, argument=True),
        Count("nonzeros"),
        Value("empty", bool),
        Coded("probed", lambda totals: [[one.sum, one.lost] for one in totals], lambda saved: _totals(saved),
              "two sums"),
    )  # fmt: skip
    described = "comparators"

    def __init__(
        self, U: NDArray[np.float32], bias_weights: Vector, tally: Tally, bias: float, normalize: bool
    ) -> None:
        self.U, self.bias_weights, self.tally = U, bias_weights, tally
        self.bias, self.normalize = bias, normalize
        self.longest = np.zeros(1)  # at least the largest ||x~||^2; NaN if any was NaN
        self.nonzeros = 0
        self.empty = True  # whether all values seen were zero
        self.probed = Total(), Total()  # sums of the probe's margins over all rows: above 0, and below
        self._widened = U  # U and the probe's weights of later features; not saved, because they follow from U
        self._across = np.zeros((U.shape[1], 0))  # U vector by vector, for dense rows
        self._room = np.empty((0, 0))  # buffer for the results of a block of rows
        weights = np.concatenate([U[:, : tally.directions].astype(np.float64), bias_weights[None, : tally.directions]])
        # Summing n positive terms in any order: a relative error of at most n 2^-53; squares of float32 are exact.
        grown = 1 + (len(weights) + 4) * UNIT
        self.norms2 = [Fraction(size) * grown for size in np.sum(np.square(weights), axis=0).tolist()]
        self._norms = np.array([*(math.sqrt(size) * (1.0 + 2.0**-50) for size in self.norms2), 0.0])

    @classmethod
    def fitted(cls, x: Sparse, y: Labels, bias: float, normalize: bool, separator: Vector | None = None) -> Self:
        """Return a scorer with directions fitted on these rows, which are not counted yet.

        Args:
            x: Rows.
            y: Labels -1 and +1.
            bias: Value of the constant feature; 0 for none.
            normalize: Whether each x is divided by its norm.
            separator: Vector that separates these rows, the bias weight last, in place of the direction fitted for the
                margin; None if there is none.
        """
        longest = longest_of(x, bias, normalize)
        if not SHORTEST <= longest <= LONGEST:
            return cls.placed([], [], longest, bias, normalize)
        found = fit(x, y, bias, normalize)
        directions = [np.append(u, weight) for u, weight in zip(found.directions.T, found.bias_weights, strict=True)]
        if separator is not None:
            directions[-1] = separator
        return cls.placed(directions, [(1, found.kappa * smaller) for smaller in KAPPAS], longest, bias, normalize)

    @classmethod
    def placed(
        cls, directions: list[Vector], penalties: list[tuple[int, float]], longest: float, bias: float,
        normalize: bool, scaled: bool = False,
    ) -> Self:  # fmt: skip
        """Return up to three directions, scaled by powers of two so that S = 1 is a threshold.

        Args:
            directions: Directions u, the bias weight last.
            penalties: Pairs (direction, kappa of u).
            longest: Approximately the largest ||x~||^2.
            bias: Value of the constant feature; 0 for none.
            normalize: Whether each x is divided by its norm.
            scaled: Whether the directions are those of a scorer: a length that was rounded up to 2 stays 2.
        """
        from novikoff.comparators._loops import margins

        sound = SHORTEST <= longest <= LONGEST
        width = max((len(u) for u in directions), default=1)
        U, bias_weights = np.zeros((width, margins.VECTORS), np.float32), np.zeros(margins.VECTORS)
        U[:-1, -1], bias_weights[-1] = probe(0, width - 1), 1.0
        factors = [0.0] * margins.DIRECTIONS
        for k, u in enumerate(directions if sound else []):
            if not np.any(u) or not np.all(np.isfinite(u)):
                continue
            near_one = u if scaled else of_length(u, 1)
            at = int(np.argmax(np.abs(u)))
            factors[k] = float(near_one[at]) / float(u[at])
            rounded = np.where(np.abs(near_one) < LIGHTEST, 0.0, near_one).astype(np.float32)
            U[: len(u) - 1, k], bias_weights[k] = rounded[:-1], rounded[-1]
        octave = (math.frexp(longest)[1] + 1) // 2 if sound else 0  # longest < 4^octave
        tally = Tally(margins.DIRECTIONS, octave + 1, [(k, kappa * factors[k]) for k, kappa in penalties], probes=1)
        return cls(U, bias_weights, tally, bias, normalize)

    def see(self, x: Rows, y: Labels, wrong: Wrong) -> None:
        """Process rows in order; x~ is x (of length 1 if `normalize`) followed by the bias, if it is not 0."""
        for start in range(0, len(y), BLOCK):
            some = slice(start, start + BLOCK)
            found = self.margins(x[some], y[some])
            self.tally.add(found, wrong[some])
            self.longest = np.maximum(self.longest, found[:, -1].max())
            probed = found[:, -2]
            self.probed[0].add_all(np.maximum(probed, 0.0))
            self.probed[1].add_all(np.minimum(probed, 0.0))
        if len(y):
            self.nonzeros = max(self.nonzeros, most_numbers(x) + (self.bias != 0.0))
            nothing = bool(self.longest[0] < SHORTEST) and self.bias == 0.0
            self.empty = self.empty and nothing and not np.any(numbers(x))

    def margins(self, x: Rows, y: Labels) -> NDArray[np.float64]:
        """Return lower bounds on each row's margins, the probe's margin, and an upper bound on its squared length.

        At most BLOCK rows; the next call overwrites the result.
        """
        from novikoff.comparators._loops import margins

        if not len(self._room):
            self._room = np.empty((BLOCK, margins.COLUMNS))
        out = self._room[: len(y)]
        common, bias = (self.bias_weights, self._norms, out), float(self.bias)  # for one version of the loops
        if isinstance(x, Sparse):
            U = self._with_rows(x.width)
            margins.sparse(x.indptr, x.indices, x.values, y, bias, self.normalize, U, *common)
        else:
            margins.dense(x, y, bias, self.normalize, self._as_wide_as(x.shape[1]), *common)
        return out

    def _with_rows(self, width: int) -> NDArray[np.float32]:
        """Return U with the probe's weights of at least `width` features."""
        if len(self._widened) <= width:
            last = len(self.U) - 1
            wide = np.zeros((max(width, len(self._widened) * 5 // 4) + 1, self.U.shape[1]), np.float32)
            wide[:last], wide[last:, -1] = self.U[:-1], probe(last, len(wide))
            self._widened = wide
        return self._widened

    def _as_wide_as(self, width: int) -> NDArray[np.float64]:
        """Return U vector by vector, with at least `width` columns."""
        if self._across.shape[1] < width:
            self._across = np.ascontiguousarray(self._with_rows(width)[:width].T, dtype=np.float64)
        return self._across

    @property
    def invalid_reason(self) -> str:
        """Reason why no theorem applies to these rows; "" if there is none."""
        longest = float(self.longest[0])
        if math.isnan(longest):
            return "a feature was NaN or infinite"
        if longest > LONGEST or (longest < SHORTEST and not self.empty):
            return "rescale the features: the longest row must have a length between 2^-450 and 2^450"
        return ""

    def square(self) -> Fraction:
        """Return an upper bound on R^2."""
        return Fraction(float(self.longest[0]))

    def comparators(self, start: Vector | None, passes: int = 1) -> list[Comparator]:
        """Return every u; `start` is w_1 with the bias weight last, `passes` the number of times rows were played."""
        if self.invalid_reason:
            return list(self.tally.comparators([]))
        square = self.square()
        longest = passes * self.tally.rows / square if start is None and square else None
        return list(self.tally.comparators(self.norms2, longest, self._starts(start)))

    def penalized(self, start: Vector | None, passes: int = 1) -> list[PenalizedComparator]:
        """Return every u whose targets grow with the length of x; start and passes as in `comparators`."""
        return [] if self.invalid_reason else list(self.tally.penalized(self.norms2, self._starts(start), passes))

    def over_mistakes(self, start: Vector | None, scales: Collection[float] | None = None) -> list[PenalizedComparator]:
        """Return every u, or those of some `scales`, with losses summed over the mistakes alone."""
        if self.invalid_reason:
            return []
        return list(self.tally.over_mistakes(self.norms2, self._starts(start), scales))

    def _starts(self, start: Vector | None) -> list[Fraction]:
        """Return lower bounds on <U, w_1> for each U; empty if w_1 = 0."""
        if start is None:
            return []
        square = length_of(start)
        error = (len(start) + 5) * 2 * UNIT * (root(square) + Fraction(1, 2**500))
        return [
            Fraction(dot) - error * Fraction(norm)
            for dot, norm in zip(self._dots(start)[:-1], self._norms[:-1].tolist(), strict=True)
        ]

    def _dots(self, weights: Vector) -> list[float]:
        """Return <U, w> for each direction and the probe; the bias weight is the last of `weights`."""
        products = self._with_rows(len(weights) - 1)[: len(weights) - 1].astype(np.float64) * weights[:-1, None]
        dots: list[float] = (np.sum(products, axis=0) + self.bias_weights * weights[-1]).tolist()
        return dots

    def unexplained(self, start: Vector | None, end: Vector) -> float:
        """Return the change of the weights that mistakes do not explain, in units of rounding error; up to 1 is fine.

        Args:
            start: Weights of the learner before the first round, the bias weight last; None if zero.
            end: Present weights of the learner, the bias weight last.
        """
        if not np.max(np.abs(end)) <= BEYOND:
            return math.inf
        first = np.zeros(1) if start is None else start
        R, M = math.sqrt(float(self.longest[0])), float(self.tally.mistakes)
        before, after = (math.sqrt(float(length_of(weights))) for weights in (first, end))
        n, d, unit = float(self.nonzeros + 4), float(max(len(first), len(end)) + 8), 2.0**-53
        # A generous upper bound on the lambda of the certificates: M may be as large as the rounds.
        grown = 4.0 * math.sqrt(before * before + R * R * M) * (1.0 + n * unit * math.sqrt(M))
        run, margin, sums = M * unit * grown, M * R * n * 4.0 * unit, d * 2.0 * unit * (before + after)
        added = self.tally.added[:-1].sum(axis=1).tolist()
        moved = [now - then for now, then in zip(self._dots(end), self._dots(first), strict=True)]
        allowed = [norm * (run + margin + sums) for norm in self._norms[:-1].tolist()]
        allowed.append(math.sqrt(n) * (run + margin) + math.sqrt(d) * sums)
        return max(ratio(gained - gone, 2.0 * most) for gained, gone, most in zip(added, moved, allowed, strict=True))

    def directions(self) -> tuple[Vector, ...]:
        """Return each U, feature by feature, the bias weight last; empty if there are millions of features."""
        if len(self.U) > MOST_STORED:
            return ()
        weights = self.U[:-1].astype(np.float64)
        return tuple(np.append(weights[:, k], self.bias_weights[k]) for k in range(self.tally.directions))

    @classmethod
    def arguments(cls, state: State) -> dict[str, object]:
        from novikoff.comparators._loops import margins

        found: State = super().arguments(state)
        U, weights, directions = found["U"], found["bias_weights"], margins.DIRECTIONS
        sound = U.shape[1] == margins.VECTORS and len(U) > 0 and weights.shape == (margins.VECTORS,)
        sound = sound and found["tally"].directions == directions and found["tally"].probes == 1
        require(sound and not U[-1, :directions].any(), f"comparators must have {directions} directions", U.shape)
        return found


def longest_of(x: Sparse, bias: float, normalize: bool) -> float:
    """Return approximately the largest ||x~||^2."""
    from novikoff.comparators._loops import descent

    square = np.zeros(len(x))
    descent.lengths(x.indptr, x.values, bias, normalize, np.empty(len(x)), square)
    return float(np.max(square, initial=0.0))


def _totals(saved: Any) -> tuple[Total, Total]:
    """Return the two sums of a saved state."""
    above, below = saved
    return Total(*map(float, above)), Total(*map(float, below))


def probe(first: int, stop: int) -> NDArray[np.float32]:
    """Return the probe's weights of features `first` to `stop` - 1: hashes of either sign, from 1/2 to 1 in size."""
    found = coins(0, "probe", first, stop)
    sizes = 0.5 + (found >> np.uint64(42)).astype(np.float64) * 2.0**-23
    return np.where(found & np.uint64(1), sizes, -sizes).astype(np.float32)


def ratio(difference: float, allowed: float) -> float:
    """Return the size of a difference in units of the tolerance; infinite if the difference is not a number."""
    if difference == 0.0:
        return 0.0
    return abs(difference) / allowed if allowed > 0.0 and math.isfinite(difference) else math.inf
