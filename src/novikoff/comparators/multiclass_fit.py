"""Multiclass weights U that make a theorem's bound small, fitted to the rows that were kept.

Algorithm
    With U = B T, where B is a root of the metric, the sum of u_j'A u_j is the sum of squares of T, and L-BFGS minimises
    the sum of the losses and a ridge on T. A bound sqrt(square * c), of the hinge loss, is a ridge that follows the
    length of U; the largest of the other scores is softened to a sum of exponentials.
    Columns are shifted so that they sum to 0: no loss changes, and the squares are least.
Promise
    None, and none is needed: a certificate holds for every U, a good one only tightens it.
Cost
    At most 200 steps for a U, each O(k non-zeros kept).
Reference
    [liu1989].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.blas import one_blas_thread
from novikoff.comparators.multiclass_facts import MulticlassGoal

Vector = NDArray[np.float64]
Loss = Callable[[Vector], tuple[float, Vector]]
"""Function that returns the sum of the losses of scores (rows, labels), and their derivatives."""


def best_for(
    goal: MulticlassGoal, rows: Any, y: NDArray[np.int64], known: NDArray[np.int64], shape: tuple[int, int],
    hinge: bool, share: float = 1.0,
) -> Sequence[Vector]:  # fmt: skip
    """Return weights (places, labels) that make the bound small on the rows kept.

    Args:
        goal: Bound to minimise.
        rows: Kept rows.
        y: Labels of these rows.
        known: Number of labels known in each round.
        shape: Number of places and of labels of the weights.
        hinge: Whether the loss is the hinge loss, else the log loss.
        share: Fraction of all rows that are kept.
    """
    from scipy.sparse import csr_array

    width, labels = shape
    if not len(y) or not width:
        return []
    places, root = goal.penalty.root()
    inside = places < width
    if root.ndim == 1:  # elsewhere weights stay 0: hashed words use few of the places
        inside &= np.isin(places, rows.places[: rows.ends[-1]])
    places, root = places[inside], root[inside]
    parts = (rows.values.copy(), rows.places.astype(np.int64), rows.ends)  # scipy may sort values in place
    x = csr_array(parts, shape=(len(y), width))[:, places]
    hidden = np.arange(labels) >= known[:, None]

    def whole(t: Vector) -> Vector:
        u = np.zeros(shape)
        u[places] = root[:, None] * t if root.ndim == 1 else root @ t
        u -= u.mean(axis=1, keepdims=True)
        return u

    t = np.zeros((root.shape[-1], labels))
    if not hinge:
        return [whole(_minimised(x, root, _log(y, hidden), share, t))]
    found, weight = [], max(goal.promised, 1.0)
    for soft in (0.5, 0.1):  # sqrt(a b) is the least of (c a + b/c)/2, so the ridge c follows U
        for _ in range(3):
            length = math.sqrt(float((t * t).sum()))
            ridge = math.sqrt(weight) / length if length > 0.0 else 1.0
            t = _minimised(x, root, _hinge(y, hidden, soft), share * ridge, t)
            found.append(whole(t))
    return found


def _minimised(x: Any, root: Vector, phi: Loss, ridge: float, start: Vector) -> Vector:
    """Return a T that approximately minimises phi(x B T) + ridge |T|^2/2."""
    from scipy.optimize import minimize

    def value(flat: Vector) -> tuple[float, Vector]:
        t = flat.reshape(start.shape)
        lost, slopes = phi(x @ (root[:, None] * t if root.ndim == 1 else root @ t))
        back = x.T @ slopes
        back = root[:, None] * back if root.ndim == 1 else root.T @ back
        return lost + 0.5 * ridge * float(flat @ flat), (back + ridge * t).ravel()

    with np.errstate(all="ignore"), one_blas_thread():
        found: Vector = minimize(value, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return found.reshape(start.shape) if bool(np.isfinite(found).all()) else start


def _log(y: NDArray[np.int64], hidden: NDArray[np.bool_]) -> Loss:
    """Return the log loss of labels y, over the labels that are not hidden."""
    at = np.arange(len(y))

    def loss(s: Vector) -> tuple[float, Vector]:
        s = np.where(hidden, -np.inf, s)
        top = s.max(axis=1, keepdims=True)
        p = np.exp(s - top)
        total = p.sum(axis=1, keepdims=True)
        lost = float((top + np.log(total)).sum() - s[at, y].sum())
        p /= total
        p[at, y] -= 1.0
        return lost, p

    return loss


def _hinge(y: NDArray[np.int64], hidden: NDArray[np.bool_], soft: float) -> Loss:
    """Return the soft hinge loss, about max(0, 1 - s_y + largest other s).

    It is soft * ln(1 + sum over the other labels of e^((1 + s_j - s_y)/soft)).
    """
    at, plain = np.arange(len(y)), _log(y, hidden)

    def loss(s: Vector) -> tuple[float, Vector]:
        s = s + 1.0
        s[at, y] -= 1.0
        lost, slopes = plain(s / soft)
        return soft * lost, slopes

    return loss
