"""Random features of the rows of a game, as a member of `auto` sees them: they move with the running mean of the rows.

Algorithm
    numerics/fourier.py, with the means and squares of the rows so far: the next rows are standardised as the learner
    does it, in their order.
Promise
    The same bits as the learner's.
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
from novikoff.core.state import array, require
from novikoff.core.types import State
from novikoff.numerics.records import astuple
from novikoff.numerics.sizes import WAVES

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros

Vector = NDArray[np.float64]
IMAGES = "random features"
"""Name of the state in error messages."""
NAMES = ("turns", "shifts", "widths", "moments")
"""Arrays of the state."""


class Images:
    """Random features of the rows after the first `seen`, for each of `widths`.

    Args:
        turns: (waves - 1, columns) frequencies, in turns.
        shifts: (waves - 1,) phases, in turns.
        widths: (members,) width of each member.
        moments: (2, columns) mean and sum of squared deviations of the rows seen.
        seen: Number of rows seen.
    """

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

    def state(self) -> State:
        return {**{name: getattr(self, name).copy() for name in NAMES}, "seen": self.seen}

    @classmethod
    def restore(cls, state: State) -> Images:
        moments = array(state, "moments", (2, None), of=IMAGES)
        turns = array(state, "turns", (WAVES - 1, moments.shape[1]), of=IMAGES)
        shifts, widths = array(state, "shifts", (WAVES - 1,), of=IMAGES), array(state, "widths", (None,), of=IMAGES)
        seen = state["seen"]
        require(type(seen) is float and 0.0 <= seen < 2.0**62, "rows seen must be a count", seen)
        return cls(turns, shifts, widths, moments, seen)
