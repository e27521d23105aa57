"""What loops for many labels share: names for the places of their `totals`, and the labels so far. No numba here."""

from __future__ import annotations

from typing import NamedTuple

MISTAKES, SURPRISES, GAINED, LOSS, NOVELTY, LINEAR, LINEAR_SIZE, TOTALS = range(8)
"""Mistakes, had every label been announced before its first round; those in rounds with a new label that were none,
then; what the theorem adds up round by round; log losses, had every label been announced; what rounds with labels never
seen, and the chance that was kept for such, cost besides; the sum of <g, z>, and of the sizes of its parts; last, how
many there are."""

MOST_AGAINST = 32
"""Labels up to which `auto` plays each against the rest: a matrix each."""


class Labels(NamedTuple):
    """The labels before the first row of a batch: 0 .. known - 1. A row may bring the next one."""

    known: int
    rounds: int  # played before
    grows: (
        bool  # may a label come that was not announced? A chance is kept for it then (`escape` of multiclass_ftrl.py)
    )
