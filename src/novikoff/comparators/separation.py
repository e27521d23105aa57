"""Separation of labelled rows by a vector: the widest margin, or a proof that the rows are not separable.

Algorithm
    Cutting planes: rows are read in chunks, as often as needed. Those whose margin under the present u is smallest
    become corners of a polytope, whose nearest point to the origin is the next u (comparators/nearest_point.py). After
    a reading in which no row had a smaller margin than the corners, up to GAP, u has the widest margin. If the nearest
    point is the origin, the corners that span it are tried as a proof in integers (comparators/witness.py).
    Rows are signed and scaled by a power of two. If margins are so thin that rounding hides them, the search is
    repeated with rows divided by their lengths, then with columns scaled to a common size before that: either may still
    find a separator, and the one with the largest verified margin is taken.
    Zero rows labelled +1, without a constant feature, are ignored: every learner here predicts +1 on them and learns
    nothing, so they are no mistakes and a bound for the other rows holds for all. A learner from outside may predict
    -1: then they need a margin, and have none.
    Rows that are divided by norms whose squares over- or underflow are neither searched nor separated: a learner has
    other quotients.
Promise
    Three outcomes. "separated": u is a candidate; `Separator` verifies its margin on every row, rounded down.
    "inseparable": the witness is a proof. "unknown": neither was found within the budget or the precision of doubles.
Cost
    Memory: MOST_CORNERS rows and their inner products. Time: at most `visits` non-zeros of rows are read, and STEPS
    steps with WORK multiplications made. Noise in few dimensions is proved inseparable on the first chunk; in hundreds,
    a proof would need more rows than MOST_EXACT, and the budget for noisy streams soon ends the search.
Reference
    [wolfe1976] for the nearest point; [kelley1960] for cutting planes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.blas import one_blas_thread
from novikoff.comparators.nearest_point import NearestPoint
from novikoff.comparators.rounding import length_of, of_length
from novikoff.comparators.rows import Labels, Rows, without_zeros
from novikoff.comparators.tally import LEAST, Comparator, shortened
from novikoff.comparators.witness import Witness, linear_witness
from novikoff.core.types import Sparse

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Outcome = Literal["separated", "inseparable", "unknown"]

CHUNK = 4096
"""Number of rows that are compared with u together."""
FIRST = 512
"""Number of rows of the first chunk: noise is proved inseparable on few rows."""
CUTS = 24
"""Maximum number of rows of a chunk that become corners together."""
GAP = 1e-4
"""Relative distance of the margin from the widest at which the search ends."""
FLAT = 1e-13
"""||p||^2 in units of R^2 below which p may be the origin: doubles cannot tell."""
THIN = 1e-6
"""||p||^2 in units of R^2 below which rounding may stop the search early: then scaled searches are tried too."""
MOST_CORNERS = 1500
"""Number of corners above which those outside the corral are dropped."""
STEPS = 20_000
"""Maximum number of steps towards the nearest point, in all."""
VISITS, VISITS_NOISY = 200_000_000, 20_000_000
"""Non-zeros read in a search on the rows of one pass: if the learner's mistakes are few, and if they are many."""
WORK, WORK_NOISY, WORK_PATIENT = 3e10, 2e9, 5e11
"""Multiplications of a search towards the nearest point: after one pass, if mistakes are few or many; in hindsight."""
LARGE = 48
"""Number of corners in the corral from which on a library would compute with several threads, and be slower."""
FEW_MISTAKES = 20
"""Rows per mistake from which on the mistakes are few."""
MOST_EXACT, MOST_EXACT_PATIENT = 64, 256
"""Maximum number of rows of a proof in integers: after one pass, and in hindsight."""
DIVIDED = 2.0**-450
"""Smallest length that is divided by."""
SHORTEST, LONGEST = 2.0**-900, 2.0**900
"""Smallest and largest squared norm by which a learner divides with the accuracy of doubles."""


@dataclass(frozen=True, slots=True, eq=False)
class Separation:
    """Result of a search.

    Attributes:
        outcome: "separated" if u has a positive margin on every row as computed; "inseparable" with a witness.
        u: Candidate, features first and the bias weight last; empty if none was found.
        limit: Margin that no unit vector exceeds, rounded up; infinite if it is unknown.
        witness: Proof that no vector separates the rows; None if none was found.
    """

    outcome: Outcome
    u: Vector = field(default_factory=lambda: np.zeros(0))
    limit: float = math.inf
    witness: Witness | None = None

    @property
    def found(self) -> bool:
        """Whether there is a candidate."""
        return self.outcome == "separated"


NOT_SEARCHED = Separation("unknown")
"""Result if no search was made."""


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Rows with their labels and numbers.

    Attributes:
        x: Rows, before any division by their norms.
        y: Labels -1 and +1.
        first: Number of the first row, counted from 0.
    """

    x: Rows
    y: Labels
    first: int


def chunks_of(x: Rows, y: Labels) -> Callable[[], Iterator[Chunk]]:
    """Return a function that yields rows in memory in chunks, a short one first."""

    def read() -> Iterator[Chunk]:
        start, size = 0, FIRST
        while start < len(y):
            yield Chunk(x[start : start + size], y[start : start + size], start)
            start, size = start + size, CHUNK

    return read


def regrouped(parts: Iterable[tuple[Rows, Labels]]) -> Iterator[Chunk]:
    """Yield the rows of all parts in the chunks of `chunks_of`, however they are divided into parts."""
    waiting: list[tuple[Sparse, Labels]] = []
    first, size, count = 0, FIRST, 0
    for x, y in parts:
        waiting.append((without_zeros(x).copy(np.float64), y.copy()))
        count += len(y)
        while count >= size:
            rows, labels = Sparse.concatenated([one for one, _ in waiting]), np.concatenate([two for _, two in waiting])
            yield Chunk(rows[:size].copy(), labels[:size], first)
            waiting = [(rows[size:], labels[size:])]
            first, count, size = first + size, count - size, CHUNK
    if count:
        yield Chunk(
            Sparse.concatenated([one for one, _ in waiting]), np.concatenate([two for _, two in waiting]), first
        )


class Signed:
    """Signed rows y x~ as sparse rows, the constant feature in column 0.

    Args:
        chunk: Rows.
        bias: Value of the constant feature; 0 for none.
        normalize: Whether each x is divided by its norm.
        unit: Power of two that rows are multiplied by.
        columns: (features + 1,) powers of two that columns are multiplied by, before each row is divided by its length;
            None for neither.

    Attributes:
        ends: (rows + 1,) position of the first entry of each row, and the end of the last.
        places: Column of each entry.
        data: Value of each entry.
        width: Number of columns.
        counted: (rows,) whether the row counts; zero rows labelled +1 do not.
        accurate: Whether every row that is divided by its norm is a multiple of the learner's row, up to rounding.
    """

    def __init__(self, chunk: Chunk, bias: float, normalize: bool, unit: float, columns: Vector | None = None) -> None:
        x, n = without_zeros(chunk.x).alone(), len(chunk.y)
        ends, values = x.indptr.astype(np.int64), x.values.astype(np.float64)
        zero = _sums(ends, (values != 0.0).astype(np.float64)) == 0.0  # before anything can underflow
        self.accurate = True
        if normalize:
            with np.errstate(over="ignore", under="ignore"):
                squares = _sums(ends, np.square(values))[~zero]
            self.accurate = bool(np.all((squares >= SHORTEST) & (squares <= LONGEST)))
            values = values * np.repeat(_inverse(ends, values), np.diff(ends))
        places = x.indices.astype(np.int64) + 1
        if bias != 0.0:
            ends = ends + np.arange(n + 1)
            constant = np.zeros(len(values) + n, np.bool_)
            constant[ends[:-1]] = True
            data, all_places = np.empty(len(constant)), np.zeros(len(constant), np.int64)
            data[constant], data[~constant], all_places[~constant] = bias, values, places
            values, places = data, all_places
        lengths = np.diff(ends)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            values = values * unit
            if columns is not None:
                values = values * columns[places]
                values = values * np.repeat(_inverse(ends, values), lengths)
        self.ends, self.places, self.width = ends, places, x.width + 1
        self.data = values * np.repeat(chunk.y.astype(np.float64), lengths)
        self.counted = ~(zero & (chunk.y == 1)) if bias == 0.0 else np.ones(n, np.bool_)

    def times(self, p: Vector) -> Vector:
        """Return <p,z> of every row; p has at least `width` entries."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return _sums(self.ends, self.data * p[self.places])

    def row(self, t: int) -> tuple[NDArray[np.int64], Vector]:
        """Return row t as (places, values)."""
        here = slice(int(self.ends[t]), int(self.ends[t + 1]))
        return self.places[here].copy(), self.data[here].copy()


def _sums(ends: NDArray[np.int64], values: Vector) -> Vector:
    """Return the sum of the entries of each row."""
    out, full = np.zeros(len(ends) - 1), np.diff(ends) > 0
    if full.any():
        out[full] = np.add.reduceat(values, ends[:-1][full])
    return out


class _Corners:
    """Signed rows that are corners, with what a proof needs of them."""

    def __init__(self) -> None:
        self.rows: list[tuple[NDArray[np.int64], Vector]] = []  # signed and scaled
        self.raw: list[tuple[int, Any, int]] = []  # number, (indices, values) as read, and label
        self._ends, self._places, self._data = np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0)

    def add(self, rows: list[tuple[NDArray[np.int64], Vector]], raw: list[tuple[int, Any, int]]) -> None:
        self.rows, self.raw = self.rows + rows, self.raw + raw
        self._ends = np.append(self._ends, self._ends[-1] + np.cumsum([len(places) for places, _ in rows]))
        self._places = np.concatenate([self._places, *(places for places, _ in rows)])
        self._data = np.concatenate([self._data, *(values for _, values in rows)])

    def keep(self, corners: NDArray[np.int64]) -> None:
        """Forget all corners but these."""
        rows, raw = [self.rows[t] for t in corners.tolist()], [self.raw[t] for t in corners.tolist()]
        self.__init__()  # type: ignore[misc]
        self.add(rows, raw)

    def products(self, rows: list[tuple[NDArray[np.int64], Vector]], width: int) -> Matrix:
        """Return (corners, rows) inner products with some rows."""
        out, dense = np.zeros((len(self.rows), len(rows))), np.zeros(width)
        for k, (places, values) in enumerate(rows):
            np.add.at(dense, places, values)
            out[:, k] = _sums(self._ends, self._data * dense[self._places])
            dense[places] = 0.0
        return out

    def combined(self, corners: NDArray[np.int64], weights: Vector, width: int) -> Vector:
        """Return the weighted sum of some corners."""
        out = np.zeros(width)
        for t, weight in zip(corners.tolist(), weights.tolist(), strict=True):
            places, values = self.rows[t]
            np.add.at(out, places, weight * values)
        return out


def _inverse(ends: NDArray[np.int64], values: Vector) -> Vector:
    """Return 1 / length of each row, without overflow; 0 for a zero row."""
    out = np.zeros(len(ends) - 1)
    if not len(out) or not len(values):
        return out
    counts = np.diff(ends)
    full = counts > 0
    largest = np.zeros(len(out))
    largest[full] = np.maximum.reduceat(np.abs(values), ends[:-1][full])
    safe = np.where((largest > 0.0) & np.isfinite(largest), largest, 1.0)
    sums = np.zeros(len(out))
    sums[full] = np.add.reduceat(np.square(values / np.repeat(safe, counts)), ends[:-1][full])
    good = (largest > DIVIDED) & (sums > 0.0)
    out[good] = 1.0 / (np.sqrt(sums[good]) * safe[good])
    return out


class _Search:
    """One search: its corners, the nearest point, and what is left of its budget."""

    def __init__(
        self, bias: float, normalize: bool, unit: float, columns: Vector | None, visits: float, exact: int, work: float
    ) -> None:
        self.bias, self.normalize, self.unit, self.columns = bias, normalize, unit, columns
        self.visits, self.steps, self.exact, self.work = visits, STEPS, exact, work
        self.nearest, self.corners = NearestPoint(), _Corners()
        self.p, self.accurate = np.zeros(1), True

    def is_spent(self) -> bool:
        """Return whether nothing is left of the budget."""
        return self.visits <= 0 or self.steps <= 0 or self.nearest.work >= self.work

    def run(self, chunks: Callable[[], Iterable[Chunk]]) -> Separation:
        """Read the rows until u has the widest margin, or none is left, or the budget is spent."""
        clean = False
        while not clean and not self.is_spent():
            clean = True
            for chunk in chunks():
                lower = self._compare(chunk)
                if not self.accurate:
                    return NOT_SEARCHED
                if not lower:
                    continue
                clean = False
                if self._is_flat():
                    return self._flat()
                if self.is_spent():
                    break
        if not self.nearest.count:
            return NOT_SEARCHED
        limit = math.inf if self.columns is not None else self._limit()
        p = self.p if self.columns is None else self.p * self.columns[: len(self.p)]
        u = np.append(p[1:], p[0])
        found = bool(np.any(u)) and (clean or self._separates(chunks()))
        return Separation("separated" if found else "unknown", u, limit)

    def _separates(self, chunks: Iterable[Chunk]) -> bool:
        """Return whether u has a positive margin on every row, as computed."""
        for chunk in chunks:
            signed = Signed(chunk, self.bias, self.normalize, self.unit, self.columns)
            self.p = np.append(self.p, np.zeros(max(signed.width - len(self.p), 0)))
            if np.any(signed.times(self.p)[signed.counted] <= 0.0):
                return False
        return True

    def _limit(self) -> float:
        """Return a margin that no unit vector exceeds: the length of the corners' mean, p, rounded up.

        For k corners of n entries, p is computed with an error of at most (k + 2) 2^-53 R, and rows that were divided
        by their norms with one of (n/2 + 8) 2^-53 R; the weights sum to 1 up to k 2^-53.
        """
        k, n = len(self.nearest.corral), max(len(self.corners.rows[t][0]) for t in self.nearest.corral.tolist())
        total = math.fsum(self.nearest.weights.tolist())
        error = (k + n + 16) * 2.0**-51 * math.sqrt(self.nearest.largest)
        length = math.sqrt(float(np.sum(np.square(self.p)))) * (1.0 + (len(self.p) + 8) * 2.0**-52)
        return (length + error) / (total * (1.0 - 2.0**-48)) / self.unit

    def _compare(self, chunk: Chunk) -> bool:
        """Add the rows of a chunk with the smallest margins as corners; return whether there were any."""
        signed = Signed(chunk, self.bias, self.normalize, self.unit, self.columns)
        self.visits -= len(signed.data) + len(chunk.y)
        self.accurate = signed.accurate
        if not self.accurate:
            return False
        self.p = np.append(self.p, np.zeros(max(signed.width - len(self.p), 0)))
        margins = signed.times(self.p)
        margins[~signed.counted] = math.inf
        if not self.nearest.count:
            low = np.flatnonzero(signed.counted)[:CUTS]
        else:
            square = self.nearest.square
            low = np.flatnonzero(margins < square * (1.0 - GAP))
            low = low[np.argsort(margins[low], kind="stable")[:CUTS]]
        if not len(low):
            return False
        self._add(signed, chunk, np.sort(low))
        large = len(self.nearest.corral) >= LARGE
        with one_blas_thread(with_scipy=False) if large else nullcontext():
            self.steps -= self.nearest.solve(FLAT * self.nearest.largest, max(self.steps, 1), work=self.work)
        corral = self.nearest.corral
        before, self.p = self.p, self.corners.combined(corral, self.nearest.weights, len(self.p))
        return self._is_flat() or not np.array_equal(before, self.p)

    def _is_flat(self) -> bool:
        """Return whether the nearest point may be the origin."""
        return self.nearest.square <= FLAT * self.nearest.largest

    def _add(self, signed: Signed, chunk: Chunk, chosen: NDArray[np.int64]) -> None:
        new, rows = [signed.row(t) for t in chosen.tolist()], without_zeros(chunk.x)
        raw = [(chunk.first + t, tuple(part.copy() for part in rows.row(t)), int(chunk.y[t])) for t in chosen.tolist()]
        self.corners.add(new, raw)
        products = self.corners.products(new, len(self.p))
        self.nearest.add(products[: -len(new)], products[-len(new) :])
        if self.nearest.count > MOST_CORNERS and len(self.nearest.corral) < MOST_CORNERS // 2:
            kept = np.union1d(self.nearest.corral, np.arange(self.nearest.count - len(new), self.nearest.count))
            self.nearest.keep(kept)
            self.corners.keep(kept)

    def _flat(self) -> Separation:
        """Return the proof that these corners give; "unknown" if they give none."""
        corral, weights = self.nearest.corral, self.nearest.weights
        for least in (0.0, 1e-10, 1e-6):
            used = weights > least * float(np.max(weights))
            if np.count_nonzero(used) > self.exact:
                continue
            some = [self.corners.raw[t] for t in corral[used].tolist()]
            order = np.argsort([one[0] for one in some], kind="stable").tolist()
            hints = weights[used].tolist()
            witness = linear_witness(
                [some[t][0] for t in order], [some[t][1] for t in order], [some[t][2] for t in order],
                [hints[t] for t in order], self.bias, self.normalize,
            )  # fmt: skip
            if witness is not None:
                return Separation("inseparable", witness=witness, limit=0.0)
        return Separation("unknown", limit=math.inf if self.columns is not None else self._limit())


def separate(
    chunks: Callable[[], Iterable[Chunk]], longest: float, bias: float, normalize: bool, visits: float = VISITS,
    exact: int = MOST_EXACT, work: float = WORK,
) -> Separation:  # fmt: skip
    """Search for the vector with the widest margin, or for a proof that none has a positive one.

    Args:
        chunks: Function that yields the rows, each time from the first.
        longest: Approximately the largest ||x~||^2.
        bias: Value of the constant feature; 0 for none.
        normalize: Whether each x is divided by its norm.
        visits: Non-zeros to read, about.
        exact: Maximum number of rows of a proof.
        work: Multiplications towards the nearest point, about.
    """
    if not (longest == 0.0 or 2.0**-900 <= longest <= 2.0**900):
        return NOT_SEARCHED
    unit = math.ldexp(1.0, -math.frexp(math.sqrt(longest))[1])  # 1 if all rows are zero
    search = _Search(bias, normalize, unit, None, visits, exact, work)
    found = search.run(chunks)
    wide = found.found and search.nearest.square > THIN * search.nearest.largest
    if wide or found.outcome == "inseparable" or search.is_spent() or not search.accurate:
        return found
    margin = _margin(found.u, chunks, bias, normalize) if found.found else 0.0
    columns = _columns(chunks(), bias, normalize, unit)
    for scales in (np.ones_like(columns), columns):
        search = _Search(bias, normalize, unit, scales, visits, exact, work)
        again = search.run(chunks)
        if again.outcome == "inseparable":
            return again
        if again.found and (wider := _margin(again.u, chunks, bias, normalize)) > margin:
            found, margin = replace(again, limit=min(again.limit, found.limit)), wider
        if search.is_spent():
            break
    return found


def _margin(u: Vector, chunks: Callable[[], Iterable[Chunk]], bias: float, normalize: bool) -> float:
    """Return about the least margin of u at length 1, on the rows that count; 0 if it is not positive for certain."""
    separator = Separator(u, bias, normalize)
    for chunk in chunks():
        separator.see(chunk.x, chunk.y, np.zeros(len(chunk.y), np.bool_))
    return separator.least / math.sqrt(length_of(separator.u)) if separator.comparator(1) is not None else 0.0


def _columns(chunks: Iterable[Chunk], bias: float, normalize: bool, unit: float) -> Vector:
    """Return the power of two for each column that brings its largest value between 1/2 and 1."""
    largest = np.zeros(1)
    for chunk in chunks:
        signed = Signed(chunk, bias, normalize, unit)
        largest = np.append(largest, np.zeros(max(signed.width - len(largest), 0)))
        np.maximum.at(largest, signed.places, np.abs(signed.data))
    return np.where(largest > 0.0, np.ldexp(1.0, np.clip(-np.frexp(largest)[1], -500, 500)), 1.0)


class Separator:
    """A vector whose least margin on every row is computed in doubles and rounded down.

    Rounding
        As in comparators/linear.py, with sum |u_i x_i| in place of ||u|| ||x||: the error of a sum of n products is at
        most n 2^-53 / (1 - n 2^-53) times that sum, plus n 2^-1074 for products that underflow; a row that is divided
        by its norm has a relative error of (n/2 + 4) 2^-53 in addition. Subtracted is (n + 8) 2^-51 times the sum,
        and n 2^-1000.

    Args:
        u: The vector, features first and the bias weight last.
        bias: Value of the constant feature; 0 for none.
        normalize: Whether each x is divided by its norm.
    """

    def __init__(self, u: Vector, bias: float, normalize: bool) -> None:
        scaled = of_length(u, 1) if len(u) and np.any(u) and np.all(np.isfinite(u)) else np.zeros(max(len(u), 1))
        self.u, self.bias, self.normalize = scaled, bias, normalize
        self.least, self.rows = math.inf, 0
        self.usable = bool(np.any(scaled))

    def see(self, x: Rows, y: Labels, wrong: NDArray[np.bool_]) -> None:
        """Process rows; `wrong` are the mistakes, which need a margin even on zero rows."""
        self.rows += len(y)
        if not self.usable:
            return
        for chunk in chunks_of(x, y)():
            self._see(chunk, wrong[chunk.first : chunk.first + len(chunk.y)])

    def _see(self, chunk: Chunk, wrong: NDArray[np.bool_]) -> None:
        signed = Signed(chunk, self.bias, self.normalize, 1.0)
        if not signed.accurate:
            self.least = -math.inf
            return
        u = np.zeros(max(signed.width, len(self.u)))
        u[0], u[1 : len(self.u)] = self.u[-1], self.u[:-1]
        n = np.diff(signed.ends).astype(np.float64)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            sizes = _sums(signed.ends, np.abs(signed.data * u[signed.places]))
            margins = signed.times(u) - ((n + 8.0) * 2.0**-51 * sizes + n * 2.0**-1000)
        margins = margins[signed.counted | wrong]
        if len(margins):
            least = float(np.min(margins))
            self.least = min(self.least, least) if math.isfinite(least) else -math.inf

    def comparator(self, direction: int) -> Comparator | None:
        """Return u at the scale at which its margin is 1; None if it does not separate the rows."""
        if not self.usable or not LEAST < self.least < math.inf:
            return None
        least, none = Fraction(self.least), Fraction(0)
        square = shortened(*(length_of(self.u) / least**2).as_integer_ratio())
        return Comparator(direction, self.least, square, none, none, none, 0)


def in_memory(x: Sparse, y: Labels, longest: float, bias: float, normalize: bool, mistakes: int) -> Separation:
    """Search on the rows that a game has kept: longer if the learner's mistakes are few."""
    few = mistakes * FEW_MISTAKES <= len(y)
    visits = VISITS if few or x.indptr[-1] <= VISITS_NOISY / 200 else VISITS_NOISY
    return separate(chunks_of(x, y), longest, bias, normalize, visits, work=WORK if few else WORK_NOISY)
