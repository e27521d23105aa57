"""Explanations of learners in terms of features: the score of one row as a sum, and the importance of each feature.

A learner implements them as methods of `Predictor` (core/learner.py), whose defaults return None. They speak of places,
the indices of features; game/explanation.py translates places to the columns, categories and words of the user.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.core.types import CheckedRow

Vector = NDArray[np.float64]
Method = Literal["exact", "path", "replacement"]
Scale = Literal["log-odds", "log probability", "score", "number"]
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


def entries_of(row: Vector | CheckedRow) -> tuple[NDArray[np.int64], Vector]:
    """Return the places and values of a row."""
    if isinstance(row, tuple):
        return row[0].astype(np.int64), row[1].astype(np.float64)
    return np.arange(len(row), dtype=np.int64), np.asarray(row, dtype=np.float64)


def inverse_norm(row: Vector | CheckedRow) -> float:
    """Return 1 / ||x||; 0 for a row of zeros."""
    square = float(np.sum(entries_of(row)[1] ** 2))
    return 1.0 / math.sqrt(square) if square > 0.0 else 0.0


def linear_attribution(
    scale: Scale, row: Vector | CheckedRow, own: Coefficients, score: Vector, by: float = 1.0, all_by: float = 1.0
) -> Attribution:
    """Return the score of a row as the sum of weight times value.

    Args:
        scale: What the score is.
        row: Row, checked.
        own: Weights.
        score: (outputs,) score of the row.
        by: Factor of the features, such as 1 over the norm of the row.
        all_by: Factor of features and intercept, such as the shrinkage of this row.
    """
    places, values = entries_of(row)
    known = places < own.weights.shape[1]
    weights = np.zeros((len(places), len(own.intercepts)))
    weights[known] = own.weights[:, places[known]].T
    products = weights * (values * (by * all_by))[:, np.newaxis]
    return Attribution("exact", scale, np.asarray(score, np.float64), own.intercepts * all_by, places, products)


def weight_importances(own: Coefficients) -> Importances:
    """Return the largest |weight| of each feature over the outputs, times the size of the feature if it is known."""
    values = np.abs(own.weights).max(axis=0, initial=0.0)
    if own.sizes is None:
        return Importances("weights", f"weight, {UNSCALED}", values)
    size = "standard deviation" if own.centred else "root mean square"
    return Importances("weights", f"weight times {size}", values * own.sizes)
