"""exp of a number or of a vector, in additions, multiplications and fused ones; the same bits on every machine.

Algorithm
    k is x / ln 2 rounded to the nearest integer, by adding 1.5 * 2^52: the last bits of the sum are k. k ln 2 is
    subtracted in two parts, the first with so few bits that its product with k is exact. For the remainder r,
    |r| <= ln(2)/2,
        exp(r) = 1 + (r + r^2 q(r)),   q of degree 9, accurate to 2^-55 of exp(r) (interpolated at Chebyshev points).
    2^k is assembled from its bits.
    `vector_exp` generates this as LLVM code for any number of lanes: with 16, four independent chains overlap, where a
    loop vectorised by numba waits for each operation.
Promise
    Within 2 ulp from -708 to 709. Below, where results have fewer bits, it is 0; above, infinite. exp(0) = 1.
Reference
    [muller2016], chapters 3 and 11.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from novikoff.numerics.fused import fused

LEAST, MOST = -708.0, 709.0
"""Arguments below which the result is 0, and above which it is infinite."""
PER_LN2 = 1.4426950408889634
"""1 / ln 2."""
LN2_HIGH = 0.693147180369123816490
"""First 33 bits of ln 2."""
LN2_LOW = 1.90821492927058770002e-10
"""ln 2 - LN2_HIGH."""
SHIFT = 6755399441055744.0
"""1.5 * 2^52: added to a number, it rounds the number to an integer in the last bits of the sum."""
# Coefficients of q, from that of r^0 on
Q = (
    0.5000000000000001,
    0.16666666666666669,
    0.04166666666662413,
    0.008333333333330062,
    0.0013888888917213717,
    0.00019841269863053618,
    2.4801521295954376e-05,
    2.7557268459997064e-06,
    2.7620088445409746e-07,
    2.510038549551032e-08,
)


def vector_exp(builder: Any, x: Any, negative: bool = False) -> Any:
    """Generate the code of e^x for a double or a vector of doubles; `negative` skips the check for large x."""
    lanes = x.type.count if isinstance(x.type, ir.VectorType) else None

    def all_of(value: float) -> Any:
        return ir.Constant(x.type, value if lanes is None else [value] * lanes)

    near, power = vector_parts(builder, x)
    result = builder.fmul(builder.fadd(all_of(1.0), near), power)
    if not negative:
        result = builder.select(builder.fcmp_ordered(">", x, all_of(MOST)), all_of(math.inf), result)
    return builder.select(builder.fcmp_ordered("<", x, all_of(LEAST)), all_of(0.0), result)


def vector_parts(builder: Any, x: Any) -> tuple[Any, Any]:
    """Generate the code of exp(r) - 1 and of 2^k, for x = k ln 2 + r."""
    lanes = x.type.count if isinstance(x.type, ir.VectorType) else None
    words = ir.IntType(64) if lanes is None else ir.VectorType(ir.IntType(64), lanes)

    def all_of(value: float) -> Any:
        return ir.Constant(x.type, value if lanes is None else [value] * lanes)

    def all_words(value: int) -> Any:
        return ir.Constant(words, value if lanes is None else [value] * lanes)

    def plus(c: Any, a: Any, b: Any) -> Any:
        return fused(builder, a, b, c)

    shifted = plus(all_of(SHIFT), x, all_of(PER_LN2))
    k = builder.fsub(shifted, all_of(SHIFT))
    r = plus(plus(x, k, all_of(-LN2_HIGH)), k, all_of(-LN2_LOW))
    s = builder.fmul(r, r)
    pairs = [plus(all_of(Q[i]), r, all_of(Q[i + 1])) for i in range(0, len(Q), 2)]
    fourth = builder.fmul(s, s)
    low, middle = plus(pairs[0], s, pairs[1]), plus(pairs[2], s, pairs[3])
    q = plus(low, fourth, plus(middle, fourth, pairs[4]))
    exponent = builder.add(builder.shl(builder.bitcast(shifted, words), all_words(52)), all_words(1023 << 52))
    return plus(r, s, q), builder.bitcast(exponent, x.type)


@intrinsic
def _exp(typingctx: Any, x: Any) -> Any:
    """Return e^x."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return vector_exp(builder, arguments[0])

    return types.float64(types.float64), codegen


exp: Any = _exp
"""e^x in compiled functions."""
