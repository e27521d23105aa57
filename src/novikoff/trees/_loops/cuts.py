"""Bins of columns, and the best cut of a column: for growing trees, forests and boosted trees.

A column of a node is cut between two bins, in the order of the bins for numbers and of their means for categories;
missing values go to the better side. `sets` (2,) has a bit for each bin that goes to the left child.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from novikoff.numerics.compiled import borrowing_inner, inlined
from novikoff.numerics.quotient import quotient
from novikoff.numerics.splitmix import GOLDEN, uniform
from novikoff.trees._loops.layout import BINS, STRIDE

Vector = NDArray[np.float64]
CONSTANT = -1
"""Returned instead of the number of bins left of the cut if a column has only one bin in the node."""

FEW = 64
"""Rows of a node up to which its bins are listed while rows are counted, instead of searched among all bins."""


class Limits(NamedTuple):
    """Constants of a cut."""

    least: int  # fewest rows on either side
    ridge: float  # added to the curvature of either side
    fine: float  # subtracted from the gain of a cut on categories, per category beyond the second
    smoothing: float  # rows, or curvature, added to a category when categories are ordered by their means


@inlined
def draw(coins: NDArray[np.uint64]) -> float:
    """Return the next random number in [0, 1); coins (1,) is the state of the generator."""
    coins[0] += GOLDEN
    return uniform(coins[0], -1)


@borrowing_inner
def bin_of(value: float, category: bool, edges: Vector) -> int:
    """Return the bin of a value: value <= edges[b - 1] if and only if it is in a bin from 1 to b."""
    if value != value:
        return 0
    if category:
        return BINS - 1 if value < 0.0 else min(int(value) + 1, BINS - 1)
    below, step = 0, 64
    while step > 0:  # always seven steps, without a branch to mispredict: edges beyond the last are infinite
        below += step if value > edges[below + step - 1] else 0
        step >>= 1
    return below + 1


@inlined
def bin_goes_left(e: int, category: bool, last: int, missing_left: int, sets: NDArray[np.uint64]) -> bool:
    """Return whether a bin is left of a cut.

    A bin of numbers is if it is at most `last`, a bin of categories if its bit in sets (2,) is set.
    """
    if e == 0:
        return missing_left == 1
    if category:
        return (sets[e >> 6] >> np.uint64(e & 63)) & np.uint64(1) == np.uint64(1)
    return e <= last


@borrowing_inner
def goes_left(value: float, category: bool, cut: float, sets: NDArray[np.uint64], missing_left: int) -> bool:
    """Return whether a value goes to the left child; a category that was absent at the cut goes right."""
    if value != value:
        return missing_left == 1
    if not category:
        return value <= cut
    e = BINS - 1 if value < 0.0 else min(int(value) + 1, BINS - 1)
    return (sets[e >> 6] >> np.uint64(e & 63)) & np.uint64(1) == np.uint64(1)


@borrowing_inner
def set_of(order: NDArray[np.int64], where: int, sets: NDArray[np.uint64]) -> None:
    """Write the first `where` bins of `order` as bits to sets (2,)."""
    sets[0] = np.uint64(0)
    sets[1] = np.uint64(0)
    for i in range(where):
        sets[order[i] >> 6] |= np.uint64(1) << np.uint64(order[i] & 63)


@borrowing_inner
def sort_bins(order: NDArray[np.int64], met: int, means: Vector) -> None:
    """Sort the first `met` bins of `order` by means[bin]; equal ones keep their order."""
    for i in range(1, met):
        e, k = order[i], i - 1
        while k >= 0 and means[order[k]] > means[e]:
            order[k + 1] = order[k]
            k -= 1
        order[k + 1] = e


@intrinsic
def _lowest(typingctx: Any, bits: Any) -> Any:
    """Return the place of the lowest 1 among bits that are not all 0."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


lowest: Any = _lowest
"""Place of the lowest 1 among bits that are not all 0."""


@intrinsic
def _count(typingctx: Any, here: Any, e: Any, g: Any, h: Any) -> Any:
    """Add g, h and 1 to entries STRIDE e .. STRIDE e + 2: one load and one store of four numbers."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double, word, short = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
        four = ir.VectorType(double, STRIDE)
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        start = builder.gep(data, [builder.mul(arguments[1], ir.Constant(word, STRIDE))])
        place = builder.bitcast(start, four.as_pointer())
        more = ir.Constant(four, [0.0, 0.0, 1.0, 0.0])
        for lane in range(2):
            more = builder.insert_element(more, arguments[2 + lane], ir.Constant(short, lane))
        builder.store(builder.fadd(builder.load(place, align=8), more), place, align=8)
        return context.get_dummy_value()

    return types.void(here, types.int64, types.float64, types.float64), codegen


count_row: Any = _count
"""count_row(here, e, g, h): add a row of gradient g and curvature h to bin e of a histogram."""


@inlined
def list_bins(low: np.uint64, high: np.uint64, order: NDArray[np.int64]) -> int:
    """Write the bins whose bits are set, but bin 0, to `order`, ascending; return their number.

    Args:
        low: Bits of the bins 0 .. 63.
        high: Bits of the bins 64 .. 127.
        order: (BINS,) Out.
    """
    met, rest = 0, low & ~np.uint64(1)
    while rest != np.uint64(0):
        order[met] = lowest(rest)
        met += 1
        rest &= rest - np.uint64(1)
    rest = high
    while rest != np.uint64(0):
        order[met] = 64 + lowest(rest)
        met += 1
        rest &= rest - np.uint64(1)
    return met


@borrowing_inner
def label_cut(
    codes: NDArray[np.uint8], rows: NDArray[np.int32], labels: NDArray[np.int64], category: bool,
    whole: NDArray[np.int64], limits: Limits, table: Vector, here: NDArray[np.int64], order: NDArray[np.int64],
    means: Vector,
) -> tuple[float, int, int]:  # fmt: skip
    """Return the gain in nats of the best cut of a column for labels.

    Args:
        codes: (m,) bins of the column.
        rows: (n,) rows of the node.
        labels: (n,) their labels.
        category: Whether bins are categories.
        whole: (k,) number of rows with each label.
        limits: Constants.
        table: (n + 1 or more,) x ln x of whole numbers.
        here: (BINS + 1, k + 1) zeros, and zeros again on return: rows of each bin by label, then all; the last bin has
            those left of the cut.
        order: (BINS,) written: bins of the node in the order of the cut, from left to right.
        means: (BINS,) working memory.

    Returns:
        The gain; the number of bins left of the cut, 0 if no cut is allowed, `CONSTANT` if there is one bin only; and
        whether missing values go left.
    """
    # The gain is the decrease of the log loss of the best constants: with f(x) = x ln x, the sum over both sides of
    # f(n_c) over the labels less f(n), minus the same of the whole node.
    n, k, met = len(rows), len(whole), 0
    if n <= FEW:
        low, high = np.uint64(0), np.uint64(0)
        for a in range(n):
            e = int(codes[rows[a]])
            here[e, labels[a]] += 1
            here[e, k] += 1
            bit = np.uint64(1) << np.uint64(e & 63)
            low |= bit if e < 64 else np.uint64(0)
            high |= bit if e >= 64 else np.uint64(0)
        met = list_bins(low, high, order)
    else:
        for a in range(n):
            e = int(codes[rows[a]])
            here[e, labels[a]] += 1
            here[e, k] += 1
        for e in range(1, BINS):
            order[met] = e
            met += 1 if here[e, k] > 0 else 0
    missing = here[0, k]
    best, where, side = 0.0, 0, 0
    if met + (missing > 0) < 2:
        where = CONSTANT
    else:
        fine = 0.0
        if category:
            main = 0  # the most frequent label; its share is the mean of a category
            for c in range(1, k):
                main = c if whole[c] > whole[main] else main
            for i in range(met):
                e = order[i]
                means[e] = (here[e, main] + limits.smoothing * whole[main] / n) / (here[e, k] + limits.smoothing)
            sort_bins(order, met, means)
            fine = limits.fine * max(met - 2, 0)
        base = -table[n]
        for c in range(k):
            base += table[whole[c]]
        best = base + fine  # constant terms are compared, not subtracted from every gain
        for go in range(2 if missing > 0 else 1):  # 1: missing values go left
            for c in range(k):
                here[BINS, c] = here[0, c] if go == 1 else 0
            there = missing if go == 1 else 0  # rows left of the cut
            # After the last bin, the cut separates the missing values from all others.
            for i in range(met if missing > 0 else met - 1):
                e = order[i]
                there += here[e, k]
                gain = 0.0
                for c in range(k):
                    left = here[BINS, c] + here[e, c]
                    here[BINS, c] = left
                    gain += table[left] + table[whole[c] - left]
                gain -= table[there] + table[n - there]
                if gain > best and there >= limits.least and n - there >= limits.least:
                    best, where, side = gain, i + 1, go
        best -= base + fine
    # Only the rows of `here` that were used are cleared.
    for i in range(met):
        for c in range(k + 1):
            here[order[i], c] = 0
    for c in range(k + 1):
        here[0, c] = 0
    return best, where, side


@inlined
def gains_of(
    left: NDArray[np.float64], cuts: int, go: int, missing: tuple[float, float], g: float, h: float, ridge: float,
    base: float,
) -> None:  # fmt: skip
    """Write the gains of all cuts of a column to row 4 + go of left; a loop without branches, which is vectorised."""
    more_g, more_h = go * missing[0], go * missing[1]
    for i in range(cuts):
        gl, hl = left[1, i] + more_g, left[2, i] + more_h
        gr, below, above = g - gl, hl + ridge, h - hl + ridge
        # One division takes as long as the rest of the loop.
        left[4 + go, i] = quotient(0.5 * (gl * gl * above + gr * gr * below), below * above) - base


@borrowing_inner
def sum_cut(
    here: NDArray[np.float64], bins: int, met: int, category: bool, squares: float, limits: Limits,
    order: NDArray[np.int64], left: NDArray[np.float64],
) -> tuple[float, int, int]:  # fmt: skip
    """Return the gain in nats of the best cut of a column for sums: of numbers, or of gradients of a loss.

    Args:
        here: (STRIDE BINS,) sums over the rows of each bin: gradient, curvature, 1; for numbers, number less the mean,
            1, 1.
        bins: Number of bins that are used.
        met: Number of bins with rows if `order` lists them, ascending and without bin 0; -1 to find them.
        category: Whether bins are categories.
        squares: For numbers, the sum of their squares: the gain is then that of normal distributions of unknown
            variance. 0 otherwise.
        limits: Constants.
        order: (BINS,) written: bins of the node in the order of the cut, from left to right.
        left: (6, BINS) working memory: means of the bins; gradient, curvature and rows left of each cut, without
            missing values; its gain with missing values on the right, and on the left.

    Returns:
        The gain, the number of bins left of the cut, 0 if no cut is allowed, and whether missing values go left.
    """
    ridge, left_g, left_h, left_n = limits.ridge, 0.0, 0.0, 0.0
    missing_g, missing_h, missing_n = here[0], here[1], here[2]
    g, h, n = missing_g, missing_h, missing_n
    for i in range(met):
        e = order[i]
        left_g += here[STRIDE * e]
        left_h += here[STRIDE * e + 1]
        left_n += here[STRIDE * e + 2]
        left[1, i] = left_g
        left[2, i] = left_h
        left[3, i] = left_n
    if met >= 0:
        g += left_g
        h += left_h
        n += left_n
        bins = 0
    met = max(met, 0)
    for e in range(1, bins):
        bin_g, bin_h, bin_n = here[STRIDE * e], here[STRIDE * e + 1], here[STRIDE * e + 2]
        g += bin_g
        h += bin_h
        n += bin_n
        # A bin without rows is overwritten by the next one, without a branch; what a difference left in it is skipped.
        some = bin_n > 0.0
        left_g += bin_g if some else 0.0
        left_h += bin_h if some else 0.0
        left_n += bin_n
        order[met] = e
        left[1, met] = left_g
        left[2, met] = left_h
        left[3, met] = left_n
        met += 1 if some else 0
    fine = 0.0
    if category:
        for i in range(met):
            left[0, order[i]] = quotient(here[STRIDE * order[i]], here[STRIDE * order[i] + 1] + limits.smoothing)
        sort_bins(order, met, left[0])
        fine = limits.fine * max(met - 2, 0)
        left_g = 0.0
        left_h = 0.0
        left_n = 0.0
        for i in range(met):
            left_g += here[STRIDE * order[i]]
            left_h += here[STRIDE * order[i] + 1]
            left_n += here[STRIDE * order[i] + 2]
            left[1, i] = left_g
            left[2, i] = left_h
            left[3, i] = left_n
    # After the last bin, the cut separates the missing values from all others.
    cuts, sides = (met, 2) if missing_n > 0.0 else (met - 1, 1)
    # A node of gradient sum g and curvature sum h lowers the loss by g^2 / (2 (h + ridge)).
    base, best, where, side = quotient(0.5 * g * g, h + ridge) if n > 0.0 else 0.0, 0.0, 0, 0
    for go in range(sides):  # 1: missing values go left
        gains_of(left, cuts, go, (missing_g, missing_h), g, h, ridge, base)
    for i in range(cuts):
        for go in range(sides):
            if left[4 + go, i] > best:
                there = left[3, i] + go * missing_n
                if there >= limits.least and n - there >= limits.least:
                    best, where, side = left[4 + go, i], i + 1, go
    if squares > 0.0 and where > 0:
        # For numbers 2 * best is the decrease of the sum of squares: n/2 ln(SSE / SSE after the cut).
        best = 0.5 * n * np.log(quotient(squares, max(squares - 2.0 * best, 1e-9 * squares)))
    return best - fine, where, side


@borrowing_inner
def divide(
    rows: NDArray[np.int32], spare: NDArray[np.int32], codes: NDArray[np.uint8], category: bool, last: int,
    missing_left: int, sets: NDArray[np.uint64],
) -> int:  # fmt: skip
    """Move the rows of a node that go left to the front, keep the order on each side, and return their number.

    Args:
        rows: (n,) rows of the node.
        spare: (n or more,) working memory.
        codes: (m,) bins of the column of the cut.
        category: Whether bins are categories.
        last: Last bin of numbers on the left.
        missing_left: Whether missing values go left.
        sets: (2,) bins of categories on the left, as bits.
    """
    kept, moved = 0, 0
    for a in range(len(rows)):
        i = rows[a]
        if bin_goes_left(int(codes[i]), category, last, missing_left, sets):
            rows[kept] = i
            kept += 1
        else:
            spare[moved] = i
            moved += 1
    for a in range(moved):
        rows[kept + a] = spare[a]
    return kept
