"""Stacks: weights on the forecasts of members, learned by second-order methods with or without forgetting.

All of them store S, the sum of curvatures, and b, the sum of gradients, apart from the ridge L, and forget by
S := gamma S, b := gamma b BEFORE the forecast: for this order there is a comparator
(mixtures/theorems/stack_regret.py). The state is that after the last round, not yet discounted for the next.

Two labels: A = L + S with its inverse P, O(d^2) per round. Forgetting discounts L too, and restores
d (1 - gamma) lambda to one coordinate per round, in turn. Terms q_i q_j are subtracted from the whole of P, so that its
two triangles are equal to the bit: their difference would grow as gamma^-t. P is recomputed every 1,024 rounds.
Many labels and numbers: [A | columns] is eliminated in every round, without an inverse: an inverse would lose its
digits while forecasts are equal for long, or of very different sizes. Elimination without exchanges of rows does not
depend on the scale of the coordinates, for powers of two to the bit, so A need not be scaled to a unit diagonal; and no
pivot of A >= L is below that of L, which is a floor against rounding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.mixtures._loops import stack_layout as at
from novikoff.mixtures._loops.stack_layout import LogisticArrays, NumberStackArrays, SoftmaxArrays
from novikoff.numerics.compiled import compiled, inlined, inner
from novikoff.numerics.exp import exp
from novikoff.numerics.logits import hedged, log_loss, stacked
from novikoff.numerics.sizes import CLIP, LEAST_SIZE
from novikoff.numerics.softmax import softmax
from novikoff.numerics.totals import put

Vector = NDArray[np.float64]

SMALL = 0.01
"""Range below which kappa is computed by its series: the closed form cancels, and exceeds 1 near 1e-7."""


@inner
def eliminate(work: Vector, ridge: Vector, size: int) -> None:
    """Eliminate [A | columns] by Gauss, reading the upper triangle of A.

    work    (size, size + columns) changed
    ridge   (size,) diagonal of L; a coordinate with a diagonal of 0 must have 0 everywhere
    """
    for k in range(size):
        pivot = max(work[k, k], ridge[k])
        work[k, k] = pivot
        per = 1.0 / pivot if pivot > 0.0 else 0.0
        for i in range(k + 1, size):
            part = work[k, i] * per
            for j in range(i, work.shape[1]):
                work[i, j] -= part * work[k, j]


@inner
def form(work: Vector, size: int, a: int, b: int) -> float:
    """Return p'A^-1 q for the columns a and b of an eliminated matrix, `work` (size, size + columns)."""
    total = 0.0
    for k in range(size):
        if work[k, k] > 0.0:
            total += work[k, a] / work[k, k] * work[k, b]
    return total


@inlined
def fill(sums: Vector, ridge: Vector, gamma: float, work: Vector) -> None:
    """Write A = L + gamma S to the upper triangle of `work`, from `sums` (n, n), S, and `ridge` (n,), L."""
    for i in range(len(ridge)):
        for j in range(i, len(ridge)):
            work[i, j] = gamma * sums[i, j]
        work[i, i] += ridge[i]


@inlined
def ride(riders: Vector, row: int, i: int, value: float) -> None:
    """Add to the compensated sum in rows `row` and `row` + 1 of column i of `riders` (rows, columns)."""
    old = riders[row, i]
    new = old + value
    riders[row + 1, i] += (old - new) + value if abs(old) >= abs(value) else (value - new) + old
    riders[row, i] = new


@inner
def discount(stack: LogisticArrays, gamma: float, ridge: float, rounds: int, phi: float, q: Vector) -> float:
    """Forget before round number `rounds` (from 0 on); return b'A^-1 b afterwards, given its value `phi` before.

    ridge   lambda
    q       (d,) working memory
    """
    _, diagonal, sums, inverse, moment, _, _ = stack
    size = len(moment)
    i = rounds % size
    more = size * (1.0 - gamma) * ridge
    diagonal_i = max(inverse[i, i], 0.0) / gamma
    root, dot = np.sqrt(more / (1.0 + more * diagonal_i)) / gamma, 0.0  # Sherman-Morrison for `more` at coordinate i
    for j in range(size):
        q[j] = root * inverse[i, j]
        moment[j] *= gamma
        diagonal[j] *= gamma
        dot += q[j] * moment[j]
    diagonal[i] += more
    for a in range(size):
        for b in range(size):
            inverse[a, b] = inverse[a, b] / gamma - q[a] * q[b]
            sums[a, b] *= gamma
    return gamma * phi - dot * dot


@inner
def refresh(stack: LogisticArrays) -> None:
    """Recompute the inverse from L and S."""
    _, diagonal, sums, inverse, _, _, _ = stack
    size = len(diagonal)
    work = np.zeros((size, 2 * size))
    fill(sums, diagonal, 1.0, work)
    for i in range(size):
        work[i, size + i] = 1.0
    eliminate(work, diagonal, size)
    for i in range(size):
        for j in range(i + 1):
            inverse[i, j] = form(work, size, size + i, size + j)
            inverse[j, i] = inverse[i, j]


@compiled
def play_logistic(
    stack: LogisticArrays, gamma: float, ridge: float, rounds: int, odds: Vector, extras: Vector,
    y: NDArray[np.int8], learns: bool, played: Vector,
) -> None:  # fmt: skip
    """Play a stack for two labels.

    stack    changed if it learns; d = J + E + 1, coordinates: members, extras, constant
    gamma    factor of the past before each round
    ridge    lambda
    rounds   rounds before these
    odds     (rows, J) log-odds of the members
    extras   (rows, E) further columns
    y        (rows,) labels -1 and +1; not read unless `learns`
    played   (rows,) out: log-odds
    """
    centre, diagonal, sums, inverse, moment, totals, riders = stack
    members, size = len(centre), len(moment)
    if not learns:
        diagonal, sums, inverse, moment = diagonal.copy(), sums.copy(), inverse.copy(), moment.copy()
    arrays = LogisticArrays(centre, diagonal, sums, inverse, moment, totals, riders)
    x, k, q = np.ones(size), np.empty(size), np.empty(size)
    phi = totals[at.LAST_DUAL]
    for t in range(len(odds)):
        if gamma < 1.0 and (learns or t == 0):
            phi = discount(arrays, gamma, ridge, rounds + t, phi, q)
        bend = stacked(odds[t], x[:members])
        middle = 0.0
        for j in range(members):
            middle += centre[j] * x[j]
        for j in range(members, size - 1):
            x[j] = extras[t, j - members]
        k[:] = 0.0  # A^-1 x
        for i in range(size):
            here = x[i]
            for j in range(size):
                k[j] += here * inverse[i, j]
        v, off = 0.0, 0.0  # x'A^-1 x and x'A^-1 b
        for j in range(size):
            v += k[j] * x[j]
            off += k[j] * moment[j]
        v = max(v, 0.0)  # rounding may leave it below 0, and 1 + h v is a divisor
        z0 = middle + off
        z = hedged(z0, v)
        played[t] = z
        if not learns:
            continue
        e = exp(y[t] * z)
        p = 1.0 / (1.0 + e)
        g, h = -y[t] * p, bend * (p * (e * p))
        lost, gap, far = log_loss(y[t] * z), z - z0, z - middle
        beta, whole = h * far - g, 1.0 + h * v
        phi += 2.0 * beta * off + beta * beta * v - h * (off + beta * v) ** 2 / whole
        put(totals, at.LOSS, lost)
        put(totals, at.DELTA, (g * gap + 0.5 * g * g * v - 0.5 * h * gap * gap) / whole)
        put(totals, at.LINEAR, g * far - 0.5 * h * far * far)
        put(totals, at.DUAL, phi)
        totals[at.LAST_DUAL] = phi
        totals[at.FARTHEST] = max(totals[at.FARTHEST], abs(far))
        for j in range(members + 1):
            s = x[j] if j < members else middle
            alone = log_loss(y[t] * s)
            ride(riders, at.RIDER_LOSS, j, alone)
            ride(riders, at.RIDER_OVER, j, max(alone, lost + g * (s - z) + 0.5 * h * (s - z) ** 2))
        root, less = np.sqrt(h), np.sqrt(h / whole)
        for i in range(size):
            moment[i] += beta * x[i]
            q[i] = root * x[i]
            k[i] *= less
        for i in range(size):
            for j in range(size):
                sums[i, j] += q[i] * q[j]
                inverse[i, j] -= k[i] * k[j]
        if (rounds + t + 1) % at.REFRESH == 0:
            refresh(arrays)


@inner
def kappa(d: float) -> float:
    """Return 2 (e^-d + d - 1)/d^2: the fraction of softmax's curvature that remains if scores move by a range d."""
    if d < SMALL:
        return 1.0 - d / 3.0 + d * d / 12.0 - d * d * d / 60.0
    return 2.0 * (exp(-d) + d - 1.0) / (d * d)


@inlined
def spread(s: Vector, z: Vector, p: Vector, y: int, known: int) -> tuple[float, float]:
    """Return (P - e_y)'(s - z) and (s - z)'(diag P - PP')(s - z); s, z and P, here p, are (labels,)."""
    first, mean, square = 0.0, 0.0, 0.0
    for c in range(known):
        far = s[c] - z[c]
        mean += p[c] * far
        square += p[c] * far * far
    first = mean - (s[y] - z[y])
    return first, max(square - mean * mean, 0.0)


@compiled
def play_softmax(
    stack: SoftmaxArrays, gamma: float, proved: bool, known: int, logs: Vector, y: NDArray[np.int64], learns: bool,
    played: Vector,
) -> int:  # fmt: skip
    """Play a stack for many labels.

    stack    changed if it learns; d = J + K, coordinates: members, biases of the labels
    gamma    factor of the past before each round
    proved   multiply curvatures by kappa, so that the parabola Q of weights with a range up to that of the members is
             never above their loss
    known    labels known before these rows
    logs     (rows, J, K) ln P of the members; columns of labels not yet known are not read
    y        (rows,) labels from 0 on; not read unless `learns`. A label is known in the round in which it appears
    played   (rows, K) out: ln P, -inf for labels not yet known

    Returns:
        Number of labels known.
    """
    centre, ridge, sums, moment, totals, riders = stack
    members, most = len(centre), logs.shape[2]
    f, work = np.zeros((members, most)), np.empty((len(ridge), len(ridge) + most + 1))
    again = np.empty((len(ridge), len(ridge) + 2))
    middle, z, p, far, turn = np.empty(most), np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    step, column, apart = np.empty(len(ridge)), np.empty((len(ridge), most)), np.empty((most, len(ridge)))
    for t in range(len(logs)):
        if learns:
            known = max(known, y[t] + 1)
        size, widest = members + known, 0.0
        # Features: ln P of each member, clipped from below and centred over the known labels.
        for j in range(members):
            mean, low, high = 0.0, np.inf, -np.inf
            for c in range(known):
                f[j, c] = max(logs[t, j, c], -CLIP)
                mean += f[j, c]
            for c in range(known):
                f[j, c] -= mean / known
                low, high = min(low, f[j, c]), max(high, f[j, c])
            widest = max(widest, high - low)
        # Scores: the centre's, plus column'A^-1 b for the column of each label, all from one elimination.
        for i in range(size):
            for j in range(i, size):
                work[i, j] = gamma * sums[i, j]
            work[i, i] += ridge[i]
            for c in range(known):
                column[i, c] = f[i, c] if i < members else (1.0 if i - members == c else 0.0) - 1.0 / known
                work[i, size + c] = column[i, c]
            work[i, size + known] = gamma * moment[i]
        eliminate(work[:, : size + known + 1], ridge, size)
        for c in range(known):
            middle[c] = 0.0
            for j in range(members):
                middle[c] += centre[j] * f[j, c]
            z[c] = middle[c] + form(work, size, size + c, size + known)
        whole = softmax(z, known, p)
        for c in range(most):
            played[t, c] = z[c] - whole if c < known else -np.inf
        if not learns:
            continue
        here, least, top = y[t], z[0], z[0]
        for c in range(known):
            least, top = min(least, z[c]), max(top, z[c])
        bend = kappa(top - least + max(widest, 1.0)) if proved else 1.0
        # Gradient and curvature along far = z - o: the terms of Q at the centre.
        mean = 0.0
        for c in range(known):
            far[c] = z[c] - middle[c]
            totals[at.FARTHEST] = max(totals[at.FARTHEST], abs(far[c]))
            mean += p[c] * far[c]
        linear, square = mean - far[here], 0.0
        for c in range(known):
            square += p[c] * (far[c] - mean) ** 2
            turn[c] = bend * p[c] * (far[c] - mean) - p[c] + (1.0 if c == here else 0.0)
        for i in range(size):  # mean of the columns under P
            step[i] = 0.0
            for c in range(known):
                step[i] += p[c] * column[i, c]
        for i in range(size):
            value = 0.0
            for c in range(known):
                value += turn[c] * column[i, c]
            moment[i] = gamma * moment[i] + value
            again[i, size] = step[i] - column[i, here]  # g
            again[i, size + 1] = moment[i]
        # S += the covariance of the columns under P; then eliminate again, for Delta and b'A^-1 b.
        for i in range(size):
            for c in range(known):
                apart[c, i] = column[i, c] - step[i]
        for i in range(size):
            for j in range(i, size):
                sums[i, j] *= gamma
            for c in range(known):
                part = bend * p[c] * apart[c, i]
                for j in range(i, size):
                    sums[i, j] += part * apart[c, j]
            for j in range(i, size):
                again[i, j] = sums[i, j]
            again[i, i] += ridge[i]
        eliminate(again[:, : size + 2], ridge, size)
        phi, lost = form(again, size, size + 1, size + 1), whole - z[here]
        put(totals, at.LOSS, lost)
        put(totals, at.DELTA, 0.5 * form(again, size, size, size))
        put(totals, at.LINEAR, linear - 0.5 * bend * square)
        put(totals, at.DUAL, phi)
        totals[at.LAST_DUAL] = phi
        for j in range(members + 1):
            s = f[j] if j < members else middle
            first, second = spread(s, z, p, here, known)
            alone = softmax(s, known, turn) - s[here]
            ride(riders, at.RIDER_LOSS, j, alone)
            ride(riders, at.RIDER_OVER, j, max(alone, lost + first + 0.5 * bend * second))
    return known


@compiled
def play_numbers(
    stack: NumberStackArrays, ridge: float, gamma: float, forecasts: Vector, y: Vector, learns: bool, played: Vector
) -> None:
    """Play a stack for numbers: Vovk-Azoury-Warmuth on (p - m, y - m), where m is the pool of the forecasts by u0.

    stack       changed if it learns
    ridge       lambda: L = lambda diag(M^2)
    gamma       factor of the past before each round
    forecasts   (rows, J)
    y           (rows,) outcomes; not read unless `learns`
    played      (rows,) out: forecasts, clipped to the range of the earlier outcomes; 0 before the first outcome
    """
    centre, largest, sums, moment, totals, outcomes = stack
    size = len(centre)
    x, wide, diagonal, work = np.empty(size), np.empty(size), np.empty(size), np.empty((size, size + 2))
    for t in range(len(forecasts)):
        middle = 0.0
        for j in range(size):
            middle += centre[j] * forecasts[t, j]
        for j in range(size):
            x[j] = forecasts[t, j] - middle
            x[j] = 0.0 if abs(x[j]) < LEAST_SIZE else x[j]
            wide[j] = max(largest[j], abs(x[j]))
            diagonal[j] = ridge * wide[j] * wide[j]
        fill(sums, diagonal, gamma, work)
        for i in range(size):
            work[i, size] = x[i]
            work[i, size + 1] = gamma * moment[i]
        eliminate(work, diagonal, size)
        v, off = form(work, size, size, size), form(work, size, size, size + 1)
        yhat = off / (1.0 + v)
        unclipped = middle + yhat
        played[t] = min(max(unclipped, outcomes[at.LOW]), outcomes[at.HIGH]) if outcomes[at.SEEN] > 0.0 else 0.0
        if not learns:
            continue
        r, before = y[t] - middle, form(work, size, size + 1, size + 1)
        chi = v / (1.0 + v)
        phi = before - yhat * yhat * (1.0 + v) + 2.0 * r * yhat + r * r * chi
        put(totals, at.SQUARES, r * r)
        put(totals, at.CHI, r * r * chi)
        put(totals, at.CREDIT, yhat * yhat * v)
        put(totals, at.GROWTH, gamma * outcomes[at.LAST_PHI] - before)
        put(totals, at.UNCLIPPED, (unclipped - y[t]) ** 2)
        put(totals, at.CLIPPED, (played[t] - y[t]) ** 2)
        put(totals, at.PHI, phi)
        beyond = abs(y[t])
        if outcomes[at.SEEN] > 0.0:
            beyond = max(max(outcomes[at.LOW] - y[t], y[t] - outcomes[at.HIGH]), 0.0)
        put(totals, at.RANGE, beyond * beyond)
        for i in range(size):
            largest[i] = wide[i]
            moment[i] = gamma * moment[i] + r * x[i]
            for j in range(i, size):
                sums[i, j] = gamma * sums[i, j] + x[i] * x[j]
        outcomes[at.LAST_PHI] = phi
        outcomes[at.OFFSET] = max(outcomes[at.OFFSET], abs(r))
        outcomes[at.LOW] = min(outcomes[at.LOW], y[t]) if outcomes[at.SEEN] > 0.0 else y[t]
        outcomes[at.HIGH] = max(outcomes[at.HIGH], y[t]) if outcomes[at.SEEN] > 0.0 else y[t]
        outcomes[at.SEEN] = 1.0


@compiled
def lag(values: Vector, rates: Vector, started: bool, y: Vector, learns: bool, columns: Vector) -> None:
    """Write the lag columns of every round, from the outcomes before it.

    values    (1 + rates,) current columns: the previous outcome and exponential means; changed if it learns
    rates     weight of the newest outcome in each mean
    started   False if the columns start at the first outcome: before it they are 0
    y         (rows,) outcomes; not read unless `learns`
    columns   (rows, 1 + rates) out
    """
    for t in range(len(columns)):
        for k in range(len(values)):  # numba takes a second to compile columns[t] = values
            columns[t, k] = values[k]
        if learns:
            values[0] = y[t]
            for k in range(len(rates)):
                values[k + 1] = values[k + 1] + rates[k] * (y[t] - values[k + 1]) if started else y[t]
            started = True
