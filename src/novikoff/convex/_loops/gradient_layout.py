"""Where convex/_loops/online_gradient.py keeps what: names for places in its arrays. No numba here."""

from __future__ import annotations

WEIGHT, SHORT, PULL = 0, 1, 2  # of a feature, and of the constant feature in `totals`
SCALE, MASS, LENGTH2 = 3, 4, 5  # of w, of the sum of all w; and ||w||^2
ROUNDS, SINCE, PLACES, LONGEST = 6, 7, 8, 9  # since the last fold; largest index met + 1; most non-zeros of a row
FIRST_RATE, RATE, SQUARES, STEPS = 10, 11, 12, 13  # of updates; sums of ||g||^2 and of rate * ||g||^2
LINEAR, LINEAR_LOST = 14, 15  # sum of <g, w> (Neumaier)
ZERO, ZERO_LOST = 16, 17  # what w = 0 would have lost (Neumaier)
KNOWN = 18  # 1 while `gram` has every round
OWN = 19

RADIUS, BIAS, LOSS, RULE, PACE = 0, 1, 2, 3, 4  # of `params`, fixed before the first round
MOST, NORMALIZE = 5, 6  # the largest ||x||^2 allowed; 1 if x is divided by its length
ABSOLUTE, SQUARED = 0.0, 1.0
FIXED, ANYTIME, ADAPTIVE = 0.0, 1.0, 2.0

SHORTEST = 1e-290
"""||x||^2 below this is too rough a number to divide by: such an x is taken for zero where it is to be normalised."""
