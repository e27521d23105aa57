"""Where linear/_loops/metric_perceptron.py keeps what: names for places in its arrays. No numba here."""

from __future__ import annotations

LARGEST, SQUARES, MOMENT, SEEN, HELD = range(5)
"""In a row of `held`, of one feature: M, X the sum of x^2 over the updates, b, and updates with the feature; last, how
many there are."""

UPDATES, MISTAKES, GAINED, TOTALS = range(4)
"""In `totals`: updates, mistakes, and the sum of v + 2 max(m, 0) over the updates; last, how many there are."""
