"""Losses of fixed weights u, row by row: log loss, hinge loss, and the larger of the log loss and of a parabola.

The parabola Q(s) = l(z) + g (s - z) + (h/2)(s - z)^2 is a second-order learner's approximation of the loss l of the
round, with the score z that it played, g = l'(z) and h = kappa P(+1) P(-1).
Each sum is accompanied by its possible rounding error: that of a dot product of n numbers is at most (n+2) 2^-53 times
the sum of the sizes of its terms, that of the other parts of a loss at most 10 2^-53 times the sum of their sizes.
The weights of eight u are interleaved, one cache line per place: `LANES` dot products take hardly longer than one, and
their sums stay in registers (numba would write them to memory after every addition).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from novikoff.comparators._loops.log_losses_layout import (
    BENT,
    BENT_DOUBT,
    DOUBT,
    HINGE,
    LANES,
    LINEAR,
    LINEAR_SIZE,
    LOG,
    LOSS,
    PARABOLA,
    PULL,
    PULL_DOUBT,
)
from novikoff.numerics.compiled import compiled
from novikoff.numerics.exp import exp
from novikoff.numerics.logits import log_loss, stacked
from novikoff.numerics.sizes import U0

Vector = NDArray[np.float64]
AHEAD = 24
"""Number of non-zeros between the one in use and the one whose weights are prefetched."""


@intrinsic
def _products(
    typingctx: Any, vectors: Any, first: Any, places: Any, values: Any, start: Any, stop: Any, s: Any, size: Any
) -> Any:
    """Generate the code of `products`: the weights of the eight u at a place are one vector of eight doubles."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = {
            name: context.make_array(signature.args[k])(context, builder, arguments[k])
            for name, k in (("vectors", 0), ("places", 2), ("values", 3), ("s", 6), ("size", 7))
        }
        first, start, stop = arguments[1], arguments[4], arguments[5]
        word, short, byte = ir.IntType(64), ir.IntType(32), ir.IntType(8).as_pointer()
        lanes = ir.VectorType(ir.DoubleType(), LANES)
        nothing = ir.Constant(lanes, ir.Undefined)
        width = builder.extract_value(arrays["vectors"].shape, 1)
        last = builder.sub(builder.extract_value(arrays["places"].shape, 0), word(1))
        one = ir.FunctionType(lanes, [lanes])
        absolute = cgutils.get_or_insert_function(builder.module, one, f"llvm.fabs.v{LANES}f64")
        kind = ir.FunctionType(ir.VoidType(), [byte, short, short, short])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")

        def weights(entry: Any) -> Any:
            place = builder.zext(builder.load(builder.gep(arrays["places"].data, [entry])), word)
            return builder.gep(arrays["vectors"].data, [builder.add(builder.mul(place, width), first)])

        total, sizes = (cgutils.alloca_once_value(builder, ir.Constant(lanes, [0.0] * LANES)) for _ in range(2))
        with cgutils.for_range_slice(builder, start, stop, word(1), word) as (entry, _):
            ahead = builder.add(entry, word(AHEAD))
            ahead = builder.select(builder.icmp_signed("<", ahead, last), ahead, last)
            builder.call(prefetch, [builder.bitcast(weights(ahead), byte), short(0), short(3), short(1)])
            x = builder.insert_element(nothing, builder.load(builder.gep(arrays["values"].data, [entry])), short(0))
            x = builder.shuffle_vector(x, nothing, ir.Constant(ir.VectorType(short, LANES), [0] * LANES))
            row = builder.load(builder.bitcast(weights(entry), lanes.as_pointer()), align=8)
            part = builder.fmul(row, x)
            builder.store(builder.fadd(builder.load(total), part), total)
            builder.store(builder.fadd(builder.load(sizes), builder.call(absolute, [part])), sizes)
        for name, value in (("s", total), ("size", sizes)):
            there = builder.bitcast(builder.gep(arrays[name].data, [first]), lanes.as_pointer())
            builder.store(builder.load(value), there, align=8)
        return context.get_dummy_value()

    return types.void(vectors, types.int64, places, values, types.int64, types.int64, s, size), codegen


products: Any = _products
"""Write <u, x> to s and the sum of |u_i x_i| to size, for the eight u from `first` on, over entries `start` to `stop`.

Called as products(vectors, first, places, values, start, stop, s, size), with the arrays of `see`."""


@compiled
def stack_rows(scores: Vector) -> tuple[NDArray[np.int64], NDArray[np.uint32], Vector, Vector]:
    """Return the rows that a stack learned from, and its kappas (rows, 1), equal to those of the learner to the bit.

    Args:
        scores: (rows, J+1) scores of the J members, 0 for inactive members, and last that of the stack.

    Returns:
        ends, places, values, kappas: row t is places[ends[t]:ends[t+1]], all J of them, with the values there.
    """
    rows, members = len(scores), scores.shape[1] - 1
    ends, kappas = np.empty(rows + 1, np.int64), np.empty((rows, 1))
    places, values = np.empty(rows * members, np.uint32), np.empty(rows * members)
    ends[0] = 0
    for t in range(rows):
        start, stop = t * members, (t + 1) * members
        for i in range(members):
            places[start + i] = i
        kappas[t, 0] = stacked(scores[t, :members], values[start:stop])
        ends[t + 1] = stop
    return ends, places, values, kappas


@compiled
def see(
    vectors: Vector, ends: NDArray[np.int64], places: NDArray[np.uint32], values: Vector, y: NDArray[np.int8],
    scores: Vector, kappas: Vector, owners: NDArray[np.int64], margin: float, sums: Vector, score_sums: Vector,
) -> None:  # fmt: skip
    """Add the losses of every vector on every row.

    Args:
        vectors: (places, K) weights; at least as many places as the rows have, K a multiple of LANES.
        ends: (rows + 1,) as in Nonzeros.
        places: (entries,) as in Nonzeros.
        values: (entries,) as in Nonzeros.
        y: (rows,) labels -1 and +1.
        scores: (rows, C) scores that each member played.
        kappas: (rows, C), or (1, C) if the same in all rows; 0 for a first-order score.
        owners: (K,) member whose scores each vector is compared with; -1 for the unused lanes at the end.
        margin: Margin of a learner that adds y x on mistakes and if y times the score is below the margin; negative for
            other learners.
        sums: (SUMS, K) log losses, hinge losses and max(l, Q); the possible rounding error of any of these; <u, sum of
            the updates>, which are (g - hz) x, or -y x; u'(sum of h x x')u, with h = 1 if y x was added; after each of
            the last two, its possible rounding error. Accumulated.
        score_sums: (C, SCORE_SUMS) log losses of the scores, g z - h z^2/2, and |g z| + h z^2/2. Accumulated.
    """
    count, columns, used = vectors.shape[1], scores.shape[1], 0
    for k in range(count):
        used = k + 1 if owners[k] >= 0 else used
    # Per vector: score, sum of the sizes of its terms, log loss. Per member: g, h, update, its curvature, log loss.
    s, size, lost = np.empty(count), np.empty(count), np.empty(count)
    slope, curve, added, bend, paid = (np.empty(columns), np.empty(columns), np.empty(columns), np.empty(columns),
                                       np.empty(columns))  # fmt: skip
    for t in range(len(y)):
        label, kappa = np.float64(y[t]), kappas[t if len(kappas) > 1 else 0]
        for k in range(0, count, LANES):
            products(vectors, k, places, values, ends[t], ends[t + 1], s, size)
        for c in range(columns):
            z = scores[t, c]
            tail = exp(label * z)
            q = 1.0 / (1.0 + tail)  # probability that z gave to the other label
            g = -label * q
            h = kappa[c] * (q * (tail * q)) if kappa[c] > 0.0 else 0.0
            slope[c] = g
            curve[c] = h
            added[c] = g - h * z
            bend[c] = h
            if margin >= 0.0:
                added[c] = -label if (-1 if z < 0.0 else 1) != y[t] or label * z < margin else 0.0
                bend[c] = abs(added[c])
            paid[c] = log_loss(label * z)
            score_sums[c, LOSS] += paid[c]
            score_sums[c, LINEAR] += g * z - 0.5 * h * z * z
            score_sums[c, LINEAR_SIZE] += abs(g * z) + 0.5 * h * z * z
        off = (ends[t + 1] - ends[t] + 2) * U0  # relative error of a dot product
        for k in range(used):
            lost[k] = log_loss(label * s[k])
        for k in range(used):
            c = owners[k]
            g, h = slope[c], curve[c]
            gap = s[k] - scores[t, c]
            bent = 0.5 * h * gap * gap
            doubt = off * size[k]
            sums[LOG, k] += lost[k]
            sums[HINGE, k] += max(0.0, 1.0 - label * s[k])
            sums[PARABOLA, k] += max(lost[k], paid[c] + g * gap + bent)
            sums[DOUBT, k] += doubt * (1.0 + abs(g) + h * (abs(gap) + doubt)) + 10.0 * U0 * (
                1.0 + abs(s[k]) + lost[k] + paid[c] + abs(g * gap) + bent
            )
            sums[PULL, k] += added[c] * s[k]
            sums[PULL_DOUBT, k] += (abs(g) + abs(added[c])) * (doubt + 8.0 * U0 * size[k])
            sums[BENT, k] += bend[c] * s[k] * s[k]
            sums[BENT_DOUBT, k] += bend[c] * size[k] * (2.0 * doubt + 8.0 * U0 * size[k])
