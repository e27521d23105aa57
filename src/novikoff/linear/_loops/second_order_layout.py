"""Where linear/_loops/second_order.py keeps what: names for places in its arrays. No numba here."""

from __future__ import annotations

LIMIT = 256
"""Features that a matrix is kept for: the first that are seen."""
REFRESH = 2**14
"""Updates after which the inverse is found again from the matrix."""

LARGEST, MOMENT, WEIGHT, SEEN, SIZE, HELD = range(6)
"""Rows of `held`: M, b, w = A^-1 b, rounds with the feature, and the largest |x|, which is M where the learner is
scale-free; last, how many rows."""

COUNT, UPDATES, SINCE, LOSS, GAINED, LINEAR, LINEAR_SIZE, FARTHEST, SHED, UNCLIPPED, TOTALS = range(11)
"""In `totals`: features held, updates, those since the last refresh; the loss; what the theorem adds up round by round;
the sum that b'A^-1 b is added to, and of the sizes of its parts; the largest |score|; by how much growing M lowered
b'A^-1 b; the loss with nothing clipped; last, how many there are."""
