"""Compiled loops of learners with a full matrix: w = A^-1 b, A = L + S, L = ridge * diag(M^2).

S is the sum of h x x' and b the sum of beta x. M is the largest |x| of each feature so far, the current row included,
if the learner is scale-free, else 1. Scaling a feature by a power of two then scales its row and column of A exactly,
so the scores are the same to the bit. The matrix covers the first 256 features seen; `slots` maps places to its rows,
-1 for none; later features are ignored.
Both S and P = A^-1 are stored, as lower triangles: P -= h/(1+hv) k k' with k = P x, v = x'k, and rows of a growing M
are divided by their growth instead of subtracted from, to avoid cancellation. P is recomputed from A by Cholesky after
2^14 updates: `refresh`, which learners call between rows (linear/matrix.py), so it is compiled when first needed.

Arguments of the loops:
    metric: Metric
    matrix: MatrixArrays of all earlier rounds; `inverse` (P), `sums` (S), `held` and `totals` are its fields
    rows: Nonzeros of the rows to predict, or to learn from in turn
    y: (rows,) labels -1 and +1, or numbers for `play_vaw`
    scores: (rows,) output
    x, k, column: (n,) scratch by slot: the row, P x, a column of P
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.linear._loops import second_order_layout as at
from novikoff.linear._loops.second_order_layout import MatrixArrays, Metric
from novikoff.numerics.compiled import compiled, inlined, inner
from novikoff.numerics.exp import exp
from novikoff.numerics.lanes import LANES, dense, eight_rows
from novikoff.numerics.logits import hedged, log_loss
from novikoff.numerics.nonzeros import Nonzeros

Vector = NDArray[np.float64]


@inlined
def taken(more: float, own: float) -> float:
    """Return more / (1 + more own), own = P[i, i], even if more own overflows."""
    whole = 1.0 + more * own
    return more / whole if whole < np.inf else 1.0 / own


@inlined
def left(value: float, more: float, own: float) -> float:
    """Return value / (1 + more own), even if more own overflows."""
    whole = 1.0 + more * own
    return value / whole if whole < np.inf else value / own / more


@inlined
def grow(inverse: Vector, held: Vector, count: int, i: int, more: float, column: Vector) -> float:
    """Update P and w for A[i, i] += more; return the decrease of b'A^-1 b."""
    for j in range(i):
        column[j] = inverse[i, j]
    for j in range(i, count):
        column[j] = inverse[j, i]
    own = max(column[i], 0.0)  # rounding may make it negative, and 1 + more own must not be 0
    # Sherman-Morrison for A + more e_i e_i'; then row and column i again, by a division that does not cancel.
    part = taken(more, own)
    for a in range(count):
        step = part * column[a]
        for b in range(a + 1):
            inverse[a, b] -= step * column[b]
    for j in range(i + 1):
        inverse[i, j] = left(column[j], more, own)
    for j in range(i + 1, count):
        inverse[j, i] = left(column[j], more, own)
    moved = held[at.WEIGHT, i]
    for j in range(count):
        held[at.WEIGHT, j] -= part * column[j] * moved
    held[at.WEIGHT, i] = left(moved, more, own)
    return part * moved * moved


@inner
def meet(
    metric: Metric, matrix: MatrixArrays, rows: Nonzeros, t: int, keep: bool, x: Vector,
    column: Vector,
) -> int:  # fmt: skip
    """Write row t into x by slot, adding new features and growing M; return the number of slots.

    With `keep`, new features get slots and are counted; else only `held` and `inverse` change, which are then copies.
    """
    slots, ridge, scale_free = metric
    held, inverse, _, totals = matrix
    ends, places, values = rows
    count = int(totals[at.COUNT])
    for i in range(count):
        x[i] = 0.0
    for e in range(ends[t], ends[t + 1]):
        i = int(slots[places[e]])
        if i < 0 or i >= count:  # new, or new to this matrix if several share `slots`
            if count == at.LIMIT:
                continue
            i = count
            count += 1
            if keep:
                slots[places[e]] = i
            for j in range(i + 1):
                inverse[i, j] = 0.0
            held[:, i] = 0.0
        x[i] = values[e]
        size = abs(values[e]) if scale_free else 1.0
        most = held[at.LARGEST, i]
        if size > most:
            held[at.LARGEST, i] = size
            if most == 0.0:  # no earlier row had this feature: its entry of P is that of the ridge alone
                inverse[i, i] = 1.0 / (ridge * size * size)
            else:
                shed = grow(inverse, held, count, i, ridge * ((size - most) * (size + most)), column)
                if keep:
                    totals[at.SHED] += shed
        held[at.SEEN, i] += 1.0
        held[at.SIZE, i] = max(held[at.SIZE, i], abs(values[e]))
    if keep:
        totals[at.COUNT] = count
    return count


@inlined
def changes(metric: Metric, held: Vector, rows: Nonzeros, t: int) -> bool:
    """Return whether `meet` would change more than counts."""
    changed = False
    for e in range(rows.ends[t], rows.ends[t + 1]):
        i = metric.slots[rows.places[e]]
        changed |= i < 0 or (metric.scale_free and abs(rows.values[e]) > held[at.LARGEST, i])
    return changed


@inner
def product(inverse: Vector, x: Vector, count: int, k: Vector) -> float:
    """Write P x into k; return v = x'k, clipped to 0 from below, as 1 + v is a divisor."""
    for i in range(count):
        row = inverse[i]
        here = x[i]
        k[i] = dense(row[:i], x[:i]) + row[i] * here
        if here != 0.0:
            for j in range(i):
                k[j] += row[j] * here
    return max(dense(k[:count], x[:count]), 0.0)


@inner
def product_after(inverse: Vector, part: float, before: Vector, x: Vector, count: int, k: Vector) -> float:
    """Subtract part * before before' from P, then do what `product` does, to the bit, in the same pass over P."""
    whole = count - count % LANES
    for i in range(0, whole, LANES):
        eight_rows(inverse, i, part, before, x, k)
    for i in range(whole, count):
        row, here, step = inverse[i], x[i], part * before[i]
        for j in range(i + 1):
            row[j] -= step * before[j]
        k[i] = dense(row[:i], x[:i]) + row[i] * here
        for j in range(i):
            k[j] += row[j] * here
    return max(dense(k[:count], x[:count]), 0.0)


@inlined
def move(
    matrix: MatrixArrays, x: Vector, k: Vector, count: int, score: float, v: float, h: float, beta: float
) -> float:
    """Update w, b and the counts for A += h x x' and b += beta x; return c, by which P must change: P -= c k k'."""
    held, totals, whole = matrix.held, matrix.totals, 1.0 + h * v
    moved = (beta - h * score) / whole
    for i in range(count):
        held[at.WEIGHT, i] += moved * k[i]
        held[at.MOMENT, i] += beta * x[i]
    totals[at.UPDATES] += 1.0
    totals[at.SINCE] += 1.0
    return h / whole  # Sherman-Morrison for A + h x x'


@inner
def subtract(inverse: Vector, part: float, k: Vector, count: int) -> None:
    """Update P -= part k k'."""
    for i in range(count):
        step = part * k[i]
        for j in range(i + 1):
            inverse[i, j] -= step * k[j]


@inner
def add_rows(sums: Vector, h: Vector, x: Vector, rows: int, count: int) -> None:
    """Update S += h_r x_r x_r' for at most eight rows x (8, count), in their order: eight in one pass over S."""
    for i in range(count):
        if rows == LANES:
            s0, s1, s2, s3 = h[0] * x[0, i], h[1] * x[1, i], h[2] * x[2, i], h[3] * x[3, i]
            s4, s5, s6, s7 = h[4] * x[4, i], h[5] * x[5, i], h[6] * x[6, i], h[7] * x[7, i]
            for j in range(i + 1):
                half = (((sums[i, j] + s0 * x[0, j]) + s1 * x[1, j]) + s2 * x[2, j]) + s3 * x[3, j]
                sums[i, j] = (((half + s4 * x[4, j]) + s5 * x[5, j]) + s6 * x[6, j]) + s7 * x[7, j]
            continue
        for r in range(rows):
            step = h[r] * x[r, i]
            if step != 0.0:
                for j in range(i + 1):
                    sums[i, j] += step * x[r, j]


@inlined
def add_square(matrix: MatrixArrays, x: Vector, k: Vector, count: int, h: float, part: float) -> None:
    """Update S += h x x' and P -= part k k'."""
    inverse, sums = matrix.inverse, matrix.sums
    for i in range(count):
        step = part * k[i]
        for j in range(i + 1):
            inverse[i, j] -= step * k[j]
        if x[i] != 0.0:
            step = h * x[i]
            for j in range(i + 1):
                sums[i, j] += step * x[j]


@inlined
def change(
    matrix: MatrixArrays, x: Vector, k: Vector, count: int, score: float, v: float, h: float, beta: float
) -> None:
    """Update for A += h x x' and b += beta x; k = P x, v = x'k and score = x'w are from before the update."""
    part = move(matrix, x, k, count, score, v, h, beta)
    add_square(matrix, x, k, count, h, part)


@compiled
def refresh(held: Vector, inverse: Vector, sums: Vector, totals: Vector, ridge: float) -> None:
    """Recompute P = A^-1 by Cholesky, and w = P b; keep them if A is not numerically positive definite.

    The arrays are the fields of MatrixArrays, passed separately so that calls from Python and from loops share one
    compilation.
    """
    count = int(totals[at.COUNT])
    totals[at.SINCE] = 0.0
    factor, back = np.zeros((count, count)), np.zeros((count, count))  # A = factor factor', back = factor^-1
    for i in range(count):
        for j in range(i):
            factor[i, j] = (sums[i, j] - dense(factor[i, :j], factor[j, :j])) / factor[j, j]
        left = sums[i, i] + ridge * held[at.LARGEST, i] * held[at.LARGEST, i] - dense(factor[i, :i], factor[i, :i])
        if not left > 0.0:
            return
        factor[i, i] = np.sqrt(left)
    for i in range(count):
        for m in range(i):
            step = factor[i, m]
            for j in range(m + 1):
                back[i, j] -= step * back[m, j]
        for j in range(i):
            back[i, j] /= factor[i, i]
        back[i, i] = 1.0 / factor[i, i]
    for i in range(count):
        for j in range(i + 1):
            inverse[i, j] = 0.0
    for m in range(count):  # P = back' back
        for i in range(m + 1):
            step = back[m, i]
            for j in range(i + 1):
                inverse[i, j] += step * back[m, j]
    product(inverse, held[at.MOMENT], count, held[at.WEIGHT])


@compiled
def look(metric: Metric, matrix: MatrixArrays, rows: Nonzeros, scores: Vector, spread: Vector) -> None:
    """Write x'w and v of every row without learning; new features and M of the row are included in copies.

    `spread` is a (rows,) output for v.
    """
    metric, matrix, rows = Metric(*metric), MatrixArrays(*matrix), Nonzeros(*rows)
    held, inverse, sums, totals = matrix
    x, k = np.zeros(held.shape[1]), np.zeros(held.shape[1])
    for t in range(len(rows.ends) - 1):
        weights, copy = held.copy(), inverse
        if changes(metric, held, rows, t):
            copy = inverse.copy()
        count = meet(metric, MatrixArrays(weights, copy, sums, totals), rows, t, False, x, k)
        spread[t] = product(copy, x, count, k)
        scores[t] = dense(weights[at.WEIGHT, :count], x[:count])


@compiled
def play_logistic(
    metric: Metric, matrix: MatrixArrays, rows: Nonzeros, y: NDArray[np.int8],
    kappa: float, scores: Vector,
) -> None:  # fmt: skip
    """Play second-order logistic regression: write the hedged scores, and learn from every row."""
    metric, matrix, rows = Metric(*metric), MatrixArrays(*matrix), Nonzeros(*rows)
    room = matrix.held.shape[1]
    work = Together(np.zeros((LANES, room)), np.zeros((2, room)), np.zeros(room), np.zeros(LANES))
    signs = np.empty(LANES, np.int64)
    for begin in range(0, len(y), LANES):
        count = min(LANES, len(y) - begin)
        for r in range(count):
            signs[r] = y[begin + r]
        play_rows(metric, matrix, rows, begin, False, signs[:count], kappa, scores[begin : begin + count], work)


@inner
def move_logistic(
    matrix: MatrixArrays, x: Vector, k: Vector, count: int, z0: float, v: float, z: float, y: int, lost: float,
    kappa: float,
) -> tuple[float, float]:  # fmt: skip
    """Update all but the matrices after a round of second-order logistic regression.

    z is the score played and `lost` its log loss. Returns h and c, by which they must change: S += h x x', P -= c k k'.
    """
    totals = matrix.totals
    e = exp(y * z)
    q = 1.0 / (1.0 + e)  # P(-y); P(y) is e q, never 1 - q
    g = -y * q
    h = kappa * (q * (e * q))
    gap = z - z0
    totals[at.LOSS] += lost
    totals[at.GAINED] += (g * gap + 0.5 * g * g * v - 0.5 * h * gap * gap) / (1.0 + h * v)
    totals[at.LINEAR] += g * z - 0.5 * h * z * z
    totals[at.LINEAR_SIZE] += abs(g * z) + 0.5 * h * z * z
    totals[at.FARTHEST] = max(totals[at.FARTHEST], abs(z))
    return h, move(matrix, x, k, count, z0, v, h, h * z - g)


@inner
def learn_logistic(
    matrix: MatrixArrays, x: Vector, k: Vector, count: int, z0: float, v: float, z: float, y: int, lost: float,
    kappa: float,
) -> None:  # fmt: skip
    """Update after a round of second-order logistic regression; z is the score played and `lost` its log loss."""
    h, part = move_logistic(matrix, x, k, count, z0, v, z, y, lost, kappa)
    add_square(matrix, x, k, count, h, part)


class Together(NamedTuple):
    """Working memory of `play_rows`, for n features."""

    x: NDArray[np.float64]  # (LANES, n) rows
    k: NDArray[np.float64]  # (2, n) P x of two consecutive rows
    column: NDArray[np.float64]  # (n,)
    curves: NDArray[np.float64]  # (LANES,) h of each row


@inner
def look_after(
    metric: Metric, matrix: MatrixArrays, rows: Nonzeros, t: int, drawn: bool, r: int, part: float, size: int,
    work: Together,
) -> tuple[int, float, float]:  # fmt: skip
    """Complete the update of P by the row before, and score the next row.

    Args:
        metric: Regularisation.
        matrix: Arrays of the learner.
        rows: Rows.
        t: Number of the row to score.
        drawn: Whether work.x[r] has the row already, with all features of the matrix, as random features.
        r: Its number among those played together.
        part: c of the row before, whose P x is work.k[r % 2]: P -= c k k'; 0 for the first.
        size: Number of features before this row.
        work: Working memory; P x of this row is written to work.k[1 - r % 2].

    Returns:
        The number of features, x'P x and x'w.
    """
    held, inverse, x, before = matrix.held, matrix.inverse, work.x[r], work.k[r % 2]
    if not drawn:
        known = size
        if part != 0.0 and changes(metric, held, rows, t):
            subtract(inverse, part, before, size)
            part = 0.0
        x[:] = 0.0
        size = meet(metric, matrix, rows, t, True, x, work.column)
        before[known:size] = 0.0
    v = product_after(inverse, part, before, x, size, work.k[1 - r % 2])
    return size, v, dense(held[at.WEIGHT, :size], x[:size])


@inner
def complete(matrix: MatrixArrays, part: float, size: int, count: int, work: Together) -> None:
    """Complete the update of P by the last of `count` rows, and update S by all of them."""
    subtract(matrix.inverse, part, work.k[count % 2], size)
    add_rows(matrix.sums, work.curves, work.x, count, size)


@inner
def play_rows(
    metric: Metric, matrix: MatrixArrays, rows: Nonzeros, begin: int, drawn: bool, y: NDArray[np.int64], kappa: float,
    scores: Vector, work: Together,
) -> None:  # fmt: skip
    """Play at most eight rows of second-order logistic regression.

    The matrices stay in the processor's cache; P is passed over once per row, S once in all.

    Args:
        metric: Regularisation.
        matrix: Arrays of the learner.
        rows: Rows; those from number `begin` on are played.
        begin: Number of the first row.
        drawn: As in `look_after`.
        y: (count,) labels -1 and +1 of the rows to play.
        kappa: Curvature constant.
        scores: (count,) output: scores as played.
        work: Working memory.
    """
    size, part = int(matrix.totals[at.COUNT]), 0.0
    work.k[0] = 0.0
    for r in range(len(y)):
        size, v, z0 = look_after(metric, matrix, rows, begin + r, drawn, r, part, size, work)
        scores[r] = hedged(z0, v)
        lost, k = log_loss(y[r] * scores[r]), work.k[1 - r % 2]
        work.curves[r], part = move_logistic(matrix, work.x[r], k, size, z0, v, scores[r], y[r], lost, kappa)
    complete(matrix, part, size, len(y), work)


@compiled
def play_vaw(
    metric: Metric, matrix: MatrixArrays, rows: Nonzeros, y: Vector, low: float,
    high: float, scores: Vector,
) -> None:  # fmt: skip
    """Play Vovk-Azoury-Warmuth: x is in A before the prediction, which is clipped to low .. high."""
    metric, matrix, rows = Metric(*metric), MatrixArrays(*matrix), Nonzeros(*rows)
    totals, room = matrix.totals, matrix.held.shape[1]
    work = Together(np.zeros((LANES, room)), np.zeros((2, room)), np.zeros(room), np.ones(LANES))
    for begin in range(0, len(y), LANES):
        size, part, count = int(totals[at.COUNT]), 0.0, min(LANES, len(y) - begin)
        work.k[0] = 0.0
        for r in range(count):
            t = begin + r
            size, v, score = look_after(metric, matrix, rows, t, False, r, part, size, work)
            predicted = score / (1.0 + v)
            scores[t] = min(max(predicted, low), high)
            totals[at.LOSS] += (scores[t] - y[t]) ** 2
            totals[at.GAINED] += y[t] * y[t] * (v / (1.0 + v))
            totals[at.LINEAR] += y[t] * y[t]
            totals[at.UNCLIPPED] += (predicted - y[t]) ** 2
            totals[at.LINEAR_SIZE] += predicted * predicted * v
            totals[at.FARTHEST] = max(totals[at.FARTHEST], abs(y[t]))
            part = move(matrix, work.x[r], work.k[1 - r % 2], size, score, v, 1.0, y[t])
        complete(matrix, part, size, count, work)


@compiled
def play_perceptron(
    metric: Metric, matrix: MatrixArrays, rows: Nonzeros, y: NDArray[np.int8],
    margin: float, scores: Vector,
) -> None:  # fmt: skip
    """Play the second-order Perceptron (margin 0) or AROW (margin 1): learn from mistakes and if y x'w < margin."""
    metric, matrix, rows = Metric(*metric), MatrixArrays(*matrix), Nonzeros(*rows)
    held, inverse, totals = matrix.held, matrix.inverse, matrix.totals
    x, k = np.zeros(held.shape[1]), np.zeros(held.shape[1])
    for t in range(len(y)):
        count = meet(metric, matrix, rows, t, True, x, k)
        score = dense(held[at.WEIGHT, :count], x[:count])
        scores[t] = score
        wrong = (-1 if score < 0.0 else 1) != y[t]
        m = y[t] * score
        if wrong or m < margin:
            v = product(inverse, x, count, k)
            totals[at.LOSS] += wrong
            totals[at.GAINED] += (v + 2.0 * m - m * m) / (1.0 + v) if margin > 0.0 else v / (1.0 + v)
            change(matrix, x, k, count, score, v, 1.0, np.float64(y[t]))
