"""Hypotheses given as a table: row h, column x holds the label that hypothesis h gives to x.

Hypotheses
    `table(matrix)`: entries -1 and +1, or integers 0 .. k-1 for multiclass. Equal rows each have a vote.
    `cube(k)`: all 2^k functions from k points to -1/+1, where Halving's bound is met with equality.
Cost
    O(survivors) per round.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.core import encode
from novikoff.core.errors import InputError
from novikoff.core.sizes import integer
from novikoff.core.types import Domain, Example, State
from novikoff.finite.classes.survivors import Survivors, refuse_if_too_large


class Table:
    """Hypotheses given as the rows of a matrix of labels; x is the number of a column.

    Args:
        matrix: Labels, (hypotheses, points): -1 and +1, or integers 0 .. k-1.

    Example:
        >>> import novikoff as nk
        >>> len(nk.classes.table([[1, -1], [-1, 1], [1, 1]]))
        3
    """

    def __init__(self, matrix: ArrayLike) -> None:
        try:
            values = np.asarray(matrix)
        except ValueError:
            raise InputError("the rows of a table must all have the same length: they do not.") from None
        if values.ndim != 2 or values.size == 0:
            raise InputError(f"a table must have rows (hypotheses) and columns (x): got shape {values.shape}.")
        if values.dtype.kind not in "iu":
            raise InputError(f"a table must hold whole numbers: got {values.dtype}.")
        if np.all(np.abs(values) == 1):
            self.labels: int | None = None
        elif values.min() >= 0 and values.max() < 2**15:
            self.labels = int(values.max()) + 1
        else:
            raise InputError("a table must hold -1 and +1, or labels 0 .. k-1: got other numbers.")
        # One row per x, so that the labels of all hypotheses on x are contiguous.
        self._by_x = np.ascontiguousarray(values.T.astype(np.int8 if self.labels is None else np.int16))
        self.domain = Domain("index", values.shape[1])
        self.name = f"table[{values.shape[0]}x{values.shape[1]}]"

    @property
    def size(self) -> int:
        """Number of hypotheses."""
        return int(self._by_x.shape[1])

    def __len__(self) -> int:
        return self.size

    def space(self, prior: object = None) -> Survivors:
        return Survivors(self, prior, "Split the table.")

    def encode(self, x: Example) -> int:
        return encode.index(x, self._by_x.shape[0])

    def labels_of(self, x: int, members: NDArray[np.int64] | None) -> NDArray[np.signedinteger]:
        row: NDArray[np.signedinteger] = self._by_x[x]
        return row if members is None else row[members]

    def describe(self, index: int) -> str:
        return f"row {index}: {self._by_x[:, index].tolist()}"

    def state(self) -> State:
        return {"class": "table", "matrix": self._by_x.T.astype(np.int64)}


def cube(k: int) -> Table:
    """Return all 2^k functions from k points to -1/+1; hypothesis j is +1 at point i if bit i of j is set."""
    k = integer(k, "k", "a cube needs at least one point and at most 1,000, an integer", 1, 1000)
    refuse_if_too_large(f"cube:k={k}", 2**k, "Take fewer points.")
    numbers = np.arange(2**k, dtype=np.int64)[:, None]
    bits = (numbers >> np.arange(k)) & 1
    return Table(2 * bits.astype(np.int8) - 1)
