"""The members of `auto`, the stack on top of them, and the mixture of all.

Forecasters, in this order: the diagonal members (convex/_loops/ftrl.py), the second-order members, those on random
features (linear/_loops/second_order.py, numerics/fourier.py), and the stack, a second-order member whose x are the
scores of all others, clipped. P(+1) = sum of w P_j(+1) over those awake / sum of their w; then w_j is multiplied by
P_j(y)/P(y), in the log domain. Members with a matrix rest and wake by the rule of mixtures/_loops/resting.py. Members
on random features retire for good after a sparse row with a feature beyond the 256th. Members do the same as when they
play alone, to the bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.convex._loops.ftrl import learn, look
from novikoff.convex._loops.ftrl_layout import FTRLArrays
from novikoff.linear._loops.second_order import Vector, changes, learn_logistic, meet, product
from novikoff.linear._loops.second_order_layout import COUNT, LIMIT, WEIGHT, MatrixArrays, Metric
from novikoff.mixtures._loops.auto_layout import IDLE, LOG_WEIGHT, LOSS, RETIRED, SHARE, Matrices, Waves
from novikoff.mixtures._loops.resting import catch_up, settle
from novikoff.numerics.compiled import compiled, inlined, inner
from novikoff.numerics.exp import exp
from novikoff.numerics.fourier import project, standardise, wave
from novikoff.numerics.lanes import dense
from novikoff.numerics.logits import hedged, log_loss, stacked
from novikoff.numerics.nonzeros import Nonzeros


@inner
def log_sum(standing: Vector, lost: Vector) -> tuple[float, float]:
    """Return ln(sum of w_j e^-lost_j) over those awake, in two parts: the largest logarithm, and the remainder."""
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
    """Multiply the weights of those awake by P_j(y)/P(y).

    lost         -ln P_j(y); most and rest are their `log_sum`
    shares       to work in
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
    rows: Nonzeros, y: NDArray[np.int8], learns: bool, scores: Vector, said: Vector,
) -> None:  # fmt: skip
    """The log-odds of every row, learning from each before the next if `learns`; `seen` rows came before.

    diagonal   FtrlArrays of the diagonal members
    matrices   of the members on x, of those on random features, and of the stack, in this order
    standing   (STANDING, J+1): the weights of the members and, last, of the stack
    kappa      of the curvature of members with a matrix; the stack has its own, by the row
    sparse     rows are not arrays: a feature beyond the 256th retires the members on random features
    y          (rows,) labels -1 and +1; not read unless `learns`
    scores     (rows, J+1) out: of every forecaster; 0 of those asleep
    said       (rows,) out: of the mixture
    """
    diagonal, rows = FTRLArrays(*diagonal), Nonzeros(*rows)
    slots, ridges, matrix_held, inverse, sums, matrix_totals = matrices
    turns, shifts, widths, moments = waves
    ends, places, values = rows
    lanes, random, members = len(diagonal.roots), len(widths), len(standing[0]) - 1
    full, width, angles = members - lanes - random, moments.shape[1], len(shifts) + 1
    z0, v, up, down = np.zeros(members + 1), np.zeros(members + 1), np.zeros(members + 1), np.zeros(members + 1)
    step, curve, row, s, projected = (
        np.zeros(lanes), np.zeros(lanes), np.zeros(width), np.zeros(width), np.zeros(angles - 1),
    )  # fmt: skip
    x, k = np.zeros((len(matrix_held), matrix_held.shape[2])), np.zeros((len(matrix_held), matrix_held.shape[2]))
    vary = 1.0
    for t in range(len(ends) - 1):
        start, stop, z, bend = ends[t], ends[t + 1], scores[t], kappa
        look(diagonal, rows, t, learns, z0[:lanes], v[:lanes])
        playing, awake, wide = False, False, False
        for j in range(lanes + full, members):
            playing |= standing[IDLE, j] != RETIRED
            awake |= standing[IDLE, j] >= 0.0
        if playing:  # means and deviations are of all rows, whoever sleeps
            row[:] = 0.0
            for e in range(start, stop):
                if 1 <= places[e] <= width:
                    row[places[e] - np.uint32(1)] = values[e]
                wide |= sparse and places[e] > LIMIT
            vary = standardise(moments, seen + t + 1.0, row, learns, s)
        if awake:
            project(turns, s, projected)
        for j in range(members + 1):
            z[j] = 0.0
            if standing[IDLE, j] < 0.0:
                continue
            if j >= lanes:
                m = j - lanes
                here, matrix, count = matrix_held[m], inverse[m], int(matrix_totals[m, COUNT])
                if j == members:
                    bend = stacked(z[:members], x[m])
                elif m >= full:
                    wave(projected, shifts, np.sqrt(2.0 * widths[m - full] / vary), x[m])
                else:
                    metric = Metric(slots, ridges[m], True)
                    if not learns and changes(metric, here, rows, t):
                        matrix = inverse[m].copy()
                    if not learns:
                        here = matrix_held[m].copy()
                    own = MatrixArrays(here, matrix, sums[m], matrix_totals[m])
                    count = meet(metric, own, rows, t, learns, x[m], k[m])
                v[j] = product(matrix, x[m], count, k[m])
                z0[j] = dense(here[WEIGHT, :count], x[m, :count])
            z[j] = hedged(z0[j], v[j])
        for j in range(members + 1):
            less = log_loss(abs(z[j]))  # of the label that is likelier
            up[j] = less if z[j] > 0.0 else less - z[j]
            down[j] = less + z[j] if z[j] > 0.0 else less
        top, bottom = log_sum(standing, up), log_sum(standing, down)
        said[t] = (top[0] - bottom[0]) + (top[1] - bottom[1])
        if not learns:
            continue
        lost, spare, (most, rest) = (up, down, top) if y[t] == 1 else (down, up, bottom)
        learn(diagonal, rows, t, y[t], z0[:lanes], v[:lanes], z[:lanes], lost, step, curve)
        for j in range(lanes, members + 1):
            if standing[IDLE, j] >= 0.0:
                m = j - lanes
                learn_logistic(
                    MatrixArrays(matrix_held[m], inverse[m], sums[m], matrix_totals[m]), x[m], k[m],
                    int(matrix_totals[m, COUNT]), z0[j], v[j], z[j], y[t], lost[j], bend if j == members else kappa,
                )  # fmt: skip
        weigh(standing, lost, most, rest, spare)
        if settle(standing, matrix_held[members - lanes, WEIGHT, :members], lanes, seen + t + 1):
            widest = 0
            for m in range(full):
                widest = m if matrix_totals[m, COUNT] > matrix_totals[widest, COUNT] else widest
            for m in range(full):
                there = int(matrix_totals[widest, COUNT])
                catch_up(matrix_held[m], inverse[m], matrix_totals[m], ridges[m], matrix_held[widest], there)
        if wide:
            standing[IDLE, lanes + full : members] = RETIRED
