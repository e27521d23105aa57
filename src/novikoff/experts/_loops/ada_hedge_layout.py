"""Indices into the arrays of experts/_loops/ada_hedge.py. This module does not import numba."""

from __future__ import annotations

GAPS, LAST_GAP, MIXED, PAID, NUMBERS = range(5)
"""Indices into `numbers`: sum of the gaps, last gap, sum of h, loss of the mixture. The last name is the length."""

LOSSES, SHARES, TABLE = range(3)
"""Rows of `table`: loss of each forecaster so far, sum of its weights. The last name is the number of rows."""
