"""Products and distances of one x with the 16 supports of a block, in vector registers.

points[block, feature, lane] interleaves the features of 16 supports. The loop over features keeps one sum per support
in vector registers. It is built as LLVM code, because numba does not vectorise a loop that carries 16 sums. Each sum
runs from the first feature to the last, without fastmath, so that plain Python gives the same bits. Distances use fused
multiply-adds, which are exactly defined on every machine and save a third of the operations and one rounding per
feature. Products do not, because other loops over sparse rows must agree with them to the bit.

Arguments of the intrinsics: points (blocks, features, 16) supports; block, the index of the block; x (features,) row,
or its values if sparse; out (slots,) output, one number per slot; places (len(x),) features of a sparse x.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from novikoff.kernel._loops.cache import BLOCK as BLOCK
from novikoff.numerics.exp import vector_exp
from novikoff.numerics.fused import fused

WORD, SHORT = ir.IntType(64), ir.IntType(32)
LANES = ir.VectorType(ir.DoubleType(), BLOCK)


@intrinsic
def _products(typingctx: Any, points: Any, block: Any, x: Any, out: Any) -> Any:
    """Write out[j] = <x, z> for the slots of a block; x has all features."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _block(context, builder, signature, arguments, "products")

    return types.void(points, types.uint64, x, out), codegen


@intrinsic
def _distances(typingctx: Any, points: Any, block: Any, x: Any, out: Any) -> Any:
    """Write out[j] = ||x-z||^2 for the slots of a block; x has all features."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _block(context, builder, signature, arguments, "distances")

    return types.void(points, types.uint64, x, out), codegen


@intrinsic
def _distances_of_two(typingctx: Any, points: Any, block: Any, x: Any, out: Any) -> Any:
    """Write the distances of this block and the next: two independent sums hide the latency of each addition."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _block(context, builder, signature, arguments, "distances", blocks=2)

    return types.void(points, types.uint64, x, out), codegen


@intrinsic
def _sparse_products(typingctx: Any, points: Any, block: Any, x: Any, out: Any, places: Any) -> Any:
    """Write out[j] = <x, z> for the slots of a block; x[k] is the value of feature places[k] < features."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _block(context, builder, signature, arguments, "sparse")

    return types.void(points, types.uint64, x, out, places), codegen


@intrinsic
def _exponentials(typingctx: Any, values: Any, block: Any, gamma: Any) -> Any:
    """Replace values[j] by exp(-gamma * values[j]) for the 16 slots of a block; gamma and values are at least 0."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        start = builder.gep(data, [builder.mul(arguments[1], ir.Constant(WORD, BLOCK))])
        place = builder.bitcast(start, LANES.as_pointer())
        x = builder.fmul(_everywhere(builder, builder.fneg(arguments[2])), builder.load(place, align=8))
        builder.store(vector_exp(builder, x, negative=True), place, align=8)
        return context.get_dummy_value()

    return types.void(values, types.uint64, types.float64), codegen


products: Any = _products
distances: Any = _distances
distances_of_two: Any = _distances_of_two
sparse_products: Any = _sparse_products
exponentials: Any = _exponentials


def _everywhere(builder: Any, value: Any) -> Any:
    """Return a vector with the same number in every lane."""
    nothing = ir.Constant(LANES, ir.Undefined)
    one = builder.insert_element(nothing, value, ir.Constant(SHORT, 0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(SHORT, BLOCK), [0] * BLOCK))


def _block(context: Any, builder: Any, signature: Any, arguments: Any, what: str, blocks: int = 1) -> Any:
    """Build the loop over features, with one sum per slot of one or more blocks."""

    def array(position: int) -> Any:
        return context.make_array(signature.args[position])(context, builder, arguments[position])

    points, x, out = array(0), array(2), array(3)
    width = builder.extract_value(points.shape, 1)
    numbers = [builder.add(arguments[1], ir.Constant(WORD, k)) for k in range(blocks)]
    starts = [builder.mul(builder.mul(number, width), ir.Constant(WORD, BLOCK)) for number in numbers]
    totals = [cgutils.alloca_once_value(builder, ir.Constant(LANES, [0.0] * BLOCK)) for _ in numbers]
    # The allocation is initialised once per function; the sums start at 0 in every block.
    for total in totals:
        builder.store(ir.Constant(LANES, [0.0] * BLOCK), total)
    with cgutils.for_range(builder, builder.extract_value(x.shape, 0)) as loop:
        values = _everywhere(builder, builder.load(builder.gep(x.data, [loop.index])))
        feature = loop.index
        if what == "sparse":
            feature = builder.zext(builder.load(builder.gep(array(4).data, [loop.index])), WORD)
        for start, total in zip(starts, totals, strict=True):
            here = builder.gep(points.data, [builder.add(start, builder.mul(feature, ir.Constant(WORD, BLOCK)))])
            z = builder.load(builder.bitcast(here, LANES.as_pointer()), align=8)
            if what == "distances":
                difference = builder.fsub(values, z)
                builder.store(fused(builder, difference, difference, builder.load(total)), total)
            else:
                builder.store(builder.fadd(builder.load(total), builder.fmul(values, z)), total)
    for number, total in zip(numbers, totals, strict=True):
        target = builder.gep(out.data, [builder.mul(number, ir.Constant(WORD, BLOCK))])
        builder.store(builder.load(total), builder.bitcast(target, LANES.as_pointer()), align=8)
    return context.get_dummy_value()
