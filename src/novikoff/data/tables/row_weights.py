"""Weights of the rows of a table: a column, weights by label, or balanced ones (core/weights.py has the rule).

A row of weight k is learned in k rounds, all theorems hold for the rounds played, with every learner. The fraction of a
weight is rounded by a coin of the row: its number counts the rows with a label, from the beginning of the source.
Metrics count rows: a row is predicted once, before its first round, and that prediction is scored once per round. In
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
from novikoff.core.weights import BALANCED, MOST_WEIGHT, MUST, Balance, rounds_of, valid
from novikoff.data.layout import BOOLEANS, is_number
from novikoff.data.tables import cells
from novikoff.data.tables.column import Column

if TYPE_CHECKING:
    import pyarrow as pa

ROUNDS_TOGETHER = 2**16
"""Approximate number of rounds of weighted rows per batch."""


class RowWeights:
    """Weights of the rows of a table.

    Args:
        column: Column of weights; None if there is none.
        by_label: Weight by label, other labels have weight 1; or "balanced".
        met: Whether to skip the check that every label in `by_label` occurs, as for a part of a table.
        seed: Seed of the coins that round fractions.

    Attributes:
        unmet: Labels in `by_label` that have not occurred.
        row: Number of rows so far.
    """

    def __init__(
        self, column: str | None, by_label: LabelWeights | None = None, met: bool = False, seed: int = 0
    ) -> None:
        self.column, self.balanced = column, by_label == BALANCED
        self.by_label = {} if by_label == BALANCED else checked(by_label)
        self.unmet = set() if met else {*self.by_label}
        self.seed = seed
        self.begin(None)

    def begin(self, start: Position | None) -> None:
        """Continue at a position of the table."""
        saved: Any = (start or {}).get("weighed", [0, []])
        self.row, self._balance = int(saved[0]), Balance((label, int(count)) for label, count in saved[1])

    def state(self) -> Position:
        """Return what a position of the table needs to continue."""
        return {"weighed": [self.row, [[label, count] for label, count in self._balance.counts.items()]]}

    @property
    def used(self) -> bool:
        """Whether a row may have a weight other than 1."""
        return self.column is not None or bool(self.by_label) or self.balanced

    @property
    def labelled(self) -> bool:
        """Whether weights depend on labels."""
        return bool(self.by_label) or self.balanced

    def of(
        self, arrays: Mapping[str, Any], rows: int, label: str | None, y: NDArray[np.number]
    ) -> NDArray[np.int64] | None:
        """Return the rounds of the next rows; None if all have weight 1.

        Args:
            arrays: Cells of all columns.
            rows: Number of rows, the first ones of the arrays.
            label: Column of the labels.
            y: (rows,) encoded labels.
        """
        if not self.used:
            return None
        found = np.ones(rows)
        if self.column is not None and rows:
            found = weights(arrays[self.column].slice(0, rows), self.column)
        if self.by_label and rows:
            texts, codes = cells.distinct(arrays[str(label)].slice(0, rows))
            found = found * of_labels(texts, codes, self.by_label)
            self.unmet -= {*map(written, texts)}
        if self.balanced:
            found = found * self._balance.weights(y)
        first, self.row = self.row, self.row + rows
        return None if rows and (found == 1.0).all() else rounds_of(found, first, self.seed)


def weights(array: pa.Array, column: str) -> NDArray[np.float64]:
    """Return the weights in the cells of a column; raise SourceError for invalid ones."""
    try:
        values = cells.numbers(array, Column(column, "number")).astype(np.float64, copy=False)
    except SourceError as error:
        error.must, error.do = "weights must be numbers", cells.WEIGHTS_INSTEAD
        raise
    if np.isnan(values).any():
        raise cells.missing(int(np.argmax(np.isnan(values))), column, "weights")
    wrong = ~valid(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        do = Advice("Divide all weights by one number, or pass ", Option("drop", column), ".")
        raise cells.bad_cell(row, column, MUST, f"has {values[row]:.17g}", do)
    return values


def checked(given: Any) -> dict[str, float]:
    """Return the weights by label in one spelling; raise SourceError for invalid ones."""
    if given is not None and not isinstance(given, Mapping):
        do = 'Write {"spam": 5, "ham": 0.5}, or "balanced".'
        raise SourceError("label weights must be a dict of numbers", f"got {shown(given)}", do)
    for label, weight in (given or {}).items():
        number = isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool)
        if not number or not 0 <= weight <= MOST_WEIGHT:
            raise SourceError(MUST, f"that of {quoted(str(label))} is {shown(weight)}", "Correct it.")
    return {written(label): float(weight) for label, weight in (given or {}).items()}


def of_labels(texts: Sequence[str], codes: NDArray[np.int64], by: Mapping[str, float]) -> NDArray[np.float64]:
    """Return the weights of rows by label, from the distinct labels and their codes."""
    found: NDArray[np.float64] = np.array([by.get(written(text), 1.0) for text in texts])[codes]
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
