"""Linear discriminant analysis by Bayes' rule, one row at a time: which label has rows like this one?

Rows of a label are normal around its mean, and one covariance S is that of all. Before any row, S is that of RIDGE rows
(inverse Wishart) of independent features with the deviations of all rows; given S, a mean is normal around the mean of
all rows, with S/FEW. Of n rows of label j among t, with mean m, and with the sum W of products of all rows' distances
from the mean of their label,
    z_j = ln(n + 1) - (d/2) ln f - ((RIDGE + t + d)/2) ln(1 + e'(RIDGE D + W)^-1 e / f),
    e = x - (n m + FEW c)/(n + FEW),   f = 1 + 1/(n + FEW),
is ln P(j | x) but for a constant: Student's t. d counts the features that vary; D has their variances, and c their
means, as they were when the inverse was last found anew: after each of the first 16 rounds, after 32, 64, 128, ...,
when a feature begins to vary, and when the member wakes (mixtures/_loops/resting.py). The inverse is kept by
linear/_loops/second_order.py.
"""

from __future__ import annotations

import numpy as np

from novikoff.linear._loops import second_order_layout as at
from novikoff.linear._loops.second_order import Vector, change, product, refresh
from novikoff.linear._loops.second_order_layout import MatrixArrays
from novikoff.mixtures._loops.auto_layout import Discriminant
from novikoff.numerics.compiled import inner

RIDGE = 2.0
FEW = 0.25
OFTEN = 16
LEAST = -600.0
"""Least score relative to the largest, so that no probability is 0."""
HEARD = 0.25
"""Fraction of its scores passed to the stack: rows are seldom normal, and it is overconfident."""


@inner
def look(own: Discriminant, x: Vector, known: int, labels: int, e: Vector, k: Vector, z: Vector) -> None:
    """The scores z of so many labels; all 0 where floats have no answer.

    x       (width,) the row, feature by feature; e, k: (width,) scratch
    known   labels whose largest score becomes 0; one more, never seen, may be asked for and changes none of theirs
    z       (labels,) out
    """
    normal, means, counts, inverse = own.normal, own.means, own.counts, own.inverse
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
def learn(own: Discriminant, moments: Vector, rounds: int, x: Vector, y: int, e: Vector, k: Vector) -> None:
    """Learn a row x of label y; moments are (2, width) means and sums of squares so far (numerics/fourier.py)."""
    normal, means, counts, held, inverse, sums, totals = own
    width, new = len(x), False
    for i in range(width):
        e[i] = x[i] - means[y, i]
    if counts[y] > 0.0:
        v = product(inverse, e, width, k)
        within = MatrixArrays(held, inverse, sums, totals)
        change(within, e, k, width, 0.0, v, counts[y] / (counts[y] + 1.0), 0.0)
    counts[y] += 1.0
    due = totals[at.SINCE] >= at.REFRESH
    for i in range(width):
        means[y, i] += e[i] / counts[y]
        new |= normal[1, i] == 0.0 and moments[1, i] > 0.0
    if new or rounds <= OFTEN or rounds & (rounds - 1) == 0:
        renew(own, moments, rounds)
    elif due:
        refresh(held, inverse, sums, totals, RIDGE)


@inner
def renew(own: Discriminant, moments: Vector, rounds: int) -> None:
    """Take the prior from the rows so far, and find the inverse again."""
    normal, _, _, held, inverse, sums, totals = own
    for i in range(held.shape[1]):
        normal[0, i] = moments[0, i]
        normal[1, i] = np.sqrt(moments[1, i] / rounds)
        held[at.LARGEST, i] = normal[1, i] if normal[1, i] > 0.0 else 1.0
    refresh(held, inverse, sums, totals, RIDGE)
