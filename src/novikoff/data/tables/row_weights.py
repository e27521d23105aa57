"""Weights of rows: how often each is learned, and how much its prediction counts.

Theorems count rounds, and hold for whatever rows come. So a row of weight k, a whole number, is learned in k rounds,
one of weight 0 not at all, and everything that is promised holds for the rounds that were played: with every learner,
also where weights are of labels. Another number would multiply losses, of which no theorem here speaks: it is refused.
Metrics count rows: a row is predicted once, before its first round, and that prediction is scored with weight k. In the
rounds after it the learner has seen the row, so they say nothing of how it predicts (metrics.py).
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
ROUNDS_TOGETHER = 2**16
"""Rounds of weighted rows in a batch, about."""


class RowWeights:
    """How often each row of a table is played.

    column     of weights, if there is one
    by_label   weights of labels, by how these are written; those not named weigh 1
    unmet      labels that were given a weight and have not come; of a part of a table nobody asks: `met`
    """

    def __init__(self, column: str | None, by_label: LabelWeights | None = None, met: bool = False) -> None:
        self.column, self.by_label = column, checked(by_label)
        self.unmet = set() if met else {*self.by_label}

    @property
    def used(self) -> bool:
        """May a row count more or less than once?"""
        return self.column is not None or bool(self.by_label)

    def of(self, arrays: Mapping[str, Any], rows: int, label: str | None) -> NDArray[np.int64] | None:
        """How often each of the first rows counts, from the cells of all columns; None if all count once."""
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
    """The weights of rows, from the cells of their column."""
    values = cells.numbers(array, Column(column, "number")).astype(np.float64, copy=False)
    if np.isnan(values).any():
        raise cells.missing(int(np.argmax(np.isnan(values))), column, "weights")
    wrong = ~((values >= 0.0) & (values <= MOST_WEIGHT) & (values == np.floor(values)))
    if wrong.any():
        row = int(np.argmax(wrong))
        must = f"a weight must be a whole number from 0 to {MOST_WEIGHT:,}, as theorems count rounds"
        do = Advice("Multiply all weights by one number and round them, or pass ", Option("drop", column), ".")
        raise cells.bad_cell(row, column, must, f"has {values[row]:.17g}", do)
    return values.astype(np.int64)


def checked(given: LabelWeights | None) -> dict[str, int]:
    """The weights of labels, by how these are written; those not named weigh 1."""
    for label, weight in (given or {}).items():
        whole = isinstance(weight, (int, np.integer)) and not isinstance(weight, bool)
        if not whole or not 0 <= weight <= MOST_WEIGHT:
            must = f"a weight must be a whole number from 0 to {MOST_WEIGHT:,}, as theorems count rounds"
            raise SourceError(must, f"that of {quoted(str(label))} is {shown(weight)}",
                              "Multiply all weights by one number and round them.")  # fmt: skip
    return {written(label): int(weight) for label, weight in (given or {}).items()}


def of_labels(texts: Sequence[str], codes: NDArray[np.int64], by: Mapping[str, int]) -> NDArray[np.int64]:
    """What rows weigh, from their labels: each once, and which of them a row has."""
    found: NDArray[np.int64] = np.array([by.get(written(text), 1) for text in texts], dtype=np.int64)[codes]
    return found


def written(label: object) -> str:
    """A label as text, in one spelling: 1, 1.0 and "1" are one."""
    text = str(label).strip()
    return repr(float(text)) if is_number(text) else text.lower() if text.lower() in BOOLEANS else text


def repeated(
    x: NDArray[np.number] | Sparse, y: NDArray[np.number], weights: NDArray[np.int64], row: int, end: Position | None
) -> Iterator[Batch]:
    """Each row as often as it weighs, in batches that are not much larger than others; the last goes on at `end`."""
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
