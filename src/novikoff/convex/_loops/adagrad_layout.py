"""What AdaGrad keeps, by number."""

HINGE, ABSOLUTE, PINBALL, HUBER, SQUARED = range(5)
"""Losses."""

LARGEST, SQUARES, SEEN, SIZE, GRADIENT, CURVE, HELD = range(7)
"""Numbers of a feature: M the largest |x|, the sum of x^2, the rounds it was there, R the largest root mean square so
far, G the sum of g x, H that of (g x)^2; last, how many."""

DELTA, LINEAR, LINEAR_SIZE, STEEPEST, TOTALS = range(5)
"""Sums: the theorem's Delta, g z, |g z|; and the largest |g|."""
