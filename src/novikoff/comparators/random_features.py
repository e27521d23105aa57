"""Random features of the rows of a game, as a linear mixture computes them from the running mean of the rows.

Algorithm
    numerics/fourier.py, with the means and squares of the rows so far: rows are standardised in their order, as the
    learner does.
Promise
    The features equal those of the learner to the bit.
Cost
    O(255 width) per row, and 256 cosines per member.
Reference
    [rahimi2007].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.core.state import Array, Number, Stateful, require
from novikoff.core.types import State
from novikoff.numerics.records import astuple
from novikoff.numerics.sizes import WAVES

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros

Vector = NDArray[np.float64]


class Images(Stateful):
    """Random features of the rows after the first `seen`, for each of `widths`.

    Args:
        turns: (waves - 1, columns) frequencies, in turns.
        shifts: (waves - 1,) phases, in turns.
        widths: (members,) width of each member.
        moments: (2, columns) mean and sum of squared deviations of the rows seen.
        seen: Number of rows seen.
    """

    fields = (
        Array("turns", (WAVES - 1, None), argument=True),
        Array("shifts", (WAVES - 1,), argument=True),
        Array("widths", (None,), argument=True),
        Array("moments", (2, None), argument=True),
        Number("seen", 0.0, 2.0**62, argument=True),
    )
    described = "random features"

    def __init__(self, turns: Vector, shifts: Vector, widths: Vector, moments: Vector, seen: float) -> None:
        self.turns, self.shifts, self.widths, self.moments = turns, shifts, widths, moments
        self.seen = float(seen)

    def of(self, rows: Nonzeros) -> list[Nonzeros]:
        """Return the next rows, in order, as each member sees them."""
        phi = numerics.fourier.images(
            self.turns, self.shifts, self.widths, self.moments, self.seen, True, astuple(rows)
        )
        self.seen += len(rows.ends) - 1
        ends = np.arange(0, phi[0].size + 1, phi.shape[2], dtype=np.int64)
        places = np.tile(np.arange(phi.shape[2], dtype=np.uint32), phi.shape[1])
        return [numerics.nonzeros.Nonzeros(ends, places, one.reshape(-1)) for one in phi]

    def after_restoring(self, found: State) -> None:
        must = f"{self.described} must have a mean and a square for each column"
        require(self.turns.shape[1] == self.moments.shape[1], must, self.moments.shape)
