"""A stream read again as a scaled learner saw it: each pass is scaled from its beginning, by a scaler of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from novikoff.core.feature_places import Features
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, CheckedRow, Labels, Position, Sparse
from novikoff.data.scaler import Scale, Scaler


class Rescaled(Stream):
    """The rows of a stream on one scale.

    features   the learner's, which have the places of names
    """

    def __init__(self, stream: Stream, scale: Scale, features: Features) -> None:
        self._stream, self._scale, self._known = stream, scale, features
        self.name, self.domain, self.rereadable, self.rows = stream.name, stream.domain, stream.rereadable, stream.rows

    @property
    def labels(self) -> Labels | None:  # type: ignore[override]
        """They may be known only as it is read."""
        return self._stream.labels

    def fingerprint(self) -> dict[str, Any] | None:
        return self._stream.fingerprint()

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        assert start is None, "what is done to a row depends on all before it"
        scaler = Scaler(self._scale)
        for batch in self._stream.batches():
            if not isinstance(batch.x, list):
                yield scaler.batch(batch, learn=True)
                continue
            for t, (x, y) in enumerate(batch.rows()):
                row = scaled_row(scaler, self._known.row(x, learn=False), self._known.count, learn=True)
                yield Batch([row], np.array([y]), batch.first + t)


def scaled_row(scaler: Scaler, row: Any, width: int, learn: bool) -> Any:
    """One row on one scale, an array or (indices, values); so many features, at least, have their places."""
    if not isinstance(row, tuple):
        return scaler.rows(row[None, :], learn)[0]
    indices, values = row
    width = max(width, int(indices.max()) + 1 if len(indices) else 0)
    ends = np.array([0, len(indices)], dtype=np.uint64)
    values = scaler.rows(Sparse(ends, indices, values, width, checked=True), learn).values
    return CheckedRow((indices, values)) if np.isfinite(values).all() else (indices, values)
