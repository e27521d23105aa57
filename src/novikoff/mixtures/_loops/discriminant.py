"""Bayesian linear discriminant analysis, one row at a time.

Model: the rows of a label are normal around the label's mean, with one covariance S for all labels. Prior: S is inverse
Wishart, worth RIDGE rows of independent features with the deviations of all rows; given S, the mean of a label is
normal around the mean of all rows, with covariance S/FEW. For a label j with n of the t rows so far and mean m, and W
the within-label scatter matrix of all rows,
    z_j = ln(n + 1) - (d/2) ln f - ((RIDGE + t + d)/2) ln(1 + e'(RIDGE D + W)^-1 e / f),
    e = x - (n m + FEW c)/(n + FEW),   f = 1 + 1/(n + FEW),
is ln P(j | x) up to a constant (a Student t density). d is the number of features that vary; D has their variances and
c their means as of the last time the inverse was recomputed: after each of the first 16 rounds, after rounds 32, 64,
128, ..., when a feature begins to vary, and when the member wakes (mixtures/_loops/resting.py). In between,
linear/_loops/second_order.py updates the inverse.
"""

from __future__ import annotations

import numpy as np

from novikoff.linear._loops import second_order_layout as at
from novikoff.linear._loops.second_order import Vector, change, product, refresh
from novikoff.linear._loops.second_order_layout import MatrixArrays
from novikoff.mixtures._loops.linear_mixture_layout import Discriminant
from novikoff.numerics.compiled import inner

RIDGE = 2.0
"""Number of rows that the prior of the covariance is worth."""
FEW = 0.25
"""Number of rows that the prior of a label's mean is worth."""
OFTEN = 16
"""Number of first rounds after each of which the inverse is recomputed."""
LEAST = -600.0
"""Least score relative to the largest, so that no probability is 0."""
HEARD = 0.25
"""Factor of its scores in the stack: rows are seldom normal, so the discriminant is overconfident."""


@inner
def look(arrays: Discriminant, x: Vector, known: int, labels: int, e: Vector, k: Vector, z: Vector) -> None:
    """Write the scores of all labels, shifted so that the largest of the `known` labels is 0.

    All scores are 0 if a quadratic form is negative or not finite, as after overflow.

    Args:
        arrays: Arrays of the discriminant.
        x: (width,) row as a dense array.
        known: Number of labels seen so far.
        labels: Number of scores to write: `known`, or one more for new labels, which does not change the others.
        e: (width,) scratch.
        k: (width,) scratch.
        z: (labels,) output: scores.
    """
    normal, means, counts, inverse = arrays.normal, arrays.means, arrays.counts, arrays.inverse
    width, vary, good, most, learned = len(x), 0.0, True, -np.inf, 0.0
    for j in range(labels):
        learned += counts[j]
    for i in range(width):
        vary += normal[1, i] > 0.0
    for j in range(labels):
        whole = counts[j] + FEW
        for i in range(width):
            c = normal[0, i]
            e[i] = (x[i] - c) - (counts[j] / whole) * (means[j, i] - c) if normal[1, i] > 0.0 else 0.0
        f = 1.0 + 1.0 / whole
        q = product(inverse, e, width, k) / f
        good &= 0.0 <= q < np.inf
        z[j] = np.log(counts[j] + 1.0) - 0.5 * vary * np.log(f) - 0.5 * (RIDGE + learned + vary) * np.log1p(q)
        most = max(most, z[j]) if j < known or known == 0 else most
    for j in range(labels):
        z[j] = max(z[j] - most, LEAST) if good else 0.0


@inner
def learn(arrays: Discriminant, moments: Vector, rounds: int, x: Vector, y: int, e: Vector, k: Vector) -> None:
    """Learn from a row with label y.

    Args:
        arrays: Arrays of the discriminant.
        moments: (2, width) means and sums of squared deviations of all rows so far (numerics/fourier.py).
        rounds: Number of rounds, this one included.
        x: (width,) row as a dense array.
        y: Label of the row.
        e: (width,) scratch.
        k: (width,) scratch.
    """
    normal, means, counts, held, inverse, sums, totals = arrays
    width, new = len(x), False
    for i in range(width):
        e[i] = x[i] - means[y, i]
    if counts[y] > 0.0:  # Welford: W grows by n/(n+1) e e', with e the distance from the mean before this row
        v = product(inverse, e, width, k)
        within = MatrixArrays(held, inverse, sums, totals)
        change(within, e, k, width, 0.0, v, counts[y] / (counts[y] + 1.0), 0.0)
    counts[y] += 1.0
    due = totals[at.SINCE] >= at.REFRESH
    for i in range(width):
        means[y, i] += e[i] / counts[y]
        new |= normal[1, i] == 0.0 and moments[1, i] > 0.0
    if new or rounds <= OFTEN or rounds & (rounds - 1) == 0:
        renew(arrays, moments, rounds)
    elif due:
        refresh(held, inverse, sums, totals, RIDGE)


@inner
def renew(arrays: Discriminant, moments: Vector, rounds: int) -> None:
    """Take the prior's means and deviations from the rows so far, and recompute the inverse.

    Args:
        arrays: Arrays of the discriminant.
        moments: (2, width) means and sums of squared deviations of all rows so far.
        rounds: Number of rounds so far.
    """
    normal, _, _, held, inverse, sums, totals = arrays
    for i in range(held.shape[1]):
        normal[0, i] = moments[0, i]
        normal[1, i] = np.sqrt(moments[1, i] / rounds)
        held[at.LARGEST, i] = normal[1, i] if normal[1, i] > 0.0 else 1.0
    refresh(held, inverse, sums, totals, RIDGE)
