"""Weights for the rows of any source: given as a list, or by label (core/weights.py).

A table reads a column of weights itself (data/tables/row_weights.py); this is for arrays, pairs and open streams, and
for weights that are not in the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.batch import Sparse
from novikoff.core.errors import InputError, SourceError
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Position
from novikoff.core.weights import BALANCED, Balance, LabelWeights, check_weights, rounds_of
from novikoff.data.tables.row_weights import checked, repeated, written
from novikoff.data.tables.table import Table

OWN = (
    "_stream",
    "_weights",
    "_by_label",
    "_balanced",
    "_label_of",
    "_one_by_one",
    "batches",
    "rows",
    "part",
    "__class__",
    "__len__",
)
"""Attributes that are not those of the inner stream."""


class Weighted(Stream):
    """Stream whose rows have weights; everything else is that of the inner stream.

    Args:
        stream: Stream of rows without weights.
        weights: Weight of each row, in order; None for 1.
        by_label: Weight by label, other labels have weight 1; or "balanced".
    """

    def __init__(self, stream: Stream, weights: object = None, by_label: LabelWeights | None = None) -> None:
        self._stream = stream
        self._weights = None if weights is None else check_weights(weights, _rows(stream, weights))
        self._balanced = by_label == BALANCED
        self._by_label = {} if self._balanced else checked(by_label)
        self.rows = None  # the sum of the rounds

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, name) if name in OWN else getattr(self._stream, name)

    def _label_of(self, y: float) -> object:
        """Return the user's value of a label."""
        labels, values = self._stream.labels, self._stream.label_values
        if labels is not None:
            return labels.decode(y)
        return values[int(y)] if values is not None and y < len(values) else y

    def part(self, first: int, last: int) -> Stream:
        raise SourceError(f"rows with a list of weights cannot be split: {self._stream.name}. Weigh the parts.")

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        at: Any = start or {"inner": None, "weighed": [0, 0, []]}
        played, row, counts = at["weighed"]
        balance = Balance((label, int(count)) for label, count in counts)
        for batch in self._stream.batches(at["inner"]):
            if batch.weights is not None:
                raise InputError(f"{self._stream.name} has row weights already: leave one of them out.")
            found = np.ones(len(batch))
            if self._weights is not None:
                found = self._weights[row : row + len(batch)]
                if len(found) < len(batch):
                    must = f"weights must be numbers, one per row: got {len(self._weights):,}"
                    raise InputError(must, f"{self._stream.name} has more rows")
            if self._by_label:
                each = {y: self._by_label.get(written(self._label_of(y)), 1.0) for y in np.unique(batch.y).tolist()}
                found = found * np.array([each[y] for y in batch.y.tolist()])
            if self._balanced:
                found = found * balance.weights(batch.y)
            first, row = row, row + len(batch)
            rounds = rounds_of(found, first)
            total = played + int(rounds.sum())
            state = [total, row, [[label, count] for label, count in balance.counts.items()]]
            end: Position | None = None if batch.end is None else {"inner": batch.end, "weighed": state}
            if (found == 1.0).all():
                yield replace(batch, first=played + 1, end=end)
            elif isinstance(batch.x, (np.ndarray, Sparse)):
                for one in repeated(batch.x, batch.y, rounds, played, end):
                    yield replace(one, encoding=batch.encoding)
            else:
                yield from self._one_by_one(batch, rounds, played, end)
            played = total

    def _one_by_one(
        self, batch: Batch, rounds: NDArray[np.int64], played: int, end: Position | None
    ) -> Iterator[Batch]:  # fmt: skip
        """Yield the rounds of rows that are any objects."""
        last = int(np.flatnonzero(rounds)[-1]) if rounds.any() else -1
        x: Any = batch.x
        for row in np.flatnonzero(rounds).tolist():
            times = int(rounds[row])
            weights = np.zeros(times, np.int64)
            weights[0] = times
            some = None if x is None else [x[row]] * times
            yield Batch(some, batch.y[row : row + 1].repeat(times, 0), played + 1, end if row == last else None,
                        "owned", weights, batch.encoding)  # fmt: skip
            played += times


def weigh(stream: Stream, weights: object, by_label: LabelWeights | None) -> Stream:
    """Return the stream with weights, which a table may have by label already."""
    if isinstance(stream, Table) and stream.weights.labelled:
        by_label = None
    if weights is None and by_label is None:
        return stream
    if stream.outcomes == "numbers" and by_label is not None:
        raise SourceError(f"label weights are for classification: {stream.name} has numbers. Leave them out.")
    return Weighted(stream, weights, by_label)


def _rows(stream: Stream, weights: Any) -> int:
    """Return how many weights are expected."""
    if stream.rows is not None:
        return stream.rows
    return len(weights) if hasattr(weights, "__len__") else 0
