"""Array layout of convex/_loops/adagrad.py, and codes of the losses."""

HINGE, ABSOLUTE, PINBALL, HUBER, SQUARED = range(5)
"""Codes of the losses."""

LARGEST, SQUARES, SEEN, SIZE, GRADIENT, CURVE, HELD = range(7)
"""Columns of `held`: M the largest |x|, the sum of x^2, the number of rounds with the feature, R the largest root mean
square so far, G the sum of g x, H that of (g x)^2; last, the number of columns."""

DELTA, LINEAR, LINEAR_SIZE, STEEPEST, TOTALS = range(5)
"""Entries of `totals`: sums of the theorem's Delta, g z and |g z|; the largest |g|; last, the number of entries."""
