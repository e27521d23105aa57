"""Weights of rows: the number of rounds in which each is learned, and its weight in the metrics.

Theorems count rounds, and hold for all sequences of rows. So a row of integer weight k is learned in k rounds, a row of
weight 0 not at all, and all guarantees hold for the rounds played, with every learner, also for weights by label. A
fractional weight would multiply losses, which no theorem here covers: it is an error.
Metrics count rows: a row is predicted once, before its first round, and that prediction is scored with weight k. In
later rounds the learner has seen the row, so these do not measure its predictions (metrics.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.batch import weights_of_copies
from novikoff.core.errors import Advice, Option, SourceError, quoted, shown
from novikoff.core.types import Batch, LabelWeights, Position, Sparse
from novikoff.data.layout import BOOLEANS, is_number
from novikoff.data.tables import cells
from novikoff.data.tables.column import Column

if TYPE_CHECKING:
    import pyarrow as pa

MOST_WEIGHT = 10_000
"""Largest weight of a row."""
ROUNDS_TOGETHER = 2**16
"""Approximate number of rounds of weighted rows per batch."""


class RowWeights:
    """Weights of the rows of a table.

    Args:
        column: Column of weights; None if there is none.
        by_label: Weight by label; other labels have weight 1.
        met: Whether to skip the check that every label in `by_label` occurs, as for a part of a table.

    Attributes:
        unmet: Labels in `by_label` that have not occurred.
    """

    def __init__(self, column: str | None, by_label: LabelWeights | None = None, met: bool = False) -> None:
        self.column, self.by_label = column, checked(by_label)
        self.unmet = set() if met else {*self.by_label}

    @property
    def used(self) -> bool:
        """Whether a row may have a weight other than 1."""
        return self.column is not None or bool(self.by_label)

    def of(self, arrays: Mapping[str, Any], rows: int, label: str | None) -> NDArray[np.int64] | None:
        """Return the weights of the first rows from the cells of all columns; None if all are 1."""
        if not self.used:
            return None
        if not rows:
            return np.zeros(0, dtype=np.int64)
        found = np.ones(rows, np.int64)
        if self.column is not None:
            found = weights(arrays[self.column].slice(0, rows), self.column)
        if self.by_label:
            texts, codes = cells.distinct(arrays[str(label)].slice(0, rows))
            found = found * of_labels(texts, codes, self.by_label)
            self.unmet -= {*map(written, texts)}
        return found


def weights(array: pa.Array, column: str) -> NDArray[np.int64]:
    """Return the weights in the cells of a column; raise SourceError for invalid ones."""
    values = cells.numbers(array, Column(column, "number")).astype(np.float64, copy=False)
    if np.isnan(values).any():
        raise cells.missing(int(np.argmax(np.isnan(values))), column, "weights")
    wrong = ~((values >= 0.0) & (values <= MOST_WEIGHT) & (values == np.floor(values)))
    if wrong.any():
        row = int(np.argmax(wrong))
        must = f"a weight must be an integer from 0 to {MOST_WEIGHT:,}, because theorems count rounds"
        do = Advice("Multiply all weights by one number and round them, or pass ", Option("drop", column), ".")
        raise cells.bad_cell(row, column, must, f"has {values[row]:.17g}", do)
    return values.astype(np.int64)


def checked(given: LabelWeights | None) -> dict[str, int]:
    """Return the weights by label in one spelling; raise SourceError for invalid ones."""
    for label, weight in (given or {}).items():
        whole = isinstance(weight, (int, np.integer)) and not isinstance(weight, bool)
        if not whole or not 0 <= weight <= MOST_WEIGHT:
            must = f"a weight must be an integer from 0 to {MOST_WEIGHT:,}, because theorems count rounds"
            raise SourceError(must, f"that of {quoted(str(label))} is {shown(weight)}",
                              "Multiply all weights by one number and round them.")  # fmt: skip
    return {written(label): int(weight) for label, weight in (given or {}).items()}


def of_labels(texts: Sequence[str], codes: NDArray[np.int64], by: Mapping[str, int]) -> NDArray[np.int64]:
    """Return the weights of rows by label, from the distinct labels and their codes."""
    found: NDArray[np.int64] = np.array([by.get(written(text), 1) for text in texts], dtype=np.int64)[codes]
    return found


def written(label: object) -> str:
    """Return a label as text in one spelling: 1, 1.0 and "1" are equal."""
    text = str(label).strip()
    return repr(float(text)) if is_number(text) else text.lower() if text.lower() in BOOLEANS else text


def repeated(
    x: NDArray[np.number] | Sparse, y: NDArray[np.number], weights: NDArray[np.int64], row: int, end: Position | None
) -> Iterator[Batch]:
    """Yield each row as often as its weight says, in batches of about ROUNDS_TOGETHER; the last ends at `end`."""
    ends = np.cumsum(weights)
    total = int(ends[-1]) if len(ends) else 0
    cuts = np.unique(np.searchsorted(ends, np.arange(ROUNDS_TOGETHER, total, ROUNDS_TOGETHER)))
    scored = np.split(weights_of_copies(weights), ends[cuts])
    for part, once in zip(np.split(np.repeat(np.arange(len(y)), weights), ends[cuts]), scored, strict=True):
        if len(part):
            done = row + len(part)
            last = done == row + total
            some = x.take(part) if isinstance(x, Sparse) else x[part]
            yield Batch(some, y[part], row + 1, end if last else None, "owned", once)
            row, total = done, total - len(part)
