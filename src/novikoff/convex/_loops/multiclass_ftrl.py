"""Compiled loops of scale-free FTRL with the multiclass log loss, for several members at once.

MulticlassFTRLArrays holds for each place (numerics/nonzeros.py): M the largest |x|, X the sum of x^2, N the number of
rounds with the feature, R the largest root mean square so far; H per member, G per member and label. With the metric
A = R sqrt(M^2 + H)/rate ("sqrt") or (M^2 + H)/rate ("newton"), the same for all labels, the scores of the weights are
z0_j = -sum of G_j x/A, and v = sum of x^2/A.
Labels as in linear/_loops/multiclass_perceptron.py.

Arguments of the loops:
    arrays: MulticlassFTRLArrays
    rows: Nonzeros of the rows to predict, or to learn from in turn
    z0, v: (members, labels) scores of the weights, and (members,) their uncertainty
    z, p: (labels,) scores that one member plays, and their probabilities
    whole: logarithm of the sum of e^z
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.convex._loops.ftrl_layout import MulticlassFTRLArrays
from novikoff.linear._loops.multiclass_layout import GAINED, LINEAR, LINEAR_SIZE, LOSS, NOVELTY, Labels
from novikoff.linear._loops.multiclass_perceptron import largest
from novikoff.numerics.compiled import compiled, inlined, inner
from novikoff.numerics.nonzeros import Nonzeros
from novikoff.numerics.softmax import hedged

Vector = NDArray[np.float64]


@inlined
def escape(rounds: int) -> float:
    """Return the probability reserved for a new label after `rounds` rounds: 1/t^2 in round t.

    In the first round every label is new. In all later rounds together the reserve costs at most ln 2: the product of
    1 - 1/t^2 from t = 2 on is 1/2.
    """
    return 1.0 / ((rounds + 1.0) * (rounds + 1.0))


@inner
def look(arrays: MulticlassFTRLArrays, rows: Nonzeros, t: int, keep: bool, known: int, z0: Vector, v: Vector) -> None:
    """Write z0 and v of every member on row t, with scales that include x; store the scales only if `keep`."""
    roots, per_rate, scales, curves, sums, _ = arrays
    ends, places, values = rows
    members = len(roots)
    for k in range(members):
        v[k] = 0.0
        for j in range(known):
            z0[k, j] = 0.0
    for e in range(ends[t], ends[t + 1]):
        row = scales[places[e]]
        x = values[e]
        # M, X, N and R, with this row included.
        most = max(row[0], abs(x))
        squares = row[1] + x * x
        seen = row[2] + 1.0
        size = max(row[3], np.sqrt(squares / seen))
        if keep:
            row[0] = most
            row[1] = squares
            row[2] = seen
            row[3] = size
        square = most * most
        for k in range(members):
            root = np.sqrt(square + curves[places[e], k])
            part = np.divide(x, (size if roots[k] else root) * root * per_rate[k])
            v[k] += x * part
            gradients = sums[places[e], k]
            for j in range(known):
                z0[k, j] -= gradients[j] * part


@inner
def learn(
    arrays: MulticlassFTRLArrays, rows: Nonzeros, t: int, y: int, known: int, k: int, z0: Vector, v: float, z: Vector,
    p: Vector, whole: float,
) -> None:  # fmt: skip
    """Add the gradients and the curvature of the scores z that member k played on row t; p becomes the gradient g.

    Here `z0` is the (labels,) row of this member.
    """
    _, _, _, curves, sums, totals = arrays
    ends, places, values = rows
    curve = 1.0  # 1 - sum of p^2: the trace of the Hessian of the loss in the scores
    for j in range(known):
        curve -= p[j] * p[j]
    p[y] -= 1.0
    delta, square = 0.0, 0.0
    for j in range(known):
        linear = p[j] * z[j]
        totals[LINEAR, k] += linear
        totals[LINEAR_SIZE, k] += abs(linear)
        delta += p[j] * (z[j] - z0[j])
        square += p[j] * p[j]
    totals[LOSS, k] += whole - z[y]
    totals[GAINED, k] += delta + 0.5 * square * v
    for e in range(ends[t], ends[t + 1]):
        x = values[e]
        curves[places[e], k] += max(curve, 0.0) * (x * x)
        gradients = sums[places[e], k]
        for j in range(known):
            gradients[j] += p[j] * x


@compiled
def play(
    arrays: MulticlassFTRLArrays, labels: Labels, rows: Nonzeros, y: NDArray[np.int64], learns: bool, scores: Vector,
    predicted: NDArray[np.int64], chances: Vector,
) -> None:  # fmt: skip
    """Score every row; with `learns`, learn from each before the next, and write predictions and probabilities.

    Args:
        arrays: Members and their sums.
        labels: Labels known before the first row.
        rows: Nonzeros of the rows.
        y: (rows,) labels as integers; read only if `learns`.
        learns: Whether to learn from the rows.
        scores: (rows, members, labels) output; -inf for labels not known.
        predicted: (rows,) output: labels predicted by the last member; written only if `learns`.
        chances: (rows,) output: probability of the observed label; written only if `learns`.
    """
    arrays, rows = MulticlassFTRLArrays(*arrays), Nonzeros(*rows)
    known, rounds, grows = labels
    totals = arrays.totals
    members, most = len(arrays.roots), scores.shape[2]
    z0, v, p = np.empty((members, most)), np.empty(members), np.empty(most)
    step, tried = np.empty(most), np.empty(most)
    for t in range(len(rows.ends) - 1):
        now = max(known, y[t] + 1) if learns else known
        look(arrays, rows, t, learns, now, z0, v)
        for k in range(members):
            z = scores[t, k]
            for j in range(now, most):
                z[j] = -np.inf
            reserved = escape(rounds + t) if grows else 0.0
            if now > known:  # a new label: predict among the known ones, then learn as if it had been announced
                hedged(z0[k], v[k], known, z, p, step, tried)
                predicted[t] = largest(z, known)
            whole = hedged(z0[k], v[k], now, z, p, step, tried)
            if not learns:
                continue
            lost = whole - z[y[t]]
            if now > known:
                chances[t] = reserved
                totals[NOVELTY, k] -= np.log(reserved) + lost
            else:
                predicted[t] = largest(z, known)
                chances[t] = (1.0 - reserved) * p[y[t]]
                totals[NOVELTY, k] -= np.log1p(-reserved)
            learn(arrays, rows, t, y[t], now, k, z0[k], v[k], z, p, whole)
        known = now
