"""Array layout shared by the multiclass loops, and the labels known so far. Imports no numba."""

from __future__ import annotations

from typing import NamedTuple

MISTAKES, SURPRISES, GAINED, LOSS, NOVELTY, LINEAR, LINEAR_SIZE, TOTALS = range(8)
"""Entries of `totals`: mistakes, had every label been announced before its first round; rounds with a new label that
would then not be mistakes; the theorem's sum over rounds; log loss, had every label been announced; additional cost of
new labels and of the probability reserved for them; the sum of <g, z>, and of the sizes of its parts; last, the number
of entries."""

MOST_AGAINST = 32
"""Largest number of labels for which `auto` plays one-versus-rest learners, with a matrix per label."""


class Labels(NamedTuple):
    """Labels known before the first row of a batch: 0 .. known - 1. A row may introduce the next one."""

    known: int
    rounds: int  # rounds played before
    grows: bool  # whether new labels may appear; a probability is then reserved (`escape` in multiclass_ftrl.py)
