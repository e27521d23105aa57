"""Dual coordinate descent over rows z = y x~.

The problems are min (1/2)||u||^2 + C * (sum of losses) with the loss max(0, 1 - <u,z>), its square, or no loss allowed;
or with the loss max(0, 1 + kappa ||z||^2 - <u,z>). u is a given vector plus the sum of alpha_t z_t; a step moves one
alpha to the optimum of the dual, within 0 .. cost:
    hinge            cost = C          diagonal = 0
    squared hinge    cost = infinity   diagonal = 1/(2C)
    hard margin      cost = infinity   diagonal = 0
Rows are stored in one array of words, alternating the place and the value of a non-zero (in single precision), so that
a row is contiguous in memory; label, power of two and bias (place 0) are included. The alpha of a row of square 0 is
not moved: the row is zero, or single precision cannot hold it. Groups of GROUP rows are visited in random order: this
is as fast as visiting rows in sequence, and takes as few epochs as visiting them in random order.
No guarantee depends on the quality of u.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.lanes import inverse_norm, prefetch
from novikoff.numerics.records import SparseRows
from novikoff.numerics.splitmix import FIRST, GOLDEN, SECOND

Vector = NDArray[np.float64]
Offsets = NDArray[np.uint64]
Words = NDArray[np.uint32]
Singles = NDArray[np.float32]


class Packed(NamedTuple):
    """Packed rows: row t is words[ends[t]:ends[t+1]], alternating the place and the value of a non-zero."""

    ends: Offsets  # (rows + 1,)
    words: Words  # (words,)
    singles: Singles  # the same memory, to read the values


class Problem(NamedTuple):
    """Parameters of the problem, as in the module's table."""

    cost: float  # upper limit of every alpha
    diagonal: float  # summand of the diagonal of the dual's matrix
    kappa: float  # growth of the targets with ||z||^2; 0 for targets of 1


GROUP = 64
"""Number of consecutive rows that are visited together."""
LONGEST, SHORTEST = 2.0**60, 2.0**-60
"""Largest and smallest squared length of rows that are moved: quotients by it must stay finite."""

AHEAD = 1024
"""Number of words between the one in use and the one that is prefetched, to cover the latency of memory."""

GONE = 0xFFFFFFFF
"""Mark of a row that need not be visited again, in place of its number."""
STILL = 1e-12
"""Projected gradient below which an alpha is not moved."""


@compiled
def longest_sparse(indptr: Offsets, values: NDArray[Any]) -> float:
    """Return the largest sum of squares of a row, or NaN if one is NaN; `indptr` and `values` as in SparseRows."""
    longest = 0.0
    for t in range(len(indptr) - 1):
        total = 0.0
        for k in range(indptr[t], indptr[t + 1]):
            value = np.float64(values[k])
            total += value * value
        if not total <= longest:  # also true of NaN
            longest = total
    return longest


@compiled
def blank_sparse(indptr: Offsets, values: NDArray[Any], out: NDArray[np.bool_]) -> int:
    """Write to out (rows,) which rows are zero; return their number. `indptr` and `values` are as in SparseRows."""
    count = 0
    for t in range(len(out)):
        blank = True
        for k in range(indptr[t], indptr[t + 1]):
            if values[k] != 0:
                blank = False
                break
        out[t] = blank
        count += blank
    return count


@inlined
def write(words: Words, singles: Singles, here: Any, place: Any, single: Any) -> Any:
    """Write a place and its value at word `here`; return the square of the value.

    words, singles   (words,) the same memory, as integers for places and as float32 for values
    """
    words[here] = place
    singles[here + np.uint64(1)] = single
    return np.float64(single) * np.float64(single)


@compiled
def put_sparse(
    rows: SparseRows, y: NDArray[np.int8], bias: float, normalize: bool, unit: float, words: Words, singles: Singles,
    at: int, ends: Offsets, square: Vector,
) -> int:  # fmt: skip
    """Pack rows from word `at` on while there is room; return their number.

    Args:
        rows: Rows x.
        y: (rows,) labels -1 and +1.
        bias: Value of the constant feature; 0 for none.
        normalize: Whether each row is divided by its norm.
        unit: Power of two that rows are multiplied by.
        words: (words,) packed rows, written.
        singles: (words,) the same memory as float32.
        at: Position of the first word to write.
        ends: (rows,) end of each row, written.
        square: (rows,) ||z||^2, written; 0 for rows that single precision cannot hold.
    """
    indptr, indices, values = rows
    here, room = np.uint64(at), np.uint64(len(words))
    one, two = np.uint64(1), np.uint64(2)
    for t in range(len(y)):
        start, stop = indptr[t], indptr[t + 1]
        if here + two * (stop - start + one) > room:  # a place and a value for each non-zero and for the bias
            return t
        scale = inverse_norm(values, start, stop) if normalize else 1.0
        sign = y[t] * unit
        begin = here
        total = 0.0
        if bias != 0.0:
            total += write(words, singles, here, np.uint32(0), np.float32(bias * sign))
            here += two
        for k in range(start, stop):
            single = np.float32((np.float64(values[k]) * scale) * sign)
            total += write(words, singles, here, indices[k] + np.uint32(1), single)  # place 0 is the bias
            here += two
        if not SHORTEST < total < LONGEST:  # drop what was written: the row is stored as empty
            here = begin
            total = 0.0
        square[t] = total
        ends[t] = here
    return len(y)


@compiled
def put_dense(
    x: NDArray[Any], y: NDArray[np.int8], bias: float, normalize: bool, unit: float, words: Words, singles: Singles,
    at: int, ends: Offsets, square: Vector,
) -> int:  # fmt: skip
    """Pack dense rows x (rows, features) without their zeros.

    `words`, `singles`, `ends`, `square` and the other arguments are as in `put_sparse`.
    """
    here, room = np.uint64(at), np.uint64(len(words))
    two = np.uint64(2)
    for t in range(len(y)):
        row = x[t]
        if here + two * np.uint64(len(row) + 1) > room:
            return t
        scale = inverse_norm(row, 0, len(row)) if normalize else 1.0
        sign = y[t] * unit
        begin = here
        total = 0.0
        if bias != 0.0:
            total += write(words, singles, here, np.uint32(0), np.float32(bias * sign))
            here += two
        for k in range(len(row)):
            if row[k] != 0:
                single = np.float32((np.float64(row[k]) * scale) * sign)
                total += write(words, singles, here, np.uint32(k + 1), single)
                here += two
        if not SHORTEST < total < LONGEST:
            here = begin
            total = 0.0
        square[t] = total
        ends[t] = here
    return len(y)


@compiled
def shuffle(order: Words, word: int) -> None:
    """Shuffle `order` in place, as a function of `word` (SplitMix64)."""
    state = np.uint64(word)
    for last in range(len(order) - 1, 0, -1):  # Fisher-Yates
        state += GOLDEN
        z = state
        z = (z ^ (z >> np.uint64(30))) * FIRST
        z = (z ^ (z >> np.uint64(27))) * SECOND
        other = ((z >> np.uint64(32)) * np.uint64(last + 1)) >> np.uint64(32)  # 32 random bits, scaled to 0 .. last
        order[last], order[other] = order[other], order[last]


@compiled
def epoch(
    rows: Packed, square: Vector, alpha: Vector, order: Words, groups: Words, shift: int, u: Vector, problem: Problem,
    high: float, low: float, seen: Vector,
) -> int:  # fmt: skip
    """Make a step for each row of `order`; return the number of rows to visit again, which are moved to the front.

    A row whose alpha is at an end of its range, with a gradient beyond `high` or `low`, is dropped (shrinking).

    Args:
        rows: Packed rows z.
        square: (rows,) ||z||^2; 0 for rows that are not moved.
        alpha: (rows,) dual variables, changed.
        order: (active,) rows to visit, changed.
        groups: (groups,) all groups in the order of their visits: group g has the rows at positions
            GROUP * g - shift to GROUP * (g + 1) - shift - 1 of `order`.
        shift: Offset of the groups.
        u: (features,) weights, changed.
        problem: Parameters of the problem.
        high: Gradient above which a row with alpha = 0 is dropped.
        low: Gradient below which a row with alpha = cost is dropped.
        seen: (2,) largest and least projected gradient so far, changed.
    """
    ends, words, singles = rows
    cost, diagonal, kappa = problem
    active = len(order)
    most, least = seen[0], seen[1]
    one, two = np.uint64(1), np.uint64(2)
    for g in groups:
        begin = np.int64(g) * GROUP - shift
        first = np.uint64(begin if begin > 0 else 0)
        last = np.uint64(begin + GROUP if begin + GROUP < active else active)
        for i in range(first, last):
            ahead = order[min(i + two, last - one)]  # prefetch the row after the next one
            for k in range(ends[ahead], ends[ahead + one], np.uint64(16)):
                prefetch(words, k)
            t = order[i]
            start, stop = ends[t], ends[t + one]
            if square[t] == 0.0:
                order[i] = GONE
                continue
            old = alpha[t]
            margin = 0.0
            for k in range(start, stop, two):
                margin += u[words[k]] * singles[k + one]
            gradient = margin - 1.0 - kappa * square[t] + diagonal * old
            projected = gradient  # the gradient without the part that points out of 0 .. cost
            if old == 0.0:
                if gradient > high:
                    order[i] = GONE
                    continue
                projected = min(gradient, 0.0)
            elif old == cost:
                if gradient < low:
                    order[i] = GONE
                    continue
                projected = max(gradient, 0.0)
            most = max(most, projected)
            least = min(least, projected)
            if abs(projected) > STILL:
                new = min(max(old - gradient / (square[t] + diagonal), 0.0), cost)
                alpha[t] = new
                step = new - old
                for k in range(start, stop, two):
                    u[words[k]] += step * singles[k + one]
    seen[0], seen[1] = most, least
    kept = 0  # move the rows that were not dropped to the front, in order
    for i in range(active):
        if order[i] != GONE:
            order[kept] = order[i]
            kept += 1
    return kept


@compiled
def margins(rows: Packed, u: Vector, out: Vector) -> None:
    """Write <u, z> of every row to out (rows,); u: (features,)."""
    ends, words, singles = rows
    one, two = np.uint64(1), np.uint64(2)
    for t in range(len(out)):
        start, stop = ends[t], ends[t + 1]
        for k in range(start, stop, np.uint64(16)):
            prefetch(words, k + np.uint64(AHEAD))
        margin = 0.0
        for k in range(start, stop, two):
            margin += u[words[k]] * singles[k + one]
        out[t] = margin


@compiled
def combine(rows: Packed, alpha: Vector, u: Vector) -> None:
    """Add the sum of alpha_t z_t to u (features,); alpha: (rows,)."""
    ends, words, singles = rows
    one, two = np.uint64(1), np.uint64(2)
    for t in range(len(alpha)):
        if alpha[t] != 0.0:
            for k in range(ends[t], ends[t + 1], two):
                u[words[k]] += alpha[t] * singles[k + one]
