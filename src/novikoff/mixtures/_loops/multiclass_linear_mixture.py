"""Members of the linear mixture for several labels, the stack on top of them, and the mixture of all.

Forecasters, in this order: softmax regressions with a diagonal metric (convex/_loops/multiclass_ftrl.py), second-order
one-versus-rest logistic regressions (linear/_loops/one_vs_rest.py), the same on random features (numerics/fourier.py)
and with them a linear discriminant analysis (mixtures/_loops/discriminant.py), and a stack. One-versus-rest scores z
give P_j = e^z_j / sum of e^z: sharper than normalised one-versus-rest probabilities, which are too even while little is
known. The stack predicts P_j = e^s_j / sum of e^s with s_j = sum of w_m f_mj, where f_m is the scores of member m (a
quarter of them for the discriminant), clipped and centred in each round. Its weights w take one Newton step per round:
A = I + sum of F(diag P - PP')F', w = A^-1 b. The mixture is P_j = sum of w_m P_mj / sum of w_m over the forecasters
awake; then each w_m is multiplied by P_my / P_y, in the log domain. Members with matrices rest and wake by the rule of
mixtures/_loops/resting.py. They retire for good when there are more than 32 labels; the discriminant and members on
random features also after a sparse row with a feature beyond the 256th. A round with a new label is weighed and learned
from as if the label had been announced just before it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.convex._loops import multiclass_ftrl
from novikoff.convex._loops.ftrl_layout import MulticlassFTRLArrays
from novikoff.convex._loops.multiclass_ftrl import escape
from novikoff.linear._loops import one_vs_rest
from novikoff.linear._loops.multiclass_layout import LOSS as PAID
from novikoff.linear._loops.multiclass_layout import MOST_AGAINST, NOVELTY, Labels
from novikoff.linear._loops.multiclass_perceptron import largest
from novikoff.linear._loops.second_order import Together, Vector, play_rows
from novikoff.linear._loops.second_order_layout import COUNT, LIMIT, MatrixArrays, Metric
from novikoff.mixtures._loops import discriminant
from novikoff.mixtures._loops.linear_mixture_layout import (
    CLIP,
    IDLE,
    LOG_WEIGHT,
    LOSS,
    PATIENCE,
    RETIRED,
    SHARE,
    WAKE,
    WAVES,
    Discriminant,
    Matrices,
    MulticlassAnswers,
    MulticlassMixture,
    MulticlassSetting,
    MulticlassWaves,
)
from novikoff.mixtures._loops.resting import catch_up, settle
from novikoff.numerics.compiled import compiled, inner
from novikoff.numerics.exp import exp
from novikoff.numerics.fourier import project, standardise, wave
from novikoff.numerics.lanes import LANES, dense
from novikoff.numerics.nonzeros import Nonzeros
from novikoff.numerics.softmax import hedged, softmax

look_softmax, learn_softmax = multiclass_ftrl.look, multiclass_ftrl.learn
look_rest, look_waves = one_vs_rest.look, one_vs_rest.look_waves
copy_next = one_vs_rest.copy_next
look_normal, learn_normal, renew_normal = discriminant.look, discriminant.learn, discriminant.renew
HEARD = discriminant.HEARD
TOGETHER = LANES
"""Rows that one member plays before the next: its matrices stay in the processor's cache. No bit depends on it."""


@inner
def mix(standing: Vector, p: Vector, known: int, mixed: Vector) -> None:
    """Write the mixture of the forecasters awake.

    Args:
        standing: (STANDING, J+1) weights of the members and, last, of the stack.
        p: (J+1, labels + 1) probabilities of each forecaster.
        known: Number of labels to mix.
        mixed: (labels + 1,) output: P of the first `known` labels.
    """
    most = -np.inf
    for m in range(len(p)):
        if standing[IDLE, m] >= 0.0:
            most = max(most, standing[LOG_WEIGHT, m])
    total = 0.0
    for j in range(known):
        mixed[j] = 0.0
    for m in range(len(p)):
        if standing[IDLE, m] >= 0.0:
            weight = exp(standing[LOG_WEIGHT, m] - most)
            total += weight
            for j in range(known):
                mixed[j] += weight * p[m, j]
    for j in range(known):
        mixed[j] /= total


@inner
def weigh(standing: Vector, p: Vector, y: int, lost: float) -> None:
    """Multiply the weight of every forecaster awake by its probability of y over that of the mixture.

    Args:
        standing: (STANDING, J+1) weights; rows LOG_WEIGHT, LOSS and SHARE are updated.
        p: (J+1, labels + 1) probabilities of each forecaster.
        y: Observed label.
        lost: -ln of the mixture's probability of y.
    """
    most = -np.inf
    for m in range(len(p)):
        if standing[IDLE, m] >= 0.0:
            most = max(most, standing[LOG_WEIGHT, m])
    total = 0.0
    for m in range(len(p)):
        if standing[IDLE, m] >= 0.0:
            total += exp(standing[LOG_WEIGHT, m] - most)
    for m in range(len(p)):
        if standing[IDLE, m] >= 0.0:
            loss = -np.log(p[m, y])
            standing[LOSS, m] += loss
            standing[SHARE, m] += exp(standing[LOG_WEIGHT, m] - most) / total
            standing[LOG_WEIGHT, m] += lost - loss


@inner
def look_stack(
    standing: Vector, stack: Vector, z: Vector, last: int, known: int, f: Vector, s: Vector, p: Vector
) -> None:
    """Write the probabilities of the stack.

    Args:
        standing: (STANDING, J+1) weights and rests of the forecasters.
        stack: (J,) weights of the members in the stack.
        z: (J, labels + 1) scores of the members.
        last: Index of the discriminant.
        known: Number of labels.
        f: (J, labels + 1) output: features of the stack, the clipped and centred scores; 0 for members asleep.
        s: (labels + 1,) scratch.
        p: (labels + 1,) output: P of the first `known` labels.
    """
    for j in range(known):
        s[j] = 0.0
    for m in range(len(stack)):
        mean, part = 0.0, HEARD if m == last else 1.0
        for j in range(known):
            f[m, j] = min(max(part * z[m, j], -CLIP), CLIP) if standing[IDLE, m] >= 0.0 else 0.0
            mean += f[m, j] / known
        for j in range(known):
            f[m, j] -= mean
            s[j] += stack[m] * f[m, j]
    if known > 0:
        softmax(s, known, p)


@inner
def learn_stack(stack: Vector, moment: Vector, matrix: Vector, f: Vector, p: Vector, known: int, y: int) -> None:
    """Take a Newton step of the stack's weights, or keep them if rounding left A not positive definite.

    Args:
        stack: (J,) w, updated.
        moment: (J,) b, updated: plus Hessian times w minus the gradient, so that w = A^-1 b.
        matrix: (J, J) A, updated: plus the Hessian F(diag P - PP')F'.
        f: (J, labels + 1) features of this round, F.
        p: (labels + 1,) probabilities of the stack.
        known: Number of labels.
        y: Observed label.
    """
    members = len(stack)
    mean, slope, factor = np.zeros(members), np.zeros(members), np.zeros((members, members))
    for m in range(members):
        for j in range(known):
            mean[m] += f[m, j] * p[j]
        slope[m] = mean[m] - f[m, y]
    for a in range(members):
        moment[a] -= slope[a]
        for b in range(members):
            curve = -mean[a] * mean[b]
            for j in range(known):
                curve += f[a, j] * p[j] * f[b, j]
            matrix[a, b] += curve
            moment[a] += curve * stack[b]
    for a in range(members):  # Cholesky: A = factor factor'
        for b in range(a):
            factor[a, b] = (matrix[a, b] - dense(factor[a, :b], factor[b, :b])) / factor[b, b]
        left = matrix[a, a] - dense(factor[a, :a], factor[a, :a])
        if not left > 0.0:
            return
        factor[a, a] = np.sqrt(left)
    for a in range(members):
        slope[a] = (moment[a] - dense(factor[a, :a], slope[:a])) / factor[a, a]
    for a in range(members - 1, -1, -1):
        rest = slope[a]
        for b in range(a + 1, members):
            rest -= factor[b, a] * stack[b]
        stack[a] = rest / factor[a, a]


@compiled
def play(
    diagonal: MulticlassFTRLArrays, matrices: Matrices, waves: MulticlassWaves, discriminant: Discriminant, mixture:
    MulticlassMixture,
    setting: MulticlassSetting, labels: Labels, rows: Nonzeros, y: NDArray[np.int64], learns: bool, answers:
    MulticlassAnswers,
) -> None:  # fmt: skip
    """Compute P of every label for every row; if `learns`, learn from each row before the next.

    Args:
        diagonal: Arrays of the softmax members.
        matrices: Arrays of the one-versus-rest members on x.
        waves: Random features and the arrays of the members on them.
        discriminant: Arrays of the discriminant.
        mixture: Stack and weights.
        setting: Constants of the game.
        labels: Number of labels and rounds before the first row, and whether new labels may appear.
        rows: Rows as compressed non-zeros.
        y: (rows,) label indices; read only if `learns`.
        learns: Whether to learn; otherwise no array of the learner changes.
        answers: Output arrays.
    """
    diagonal, waves, rows = MulticlassFTRLArrays(*diagonal), MulticlassWaves(*waves), Nonzeros(*rows)
    lda = Discriminant(*discriminant)
    slots, ridges, held, inverse, squares, matrix_totals = matrices
    stack, moment, matrix, standing, paid = mixture
    kappa, sparse, shown = setting
    known, rounds, grows = labels
    scores, rest, predicted, chances, confidences, briers, mixes = answers
    shifts, moments, ends, places, values = waves.shifts, waves.moments, rows.ends, rows.places, rows.values
    lanes, full, random = len(diagonal.roots), len(ridges), len(waves.widths)
    members, most, width, last = len(stack), scores.shape[1], moments.shape[1], lanes + full + random
    room, together = max(held.shape[3], WAVES), TOGETHER if learns else 1
    z0, lane_v = np.empty((together, lanes, most + 1)), np.empty((together, lanes))
    z, p = np.empty((together, members, most + 1)), np.empty((together, members + 1, most + 1))
    v, k, scores0 = np.zeros(most + 1), np.zeros((most + 1, room)), np.zeros(most + 1)
    f, mixed, g = np.zeros((members, most + 1)), np.empty(most + 1), np.empty(most + 1)
    step, tried = np.empty(most + 1), np.empty(most + 1)
    x, projected, vary = np.zeros((TOGETHER, room)), np.zeros((together, len(shifts))), np.ones(together)
    work, signs = Together(x, np.zeros((2, room)), np.zeros(room), np.zeros(TOGETHER)), np.empty(TOGETHER, np.int64)
    row, s, off, normal_k = np.zeros(width), np.zeros(width), np.zeros(width), np.zeros(width)
    begin = 0
    while begin < len(ends) - 1:
        count, now = min(together, len(ends) - 1 - begin), known
        if learns:
            # Members rest, wake and retire only after the last of these rows; a new label has a row of its own.
            count = min(count, WAKE - (rounds + begin) % WAKE)
            for j in range(lanes, members):
                if standing[IDLE, j] >= 0.0:
                    count = min(count, PATIENCE - int(standing[IDLE, j]))
            now = max(known, y[begin] + 1)  # labels once this row's label is known
            for r in range(count):
                if y[begin + r] >= known:
                    count = max(r, 1)
                    break
        there = known + grows if learns else known  # one-versus-rest learners: labels, and one for new labels
        retires = now > MOST_AGAINST
        playing, awake, wide = False, False, False
        for j in range(lanes + full, members):
            playing |= standing[IDLE, j] != RETIRED
            awake |= j < last and standing[IDLE, j] >= 0.0
        if playing:  # means and deviations cover all rows, also those in which these members sleep
            for r in range(count):
                t = begin + r
                row[:] = 0.0
                for e in range(ends[t], ends[t + 1]):
                    if 1 <= places[e] <= width:
                        row[places[e] - np.uint32(1)] = values[e]
                    wide |= sparse and places[e] > LIMIT
                vary[r] = standardise(moments, rounds + (t if learns else 0) + 1.0, row, learns, s)
                if awake:
                    project(waves.turns, s, projected[r])
                if last < members and standing[IDLE, last] >= 0.0:
                    look_normal(lda, row, known, there, off, normal_k, z[r, last])
                    if learns and not retires:
                        learn_normal(lda, moments, rounds + t + 1, row, y[t], off, normal_k)
                if wide:
                    count = r + 1
                    break
        for r in range(count):
            t = begin + r
            look_softmax(diagonal, rows, t, learns, now, z0[r], lane_v[r])
            for m in range(lanes if now > 0 else 0):
                whole = hedged(z0[r, m], lane_v[r, m], now, z[r, m], p[r, m], step, tried)
                if learns:
                    for j in range(now):
                        g[j] = p[r, m, j]
                    learn_softmax(diagonal, rows, t, y[t], now, m, z0[r, m], lane_v[r, m], z[r, m], g, whole)
        for j in range(lanes, last):
            m = j - lanes
            waved = m >= full
            if waved:
                m -= full
                arrays = MatrixArrays(waves.held[m], waves.inverse[m], waves.sums[m], waves.totals[m])
            else:
                arrays = MatrixArrays(held[m], inverse[m], squares[m], matrix_totals[m])
            if now > known and not retires and standing[IDLE, j] != RETIRED:  # sleepers too: they may wake
                copy_next(arrays, known)
            if standing[IDLE, j] < 0.0:
                continue
            metric = Metric(slots, 1.0 if waved else ridges[m], True)
            if waved:
                for r in range(count):
                    wave(projected[r], shifts, np.sqrt(2.0 * waves.widths[m] / vary[r]), x[r])
            if learns and not retires:
                for c in range(now + grows):
                    for r in range(count):
                        signs[r] = 1 if c == y[begin + r] else -1
                    own = MatrixArrays(arrays.held[c], arrays.inverse[c], arrays.sums[c], arrays.totals[c])
                    play_rows(metric, own, rows, begin, waved, signs[:count], kappa, z[:count, j, c], work)
            elif waved:
                look_waves(arrays.held, arrays.inverse, x[0, :WAVES], there, k, scores0, v, z[0, j])
            else:
                look_rest(metric, arrays, rows, begin, False, there, x[0], k, scores0, v, z[0, j])
        for r in range(count):
            t = begin + r
            for many in range(known, now + 1):  # first over the known labels, to predict; then with a new one, to learn
                for m in range(members):
                    if standing[IDLE, m] < 0.0 or many == 0:
                        continue
                    if m >= lanes:
                        softmax(z[r, m], many, p[r, m])
                    elif now > known:
                        hedged(z0[r, m], lane_v[r, m], many, z[r, m], p[r, m], step, tried)
                look_stack(standing, stack, z[r], last, many, f, g, p[r, members])
                mix(standing, p[r], many, mixed)
                if many == known and learns:
                    predicted[t] = largest(mixed, known)
                    reserved = escape(rounds + t) if grows else 0.0
                    square = reserved * reserved
                    for j in range(known):
                        mixes[t, j] = mixed[j]
                        square += ((1.0 - reserved) * mixed[j]) ** 2  # of the Brier score; `reserved` is for new labels
                    confidence = (1.0 - reserved) * mixed[predicted[t]]
            if not learns:
                for j in range(known):
                    scores[t, j] = mixed[j]
                continue
            here = y[t]
            lost = -np.log(mixed[here])
            paid[PAID] += lost
            if now > known:  # the label is new: the ledger's loss is -ln reserved, the mixture's `lost`
                chances[t] = reserved
                confidences[t] = np.nan
                briers[t] = 2.0 * (1.0 - reserved) ** 2
                paid[NOVELTY] -= np.log(reserved) + lost
            else:
                chances[t] = (1.0 - reserved) * mixed[here]
                confidences[t] = confidence
                briers[t] = square - chances[t] ** 2 + (1.0 - chances[t]) ** 2
                paid[NOVELTY] -= np.log1p(-reserved)
            weigh(standing, p[r], here, lost)
            learn_stack(stack, moment, matrix, f, p[r, members], now, here)
            if retires:
                standing[IDLE, lanes:members] = RETIRED
            for j in range(most):
                scores[t, j] = z[r, shown, j] if j < now else -np.inf
            for m in range(full):
                for j in range(most + 1):
                    rest[t, m, j] = z[r, lanes + m, min(j, there - 1)] if standing[IDLE, lanes + m] >= 0.0 else 0.0
            if settle(standing, stack, lanes, rounds + t + 1):
                widest = 0
                for m in range(full):
                    widest = m if matrix_totals[m, 0, COUNT] > matrix_totals[widest, 0, COUNT] else widest
                for m in range(full):
                    for j in range(now + grows):
                        catch_up(
                            held[m, j], inverse[m, j], matrix_totals[m, j], ridges[m], held[widest, 0],
                            int(matrix_totals[widest, 0, COUNT]),
                        )  # fmt: skip
                if last < members:
                    renew_normal(lda, moments, rounds + t + 1)
        known = now
        if wide:
            standing[IDLE, lanes + full : members] = RETIRED
        begin += count
