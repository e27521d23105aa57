"""Positions in the arrays of comparators/_loops/log_losses.py, in a module without numba."""

from __future__ import annotations

LANES = 8
"""Number of weight vectors u that are processed together."""

LOG, HINGE, PARABOLA, DOUBT, PULL, PULL_DOUBT, BENT, BENT_DOUBT, SUMS = range(9)
"""Rows of `sums`, one column per u: log losses, hinge losses, max(l, Q), their possible rounding error, and the other
sums of `see` in comparators/_loops/log_losses.py. The last name is the number of rows."""

LOSS, LINEAR, LINEAR_SIZE, SCORE_SUMS = range(4)
"""Columns of `score_sums`: log losses, g z - h z^2/2, and |g z| + h z^2/2. The last name is the number of columns."""
