"""Explanations of learners in terms of features: the score of one row as a sum, and the importance of each feature.

A learner implements them as methods of `Predictor` (core/learner.py), whose defaults return None. They speak of places,
the indices of features; game/explanation.py translates places to the columns, categories and words of the user.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.core.types import CheckedRow

Vector = NDArray[np.float64]
Method = Literal["exact", "path", "replacement"]
Scale = Literal["log-odds", "probability", "log probability", "score", "number"]
Kind = Literal["weights", "gain", "share", "permutation"]
UNSCALED = "columns as they are"
"""Unit of weights whose features are not of one size."""


class Coefficients(NamedTuple):
    """Weights of a linear learner.

    Attributes:
        weights: (outputs, features) weight of each feature; one output for two labels and for numbers.
        intercepts: (outputs,) score of a row of zeros.
        sizes: (features,) size of each feature over all rounds; None if the learner does not know it.
        centred: Whether sizes are standard deviations; otherwise root mean squares.
    """

    weights: Vector
    intercepts: Vector
    sizes: Vector | None = None
    centred: bool = False


@dataclass(frozen=True, eq=False)
class Attribution:
    """The score of one row as a sum over its features.

    score = base + sum of values + rest. The rest is what no feature accounts for: rounding if the method is exact or by
    path, except where a learner documents more.

    Attributes:
        method: "exact" for weight times value, "path" for the cuts on the path through trees, "replacement" for
            columns that replace those of a reference row.
        scale: What the score is.
        score: (outputs,) score of the row: one, or one per label.
        base: (outputs,) score before any feature: the bias, the root of a tree, the reference row.
        places: (entries,) features.
        values: (entries, outputs) contribution of each.
    """

    method: Method
    scale: Scale
    score: Vector
    base: Vector
    places: NDArray[np.int64]
    values: Vector

    @property
    def rest(self) -> Vector:
        """Part of the score that is neither the base nor a contribution."""
        found: Vector = self.score - self.base - self.values.sum(axis=0)
        return found


class Importances(NamedTuple):
    """Importance of features.

    Attributes:
        kind: "weights" for sizes of weights, "gain" for what cuts on the feature gained, "share" for the mean of the
            members of a mixture, each as a fraction of its sum.
        unit: What the numbers are, in words.
        values: (features,) at least 0.
    """

    kind: Kind
    unit: str
    values: Vector


MEMBERS = "mean of the members"
"""Unit of importances of a mixture whose members have weights."""


def spreads(squares: Vector, rounds: int, moments: Vector | None = None) -> tuple[Vector, bool]:
    """Return the size of each feature and whether all sizes are standard deviations, not root mean squares.

    Args:
        squares: (features,) sum of x^2.
        rounds: Number of rounds.
        moments: (2, width) mean of the first `width` features and the sum of squared distances from it, if known.
    """
    sizes, known = np.sqrt(squares / max(rounds, 1)), 0 if moments is None else min(moments.shape[1], len(squares))
    if moments is not None:
        sizes[:known] = np.sqrt(moments[1, :known] / max(rounds, 1))
    return sizes, known == len(squares)


def mean_importances(weights: Vector, members: Sequence[Vector], sizes: Vector, centred: bool) -> Importances:
    """Return the mean of the |weights| of members, times the size of each feature.

    Args:
        weights: (members,) weight of each in the mixture, stacks included.
        members: (features,) largest |weight| of each feature.
        sizes: (features,) size of each feature.
        centred: Whether sizes are standard deviations.
    """
    values = np.zeros(len(sizes))
    for weight, member in zip(np.abs(weights).tolist(), members, strict=True):
        values += weight * member
    size = "standard deviation" if centred else "root mean square"
    return Importances("weights", f"weight times {size}, {MEMBERS}", values * sizes)


def shared_importances(parts: Sequence[tuple[float, Vector]], count: int) -> Importances | None:
    """Return the mean of the members' importances, each as a fraction of its sum; None if no member has any.

    Args:
        parts: Influence of each member, and its importances by feature.
        count: Number of features.
    """
    values, whole = np.zeros(count), 0.0
    for influence, own in parts:
        total = float(own.sum())
        if total > 0.0 and influence > 0.0:
            values[: len(own)] += influence * own / total
            whole += influence
    unit = "share, mean of linear members and trees"
    return Importances("share", unit, values / whole) if whole > 0.0 else None


def entries_of(row: Vector | CheckedRow) -> tuple[NDArray[np.int64], Vector]:
    """Return the places and values of a row."""
    if isinstance(row, tuple):
        return row[0].astype(np.int64), row[1].astype(np.float64)
    return np.arange(len(row), dtype=np.int64), np.asarray(row, dtype=np.float64)


def linear_attribution(
    scale: Scale, row: Vector | CheckedRow, own: Coefficients, score: Vector | float, normalize: bool | None
) -> Attribution:
    """Return the score of a row as the sum of weight times value.

    Args:
        scale: What the score is.
        row: Row, checked.
        own: Weights.
        score: (outputs,) score of the row, or the only one.
        normalize: Whether the score is that of the row divided by its norm; a row of zeros stays.
    """
    places, values = entries_of(row)
    known = places < own.weights.shape[1]
    weights = np.zeros((len(places), len(own.intercepts)))
    weights[known] = own.weights[:, places[known]].T
    square = float(np.sum(values**2)) if normalize else 1.0
    products = weights * (values * (1.0 / math.sqrt(square) if square > 0.0 else 0.0))[:, np.newaxis]
    return Attribution("exact", scale, np.atleast_1d(np.asarray(score, np.float64)), own.intercepts, places, products)


def weight_importances(own: Coefficients) -> Importances:
    """Return the largest |weight| of each feature over the outputs, times the size of the feature if it is known."""
    values = np.abs(own.weights).max(axis=0, initial=0.0)
    if own.sizes is None:
        return Importances("weights", f"weight, {UNSCALED}", values)
    size = "standard deviation" if own.centred else "root mean square"
    return Importances("weights", f"weight times {size}", values * own.sizes)
