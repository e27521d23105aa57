"""Where a bandit's sums are kept: places in `numbers`, of doubles."""

from __future__ import annotations

LOST, RATE, RATES, SPENT, STABLE, OFF = range(6)
"""What the arms it played cost; the last rate; the sum of all; what the pathwise bound adds up, in two parts; the most
that its chances were away from a sum of 1."""

NUMBERS = 6
