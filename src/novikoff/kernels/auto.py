"""The members of `auto`, the stack on top of them, and the mixture of all.

Forecasters, in this order: the diagonal members (kernels/ftrl.py), the second-order members, those on random features
(kernels/second_order.py, kernels/fourier.py), and the stack, a second-order member whose x are the scores of all
others, clipped. P(+1) = sum of w P_j(+1) over those awake / sum of their w; then w_j is multiplied by P_j(y)/P(y), in
the log domain. A forecaster with a weight below 1e-6 for 1,000 rounds falls asleep: it says and learns nothing any
more, and keeps its weight (a specialist, so all promises stay: certificates/auto_regret.py). A stack that is heard
needs the members that it is made of, so those fall asleep only if they count little in it. The awake ones keep the sum
of their weights, so a sleeper is never the heaviest. Members do the same as when they play alone, to the bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.kernels.auto_layout import CLIP, IDLE, LIGHT, LITTLE, LOG_WEIGHT, LOSS, PATIENCE, SHARE, WAVES
from novikoff.kernels.compiled import compiled, inlined
from novikoff.kernels.exp import exp
from novikoff.kernels.fourier import project, standardise, wave
from novikoff.kernels.ftrl import learn, look
from novikoff.kernels.lanes import dense
from novikoff.kernels.logits import hedged, log_loss
from novikoff.kernels.second_order import Places, Slots, Vector, changes, learn_logistic, meet, product
from novikoff.kernels.second_order_layout import WEIGHT


@inlined
def mixed(standing: Vector, z: Vector) -> float:
    """The log-odds of the mixture of those awake."""
    most = -np.inf
    for j in range(len(z)):
        if standing[IDLE, j] >= 0.0:
            most = max(most, standing[LOG_WEIGHT, j])
    up, down = 0.0, 0.0
    top, bottom = -np.inf, -np.inf
    for j in range(len(z)):
        if standing[IDLE, j] >= 0.0:
            top = max(top, standing[LOG_WEIGHT, j] - log_loss(z[j]))
            bottom = max(bottom, standing[LOG_WEIGHT, j] - log_loss(-z[j]))
    for j in range(len(z)):
        if standing[IDLE, j] >= 0.0:
            up += exp(standing[LOG_WEIGHT, j] - log_loss(z[j]) - top)
            down += exp(standing[LOG_WEIGHT, j] - log_loss(-z[j]) - bottom)
    return (top - bottom) + (np.log(up) - np.log(down))


@inlined
def weigh(standing: Vector, z: Vector, y: int, stack: Vector) -> None:
    """Multiply the weights of those awake by P_j(y)/P(y), and let the hopeless rest; stack: its weights of members."""
    members = len(z) - 1
    little = np.inf  # by how much a member may count in the stack, and still be hopeless
    if standing[IDLE, members] >= 0.0 and standing[LOG_WEIGHT, members] >= np.log(LIGHT):
        little = 0.0
        for j in range(members):
            little = max(little, LITTLE * abs(stack[j]))
    before, after = -np.inf, -np.inf
    for j in range(len(z)):
        if standing[IDLE, j] >= 0.0:
            before = max(before, standing[LOG_WEIGHT, j])
            after = max(after, standing[LOG_WEIGHT, j] - log_loss(y * z[j]))
    whole, left = 0.0, 0.0
    for j in range(len(z)):
        if standing[IDLE, j] >= 0.0:
            whole += exp(standing[LOG_WEIGHT, j] - before)
            left += exp(standing[LOG_WEIGHT, j] - log_loss(y * z[j]) - after)
    paid = (before - after) + (np.log(whole) - np.log(left))  # -ln P(y)
    for j in range(len(z)):
        if standing[IDLE, j] >= 0.0:
            lost = log_loss(y * z[j])
            standing[LOSS, j] += lost
            standing[SHARE, j] += exp(standing[LOG_WEIGHT, j] - before) / whole
            standing[LOG_WEIGHT, j] += paid - lost
            hopeless = standing[LOG_WEIGHT, j] < np.log(LIGHT) and (j == members or abs(stack[j]) <= little)
            standing[IDLE, j] = standing[IDLE, j] + 1.0 if hopeless else 0.0
            if standing[IDLE, j] >= PATIENCE:
                standing[IDLE, j] = -1.0


@compiled
def play(
    roots: NDArray[np.bool_], per_rate: Vector, held: Vector, totals: Vector,
    slots: Slots, ridges: Vector, matrix_held: Vector, inverse: Vector, sums: Vector, matrix_totals: Vector,
    turns: Vector, shifts: Vector, scales: Vector, moments: Vector, wave_held: Vector, wave_inverse: Vector,
    wave_sums: Vector, wave_totals: Vector,
    stack_held: Vector, stack_inverse: Vector, stack_sums: Vector, stack_totals: Vector,
    standing: Vector, kappa: float, seen: float,
    ends: NDArray[np.int64], places: Places, values: Vector, y: NDArray[np.int8], learns: bool, scores: Vector,
    said: Vector,
) -> None:  # fmt: skip
    """The log-odds of every row, learning from each before the next if `learns`; `seen` rows came before.

    scores   (rows, J+1), of every forecaster; 0 of those asleep
    said     of the mixture
    """
    lanes, full, waves = len(roots), len(ridges), len(scales)
    members = lanes + full + waves
    width, room = moments.shape[1], matrix_held.shape[2]
    z0, v = np.zeros(members + 1), np.zeros(members + 1)
    step, curve = np.empty(lanes), np.empty(lanes)
    x, k, row = np.zeros((full, room)), np.zeros((full, room)), np.zeros(width)
    s, projected, phi, image = np.zeros(width), np.zeros(WAVES - 1), np.zeros((waves, WAVES)), np.zeros((waves, WAVES))
    counts, clipped, moved = np.zeros(full, np.int64), np.zeros(members), np.zeros(members)
    for t in range(len(ends) - 1):
        start, stop, z = ends[t], ends[t + 1], scores[t]
        look(held, roots, per_rate, places, values, start, stop, learns, z0[:lanes], v[:lanes])
        for m in range(full):
            if standing[IDLE, lanes + m] < 0.0:
                continue
            here, matrix = matrix_held[m], inverse[m]
            if not learns and changes(slots, here, True, places, values, start, stop):
                matrix = inverse[m].copy()
            if not learns:
                here = matrix_held[m].copy()
            counts[m] = meet(
                slots, here, matrix, matrix_totals[m], ridges[m], True, places, values, start, stop, learns, x[m], k[m]
            )
            v[lanes + m] = product(matrix, x[m], counts[m], k[m])
            z0[lanes + m] = dense(here[WEIGHT, : counts[m]], x[m, : counts[m]])
        awake = False
        for m in range(waves):
            awake |= standing[IDLE, lanes + full + m] >= 0.0
        if awake:
            row[:] = 0.0
            for e in range(start, stop):
                if 1 <= places[e] <= width:
                    row[places[e] - np.uint32(1)] = values[e]
            standardise(moments, seen + t + 1.0, row, learns, s)
            project(turns, s, projected)
        for m in range(waves):
            if standing[IDLE, lanes + full + m] >= 0.0:
                wave(projected, shifts, scales[m], phi[m])
                v[lanes + full + m] = product(wave_inverse[m], phi[m], WAVES, image[m])
                z0[lanes + full + m] = dense(wave_held[m, WEIGHT], phi[m])
        farthest = 1.0
        for j in range(members):
            z[j] = hedged(z0[j], v[j]) if standing[IDLE, j] >= 0.0 else 0.0
            clipped[j] = min(max(z[j], -CLIP), CLIP)
            farthest = max(farthest, abs(clipped[j]))
        z[members] = 0.0
        bend = np.tanh(0.5 * farthest) / (0.5 * farthest)
        if standing[IDLE, members] >= 0.0:
            v[members] = product(stack_inverse, clipped, members, moved)
            z0[members] = dense(stack_held[WEIGHT], clipped)
            z[members] = hedged(z0[members], v[members])
        said[t] = mixed(standing, z)
        if not learns:
            continue
        learn(
            held, totals, standing[IDLE, :lanes], places, values, start, stop, y[t], z0[:lanes], v[:lanes], z[:lanes],
            step, curve,
        )  # fmt: skip
        for m in range(full):
            if standing[IDLE, lanes + m] >= 0.0:
                learn_logistic(
                    inverse[m], sums[m], matrix_held[m], matrix_totals[m], ridges[m], x[m], k[m], counts[m],
                    z0[lanes + m], v[lanes + m], y[t], kappa,
                )  # fmt: skip
        for m in range(waves):
            j = lanes + full + m
            if standing[IDLE, j] >= 0.0:
                learn_logistic(
                    wave_inverse[m], wave_sums[m], wave_held[m], wave_totals[m], 1.0, phi[m], image[m], WAVES, z0[j],
                    v[j], y[t], kappa,
                )  # fmt: skip
        if standing[IDLE, members] >= 0.0:
            learn_logistic(
                stack_inverse, stack_sums, stack_held, stack_totals, 1.0, clipped, moved, members, z0[members],
                v[members], y[t], bend,
            )  # fmt: skip
        weigh(standing, z, y[t], stack_held[WEIGHT])
