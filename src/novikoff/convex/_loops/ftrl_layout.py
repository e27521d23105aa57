"""What scale-free FTRL keeps, by number."""

SHARED = 4
"""Numbers of a feature that all members share: M, X, N and R."""

LOSS, DELTA, LINEAR, LINEAR_SIZE, TOTALS = range(5)
"""Sums of a member: log losses, the theorem's Delta, g z, and |g z|."""
