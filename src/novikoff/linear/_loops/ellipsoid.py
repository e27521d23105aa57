"""Compiled loops of the Ellipsoid, for single rows and batches, dense and sparse.

A body is (w, J, scalars, counts, z, p): the centre; the factor, without its scale; scalars = [scale, depth]; counts =
[updates, flaw]; scratch for an example; scratch for its image. The ellipsoid is {w + scale J e : ||e|| <= 1}.
A rule is (bias, normalize, deep, margin): x~ is x, divided by its norm if `normalize`, followed by the constant `bias`
if it is not 0.

A cut reads J twice. J'z is summed four rows at a time; then each row computes its entry of v = Jp and receives its part
of the rank-one update while it is in the cache. The factor sqrt(d^2/(d^2-1)) goes to the scale. The rest,
J <- J - (1-b) v p', is a contraction: J never grows, and while the scale is within 2^-400 .. 2^400 nothing overflows.
Sparse rows are expanded into z, so that they make the same cuts as dense ones, to the bit.

Arguments of the loops, with d weights including that of the bias:
    body: w (d,), J (d, d), scalars (2,), counts (2,), z (d,), p (d,)
    x: (rows, features), or (features,) for one row
    indptr, indices, values: arrays of SparseRows
    y: (rows,) labels -1 and +1
    scores: (rows,) output
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined, inner
from novikoff.numerics.lanes import dense, dense_scaled, inverse_norm, sparse_scaled

Body = tuple[Any, Any, Any, Any, Any, Any]
Rule = tuple[float, bool, bool, float]
Vector = NDArray[np.float64]

ZERO, NOT_FINITE, THIN, EMPTY = 1, 2, 3, 4
"""Flaws: zero example labelled -1; example not finite; ellipsoid too thin for doubles; ellipsoid empty after a cut."""

SAFE = 2.0**400
"""Bound on the scale and the norm of an image, and on their inverses, so that products do not overflow."""
SMALL, LARGE = 1e-280, 1e280
"""Range of reliable scores: outside, products may under- or overflow, and the sum is repeated with x~ rescaled."""

SLACK = 2.0**-52
"""Unit of the rounding error of <w, x~>: the level of a deep cut is lowered by SLACK (d + 4) (||w|| + margin)."""


@inlined
def fill_dense(z: Vector, x: NDArray[Any], bias: float, normalize: bool) -> None:
    """Write x~ into z."""
    scale = inverse_norm(x, 0, len(x)) if normalize else 1.0
    for i in range(len(x)):
        z[i] = x[i] * scale
    if bias != 0.0:
        z[len(x)] = bias


@inlined
def fill_sparse(
    z: Vector, indices: NDArray[np.uint32], values: NDArray[Any], start: int, stop: int, bias: float, normalize: bool
) -> None:
    """Write x~ into z."""
    scale = inverse_norm(values, start, stop) if normalize else 1.0
    z[:] = 0.0
    for k in range(np.uint64(start), np.uint64(stop)):
        z[indices[k]] = values[k] * scale
    if bias != 0.0:
        z[len(z) - 1] = bias


@inlined
def shrink(z: Vector) -> float:
    """Divide z by its largest |entry| and return that: the Ellipsoid depends on directions only."""
    largest = 0.0
    for i in range(len(z)):
        largest = max(largest, abs(z[i]))
    if largest > 0.0:
        for i in range(len(z)):
            z[i] /= largest
    return largest


@inlined
def score_dense(body: Body, rule: Rule, x: NDArray[Any]) -> float:
    """Return a number with the sign of <w, x~>; NaN if x is not finite."""
    w = body[0]
    bias, normalize, _, _ = rule
    row = np.ascontiguousarray(x)  # `dense` needs contiguous memory; no copy if x already is
    score = dense_scaled(w, row, inverse_norm(row, 0, len(row))) if normalize else dense(w, row)
    if bias != 0.0:
        score += w[len(row)] * bias
    if SMALL < abs(score) < LARGE:
        return score
    z = np.empty(len(w))  # not the scratch of the body: several threads may predict at a time
    fill_dense(z, row, bias, normalize)
    shrink(z)
    return dense(w, z)


@inlined
def score_sparse(
    body: Body, rule: Rule, indices: NDArray[np.uint32], values: NDArray[Any], start: int, stop: int
) -> float:
    """Return a number with the sign of <w, x~>; NaN if x is not finite."""
    w = body[0]
    bias, normalize, _, _ = rule
    scale = inverse_norm(values, start, stop) if normalize else 1.0
    score = sparse_scaled(w, indices, values, start, stop, scale)
    if bias != 0.0:
        score += w[len(w) - 1] * bias
    if SMALL < abs(score) < LARGE:
        return score
    z = np.empty(len(w))
    fill_sparse(z, indices, values, start, stop, bias, normalize)
    shrink(z)
    return dense(w, z)


@compiled
def scores_dense(body: Body, rule: Rule, x: NDArray[Any], scores: Vector) -> None:
    """Write the score of every row into `scores`."""
    for t in range(len(scores)):
        scores[t] = score_dense(body, rule, x[t])


@compiled
def scores_sparse(
    body: Body, rule: Rule, indptr: NDArray[np.uint64], indices: NDArray[np.uint32], values: NDArray[Any],
    scores: Vector,
) -> None:  # fmt: skip
    """Write the score of every row into `scores`."""
    for t in range(len(scores)):
        scores[t] = score_sparse(body, rule, indices, values, indptr[t], indptr[t + 1])


@inlined
def image(J: NDArray[np.float64], z: Vector, p: Vector) -> None:
    """Write J'z into p."""
    n = len(z)
    fours = n - n % 4
    p[:] = 0.0
    for i in range(0, fours, 4):
        a, b, c, d = z[i], z[i + 1], z[i + 2], z[i + 3]
        if a == 0.0 and b == 0.0 and c == 0.0 and d == 0.0:
            continue
        one, two, three, four = J[i], J[i + 1], J[i + 2], J[i + 3]
        for k in range(n):
            p[k] += (one[k] * a + two[k] * b) + (three[k] * c + four[k] * d)
    for i in range(fours, n):
        row, a = J[i], z[i]
        for k in range(n):
            p[k] += row[k] * a


@inner
def cut(body: Body, rule: Rule, y: int) -> None:
    """Replace the ellipsoid by the smallest one around its part where y<v,x~> is above the level; z holds x~."""
    w, J, scalars, counts, z, p = body
    _, _, deep, margin = rule
    d = len(w)
    largest = shrink(z)
    if largest == 0.0:
        flawed(counts, ZERO)
        return
    image(J, z, p)
    size = np.sqrt(dense(p, p))
    s = scalars[0] * size  # largest <v - w, z> over the ellipsoid
    if not np.isfinite(size):
        flawed(counts, NOT_FINITE)
        return
    if not (size > 1.0 / SAFE and 1.0 / SAFE < scalars[0] < SAFE):
        flawed(counts, THIN)
        return
    for k in range(d):
        p[k] /= size
    alpha = 0.0  # depth of the cut: 0 through the centre, 1 beyond the ellipsoid
    if deep:
        length = np.sqrt(dense(z, z))
        error = SLACK * (d + 4.0) * (np.sqrt(dense(w, w)) + margin)
        alpha = max(0.0, ((margin - error) * length - y * dense(w, z)) / s)
        if alpha >= 1.0:
            flawed(counts, EMPTY)
            return
    step = scalars[0] * y * (1.0 + d * alpha) / (d + 1.0)
    if d == 1:  # an interval: d^2 - 1 is 0
        w[0] += step * J[0, 0] * p[0]
        scalars[0] *= (1.0 - alpha) / 2.0
    else:
        rest = 1.0 - np.sqrt((d - 1.0) * (1.0 - alpha) / ((d + 1.0) * (1.0 + alpha)))
        for i in range(d):
            row = J[i]
            v = dense(row, p)
            w[i] += step * v
            v *= rest
            for k in range(d):
                row[k] -= v * p[k]
        scalars[0] *= np.sqrt(d * d / (d * d - 1.0) * (1.0 - alpha * alpha))
    scalars[1] -= (d - 1.0) / 2.0 * np.log1p(-alpha * alpha) + np.log1p(-alpha)
    counts[0] += 1


@inlined
def flawed(counts: NDArray[np.int64], flaw: int) -> None:
    """Record the flaw unless there is an earlier one."""
    if counts[1] == 0:
        counts[1] = flaw


@compiled
def play_dense(body: Body, rule: Rule, x: NDArray[Any], y: int) -> float:
    """Predict, cut on a mistake, and return the score; a score that is not finite changes nothing."""
    row = np.ascontiguousarray(x)
    score = score_dense(body, rule, row)
    if np.isfinite(score) and (-1 if score < 0.0 else 1) != y:
        fill_dense(body[4], row, rule[0], rule[1])
        cut(body, rule, y)
    return score


@compiled
def play_sparse(body: Body, rule: Rule, indices: NDArray[np.uint32], values: NDArray[Any], y: int) -> float:
    """Predict, cut on a mistake, and return the score; a score that is not finite changes nothing."""
    stop = len(values)
    score = score_sparse(body, rule, indices, values, 0, stop)
    if np.isfinite(score) and (-1 if score < 0.0 else 1) != y:
        fill_sparse(body[4], indices, values, 0, stop, rule[0], rule[1])
        cut(body, rule, y)
    return score


@compiled
def learn_dense(
    body: Body, rule: Rule, x: NDArray[Any], y: NDArray[np.int8], first: int, halt: int, scores: NDArray[np.float64]
) -> int:
    """Play the rows from `first` until there are `halt` updates; return the next row to play."""
    counts = body[3]
    for t in range(first, len(y)):
        row = x[t]
        scores[t] = score = score_dense(body, rule, row)
        if (-1 if score < 0.0 else 1) != y[t]:
            fill_dense(body[4], row, rule[0], rule[1])
            cut(body, rule, y[t])
            if counts[0] == halt:
                return t + 1
    return len(y)


@compiled
def learn_sparse(
    body: Body, rule: Rule, indptr: NDArray[np.uint64], indices: NDArray[np.uint32], values: NDArray[Any],
    y: NDArray[np.int8], first: int, halt: int, scores: NDArray[np.float64],
) -> int:  # fmt: skip
    """Play the rows from `first` until there are `halt` updates; return the next row to play."""
    counts = body[3]
    for t in range(first, len(y)):
        start, stop = indptr[t], indptr[t + 1]
        scores[t] = score = score_sparse(body, rule, indices, values, start, stop)
        if (-1 if score < 0.0 else 1) != y[t]:
            fill_sparse(body[4], indices, values, start, stop, rule[0], rule[1])
            cut(body, rule, y[t])
            if counts[0] == halt:
                return t + 1
    return len(y)
