"""Where experts/_loops/ada_hedge.py keeps what: names for places in its arrays. No numba here."""

from __future__ import annotations

GAPS, LAST_GAP, MIXED, PAID, NUMBERS = range(5)
"""In `numbers`: the sum of the gaps, the last one, the sum of h, what was paid; last, how many there are."""

LOSSES, SHARES, TABLE = range(3)
"""Rows of `table`: the loss of each forecaster so far, the sum of its weights; last, how many rows."""
