"""Where comparators/_loops/log_losses.py keeps what: names for places in its arrays. No numba here."""

from __future__ import annotations

LANES = 8
"""Weights u come in so many at a time."""

LOG, HINGE, PARABOLA, DOUBT, PULL, PULL_DOUBT, BENT, BENT_DOUBT, SUMS = range(9)
"""Sums of a u: its log losses, hinge losses, and max(l, Q); what rounding may have done to these; and so on."""

LOSS, LINEAR, LINEAR_SIZE, TOLD = range(4)
"""Sums of scores: log losses, g z - h z^2/2, and |g z| + h z^2/2."""
