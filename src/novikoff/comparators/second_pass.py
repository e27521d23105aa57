"""Comparators of a game, evaluated on its stream again.

If the comparators of a game have other sums on the stream than they had in the game, the game was not played on that
stream, or not on it alone. A direction ignores features in which it has no weight. The probe has a weight, which is a
hash, for every feature (comparators/linear.py): rows that differ anywhere change the sums of its margins, unless their
differences cancel. On equal rows its margins differ only by the order of summation, at most (n+4) 2^-52 sqrt(n) R each
for n non-zeros; eight times that is allowed.
"""

from __future__ import annotations

import math
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
"""Relative difference of losses that is tolerated: rows may lack their zeros, and sums are rounded."""


def placed(
    blocks: Blocks, directions: Sequence[Vector | None], penalties: Sequence[tuple[int, float]] = ()
) -> LinearScorer:
    """Return comparators for these directions that have seen no rows.

    Args:
        blocks: Rows, in whose units the directions are given.
        directions: Directions with the bias first; None for a zero direction.
        penalties: Pairs (direction, kappa), in the units of the blocks.
    """
    unit = blocks.unit
    last = [np.zeros(2) if u is None else np.append(u[1:], u[0]) * unit for u in directions]
    scaled = [(k, kappa * unit * unit) for k, kappa in penalties]
    return LinearScorer.placed(last, scaled, blocks.square, blocks.bias, blocks.normalize)


def again(tracked: LinearComparatorFacts) -> LinearScorer:
    """Return the comparators of the game before they saw any row; only the probe if directions are not stored."""
    from novikoff.comparators._loops import margins

    directions = list(tracked.directions[: margins.DIRECTIONS])  # without the separator of the kept rows
    fresh = LinearScorer.placed(directions, [], 1.0, tracked.bias, tracked.normalize, scaled=True)
    tally = Tally(fresh.tally.directions, tracked.top, probes=1)
    return LinearScorer(fresh.U, fresh.bias_weights, tally, tracked.bias, tracked.normalize)


def same_sums(
    tracked: LinearComparatorFacts, echoes: Sequence[LinearScorer], seen: Iterable[Comparator], passes: int = 1,
    left_out: int = 0,
) -> bool:  # fmt: skip
    """Return whether the comparators have the same sums as in the game.

    Args:
        tracked: Facts of the game.
        echoes: `again(tracked)` after each part of the stream.
        seen: Comparators of the echoes, over all parts.
        passes: Number of passes of the game.
        left_out: Number of omitted zero rows, each with a loss of 1.
    """
    if passes * (sum(echo.tally.rows for echo in echoes) + left_out) != tracked.rows:
        return False
    nonzeros = max(tracked.nonzeros, *(echo.nonzeros for echo in echoes)) + 4
    allowed = nonzeros * 2.0**-49 * math.sqrt(nonzeros * float(tracked.square)) * tracked.rows
    for side, there in enumerate(tracked.probed):
        here = passes * math.fsum(float(echo.probed[side]) for echo in echoes)
        if not abs(here - there) <= allowed:
            return False
    losses = {(u.direction, u.scale): passes * (u.hinge + left_out) for u in seen}
    pairs = [
        (u.hinge, losses.get((u.direction, u.scale), u.hinge)) for u in tracked.comparators if u.direction and u.hinge
    ]
    return all(abs(here - there) <= ROUNDED * (tracked.rows + here) for here, there in pairs)
