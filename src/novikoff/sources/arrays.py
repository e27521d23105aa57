"""Arrays in memory as a stream: X of shape (rows,) or (rows, width), y of two values or of 0 .. k-1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.errors import SourceError
from novikoff.types import Batch, Domain, Labels

ROWS_PER_BATCH = 65_536


class Arrays:
    """The rows of X with their labels y.

    Two values of y become -1 and +1, the larger +1 (`positive` overrides: every other value is -1). More values
    must be whole numbers from 0, for learners with many labels.
    """

    rereadable = True

    def __init__(
        self, X: ArrayLike, y: ArrayLike, positive: Any = None, many: int | None = None, name: str = "arrays"
    ) -> None:
        examples, raw = np.asarray(X), np.asarray(y)
        if examples.dtype.kind not in "iufb":
            raise SourceError(f"X must be numbers: got {examples.dtype}. Encode text and categories first.")
        if examples.ndim not in (1, 2) or raw.ndim != 1:
            raise SourceError(f"X must have one or two dimensions and y one: got {examples.shape} and {raw.shape}.")
        if len(examples) != len(raw):
            raise SourceError(f"X and y must be of one length: got {len(examples):,} and {len(raw):,} rows.")
        if len(raw) == 0:
            raise SourceError(f"a source must not be empty: {name} has no rows.")
        whole = examples.dtype.kind in "iub"
        self._x = np.ascontiguousarray(examples, dtype=np.int64 if whole else np.float64)
        self.labels, self._y = encode_labels(raw, positive, many, name)
        self.name = name
        if self._x.ndim == 1:
            self.domain = Domain("index") if whole else Domain("vector", 1)
        else:
            self.domain = Domain("point" if whole else "vector", self._x.shape[1])

    def __len__(self) -> int:
        return len(self._y)

    def batches(self) -> Iterator[Batch]:
        for start in range(0, len(self._y), ROWS_PER_BATCH):
            stop = start + ROWS_PER_BATCH
            yield Batch(self._x[start:stop], self._y[start:stop], start + 1)


def encode_labels(
    y: NDArray[Any], positive: Any = None, many: int | None = None, name: str = "y"
) -> tuple[Labels | None, NDArray[Any]]:
    """Labels and y as -1/+1; (None, y as int32) for a learner with `many` labels or more than two values."""
    if y.dtype.kind == "f" and not np.all(np.isfinite(y)):
        where = int(np.flatnonzero(~np.isfinite(y))[0])
        raise SourceError(f"labels must be finite: row {where + 1} of {name} has {y[where]}. Clean or drop the row.")
    if positive is None and many is not None:
        if y.dtype.kind in "iub" and y.min() >= 0:
            return None, y.astype(np.int32)
        raise SourceError(f"labels must be whole numbers from 0 to {many - 1}: {name} has others.")
    values = np.unique(y).tolist()
    if positive is not None:
        matching = [value for value in values if value == positive or str(value) == str(positive)]
        if not matching:
            shown = ", ".join(repr(value) for value in values[:5])
            raise SourceError(f"the positive label must occur: {name} has no {positive!r}, but {shown}.")
        others = [value for value in values if value != matching[0]]
        labels = Labels(others[0] if len(others) == 1 else f"not {matching[0]}", matching[0])
        return labels, np.where(y == matching[0], 1, -1).astype(np.int8)
    if set(values) <= {-1, 1}:
        return Labels(-1, 1), y.astype(np.int8)
    if set(values) <= {0, 1}:
        return Labels(0, 1) if y.dtype.kind != "b" else Labels(False, True), np.where(y == 1, 1, -1).astype(np.int8)
    if len(values) == 2:
        return Labels(*values), np.where(y == values[1], 1, -1).astype(np.int8)
    if len(values) == 1:
        raise SourceError(
            f"labels must take two values: {name} has only {values[0]!r}. Name the positive one to go on."
        )
    if y.dtype.kind in "iu" and min(values) >= 0:
        return None, y.astype(np.int32)
    third = int(np.flatnonzero(~np.isin(y, np.unique(y[: _second(y) + 1])))[0])
    raise SourceError(
        f"labels must take two values: row {third + 1} of {name} has a third, {y[third].item()!r}. "
        "Name the positive one to treat every other value as -1."
    )


def _second(y: NDArray[Any]) -> int:
    """Where the second value of y first appears."""
    return int(np.flatnonzero(y != y[0])[0])
