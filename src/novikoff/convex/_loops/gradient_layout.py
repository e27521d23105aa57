"""Array layout of convex/_loops/online_gradient.py. Imports no numba."""

from __future__ import annotations

WEIGHT, SHORT, PULL = 0, 1, 2  # rows of `held`; in `totals`, those of the constant feature
SCALE, MASS, LENGTH2 = 3, 4, 5  # scale of w, scale of the sum of all w, and ||w||^2
ROUNDS, SINCE, PLACES, LONGEST = 6, 7, 8, 9  # rounds; since the last fold; largest index + 1; most non-zeros of a row
FIRST_RATE, RATE, SQUARES, STEPS = 10, 11, 12, 13  # first and last rate; sums of ||g||^2 and of rate * ||g||^2
LINEAR, LINEAR_LOST = 14, 15  # sum of <g, w>, and its compensation (Neumaier)
ZERO, ZERO_LOST = 16, 17  # loss of w = 0, and its compensation (Neumaier)
KNOWN = 18  # 1 while `gram` has every round
OWN = 19

RADIUS, BIAS, LOSS, RULE, PACE = 0, 1, 2, 3, 4  # entries of `params`, fixed before the first round
MOST, NORMALIZE = 5, 6  # largest ||x||^2 allowed; 1 if x is divided by its norm
ABSOLUTE, SQUARED = 0.0, 1.0
FIXED, ANYTIME, ADAPTIVE = 0.0, 1.0, 2.0

SHORTEST = 1e-290
"""Least ||x||^2 for normalising: below, it is too inaccurate to divide by, and x counts as zero."""
