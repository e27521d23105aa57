"""Vectors u that make a theorem's bound in a metric small, fitted to the rows that were kept.

Algorithm
    With u = B t, where B is a root of the metric, u'Au is t't, and L-BFGS minimises the sum of the losses and a ridge
    on t. A bound sqrt(u'Au) * c, of the hinge loss, is a ridge that follows the length of u.
Promise
    None, and none is needed: a certificate holds for every u, a good one only tightens it.
Cost
    At most 300 steps for a u, each O(non-zeros kept).
Reference
    [liu1989].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.blas import one_blas_thread
from novikoff.comparators.goal import Goal
from novikoff.comparators.metric import Diagonal

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from novikoff.numerics.nonzeros import Nonzeros

Vector = NDArray[np.float64]
RIDGES = (0.01, 1.0, 30.0, 1000.0)
"""Ridges with which the candidates are fitted."""
FACTORS = (0.4, 0.7, 1.0, 1.4)
"""Factors by which each fitted candidate is multiplied."""
GOLDEN = 0.6180339887498949
"""Golden ratio minus 1, for weights without a pattern."""
HARDLY = 0.95
"""Safety factor of the least log loss, which the fit approaches from above."""

Loss = Callable[[Vector], tuple[float, Vector]]
"""Function that returns the sum of the losses of scores, and their derivatives."""


def candidates(rows: Nonzeros, places: int, y: NDArray[np.int8], limit: int | None, hinge: bool) -> Vector:
    """Return vectors that may be good for all rows, one per column: fits with several ridges, at several scales.

    Args:
        rows: Rows kept.
        places: Number of places.
        y: Labels.
        limit: Number of features that the learner has weights for, in order of appearance; None for all.
        hinge: Whether to minimise the hinge loss, else the log loss.
    """
    most = np.zeros(places)
    np.maximum.at(most, rows.places, np.abs(rows.values))
    if limit is not None:
        seen, first = np.unique(rows.places, return_index=True)
        most[seen[np.argsort(first)[limit:]]] = 0.0
    (at, root), found = Diagonal(most * most).root(), [np.zeros(places)]
    x, t = _matrix(rows, places)[:, at], np.zeros(len(at))
    phi = _smooth_hinge(y, 0.1) if hinge else _log(y)
    for ridge in RIDGES[::-1]:
        t = _minimised(x, root, phi, ridge, t)
        u = np.zeros(places)
        u[at] = root * t
        found += [scale * u for scale in FACTORS]
    return np.stack(found, axis=1)


def best_for(
    goal: Goal, rows: Nonzeros, width: int, y: NDArray[np.int8], scores: Vector, kappa: float, share: float = 1.0
) -> Sequence[Vector]:
    """Return vectors that make the bound small on the rows kept.

    Args:
        goal: Bound to minimise.
        rows: Rows kept.
        width: Number of places.
        y: Labels.
        scores: Scores that were played.
        kappa: kappa of the learner.
        share: Fraction of all rows that are kept.
    """
    if not len(y) or not width:
        return []
    places, root = goal.penalty.root()
    seen = places < width
    places, root = places[seen], root[seen]
    x = _matrix(rows, width)[:, places]

    def whole(t: Vector) -> Vector:
        u = np.zeros(width)
        u[places] = root * t if root.ndim == 1 else root @ t
        return u

    start = np.zeros(root.shape[-1])
    if goal.loss != "hinge":
        phi = _log(y) if goal.loss == "log" else _parabola(y, scores, kappa)
        return [whole(_minimised(x, root, phi, share, start))]
    found, t, weight = [], start, max(goal.promised, 1.0)
    for soft in (0.5, 0.1, 0.02):  # sqrt(a b) is the least of (c a + b/c)/2, so the ridge c follows u
        for _ in range(3):
            length = math.sqrt(float(t @ t))
            ridge = math.sqrt(weight) / length if length > 0.0 else 1.0
            t = _minimised(x, root, _smooth_hinge(y, soft), share * ridge, t)
            found.append(whole(t))
    return found


def least_log_loss(rows: Nonzeros, places: int, y: NDArray[np.int8]) -> float:
    """Return about the least log loss over all u of any length, to decide which goals are worth a fit."""
    most = np.zeros(places)
    np.maximum.at(most, rows.places, np.abs(rows.values))
    at, root = Diagonal(most * most).root()
    x, phi = _matrix(rows, places)[:, at], _log(y)
    return HARDLY * phi(x @ (root * _minimised(x, root, phi, RIDGES[0], np.zeros(len(at)))))[0]


def generic(goal: Goal, width: int) -> Vector:
    """Return a vector without a pattern, with a weight for every feature, of the order of 1 over its size."""
    places, root = goal.penalty.root()
    u = np.zeros(width)
    places = places[places < width]
    u[places] = (0.5 + np.arange(1, len(places) + 1) * GOLDEN % 1.0) * root[: len(places)]
    return u


def _matrix(rows: Nonzeros, places: int) -> csr_array:
    from scipy.sparse import csr_array

    parts = (rows.values.copy(), rows.places.astype(np.int64), rows.ends)  # scipy may sort values in place
    return csr_array(parts, shape=(len(rows.ends) - 1, places))


def _minimised(x: csr_array, root: Vector, phi: Loss, ridge: float, start: Vector) -> Vector:
    """Return a t that approximately minimises phi(x B t) + ridge t't/2."""
    from scipy.optimize import minimize

    def value(t: Vector) -> tuple[float, Vector]:
        lost, slopes = phi(x @ (root * t if root.ndim == 1 else root @ t))
        back = x.T @ slopes
        return lost + 0.5 * ridge * float(t @ t), (root * back if root.ndim == 1 else root.T @ back) + ridge * t

    with np.errstate(all="ignore"), one_blas_thread():
        found: Vector = minimize(value, start, jac=True, method="L-BFGS-B", options={"maxiter": 300, "maxcor": 20}).x
    return found if bool(np.isfinite(found).all()) else start


def _log(y: NDArray[np.int8]) -> Loss:
    """Return the log loss of labels y."""

    def loss(s: Vector) -> tuple[float, Vector]:
        m = y * s
        return float(np.logaddexp(0.0, -m).sum()), -y * _sigmoid(-m)

    return loss


def _parabola(y: NDArray[np.int8], z: Vector, kappa: float) -> Loss:
    """Return the larger of the log loss and of its second-order approximation at the scores z."""
    q = _sigmoid(-y * z)
    g, h, played = -y * q, kappa * q * (1.0 - q), np.logaddexp(0.0, -y * z)

    def loss(s: Vector) -> tuple[float, Vector]:
        m, gap = y * s, s - z
        lost, near = np.logaddexp(0.0, -m), played + g * gap + 0.5 * h * gap * gap
        return float(np.maximum(lost, near).sum()), np.where(lost >= near, -y * _sigmoid(-m), g + h * gap)

    return loss


def _smooth_hinge(y: NDArray[np.int8], soft: float) -> Loss:
    """Return max(0, 1 - m) with a parabola of width `soft` at its corner."""

    def loss(s: Vector) -> tuple[float, Vector]:
        short = 1.0 - y * s
        part = np.clip(short / soft, 0.0, 1.0)
        return float((part * (short - 0.5 * soft * part)).sum()), -y * part

    return loss


def _sigmoid(z: Vector) -> Vector:
    tail = np.exp(-np.abs(z))
    return np.where(z >= 0.0, 1.0, tail) / (1.0 + tail)
