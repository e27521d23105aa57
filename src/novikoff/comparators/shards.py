"""Comparators that saw a stream in parts: what each part showed, added up exactly.

The same directions are shown every part, each by whoever reads it. A loss of u over all rounds is the sum of its losses
over the parts, R the largest of their R, and the least margin the least of theirs: facts of parts are fractions, and
their sums are exact. A part may count with a weight, as in mixing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from novikoff.comparators.linear import LinearScorer
from novikoff.comparators.tally import Comparator


def merged(parts: Sequence[LinearScorer], weights: Sequence[Fraction] | None = None) -> list[Comparator]:
    """Every u that all parts tell of, the losses of each part times its weight; 1 if none is given."""
    each = [Fraction(1)] * len(parts) if weights is None else list(weights)
    seen = [(part, weight) for part, weight in zip(parts, each, strict=True) if part.tally.rows]
    rows = sum((weight * part.tally.rows for part, weight in seen), Fraction(0))
    nothing = Comparator(0, 1.0, Fraction(0), rows, rows, Fraction(0))
    if not seen or any(part.invalid_reason for part, _ in seen):
        return [nothing]
    return [nothing, *_separating([part for part, _ in seen]), *_at_thresholds(seen)]


def _separating(parts: Sequence[LinearScorer]) -> Iterator[Comparator]:
    """Each direction at its least margin over all parts, where that separates."""
    least = [min(part.tally.least[k] for part in parts) for k in range(parts[0].tally.directions)]
    for part in parts:
        for u in part.tally.comparators(part.norms2):
            if u.direction and u.hinge == 0 and u.scale == least[u.direction - 1]:
                least[u.direction - 1] = float("nan")  # once
                yield u


def _at_thresholds(seen: Sequence[tuple[LinearScorer, Fraction]]) -> list[Comparator]:
    sums: list[dict[tuple[int, float], Comparator]] = []
    for part, weight in seen:
        edges = set(part.tally.edges.tolist())
        sums.append({
            (u.direction, u.scale): Comparator(
                u.direction, u.scale, u.square, weight * u.hinge, weight * u.squared_hinge, u.start
            )
            for u in part.tally.comparators(part.norms2)
            if u.direction and u.scale in edges
        })  # fmt: skip
    first, *others = sums
    return [
        Comparator(
            u.direction, u.scale, u.square, sum((one[key].hinge for one in others), u.hinge),
            sum((one[key].squared_hinge for one in others), u.squared_hinge), u.start,
        )
        for key, u in first.items() if all(key in one for one in others)
    ]  # fmt: skip
