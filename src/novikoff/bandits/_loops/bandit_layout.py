"""Where a bandit's sums are kept: places in `numbers`, of doubles."""

from __future__ import annotations

LOST, RATE, RATES, SPENT, STABLE, OFF, WORST, NUMBERS = range(8)
"""What the arms it played cost; the last rate; the sum of all, with what exploration adds to each; what the pathwise
bound adds up, in two parts; the most that its chances were away from a sum of 1; the most that exploration made of a
rate, as a factor; last, how many there are."""
