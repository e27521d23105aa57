"""What kernels for many labels add up, in their `totals`: names for places. No numba here."""

from __future__ import annotations

MISTAKES, SURPRISES, GAINED, LOSS, NOVELTY, LINEAR, LINEAR_SIZE, TOTALS = range(8)
"""Mistakes, had every label been announced before its first round; those in rounds with a new label that were none,
then; what the theorem adds up round by round; log losses, had every label been announced; what rounds with labels never
seen, and the chance that was kept for such, cost besides; the sum of <g, z>, and of the sizes of its parts; last, how
many there are."""

MOST_AGAINST = 32
"""Labels up to which `auto` plays each against the rest: a matrix each."""
