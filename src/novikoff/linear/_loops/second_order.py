"""Learners with a full matrix: w = A^-1 b, A = L + S, L = ridge * diag(M^2), S = sum of h x x' and b = sum of beta x.

M is the largest |x| of each feature so far, that of this round included, where the learner is scale-free, else 1.
Multiplied by a power of two a feature then multiplies its row and column of A by it, exactly, and so on: the scores are
the same to the bit. The matrix is kept for the first 256 features seen; `slots` says which place has which row, -1 if
none; later features are left out.
Both S and P = A^-1 are kept, their lower triangles only: P -= h/(1+hv) k k' with k = P x, v = x'k, and rows of a
growing M are divided by what they grow by, not subtracted from. P is found again from A by Cholesky after 2^14 updates:
`refresh`, which learners call between rows (linear/matrix.py), so it is compiled when it is first needed.

Arguments of the loops
    metric       Metric; matrix: MatrixArrays, of all rounds before
    rows         Nonzeros: the rows to predict, or to learn from in turn
    y            (rows,) labels -1 and +1, or numbers for `play_vaw`
    scores       (rows,) out
    x, k, column (n,) scratch, slot by slot: the row, P x, a column of P
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.linear._loops import second_order_layout as at
from novikoff.linear._loops.second_order_layout import MatrixArrays, Metric
from novikoff.numerics.compiled import compiled, inlined, inner
from novikoff.numerics.exp import exp
from novikoff.numerics.lanes import dense
from novikoff.numerics.logits import hedged, log_loss
from novikoff.numerics.nonzeros import Nonzeros

Vector = NDArray[np.float64]


@inlined
def taken(more: float, own: float) -> float:
    """more / (1 + more own), where own = P[i, i]; also where more own is beyond the doubles."""
    whole = 1.0 + more * own
    return more / whole if whole < np.inf else 1.0 / own


@inlined
def left(value: float, more: float, own: float) -> float:
    """value / (1 + more own), also where more own is beyond the doubles."""
    whole = 1.0 + more * own
    return value / whole if whole < np.inf else value / own / more


@inlined
def grow(inverse: Vector, held: Vector, count: int, i: int, more: float, column: Vector) -> float:
    """A[i, i] has grown by `more`; by how much b'A^-1 b fell."""
    for j in range(i):
        column[j] = inverse[i, j]
    for j in range(i, count):
        column[j] = inverse[j, i]
    own = max(column[i], 0.0)  # rounding may leave it below 0, and 1 + more own must not be 0
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
    """Write row t into x slot by slot, with new features and larger M; how many slots there are.

    keep   learn the places of new features, and count them; else only `held` and `inverse`, which are copies, change
    """
    slots, ridge, scale_free = metric
    held, inverse, _, totals = matrix
    ends, places, values = rows
    count = int(totals[at.COUNT])
    for i in range(count):
        x[i] = 0.0
    for e in range(ends[t], ends[t + 1]):
        i = int(slots[places[e]])
        if i < 0 or i >= count:  # new, or new to this matrix, where several share `slots`
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
            if most == 0.0:  # no row had this feature: its part of P is that of the ridge alone
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
    """Would `meet` change anything but counts?"""
    changed = False
    for e in range(rows.ends[t], rows.ends[t + 1]):
        i = metric.slots[rows.places[e]]
        changed |= i < 0 or (metric.scale_free and abs(rows.values[e]) > held[at.LARGEST, i])
    return changed


@inner
def product(inverse: Vector, x: Vector, count: int, k: Vector) -> float:
    """k = P x; answers v = x'k, 0 where rounding leaves it below: 1 + v divides."""
    for i in range(count):
        row = inverse[i]
        here = x[i]
        k[i] = dense(row[:i], x[:i]) + row[i] * here
        if here != 0.0:
            for j in range(i):
                k[j] += row[j] * here
    return max(dense(k[:count], x[:count]), 0.0)


@inlined
def change(
    matrix: MatrixArrays, x: Vector, k: Vector, count: int, score: float, v: float, h: float, beta: float
) -> None:
    """A += h x x' and b += beta x; k = P x, v = x'k and score = x'w are those of before."""
    held, inverse, sums, totals = matrix
    whole = 1.0 + h * v
    part = h / whole
    for i in range(count):
        step = part * k[i]
        for j in range(i + 1):
            inverse[i, j] -= step * k[j]
        if x[i] != 0.0:
            step = h * x[i]
            for j in range(i + 1):
                sums[i, j] += step * x[j]
    moved = (beta - h * score) / whole
    for i in range(count):
        held[at.WEIGHT, i] += moved * k[i]
        held[at.MOMENT, i] += beta * x[i]
    totals[at.UPDATES] += 1.0
    totals[at.SINCE] += 1.0


@compiled
def refresh(held: Vector, inverse: Vector, sums: Vector, totals: Vector, ridge: float) -> None:
    """P = A^-1 by Cholesky, and w = P b; left as they are if A is not positive in floats.

    held to totals   MatrixArrays, field by field: called from Python and from loops, and compiled once for both
    """
    count = int(totals[at.COUNT])
    totals[at.SINCE] = 0.0
    factor, back = np.zeros((count, count)), np.zeros((count, count))
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
    for m in range(count):
        for i in range(m + 1):
            step = back[m, i]
            for j in range(i + 1):
                inverse[i, j] += step * back[m, j]
    product(inverse, held[at.MOMENT], count, held[at.WEIGHT])


@compiled
def look(metric: Metric, matrix: MatrixArrays, rows: Nonzeros, scores: Vector, spread: Vector) -> None:
    """x'w and v of every row, with what x itself says of new features and of M; nothing is changed.

    spread   (rows,) out: v
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
    """Second-order logistic regression: the hedged scores, learning from every row."""
    metric, matrix, rows = Metric(*metric), MatrixArrays(*matrix), Nonzeros(*rows)
    held, inverse = matrix.held, matrix.inverse
    x, k = np.zeros(held.shape[1]), np.zeros(held.shape[1])
    for t in range(len(y)):
        count = meet(metric, matrix, rows, t, True, x, k)
        v = product(inverse, x, count, k)
        z0 = dense(held[at.WEIGHT, :count], x[:count])
        scores[t] = hedged(z0, v)
        lost = log_loss(y[t] * scores[t])
        learn_logistic(matrix, x, k, count, z0, v, scores[t], y[t], lost, kappa)


@inner
def learn_logistic(
    matrix: MatrixArrays, x: Vector, k: Vector, count: int, z0: float, v: float, z: float, y: int, lost: float,
    kappa: float,
) -> None:  # fmt: skip
    """A round of second-order logistic regression; z: the score that was played, and its log loss."""
    totals = matrix.totals
    e = exp(y * z)
    q = 1.0 / (1.0 + e)
    g = -y * q
    h = kappa * (q * (e * q))
    gap = z - z0
    totals[at.LOSS] += lost
    totals[at.GAINED] += (g * gap + 0.5 * g * g * v - 0.5 * h * gap * gap) / (1.0 + h * v)
    totals[at.LINEAR] += g * z - 0.5 * h * z * z
    totals[at.LINEAR_SIZE] += abs(g * z) + 0.5 * h * z * z
    totals[at.FARTHEST] = max(totals[at.FARTHEST], abs(z))
    change(matrix, x, k, count, z0, v, h, h * z - g)


@compiled
def play_vaw(
    metric: Metric, matrix: MatrixArrays, rows: Nonzeros, y: Vector, low: float,
    high: float, scores: Vector,
) -> None:  # fmt: skip
    """Vovk-Azoury-Warmuth: x is in A before the prediction, which is clipped to low .. high."""
    metric, matrix, rows = Metric(*metric), MatrixArrays(*matrix), Nonzeros(*rows)
    held, inverse, totals = matrix.held, matrix.inverse, matrix.totals
    x, k = np.zeros(held.shape[1]), np.zeros(held.shape[1])
    for t in range(len(y)):
        count = meet(metric, matrix, rows, t, True, x, k)
        v = product(inverse, x, count, k)
        score = dense(held[at.WEIGHT, :count], x[:count])
        said = score / (1.0 + v)
        scores[t] = min(max(said, low), high)
        totals[at.LOSS] += (scores[t] - y[t]) ** 2
        totals[at.GAINED] += y[t] * y[t] * (v / (1.0 + v))
        totals[at.LINEAR] += y[t] * y[t]
        totals[at.UNCLIPPED] += (said - y[t]) ** 2
        totals[at.LINEAR_SIZE] += said * said * v
        totals[at.FARTHEST] = max(totals[at.FARTHEST], abs(y[t]))
        change(matrix, x, k, count, score, v, 1.0, y[t])


@compiled
def play_perceptron(
    metric: Metric, matrix: MatrixArrays, rows: Nonzeros, y: NDArray[np.int8],
    margin: float, scores: Vector,
) -> None:  # fmt: skip
    """The second-order Perceptron (margin 0) and AROW (margin 1): learn from mistakes, and where y x'w < margin."""
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
