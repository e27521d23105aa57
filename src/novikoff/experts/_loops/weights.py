"""Exponential weights in one pass over the experts, in vectors of eight.

The state of expert i is its cumulative loss far[i] + near[i]: `near` accumulates the losses of up to FLUSH rounds and
is then moved to `far` exactly (the rounding error stays in `near`). `lead` is an expert with the least loss, and
    gap_i = (far_i - far_lead) + (near_i - near_lead),     w_i = exp(-rate max(0, gap_i) + prior_i).
Nothing overflows, and an expert whose weight underflowed loses no information. The pass sums w, w p (without advice p
is l), w l and w (exp(-rate l) - c), adds l to `near`, and finds the least gap + l. Sums run in eight lanes by position,
CHUNK experts at a time; the sums of chunks are added with compensation (Neumaier). `prior` (log weights) is absent if
all experts have the same. c is 1 if rate * l is small, for log1p, and 0 otherwise. With squared loss and a constant
rate, l is computed in the pass.
All state is in one array, `table`: far, near, prior (if present), each with room for `width` experts, a multiple of
eight; `far` is infinite in the padding, so that its weights are 0.
Products are added by fused multiply-add, without fastmath: plain Python gives the same bits
(tests/experts/test_weights.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from novikoff.experts._loops.standings_layout import PAD
from novikoff.numerics.compiled import inlined, inner
from novikoff.numerics.exp import LEAST, vector_exp, vector_parts
from novikoff.numerics.fused import fused

Vector = NDArray[np.float64]

LANES = 8
FLUSH = 32
LOOK, LEARN, MOVE, LEARN_SQUARED = range(4)
SUMS = 5
"""Number of sums: of w, w p, w l, w (exp(-rate l) - c); and the least gap + l."""


class Spots(NamedTuple):
    """Start indices of a pass in its arrays."""

    at: int  # first expert in the table
    of: int  # first prediction in p
    lost: int  # first loss
    to: int  # first output weight in room


class Terms(NamedTuple):
    """Numbers from which a pass computes the weights."""

    width: int  # width of the table
    far_lead: float  # `far` of the leader
    near_lead: float  # `near` of the leader
    rate: float  # learning rate on the loss itself
    c: float  # 0 or 1, see above; the outcome for LEARN_SQUARED
    prior: int  # 1 if there is a prior, otherwise 0


WORD, SHORT = ir.IntType(64), ir.IntType(32)
DOUBLES = ir.VectorType(ir.DoubleType(), LANES)


def _everywhere(builder: Any, value: Any) -> Any:
    """Return a vector with one repeated number."""
    nothing = ir.Constant(DOUBLES, ir.Undefined)
    one = builder.insert_element(nothing, value, ir.Constant(SHORT, 0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(SHORT, LANES), [0] * LANES))


def vector_decay(builder: Any, x: Any, c: Any) -> Any:
    """Return LLVM code for e^x - c, x <= 0 and c = 0 or 1, within 2 ulp also near 0; like numerics/exp.py."""
    lanes = x.type.count if isinstance(x.type, ir.VectorType) else None

    def all_of(value: float) -> Any:
        return ir.Constant(x.type, value if lanes is None else [value] * lanes)

    near, power = vector_parts(builder, x)
    result = fused(builder, near, power, builder.fsub(power, c))
    return builder.select(builder.fcmp_ordered("<", x, all_of(LEAST)), builder.fsub(all_of(0.0), c), result)


@intrinsic
def _decay(typingctx: Any, x: Any, c: Any) -> Any:
    """Return e^x - c."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return vector_decay(builder, *arguments)

    return types.float64(types.float64, types.float64), codegen


decay: Any = _decay
"""e^x - c for x <= 0, c = 0 or 1; for compiled functions."""


def _pass(learn: bool = True, moving: bool = False, squared: bool = False) -> Any:
    """Return the intrinsic of a pass over blocks of eight experts.

    Args:
        learn: Whether to add the losses and sum w l; otherwise only w and w p are summed.
        moving: Whether to sum w (exp(-rate l) - c) as well.
        squared: Whether losses are (p - c)^2, c the outcome; computed, because reading them would double the time.
    """

    @intrinsic
    def function(
        typingctx: Any, table: Any, p: Any, losses: Any, room: Any, spots: Any, terms: Any, blocks: Any
    ) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            arrays = [
                context.make_array(kind)(context, builder, value).data
                for kind, value in zip(signature.args[:4], arguments[:4], strict=True)
            ]
            where, given = (
                cgutils.unpack_tuple(builder, value, size) for value, size in zip(arguments[4:6], (4, 6), strict=True)
            )
            _loop(builder, arrays, Spots(*where), Terms(*given), arguments[6], learn, moving, squared)
            return context.get_dummy_value()

        n, f = types.int64, types.float64
        wanted = types.NamedUniTuple(n, 4, Spots), types.NamedTuple((n, f, f, f, f, n), Terms)
        return types.void(table, p, losses, room, *wanted, n), codegen

    return function


def _loop(
    builder: Any, arrays: list[Any], spots: Any, terms: Any, blocks: Any, learn: bool, moving: bool, squared: bool
) -> None:
    """Build the loop; the fields of `spots` and `terms` are LLVM values."""
    table, p, losses, room = arrays
    at, of, lost, to = spots
    width, far_lead, near_lead, rate, c, prior = terms
    minus = _everywhere(builder, builder.fneg(rate))
    far_leads, near_leads, ones = (_everywhere(builder, value) for value in (far_lead, near_lead, c))
    nothing = ir.Constant(DOUBLES, [0.0] * LANES)
    near = builder.add(at, width)
    given = builder.icmp_signed("!=", prior, ir.Constant(WORD, 0))
    none = cgutils.alloca_once_value(builder, nothing)  # without a prior zeros are added, to need one loop only
    first = builder.bitcast(builder.gep(table, [builder.add(near, width)]), DOUBLES.as_pointer())
    priors = builder.select(given, first, none)
    stride = builder.select(given, ir.Constant(WORD, 1), ir.Constant(WORD, 0))

    def place(array: Any, start: Any, index: Any) -> Any:
        position = builder.add(start, builder.mul(index, ir.Constant(WORD, LANES)))
        return builder.bitcast(builder.gep(array, [position]), DOUBLES.as_pointer())

    def read(array: Any, start: Any, index: Any) -> Any:
        return builder.load(place(array, start, index), align=8)

    zero = ir.Constant(WORD, 0)
    used = [k for k, wanted in enumerate((True, True, learn, moving, learn)) if wanted]
    kept = {k: cgutils.alloca_once(builder, DOUBLES) for k in used}
    for k in used:
        builder.store(read(room, zero, ir.Constant(WORD, k)), kept[k])

    def add(k: int, value: Any) -> None:
        builder.store(builder.fadd(builder.load(kept[k]), value), kept[k])

    def add_product(k: int, a: Any, b: Any) -> None:
        builder.store(fused(builder, a, b, builder.load(kept[k])), kept[k])

    with cgutils.for_range(builder, blocks) as loop:
        i = loop.index
        nears = read(table, near, i)
        gap = builder.fadd(builder.fsub(read(table, at, i), far_leads), builder.fsub(nears, near_leads))
        clamped = builder.select(builder.fcmp_ordered(">", gap, nothing), gap, nothing)
        x = builder.fmul(minus, clamped)
        x = builder.fadd(x, builder.load(builder.gep(priors, [builder.mul(i, stride)]), align=8))
        w = vector_exp(builder, x, negative=True)
        builder.store(w, place(room, to, i), align=8)
        add(0, w)
        ps = read(p, of, i)
        add_product(1, w, ps)
        if learn:
            if squared:
                distance = builder.fsub(ps, ones)
                ls = builder.fmul(distance, distance)
            else:
                ls = read(losses, lost, i)
            add_product(2, w, ls)
            if moving:
                add_product(3, w, vector_decay(builder, builder.fmul(minus, ls), ones))
            builder.store(builder.fadd(nears, ls), place(table, near, i), align=8)
            reached = builder.fadd(gap, ls)
            least = builder.load(kept[4])
            builder.store(builder.select(builder.fcmp_ordered("<", reached, least), reached, least), kept[4])
    for k in used:
        builder.store(builder.load(kept[k]), place(room, zero, ir.Constant(WORD, k)), align=8)


look_blocks: Any = _pass(learn=False)
learn_blocks: Any = _pass()
move_blocks: Any = _pass(moving=True)
learn_squared: Any = _pass(squared=True)


@inner
def tree(room: Vector, k: int) -> float:
    """Return the sum of the lanes of sum k, as numerics/lanes.py."""
    a = 8 * k
    return ((room[a] + room[a + 4]) + (room[a + 2] + room[a + 6])) + (
        (room[a + 1] + room[a + 5]) + (room[a + 3] + room[a + 7])
    )


@inlined
def blocks(
    table: Vector, p: Vector, losses: Vector, room: Vector, spots: Spots, terms: Terms, count: int, what: int
) -> None:
    """Run the pass over `count` blocks of eight."""
    if what == LOOK:
        look_blocks(table, p, losses, room, spots, terms, count)
    elif what == LEARN:
        learn_blocks(table, p, losses, room, spots, terms, count)
    elif what == MOVE:
        move_blocks(table, p, losses, room, spots, terms, count)
    else:
        learn_squared(table, p, losses, room, spots, terms, count)


@inner
def chunk(
    table: Vector, p: Vector, losses: Vector, room: Vector, spots: Spots, terms: Terms, count: int, what: int
) -> None:
    """Run the pass over some experts, and leave their sums in the lanes of room.

    The last experts, fewer than eight, have their predictions and losses copied to room and padded with zeros.

    Args:
        table: Losses and prior (see above), changed if it learns.
        p: Predictions, or losses of a table.
        losses: Losses of the round.
        room: Scratch (standings_layout.py).
        spots: Start indices.
        terms: Numbers from which the weights are computed.
        count: Number of experts.
        what: Kind of pass: LOOK, LEARN, ...
    """
    at, of, lost, to = spots
    for k in range(8 * SUMS):
        room[k] = np.inf if k >= 32 else 0.0
    full, rest = count // 8, count % 8
    while full > 0 or rest > 0:
        if full == 0:
            for k in range(8):
                room[PAD + k] = p[of + k] if k < rest else 0.0
                room[PAD + 8 + k] = losses[lost + k] if what != LOOK and k < rest else 0.0
            p, of, losses, lost, full, rest = room, PAD, room, PAD + 8, 1, 0
        blocks(table, p, losses, room, Spots(at, of, lost, to), terms, full, what)
        at, of, lost, to, full = at + 8 * full, of + 8 * full, lost + 8 * full, to + 8 * full, 0
