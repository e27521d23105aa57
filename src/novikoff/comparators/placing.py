"""Directions that were found, put so that riders see each at the very length that was best.

A rider U stands for u = U/S at the thresholds S of comparators/riders.py. U is made as long as it may be with u = U/S
for one of them. In whole numbers, where that loses little: u is then off by half a unit in each feature, which matters
less than one part in 2^10 when ||U|| is above 2^10 R ||u||. A u that is longer than any bound could use is no reason to
leave whole numbers.
Comparators that rode along with a game may be shown a stream again: if they do not see there what they saw in the game,
it was not played on that stream, or not on it alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.blocks import Blocks
from novikoff.comparators.riders import COARSEST, FINEST, LONGEST, ROOM, SHORTEST, Riders
from novikoff.comparators.riding import RidingFacts
from novikoff.comparators.rounding import of_length

Vector = NDArray[np.float64]

FINE = 2.0**10
PASSES = 1000
"""With so many, R ||u|| may be up to the root of all rounds and still be of use."""

ROUNDED = Fraction(1, 2**20)
"""Losses may differ by that part, if they were summed in whole numbers in the game and not afterwards."""

LIGHTEST = 2.0**-100
"""In floats, a weight that is smaller beside ||U|| of about 1 is as good as none."""


def placed(blocks: Blocks, directions: Sequence[Vector | None], radius: float) -> Riders:
    """Riders for these directions, given in the units of the blocks; they have seen nothing yet."""
    from novikoff.kernels import riding

    U, own = np.zeros((blocks.width, riding.WIDE), np.float32), np.zeros(riding.RIDERS)
    longest = blocks.square
    if not SHORTEST <= longest <= LONGEST:
        return Riders(U, own, 0, blocks.whole)
    octave = (math.frexp(longest)[1] + 1) // 2  # longest < 4^octave
    power = min(FINEST, ROOM - octave)
    lengths = [radius * float(np.linalg.norm(u)) for u in directions if u is not None]
    a = max((length for length in lengths if length * length <= PASSES * blocks.rows), default=0.0)
    exact = blocks.whole and power >= COARSEST and math.ldexp(1.0, power) >= FINE * a
    power = power if exact else 1
    edges = Riders(U, own, power + octave, exact).edges
    for k, u in enumerate(directions):
        if u is None or not np.any(u) or not np.all(np.isfinite(u)):
            continue
        scaled = _at_an_edge(u * blocks.unit, edges, power)
        scaled = np.rint(scaled) if exact else np.where(np.abs(scaled) < LIGHTEST, 0.0, scaled)
        rounded = scaled.astype(np.float32)
        own[k], U[:-1, k] = rounded[0], rounded[1:]
    return Riders(U, own, power + octave, exact)


def _at_an_edge(u: Vector, edges: NDArray[np.float64], power: int) -> Vector:
    """u times the largest edge that leaves it no longer than 2^power; by a power of two, if that were too short."""
    near = of_length(u, power)
    norm = float(np.linalg.norm(near))
    factor = float(np.max(np.abs(near))) / float(np.max(np.abs(u)))  # near = factor * u
    with np.errstate(over="ignore"):
        lengths = edges / factor * norm
    fits = edges[(lengths <= math.ldexp(1.0, power)) & (lengths >= math.ldexp(1.0, power - 1))]
    return near if len(fits) == 0 else near * (float(fits.max()) / factor)


def again(rode: RidingFacts) -> Riders | None:
    """The comparators that rode along, as before the game; None if their directions are not told."""
    from novikoff.kernels import riding

    scales = [u.scale for u in rode.comparators if u.direction]
    if not scales or not rode.directions:
        return None
    U, own = np.zeros((len(rode.directions[0]), riding.WIDE), np.float32), np.zeros(riding.RIDERS)
    for k, direction in enumerate(rode.directions):
        U[:-1, k], own[k] = direction[:-1], direction[-1]
    top = math.frexp(max(scales))[1] - 1
    return Riders(U, own, top, rode.exact and top >= FINEST)


def the_same(rode: RidingFacts, seen: Riders, passes: int, left_out: int) -> bool:
    """Did they see again what they saw in the game? left_out: zero rows that they were not shown, with a loss of 1."""
    if passes * (seen.rows + left_out) != rode.rows:
        return False
    losses = {(u.direction, u.scale): passes * (u.hinge + left_out) for u in seen.comparators(np.zeros(2))}
    pairs = [
        (u.hinge, losses.get((u.direction, u.scale), u.hinge)) for u in rode.comparators if u.direction and u.hinge
    ]
    return all(abs(here - there) <= ROUNDED * (rode.rows + here) for here, there in pairs)
