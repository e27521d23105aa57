"""Dot products with a fixed order of summation, so that all callers agree to the bit.

dense    eight lanes by position, then ((0+4)+(2+6)) + ((1+5)+(3+7)). numba does not vectorise eight separate
         accumulators, so the loop is built as LLVM code on a vector of eight doubles.
sparse   from left to right: gathering the weights takes longer than adding, and two separate lanes are slower.
No fused multiply-add and no fastmath: plain Python gives the same bits (tests/twins.py).

A sparse row is the entries `start` to `stop` - 1 of
    indices   (entries,) features
    values    (entries,) values, in double or single precision
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from novikoff.numerics.compiled import inlined

LANES = 8
"""Number of doubles in a vector."""
AHEAD = 512
"""Number of non-zeros to prefetch ahead, about 6 KB: enough to cover the latency of memory, and still in the cache."""


@intrinsic
def _plain(typingctx: Any, weights: Any, x: Any) -> Any:
    """Return the sum of weights[i] * x[i] over all of x, in eight lanes; both arrays C-contiguous."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _dense(context, builder, signature, arguments, scaled=False)

    return types.float64(weights, x), codegen


@intrinsic
def _scaled(typingctx: Any, weights: Any, x: Any, scale: Any) -> Any:
    """Return the sum of weights[i] * (x[i] * scale)."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _dense(context, builder, signature, arguments, scaled=True)

    return types.float64(weights, x, types.float64), codegen


@intrinsic
def _eight(typingctx: Any, matrix: Any, first: Any, part: Any, before: Any, x: Any, out: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _eight_rows(context, builder, signature, arguments)
        return context.get_dummy_value()

    return types.void(matrix, types.int64, types.float64, before, x, out), codegen


dense: Any = _plain
"""dense(weights, x): the sum of weights[i] * x[i] over all of x."""
dense_scaled: Any = _scaled
"""dense_scaled(weights, x, scale): the sum of weights[i] * (x[i] * scale) over all of x."""
eight_rows: Any = _eight
"""eight_rows(matrix, first, part, before, x, out): the step of `product_after` in linear/_loops/second_order.py for the
rows first .. first + 7 of a lower triangle, where `first` is a multiple of 8. One pass over eight rows loads and stores
`out` once for four of them."""


@intrinsic
def _prefetch(typingctx: Any, array: Any, position: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        builder.call(function, [address, word(0), word(3), word(1)])  # to read, into the nearest cache, as data
        return context.get_dummy_value()

    return types.void(array, types.uint64), codegen


prefetch: Any = _prefetch
"""Prefetch array[position]; a position beyond the end does nothing."""


def _dense(context: Any, builder: Any, signature: Any, arguments: Any, scaled: bool) -> Any:
    double, word, short = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
    lanes = ir.VectorType(double, LANES)
    w_array, x_array = (
        context.make_array(kind)(context, builder, value)
        for kind, value in zip(signature.args[:2], arguments[:2], strict=True)
    )
    narrow, whole = (signature.args[1].dtype == kind for kind in (types.float32, types.int64))
    element = ir.FloatType() if narrow else word if whole else double
    length = builder.extract_value(x_array.shape, 0)

    def prepared(value: Any, target: Any, scale: Any) -> Any:
        if narrow:
            value = builder.fpext(value, target)
        elif whole:
            value = builder.sitofp(value, target)
        return builder.fmul(value, scale) if scaled else value

    scales = None
    if scaled:
        nothing = ir.Constant(lanes, ir.Undefined)
        one = builder.insert_element(nothing, arguments[2], ir.Constant(short, 0))
        scales = builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(short, LANES), [0] * LANES))
    total = cgutils.alloca_once_value(builder, ir.Constant(lanes, [0.0] * LANES))
    full = builder.udiv(length, ir.Constant(word, LANES))
    with cgutils.for_range(builder, full) as loop:
        start = builder.mul(loop.index, ir.Constant(word, LANES))
        w_part = builder.bitcast(builder.gep(w_array.data, [start]), lanes.as_pointer())
        x_part = builder.bitcast(builder.gep(x_array.data, [start]), ir.VectorType(element, LANES).as_pointer())
        values = prepared(builder.load(x_part, align=4 if narrow else 8), lanes, scales)
        product = builder.fmul(builder.load(w_part, align=8), values)
        builder.store(builder.fadd(builder.load(total), product), total)
    # The rest goes to the lanes one by one, in a copy: `total` itself then stays in registers.
    rest = cgutils.alloca_once_value(builder, builder.load(total))
    lane = builder.bitcast(rest, double.as_pointer())
    done = builder.mul(full, ir.Constant(word, LANES))
    with cgutils.for_range(builder, builder.sub(length, done)) as loop:
        i = builder.add(done, loop.index)
        value = prepared(builder.load(builder.gep(x_array.data, [i])), double, arguments[-1])
        product = builder.fmul(builder.load(builder.gep(w_array.data, [i])), value)
        here = builder.gep(lane, [loop.index])
        builder.store(builder.fadd(builder.load(here), product), here)
    return _tree([builder.load(builder.gep(lane, [ir.Constant(word, k)])) for k in range(LANES)], builder.fadd)


def _eight_rows(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    double, word, short = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
    lanes = ir.VectorType(double, LANES)
    matrix, before, x, out = (
        context.make_array(signature.args[i])(context, builder, arguments[i]) for i in (0, 3, 4, 5)
    )  # fmt: skip
    first, part, width = arguments[1], arguments[2], builder.extract_value(matrix.shape, 1)
    nothing, zeros = ir.Constant(lanes, ir.Undefined), ir.Constant(lanes, [0.0] * LANES)

    def spread(value: Any) -> Any:
        one = builder.insert_element(nothing, value, ir.Constant(short, 0))
        return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(short, LANES), [0] * LANES))

    def place(data: Any, index: Any) -> Any:
        return builder.bitcast(builder.gep(data, [index]), lanes.as_pointer())

    def load(data: Any, index: Any) -> Any:
        return builder.load(place(data, index), align=8)

    def below(count: int) -> Any:
        return ir.Constant(ir.VectorType(ir.IntType(1), LANES), [k < count for k in range(LANES)])

    def folded(total: Any) -> Any:
        for half in (4, 2, 1):
            order = [(k + half) % LANES for k in range(LANES)]
            turned = builder.shuffle_vector(total, nothing, ir.Constant(ir.VectorType(short, LANES), order))
            total = builder.fadd(total, turned)
        return builder.extract_element(total, ir.Constant(short, 0))

    rows = [builder.add(first, ir.Constant(word, q)) for q in range(LANES)]
    starts = [builder.mul(row, width) for row in rows]
    heres = [spread(builder.load(builder.gep(x.data, [row]))) for row in rows]
    steps = [spread(builder.fmul(part, builder.load(builder.gep(before.data, [row])))) for row in rows]
    totals = [cgutils.alloca_once_value(builder, zeros) for _ in rows]
    chunks = builder.udiv(first, ir.Constant(word, LANES))
    for some in (range(4), range(4, 8)):
        for q in some:
            builder.store(zeros, totals[q])
        with cgutils.for_range(builder, chunks) as loop:
            at = builder.mul(loop.index, ir.Constant(word, LANES))
            earlier, right, sums = (load(array.data, at) for array in (before, x, out))
            for q in some:
                there = place(matrix.data, builder.add(starts[q], at))
                new = builder.fsub(builder.load(there, align=8), builder.fmul(steps[q], earlier))
                builder.store(new, there, align=8)
                builder.store(builder.fadd(builder.load(totals[q]), builder.fmul(new, right)), totals[q])
                sums = builder.fadd(sums, builder.fmul(new, heres[q]))
            builder.store(sums, place(out.data, at), align=8)
    # The square on the diagonal: entries left of it as before, then the entry on it.
    earlier, right, sums = (load(array.data, first) for array in (before, x, out))
    for q in range(LANES):
        there = place(matrix.data, builder.add(starts[q], first))
        old = builder.load(there, align=8)
        new = builder.fsub(old, builder.fmul(steps[q], earlier))
        builder.store(builder.select(below(q + 1), new, old), there, align=8)
        total = builder.load(totals[q])
        total = builder.select(below(q), builder.fadd(total, builder.fmul(new, right)), total)
        more = builder.fmul(new, heres[q])
        sums = builder.select(below(q), builder.fadd(sums, more), sums)
        lane = ir.Constant(short, q)
        own = builder.fadd(folded(total), builder.extract_element(more, lane))
        sums = builder.insert_element(sums, own, lane)
    builder.store(sums, place(out.data, first), align=8)


def _tree(lane: list[Any], add: Any) -> Any:
    """Return the sum of eight lanes in the fixed order of the module's docstring."""
    return add(
        add(add(lane[0], lane[4]), add(lane[2], lane[6])),
        add(add(lane[1], lane[5]), add(lane[3], lane[7])),
    )


@inlined
def sparse(
    weights: NDArray[np.float64], indices: NDArray[np.uint32], values: NDArray[Any], start: int, stop: int
) -> float:
    """Return the sum of weights[index] * value over one row."""
    total = 0.0
    for k in range(np.uint64(start), np.uint64(stop)):
        total += weights[indices[k]] * values[k]
    return total


@inlined
def sparse_scaled(
    weights: NDArray[np.float64], indices: NDArray[np.uint32], values: NDArray[Any], start: int, stop: int, scale: float
) -> float:
    """Return the sum of weights[index] * (value * scale) over one row."""
    total = 0.0
    for k in range(np.uint64(start), np.uint64(stop)):
        total += weights[indices[k]] * (values[k] * scale)
    return total


@inlined
def prefetch_sparse(indices: NDArray[np.uint32], values: NDArray[Any], start: int, stop: int) -> None:
    """Prefetch as many entries as the row has, AHEAD of it: the processor's prefetcher stops at the end of a page."""
    ahead = np.uint64(AHEAD)
    for k in range(np.uint64(start), np.uint64(stop), np.uint64(8)):
        prefetch(values, k + ahead)
    for k in range(np.uint64(start), np.uint64(stop), np.uint64(16)):
        prefetch(indices, k + ahead)


@inlined
def square_sparse(values: NDArray[Any], start: int, stop: int) -> float:
    """Return ||x||^2, summed from left to right."""
    total = 0.0
    for k in range(np.uint64(start), np.uint64(stop)):
        value = np.float64(values[k])
        total += value * value
    return total


@inlined
def inverse_norm(values: NDArray[Any], start: int, stop: int) -> float:
    """Return 1 / ||x||; 0 for a zero row."""
    total = square_sparse(values, start, stop)
    return 1.0 / np.sqrt(total) if total > 0.0 else 0.0
