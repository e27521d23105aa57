"""Members of the linear mixture, the stack on top of them, and the mixture of all.

Forecasters, in this order: the diagonal members (convex/_loops/ftrl.py), the second-order members, the members on
random features (linear/_loops/second_order.py, numerics/fourier.py), and the stack, a second-order member whose x is
the clipped scores of all the others. P(+1) = sum of w_j P_j(+1) / sum of w_j over the forecasters awake; then w_j is
multiplied by P_j(y)/P(y), in the log domain. Members with a matrix rest and wake by the rule of
mixtures/_loops/resting.py. Members on random features retire for good after a sparse row with a feature beyond the
256th. Every member gives, bit for bit, the scores that it gives as a separate learner.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.convex._loops.ftrl import learn, look
from novikoff.convex._loops.ftrl_layout import FTRLArrays
from novikoff.linear._loops.second_order import Together, Vector, changes, learn_logistic, meet, play_rows, product
from novikoff.linear._loops.second_order_layout import COUNT, LIMIT, WEIGHT, MatrixArrays, Metric
from novikoff.mixtures._loops.linear_mixture_layout import (
    IDLE,
    LOG_WEIGHT,
    LOSS,
    PATIENCE,
    RETIRED,
    SHARE,
    WAKE,
    Matrices,
    Waves,
)
from novikoff.mixtures._loops.resting import catch_up, settle
from novikoff.numerics.compiled import compiled, inlined, inner
from novikoff.numerics.exp import exp
from novikoff.numerics.fourier import project, standardise, wave
from novikoff.numerics.lanes import LANES, dense
from novikoff.numerics.logits import hedged, log_loss, stacked
from novikoff.numerics.nonzeros import Nonzeros

TOGETHER = LANES
"""Rows that one member plays before the next: its matrices stay in the processor's cache, and are updated less often.
No bit depends on it, since members do not depend on each other."""


@inner
def log_sum(standing: Vector, lost: Vector) -> tuple[float, float]:
    """Return ln(sum of w_j e^-lost_j) over the forecasters awake as two summands.

    The first summand is the largest exponent, which may be huge; the second is at most ln(J+1). A caller that subtracts
    two such sums subtracts part by part, and loses no digit to the size of the first.

    Args:
        standing: (STANDING, J+1) weights of the members and, last, of the stack.
        lost: (J+1,) log loss of each forecaster on one label.
    """
    most, total = -np.inf, 0.0
    for j in range(len(lost)):
        if standing[IDLE, j] >= 0.0:
            most = max(most, standing[LOG_WEIGHT, j] - lost[j])
    for j in range(len(lost)):
        if standing[IDLE, j] >= 0.0:
            total += exp(standing[LOG_WEIGHT, j] - lost[j] - most)
    return most, np.log(total)


@inlined
def weigh(standing: Vector, lost: Vector, most: float, rest: float, shares: Vector) -> None:
    """Multiply the weight of every forecaster awake by P_j(y)/P(y).

    Args:
        standing: (STANDING, J+1) weights; rows LOG_WEIGHT, LOSS and SHARE are updated.
        lost: (J+1,) -ln P_j(y).
        most: First part of `log_sum(standing, lost)`.
        rest: Second part of it.
        shares: (J+1,) scratch.
    """
    before, whole = -np.inf, 0.0
    for j in range(len(lost)):
        if standing[IDLE, j] >= 0.0:
            before = max(before, standing[LOG_WEIGHT, j])
    for j in range(len(lost)):
        if standing[IDLE, j] >= 0.0:
            shares[j] = exp(standing[LOG_WEIGHT, j] - before)
            whole += shares[j]
    paid = (before - most) + (np.log(whole) - rest)  # -ln P(y)
    for j in range(len(lost)):
        if standing[IDLE, j] >= 0.0:
            standing[LOSS, j] += lost[j]
            standing[SHARE, j] += shares[j] / whole
            standing[LOG_WEIGHT, j] += paid - lost[j]


@compiled
def play(
    diagonal: FTRLArrays, matrices: Matrices, waves: Waves, standing: Vector, kappa: float, sparse: bool, seen: int,
    rows: Nonzeros, y: NDArray[np.int8], learns: bool, scores: Vector, mixed: Vector,
) -> None:  # fmt: skip
    """Compute the log-odds of every row; if `learns`, learn from each row before the next.

    Args:
        diagonal: Arrays of the diagonal members.
        matrices: Arrays of the members on x, of those on random features, and of the stack, in this order.
        waves: Random features.
        standing: (STANDING, J+1) weights of the members and, last, of the stack.
        kappa: Curvature constant of the second-order members; the stack computes its own in each round.
        sparse: Whether rows are sparse: then a feature beyond the 256th retires the members on random features.
        seen: Number of rounds before the first row.
        rows: Rows as compressed non-zeros.
        y: (rows,) labels -1 and +1; read only if `learns`.
        learns: Whether to learn; otherwise no array of the learner changes.
        scores: (rows, J+1) output: score of every forecaster, 0 while asleep.
        mixed: (rows,) output: log-odds of the mixture.
    """
    diagonal, rows = FTRLArrays(*diagonal), Nonzeros(*rows)
    slots, ridges, matrix_held, inverse, sums, matrix_totals = matrices
    turns, shifts, widths, moments = waves
    ends, places, values = rows
    lanes, random, members = len(diagonal.roots), len(widths), len(standing[0]) - 1
    full, width, angles = members - lanes - random, moments.shape[1], len(shifts) + 1
    z0, v, up, down = np.empty(lanes), np.empty(lanes), np.empty(members + 1), np.empty(members + 1)
    step, curve, row, s = np.zeros(lanes), np.zeros(lanes), np.zeros(width), np.zeros(width)
    room, together = matrix_held.shape[2], TOGETHER if learns else 1
    x, k, spare = np.zeros((TOGETHER, room)), np.zeros((2, room)), np.zeros(room)
    work, signs = Together(x, k, spare, np.zeros(TOGETHER)), np.empty(TOGETHER, np.int64)
    projected, vary = np.zeros((together, angles - 1)), np.ones(together)
    lost = np.zeros((together, members + 1))
    begin, rounds = 0, len(ends) - 1
    while begin < rounds:
        count, playing, awake, wide = min(together, rounds - begin), False, False, False
        if learns:
            # Members rest, wake and retire only after the last of these rows.
            count = min(count, WAKE - (seen + begin) % WAKE)
            for j in range(lanes, members):
                if standing[IDLE, j] >= 0.0:
                    count = min(count, PATIENCE - int(standing[IDLE, j]))
        for j in range(lanes + full, members):
            playing |= standing[IDLE, j] != RETIRED
            awake |= standing[IDLE, j] >= 0.0
        if playing:  # means and deviations cover all rows, also those in which these members sleep
            for r in range(count):
                t = begin + r
                row[:] = 0.0
                for e in range(ends[t], ends[t + 1]):
                    if 1 <= places[e] <= width:
                        row[places[e] - np.uint32(1)] = values[e]
                    wide |= sparse and places[e] > LIMIT
                vary[r] = standardise(moments, seen + t + 1.0, row, learns, s)
                if awake:
                    project(turns, s, projected[r])
                if wide:
                    count = r + 1
                    break
        for r in range(count):
            t = begin + r
            z, signs[r] = scores[t], y[t] if learns else 0
            look(diagonal, rows, t, learns, z0, v)
            for j in range(lanes):
                z[j] = hedged(z0[j], v[j])
                lost[r, j] = log_loss(y[t] * z[j]) if learns else 0.0
            if learns:
                learn(diagonal, rows, t, y[t], z0, v, z[:lanes], lost[r], step, curve)
        for j in range(lanes, members):
            m = j - lanes
            if standing[IDLE, j] < 0.0:
                for r in range(count):
                    scores[begin + r, j] = 0.0
                continue
            arrays = MatrixArrays(matrix_held[m], inverse[m], sums[m], matrix_totals[m])
            metric = Metric(slots, 0.0 if m >= full else ridges[m], True)
            if m >= full:
                for r in range(count):
                    wave(projected[r], shifts, np.sqrt(2.0 * widths[m - full] / vary[r]), x[r])
            if learns:
                play_rows(
                    metric, arrays, rows, begin, m >= full, signs[:count], kappa, scores[begin : begin + count, j], work
                )
                for r in range(count):
                    lost[r, j] = log_loss(y[begin + r] * scores[begin + r, j])
                continue
            here, matrix, size = matrix_held[m], inverse[m], int(matrix_totals[m, COUNT])
            if m < full:  # `meet` adds new features and larger values to the arrays: a prediction works on copies
                if changes(metric, here, rows, begin):
                    matrix = inverse[m].copy()
                here = matrix_held[m].copy()
                arrays = MatrixArrays(here, matrix, sums[m], matrix_totals[m])
                size = meet(metric, arrays, rows, begin, False, x[0], spare)
            spread = product(matrix, x[0], size, k[0])
            scores[begin, j] = hedged(dense(here[WEIGHT, :size], x[0, :size]), spread)
        m = members - lanes
        stack = MatrixArrays(matrix_held[m], inverse[m], sums[m], matrix_totals[m])
        for r in range(count):
            t = begin + r
            z = scores[t]
            bend = stacked(z[:members], spare)
            spread = product(stack.inverse, spare, members, k[0])
            score = dense(stack.held[WEIGHT, :members], spare[:members])
            z[members] = hedged(score, spread)
            for j in range(members + 1):
                less = log_loss(abs(z[j]))  # log loss of the more likely label
                up[j] = less if z[j] > 0.0 else less - z[j]
                down[j] = less + z[j] if z[j] > 0.0 else less
            top, bottom = log_sum(standing, up), log_sum(standing, down)
            mixed[t] = (top[0] - bottom[0]) + (top[1] - bottom[1])
            if not learns:
                continue
            # `other` is no longer needed as losses of the other label, and serves `weigh` as scratch.
            own, other, (most, rest) = (up, down, top) if y[t] == 1 else (down, up, bottom)
            learn_logistic(stack, spare, k[0], members, score, spread, z[members], y[t], own[members], bend)
            weigh(standing, own, most, rest, other)
            if settle(standing, stack.held[WEIGHT, :members], lanes, seen + t + 1):
                # Slots are shared: a member that woke gets the features that others met meanwhile.
                widest = 0
                for m in range(full):
                    widest = m if matrix_totals[m, COUNT] > matrix_totals[widest, COUNT] else widest
                for m in range(full):
                    there = int(matrix_totals[widest, COUNT])
                    catch_up(matrix_held[m], inverse[m], matrix_totals[m], ridges[m], matrix_held[widest], there)
        if wide and learns:
            standing[IDLE, lanes + full : members] = RETIRED
        begin += count
