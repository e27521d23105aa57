"""Array layout of linear/_loops/metric_perceptron.py. Imports no numba."""

from __future__ import annotations

LARGEST, SQUARES, MOMENT, SEEN, HELD = range(5)
"""Columns of `held`, which has a row per feature: M, the sum of x^2 over the updates, b, and the number of updates with
the feature; last, the number of columns."""

UPDATES, MISTAKES, GAINED, TOTALS = range(4)
"""Entries of `totals`: updates, mistakes, the sum of v + 2 max(m, 0) over the updates; last, the number of entries."""
