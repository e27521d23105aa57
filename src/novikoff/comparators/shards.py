"""Comparators that saw a stream in parts: the results of the parts, combined exactly.

The same directions are evaluated on every part, possibly by different processes. The loss of u over all rounds is the
sum of its losses over the parts, R is the largest R of a part, and the least margin the least one of a part. The facts
of parts are fractions, so their sums are exact. A part may have a weight, as in mixing.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from novikoff.comparators.linear import LinearScorer
from novikoff.comparators.tally import Comparator, shortened


def merged(parts: Sequence[LinearScorer], weights: Sequence[Fraction] | None = None) -> list[Comparator]:
    """Return every u that all parts have, with the losses of each part times its weight; weights are 1 by default."""
    each = [Fraction(1)] * len(parts) if weights is None else list(weights)
    seen = [(part, weight) for part, weight in zip(parts, each, strict=True) if part.tally.rows]
    rows = sum((weight * part.tally.rows for part, weight in seen), Fraction(0))
    nothing = Comparator(0, 1.0, Fraction(0), rows, rows, Fraction(0))
    if not seen or any(part.invalid_reason for part, _ in seen):
        return [nothing]
    return [nothing, *_separating([part for part, _ in seen]), *_at_thresholds(seen)]


def _separating(parts: Sequence[LinearScorer]) -> Iterator[Comparator]:
    """Yield each direction at its least margin over all parts, if that margin is positive."""
    tally = copy.copy(parts[0].tally)
    tally.least = np.min([part.tally.least for part in parts], axis=0)
    for u in tally.comparators(parts[0].norms2, Fraction(0)):
        if u.direction and u.hinge == 0 and u.scale == tally.least[u.direction - 1]:
            yield u


def _at_thresholds(seen: Sequence[tuple[LinearScorer, Fraction]]) -> Iterator[Comparator]:
    """Yield each direction at the thresholds that all parts have."""
    first, _ = seen[0]
    for k, norm2 in enumerate(first.norms2):
        sums = [list(part.tally.losses(k)) for part, _ in seen] if norm2 else [[]]
        for losses in zip(*sums, strict=False):  # a part with fewer thresholds has the lowest ones
            edge = losses[0][0]
            hinge = sum((weight * one for (_, weight), (_, one, _) in zip(seen, losses, strict=True)), Fraction(0))
            squared = sum((weight * one for (_, weight), (*_, one) in zip(seen, losses, strict=True)), Fraction(0))
            square = shortened(*(norm2 / Fraction(edge) ** 2).as_integer_ratio())
            yield Comparator(k + 1, edge, square, hinge, squared, Fraction(0))
