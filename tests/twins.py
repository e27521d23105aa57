"""Kernels in plain Python, operation by operation: what they compute to the bit."""

import math
import struct

from novikoff.numerics.exp import LEAST, LN2_HIGH, LN2_LOW, MOST, PER_LN2, SHIFT, Q
from novikoff.numerics.lanes import LANES, _tree


def fused_twin(a, b, c):
    """The same in plain Python, but for the sign of zero and near overflow: Python rounds a quotient once."""
    if not math.isfinite(a * b + c):
        return a * b + c
    (top, bottom), (over, under), (more, part) = a.as_integer_ratio(), b.as_integer_ratio(), c.as_integer_ratio()
    return (top * over * part + more * bottom * under) / (bottom * under * part)


def exp_twin(x):
    """`exp` in plain Python, operation by operation."""
    if x > MOST or x < LEAST:
        return math.inf if x > MOST else 0.0
    if math.isnan(x):
        return x
    near, power = parts_twin(x)
    return (1.0 + near) * power


def parts_twin(x):
    """exp(r) - 1 and 2^k in plain Python, for x within LEAST .. MOST."""
    plus = fused_twin
    shifted = plus(x, PER_LN2, SHIFT)
    k = shifted - SHIFT
    r = plus(k, -LN2_LOW, plus(k, -LN2_HIGH, x))
    s = r * r
    fourth = s * s
    pairs = [plus(r, Q[i + 1], Q[i]) for i in range(0, len(Q), 2)]
    low, middle = plus(s, pairs[1], pairs[0]), plus(s, pairs[3], pairs[2])
    q = plus(fourth, plus(fourth, pairs[4], middle), low)
    (bits,) = struct.unpack("<Q", struct.pack("<d", shifted))
    (power,) = struct.unpack("<d", struct.pack("<Q", ((bits << 52) + (1023 << 52)) & (2**64 - 1)))
    return plus(s, q, r), power


def dense_twin(weights, x, scale=1.0):
    """`dense` and `dense_scaled` in plain Python."""
    lane = [0.0] * LANES
    for i, (w, value) in enumerate(zip(weights.tolist(), x.tolist(), strict=False)):
        lane[i % LANES] += w * (value * scale)
    return float(_tree(lane, lambda a, b: a + b))
