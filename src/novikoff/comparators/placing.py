"""Comparators of before, shown a stream again.

Comparators that watched a game may be shown its stream once more: if they do not see there what they saw in the game,
it was not played on that stream, or not on it alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.blocks import Blocks
from novikoff.comparators.linear import LinearScorer
from novikoff.comparators.linear_tracker import LinearComparatorFacts
from novikoff.comparators.tally import Comparator, Tally

Vector = NDArray[np.float64]

ROUNDED = Fraction(1, 2**20)
"""Losses may differ by that part: rows may have come with or without their zeros, and sums are rounded."""


def placed(
    blocks: Blocks, directions: Sequence[Vector | None], penalties: Sequence[tuple[int, float]] = ()
) -> LinearScorer:
    """Comparators for these directions, given in the units of the blocks, the bias first; they have seen nothing yet.

    penalties   (direction, kappa), in the units of the blocks
    """
    unit = blocks.unit
    last = [np.zeros(2) if u is None else np.append(u[1:], u[0]) * unit for u in directions]
    scaled = [(k, kappa * unit * unit) for k, kappa in penalties]
    return LinearScorer.placed(last, scaled, blocks.square, blocks.bias, blocks.normalize)


def again(tracked: LinearComparatorFacts) -> LinearScorer | None:
    """The comparators that watched the game, as before it; None if their directions are not told."""
    if not tracked.directions:
        return None
    fresh = LinearScorer.placed(list(tracked.directions), [], 1.0, tracked.bias, tracked.normalize)
    tally = Tally(fresh.tally.directions, tracked.top, probes=1)
    return LinearScorer(fresh.U, fresh.bias_weights, tally, tracked.bias, tracked.normalize)


def the_same(
    tracked: LinearComparatorFacts, rows: int, seen: Iterable[Comparator], passes: int = 1, left_out: int = 0
) -> bool:
    """Did they see again, on so many rows, what they saw in the game?

    left_out   zero rows that they were not shown, with a loss of 1
    """
    if passes * (rows + left_out) != tracked.rows:
        return False
    losses = {(u.direction, u.scale): passes * (u.hinge + left_out) for u in seen}
    pairs = [
        (u.hinge, losses.get((u.direction, u.scale), u.hinge)) for u in tracked.comparators if u.direction and u.hinge
    ]
    return all(abs(here - there) <= ROUNDED * (tracked.rows + here) for here, there in pairs)
