"""Streams held in memory: read once, replayed any number of times, in any row order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.adapt import adapt_stream
from novikoff.core.errors import Advice, InputError, Option, SourceError
from novikoff.core.stream import Part, Stream
from novikoff.core.types import Batch, Position, Sparse, count_at
from novikoff.data.arrays import ROWS_PER_BATCH

MOST_BYTES = 2_000_000_000
"""Maximum size of a source held in memory, in bytes."""


class InMemoryStream(Stream):
    """Rows of a stream, held in memory."""

    rereadable = True
    rows: int

    def __init__(self, like: Stream, batches: Sequence[Batch]) -> None:
        like = adapt_stream(like)
        self.name, self.domain, self.labels = like.name, like.domain, like.labels
        self.multiclass, self.label_values = like.multiclass, like.label_values
        self.features, self.notes = like.features, list(like.notes)
        self.encoding, self.table, self.scaled_by_default = like.encoding, like.table, like.scaled_by_default
        self.target_column, self.outcomes, self.counts = like.target_column, like.outcomes, like.counts
        self._batches = list(batches)
        self._ends = np.cumsum([len(batch) for batch in batches]).tolist()
        self.rows = int(self._ends[-1]) if self._ends else 0

    @property
    def size(self) -> int:
        """Size of the arrays in bytes."""
        return sum(batch.nbytes for batch in self._batches)

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        begin = count_at(start)
        for batch, end in zip(self._batches, self._ends, strict=True):
            if end > begin:  # borrowed memory: games run in parallel, one per core, and need no second thread each
                at = end - len(batch) + 1
                yield Batch(batch.x, batch.y, at, {"row": end}, weights=batch.weights, encoding=batch.encoding)

    def part(self, first: int, last: int) -> Stream:
        """Return a copy of these rows as a stream."""
        return rows_of(self, *self._within(first, last))

    @cached_property
    def _weights(self) -> NDArray[np.int64] | None:
        """Weights of all batches; None if every row is one round."""
        found = [batch.weights for batch in self._batches]
        if all(one is None for one in found):
            return None
        each = [np.ones(len(batch), np.int64) if one is None else one
                for one, batch in zip(found, self._batches, strict=True)]  # fmt: skip
        return np.concatenate(each)

    @property
    def units(self) -> int:
        """Number of rows that can be shuffled: the rounds of a weighted row stay together."""
        return self.rows if self._weights is None else int(np.count_nonzero(self._weights))

    def shuffled(self, order: NDArray[np.int64]) -> InMemoryStream:
        """Return the same rows in a new order, the first of them row order[0] of the `units`."""
        weights = self._weights
        if weights is not None:  # expand the order of weighted rows to that of their rounds
            firsts = np.flatnonzero(weights)
            lengths = np.diff(np.append(firsts, len(weights)))[order]
            ends = np.cumsum(lengths)
            order = np.repeat(firsts[order] - (ends - lengths), lengths) + np.arange(len(weights))
            weights = weights[order]
        x = _gather([batch.x for batch in self._batches], order)
        y = np.concatenate([batch.y for batch in self._batches])[order]
        whole = Batch(x, y, 1, weights=weights, encoding=self.encoding)
        return InMemoryStream(self, [whole.part(t, t + ROWS_PER_BATCH) for t in range(0, len(whole), ROWS_PER_BATCH)])


def hold(stream: Stream, rounds: int | None = None, limit: int = MOST_BYTES) -> InMemoryStream:
    """Read a stream, or its first `rounds` rounds, into memory.

    A weighted row is kept with all its rounds. Raises SourceError if the arrays exceed `limit` bytes.
    """
    if rounds is not None and rounds < 1:
        raise InputError(f"rounds must be at least 1: got {rounds}.")
    held: list[Batch] = []
    rows = size = 0
    for batch in stream.batches():
        part = batch if rounds is None else batch.part(0, batch.row_end(min(rounds - rows, len(batch))))
        size += part.nbytes
        if size > limit:
            fit = max(int(0.9 * limit / size * (rows + len(part))), 1)
            raise SourceError(
                f"a source that is read several times must fit in {limit:,} bytes of memory",
                f"the first {rows + len(part):,} rows of {stream.name} do not",
                Advice("Use fewer rows: ", Option("rounds", fit), "."),
            )
        held.append(part.kept())
        rows += len(part)
        if rounds is not None and rows >= rounds:
            break
    if not rows:
        raise SourceError(f"a source must not be empty: {stream.name} has no rows.")
    return InMemoryStream(stream, held)


def rows_of(stream: Stream, first: int, last: int) -> InMemoryStream:
    """Return rows first .. last of an in-memory stream as a copy."""
    part = InMemoryStream(stream, [replace(batch.copy(), end=None) for batch in Part(stream, first, last).batches()])
    part.name = f"rows {first + 1:,} to {last:,} of {stream.name}"
    part.outcomes, part.bits, part.fixed = stream.outcomes, stream.bits, stream.fixed
    return part


def _gather(parts: Sequence[Any], order: NDArray[np.int64]) -> Any:
    """Return the rows of all parts in a new order, row order[0] first."""
    if any(part is None for part in parts):
        return None
    place = np.empty(len(order), dtype=np.int64)  # destination of each row
    place[order] = np.arange(len(order))
    if all(isinstance(part, Sparse) for part in parts):
        return _gather_sparse(parts, order, place)
    kinds = {(part.dtype, part.shape[1:]) if isinstance(part, np.ndarray) else None for part in parts}
    if len(kinds) == 1 and None not in kinds:
        rows, start = np.empty((len(order), *parts[0].shape[1:]), dtype=parts[0].dtype), 0
        for part in parts:
            rows[place[start : start + len(part)]] = part
            start += len(part)
        return rows
    examples = [row for part in parts for row in (part.rows() if isinstance(part, Sparse) else part)]
    return [examples[row] for row in order.tolist()]


def _gather_sparse(parts: Sequence[Sparse], order: NDArray[np.int64], place: NDArray[np.int64]) -> Sparse:
    lengths = np.concatenate([np.diff(part.indptr) for part in parts]).astype(np.int64)
    ends = np.cumsum(lengths[order])
    starts = ends - lengths[order]
    indices = np.empty(int(ends[-1]), dtype=np.uint32)
    values = np.empty(len(indices), dtype=np.result_type(*(part.values.dtype for part in parts)))
    row = 0
    for part in parts:
        for cut in range(0, len(part), ROWS_PER_BATCH):
            some = part[cut : cut + ROWS_PER_BATCH]
            some_lengths = lengths[row : row + len(some)]
            shift = starts[place[row : row + len(some)]] - (np.cumsum(some_lengths) - some_lengths)
            to = np.arange(some_lengths.sum()) + np.repeat(shift, some_lengths)  # destination of each entry
            indices[to], values[to] = some.indices[some.entries], some.values[some.entries]
            row += len(some)
    indptr = np.concatenate([np.zeros(1, np.uint64), ends.astype(np.uint64)])
    return Sparse(indptr, indices, values, max(part.width for part in parts), checked=True)
