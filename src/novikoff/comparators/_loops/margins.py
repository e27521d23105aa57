"""Margins of linear comparators, and the tally of margins that linear and kernel comparators share.

U has three directions and a probe, which are scored together. The margins and the length of a row are computed in one
loop over vectors of doubles, which numba does not build from separate accumulators. No fused multiply-add, no fastmath.
sparse   U is stored feature by feature, four float32 per feature: one load fetches all. Even and odd positions are
         summed separately, then added. Features beyond the last row of U use that row.
dense    U is stored direction by direction, in doubles. Positions modulo eight are summed separately, then added in a
         fixed tree.

`tally` sorts margins into classes: class j has edges[j-1] <= m < edges[j], class 0 all margins below edges[0], the last
class all from the last edge on. A class is an eighth of an octave, so its number is read off the bits of m.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.lanes import inverse_norm, prefetch_sparse
from novikoff.numerics.totals import put

DIRECTIONS = 3
"""Number of directions."""
VECTORS = DIRECTIONS + 1
"""Number of columns of U: the directions, then the probe."""
COLUMNS = VECTORS + 1
"""Number of results per row: one per vector, then its squared length."""
LANES = 8
"""Number of doubles in a vector."""
DOUBLE, WORD, SHORT = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
"""LLVM types."""
SHIFT = 49
"""Shift of a double's bits that leaves eight times the exponent plus the eighth of the octave."""

SLACK = 2.0**-52
"""Twice the unit roundoff of doubles."""
SOME = 256
"""Number of rows whose sums are computed before their margins: one square root at a time would take a tenth longer."""

FLOOR = 2.0**-500
"""Summand of the length of a row in the error estimate, for squares that underflow."""


@intrinsic
def _gathered(typingctx: Any, U: Any, indices: Any, values: Any, start: Any, stop: Any, scale: Any, out: Any) -> Any:
    """Compute out[:4] = sum of U[index] * (value * scale) over the row, out[4] = sum of (value * scale)^2."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        U, places, values, out = (context.make_array(kinds[j])(context, builder, arguments[j]) for j in (0, 1, 2, 6))
        start, stop, scale = arguments[3:6]
        four = ir.VectorType(DOUBLE, VECTORS)
        last = builder.sub(builder.extract_value(U.shape, 0), ir.Constant(WORD, 1))
        totals = [cgutils.alloca_once_value(builder, ir.Constant(four, [0.0] * VECTORS)) for _ in range(2)]
        squares = [cgutils.alloca_once_value(builder, ir.Constant(DOUBLE, 0.0)) for _ in range(2)]

        def add(k: Any, lane: int) -> None:
            place = builder.zext(builder.load(builder.gep(places.data, [k])), WORD)
            place = builder.select(builder.icmp_unsigned("<", place, last), place, last)
            value = _as_double(builder, builder.load(builder.gep(values.data, [k])), kinds[2].dtype, DOUBLE)
            value = builder.fmul(value, scale)
            where = builder.gep(U.data, [builder.mul(place, ir.Constant(WORD, VECTORS))])
            weights = builder.load(builder.bitcast(where, ir.VectorType(ir.FloatType(), VECTORS).as_pointer()), align=4)
            product = builder.fmul(builder.fpext(weights, four), _spread(builder, value, VECTORS))
            builder.store(builder.fadd(builder.load(totals[lane]), product), totals[lane])
            builder.store(builder.fadd(builder.load(squares[lane]), builder.fmul(value, value)), squares[lane])

        length = builder.sub(stop, start)
        with cgutils.for_range(builder, builder.lshr(length, ir.Constant(WORD, 1))) as loop:
            k = builder.add(start, builder.shl(loop.index, ir.Constant(WORD, 1)))
            add(k, 0)
            add(builder.add(k, ir.Constant(WORD, 1)), 1)
        with builder.if_then(builder.trunc(length, ir.IntType(1))):
            add(builder.sub(stop, ir.Constant(WORD, 1)), 0)
        total, square = (builder.fadd(builder.load(one), builder.load(other)) for one, other in (totals, squares))
        builder.store(total, builder.bitcast(out.data, four.as_pointer()), align=8)
        builder.store(square, builder.gep(out.data, [ir.Constant(WORD, VECTORS)]))
        return context.get_dummy_value()

    return types.void(U, indices, values, types.uint64, types.uint64, types.float64, out), codegen


@intrinsic
def _in_order(typingctx: Any, across: Any, row: Any, scale: Any, out: Any) -> Any:
    """Compute the same for a dense row; `across` is U direction by direction, in doubles, at least as wide."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        across, row, out = (context.make_array(kinds[j])(context, builder, arguments[j]) for j in (0, 1, 3))
        scale = arguments[2]
        lanes = ir.VectorType(DOUBLE, LANES)
        width = builder.extract_value(across.shape, 1)
        length = builder.extract_value(row.shape, 0)
        element = _element(kinds[1].dtype)
        totals = [cgutils.alloca_once_value(builder, ir.Constant(lanes, [0.0] * LANES)) for _ in range(COLUMNS)]
        scales = _spread(builder, scale, LANES)
        starts = [builder.gep(across.data, [builder.mul(width, ir.Constant(WORD, k))]) for k in range(VECTORS)]

        def at(pointer: Any, place: Any, kind: Any, align: int) -> Any:
            where = builder.bitcast(builder.gep(pointer, [place]), ir.VectorType(kind, LANES).as_pointer())
            return builder.load(where, align=align)

        full = builder.udiv(length, ir.Constant(WORD, LANES))
        with cgutils.for_range(builder, full) as loop:
            place = builder.mul(loop.index, ir.Constant(WORD, LANES))
            value = at(row.data, place, element, 4 if element == ir.FloatType() else 8)
            value = builder.fmul(_as_double(builder, value, kinds[1].dtype, lanes), scales)
            for k in range(COLUMNS):
                factor = at(starts[k], place, DOUBLE, 8) if k < VECTORS else value
                builder.store(builder.fadd(builder.load(totals[k]), builder.fmul(factor, value)), totals[k])
        # The rest goes to the lanes one by one, in copies: the totals themselves then stay in registers.
        rest = [cgutils.alloca_once_value(builder, builder.load(total)) for total in totals]
        lane = [builder.bitcast(copy, DOUBLE.as_pointer()) for copy in rest]
        done = builder.mul(full, ir.Constant(WORD, LANES))
        with cgutils.for_range(builder, builder.sub(length, done)) as loop:
            place = builder.add(done, loop.index)
            value = _as_double(builder, builder.load(builder.gep(row.data, [place])), kinds[1].dtype, DOUBLE)
            value = builder.fmul(value, scale)
            for k in range(COLUMNS):
                factor = builder.load(builder.gep(starts[k], [place])) if k < VECTORS else value
                here = builder.gep(lane[k], [loop.index])
                builder.store(builder.fadd(builder.load(here), builder.fmul(factor, value)), here)
        for k in range(COLUMNS):
            terms = [builder.load(builder.gep(lane[k], [ir.Constant(WORD, j)])) for j in range(LANES)]
            while len(terms) > 1:
                terms = [builder.fadd(first, second) for first, second in zip(terms[::2], terms[1::2], strict=True)]
            builder.store(terms[0], builder.gep(out.data, [ir.Constant(WORD, k)]))
        return context.get_dummy_value()

    return types.void(across, row, types.float64, out), codegen


def _spread(builder: Any, value: Any, lanes: int) -> Any:
    """Generate a vector with `value` in every lane."""
    nothing = ir.Constant(ir.VectorType(DOUBLE, lanes), ir.Undefined)
    first = builder.insert_element(nothing, value, ir.Constant(SHORT, 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(SHORT, lanes), [0] * lanes))


def _element(kind: Any) -> Any:
    """Return the LLVM type of a number in memory."""
    return ir.FloatType() if kind == types.float32 else WORD if kind == types.int64 else DOUBLE


def _as_double(builder: Any, value: Any, kind: Any, target: Any) -> Any:
    """Generate the conversion of a number, or of a vector of numbers, to double precision."""
    if kind == types.float32:
        return builder.fpext(value, target)
    return builder.sitofp(value, target) if kind == types.int64 else value


gathered: Any = _gathered
"""Sums of a sparse row: gathered(U, indices, values, start, stop, scale, out)."""
in_order: Any = _in_order
"""Sums of a dense row: in_order(across, row, scale, out)."""


@inlined
def finish(
    out: NDArray[np.float64], t: int, y: NDArray[np.int8], n: float, bias: float, bias_weights: NDArray[np.float64],
    norms: NDArray[np.float64],
) -> None:  # fmt: skip
    """Turn the sums of row t into lower bounds on margins and an upper bound on its squared length, the bias included.

    Args:
        out: (rows, COLUMNS) sums, changed; the sum of the probe is not rounded down.
        t: Number of the row.
        y: (rows,) labels -1 and +1.
        n: Number of non-zeros of the row.
        bias: Value of the constant feature.
        bias_weights: (VECTORS,) bias weights.
        norms: (VECTORS,) upper bounds on the lengths.
    """
    square = out[t, VECTORS] + bias * bias
    error = SLACK * (n + 4.0) * (np.sqrt(square) + FLOOR)
    out[t, VECTORS] = square * (1.0 + SLACK * (n + 5.0))
    for k in range(VECTORS):
        out[t, k] = y[t] * (out[t, k] + bias_weights[k] * bias) - error * norms[k]


@compiled
def sparse(
    indptr: NDArray[np.uint64], indices: NDArray[np.uint32], values: NDArray[Any], y: NDArray[np.int8], bias: float,
    normalize: bool, U: NDArray[np.float32], bias_weights: NDArray[np.float64], norms: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:  # fmt: skip
    """Compute for each row: out[:3] at most y <U, x~>, out[3] about y <U, x~> of the probe, out[4] at least ||x~||^2.

    Args:
        indptr: (rows + 1,) as in SparseRows.
        indices: (non-zeros,) as in SparseRows.
        values: (non-zeros,) as in SparseRows.
        y: (rows,) labels -1 and +1.
        bias: Value of the constant feature; 0 for none.
        normalize: Whether each row is divided by its norm.
        U: (features + 1, VECTORS) weights; the last row is used for every further feature.
        bias_weights: (VECTORS,) weight of the constant feature in each column of U.
        norms: (VECTORS,) at least the length of each column; 0 for the probe, which is not rounded down.
        out: (rows, COLUMNS) results, written.
    """
    constant = 1.0 if bias != 0.0 else 0.0
    for first in range(0, len(y), SOME):
        last = first + SOME if first + SOME < len(y) else len(y)
        for t in range(first, last):
            start, stop = indptr[t], indptr[t + 1]
            prefetch_sparse(indices, values, start, stop)
            scale = inverse_norm(values, start, stop) if normalize else 1.0
            gathered(U, indices, values, start, stop, scale, out[t])
        for t in range(first, last):
            finish(out, t, y, np.float64(indptr[t + 1] - indptr[t]) + constant, bias, bias_weights, norms)


@compiled
def dense(
    x: NDArray[Any], y: NDArray[np.int8], bias: float, normalize: bool, across: NDArray[np.float64],
    bias_weights: NDArray[np.float64], norms: NDArray[np.float64], out: NDArray[np.float64],
) -> None:  # fmt: skip
    """Compute the same for dense rows.

    Args:
        x: (rows, features) rows.
        y: (rows,) labels -1 and +1.
        bias: Value of the constant feature; 0 for none.
        normalize: Whether each row is divided by its norm.
        across: (VECTORS, features) U, one row per vector.
        bias_weights: (VECTORS,) weight of the constant feature in each vector.
        norms: (VECTORS,) at least the length of each vector; 0 for the probe.
        out: (rows, COLUMNS) results, written.
    """
    n = np.float64(x.shape[1]) + (1.0 if bias != 0.0 else 0.0)
    for first in range(0, len(y), SOME):
        last = first + SOME if first + SOME < len(y) else len(y)
        for t in range(first, last):
            scale = inverse_norm(x[t], 0, x.shape[1]) if normalize else 1.0
            in_order(across, x[t], scale, out[t])
        for t in range(first, last):
            finish(out, t, y, n, bias, bias_weights, norms)


@intrinsic
def _bits(typingctx: Any, value: Any) -> Any:
    """Return the bits of a double as an int64."""
    return types.int64(types.float64), lambda context, builder, _, arguments: builder.bitcast(arguments[0], WORD)


bits: Any = _bits


@inlined
def place(margin: float, base: int, last: int) -> Any:
    """Return the class of a margin."""
    return min(max((bits(margin) >> SHIFT) - base, 0), last)


@compiled
def tally(
    margins: NDArray[np.float64], wrong: NDArray[np.bool_], edges: NDArray[np.float64], base: int,
    directions: NDArray[np.int64], kappas: NDArray[np.float64], counts: NDArray[np.int64], sums: NDArray[np.float64],
    squares: NDArray[np.float64], least: NDArray[np.float64], added: NDArray[np.float64],
) -> None:  # fmt: skip
    """Add each margin to its class: the count, the distance below the edge of the class, and the squared distance.

    The first columns of `margins` are the directions, the last is the squared length. The series of `counts` and `sums`
    are, in this order: each direction; each penalty, whose margins are m - kappa ||x~||^2, rounded down; each direction
    over the `wrong` rows alone. Distances in the last class, which has no upper edge, are meaningless.

    Args:
        margins: (rows, K directions + probes + 1) margins, and squared lengths last.
        wrong: (rows,) whether the row was a mistake of the learner.
        edges: (classes,) upper edge of each class.
        base: Number of the first class, read off the bits of its edge.
        directions: (penalties,) direction of each penalty.
        kappas: (penalties,) kappa of each penalty.
        counts: (series, classes) counts, accumulated; there are 2 K + penalties series.
        sums: (series, classes) distances, accumulated.
        squares: (K, classes) squared distances, accumulated.
        least: (K,) least margin of each direction, changed.
        added: (columns of margins, 2) sums over the wrong rows, each with its compensation of rounding, accumulated.
    """
    last, n, K = len(edges) - 1, len(margins), len(least)
    length = margins.shape[1] - 1
    for k in range(K):
        lowest = least[k]
        for t in range(n):
            margin = margins[t, k]
            j = place(margin, base, last)
            below = edges[j] - margin
            counts[k, j] += 1
            sums[k, j] += below
            squares[k, j] += below * below
            lowest = margin if margin < lowest else lowest
        least[k] = lowest
    for p in range(len(kappas)):
        k, s = directions[p], K + p
        for t in range(n):
            margin, penalty = margins[t, k], kappas[p] * margins[t, length]
            margin = (margin - penalty) - (abs(margin) + penalty) * (2.0 * SLACK)
            j = place(margin, base, last)
            counts[s, j] += 1
            sums[s, j] += edges[j] - margin
    for t in range(n):
        if wrong[t]:
            for k in range(length + 1):
                put(added[k], 0, margins[t, k])
            for k in range(K):
                s = K + len(kappas) + k
                j = place(margins[t, k], base, last)
                counts[s, j] += 1
                sums[s, j] += edges[j] - margins[t, k]
