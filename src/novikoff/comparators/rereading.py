"""Second reading of a stream: the rows for the comparators, and a check that the stream has not changed.

Rows that cannot cause a mistake are omitted: a zero x labelled +1, without a bias, has score 0 and is predicted +1.
Omitting such rounds changes neither the Perceptron nor its mistakes, so a bound for the others holds for all.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.rows import Rows, as_rows, chosen, form_of, stacked
from novikoff.core import encode
from novikoff.core.errors import POSITIVE, Advice, InputError, Option, SourceError, counted
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, CheckedRow, Example, Sparse

TOGETHER = 4_096
"""Number of single rows that are stacked into one array."""


@dataclass
class Reading:
    """Summary of a stream that was read to its end: equal readings have equal rows, up to checksum collisions.

    Attributes:
        rows: Number of rounds, including omitted ones.
        left_out: Number of omitted rows: zero, labelled +1, without a bias.
        hopeless: Number of zero rows labelled -1, without a bias: no comparator has a margin there.
        sums: CRC-32 of the labels, the lengths, the indices and the values.
        fingerprint: Fingerprint of the stream when the reading began and when it ended.
    """

    rows: int = 0
    left_out: int = 0
    hopeless: int = 0
    sums: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    fingerprint: list[Any] = field(default_factory=list)

    def add(self, x: Rows, y: NDArray[np.int8]) -> None:
        """Add the next rows."""
        self.rows += len(y)
        if isinstance(x, Sparse):
            parts = [y, np.diff(x.indptr), x.indices[x.entries], x.values[x.entries]]
        else:
            parts = [y, np.array([], np.uint64), np.array([], np.uint32), x]
        for k, part in enumerate(parts):
            self.sums[k] = zlib.crc32(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data, self.sums[k])


def read(
    stream: Stream,
    bias: float,
    rounds: int | None = None,
    names: Mapping[str, int] | None = None,
    reading: Reading | None = None,
) -> Iterator[tuple[Rows, NDArray[np.int8]]]:
    """Read one pass, at most `rounds` rounds; yield rows and labels, without the omitted rows.

    Args:
        stream: Stream to read.
        bias: Value of the constant feature; with 0, zero rows labelled +1 are omitted.
        rounds: Maximum number of rounds; None for all.
        names: Positions of named features; further names are numbered as they appear.
        reading: Summary that is filled in by the end of the pass.
    """
    if reading is not None:
        reading.fingerprint.append(fingerprint(stream))
    for x, y in whole(stream, rounds, dict(names or {})):
        if not np.all((y == 1) | (y == -1)):
            raise InputError("labels must be -1 or +1 for comparators", "the stream has other labels", POSITIVE)
        blank = None if bias != 0.0 else _blank(x, y)
        out = None if blank is None else blank & (y == 1)
        if reading is not None:
            reading.add(x, y)
            if blank is not None and out is not None:
                reading.left_out += int(np.count_nonzero(out))
                reading.hopeless += int(np.count_nonzero(blank & ~out))
        yield (x, y) if out is None else (chosen(x, ~out), y[~out])
    if reading is not None:
        reading.fingerprint.append(fingerprint(stream))


def two_labels(stream: Stream, what: str) -> Stream:
    """Return the stream; raise an error unless it is rereadable and has two labels, as `what` needs."""
    if not stream.rereadable:
        raise InputError(f"{what} needs a source that can be read again: {stream.name} cannot. Save it in a file.")
    if stream.several or stream.multiclass or stream.outcomes != "labels":
        raise InputError(f"{what} is for two labels", f"{stream.name} has others", POSITIVE)
    return stream


def rows_of(batch: Batch) -> tuple[Rows, NDArray[np.int8]]:
    """Return rows and labels of a batch of a part."""
    if batch.x is None or isinstance(batch.x, list):
        raise InputError("parts must have rows of numbers: got single examples. Put them in arrays or in a file.")
    return as_rows(batch), np.ascontiguousarray(batch.y, dtype=np.int8)


def note_skipped(stream: Stream, parts: Iterable[Sequence[tuple[int, str]]]) -> None:
    """Note the bad rows that were skipped in parts of a stream; raise an error if there are more than allowed."""
    bad = [one for part in parts for one in part]
    if len(bad) > stream.most_bad:
        raise SourceError(
            bad[0][1], f"and {counted(len(bad) - 1, 'more bad row')} in other parts",
            Advice("Correct them, or pass ", Option("skip_bad", len(bad)), "."),
        )  # fmt: skip
    if bad:
        stream.notes.append(f"{counted(len(bad), 'bad row')} skipped in the parts of {stream.name}: {bad[0][1]}")


def fingerprint(stream: Stream) -> Any:
    """Return the fingerprint of the stream, such as size and modification time of its file; None if it has none."""
    return stream.fingerprint() or None


def whole(stream: Stream, rounds: int | None, names: dict[str, int]) -> Iterator[tuple[Rows, NDArray[np.int8]]]:
    """Yield the batches as arrays, with the rows that `read` omits; single rows are stacked.

    Args:
        stream: Stream to read.
        rounds: Maximum number of rounds; None for all.
        names: Positions of named features; further names are added.
    """
    left = rounds
    rows: list[Any] = []
    labels: list[int] = []
    for whole_batch in stream.batches():
        batch: Batch = whole_batch if left is None else whole_batch.part(0, min(left, len(whole_batch)))
        left = None if left is None else left - len(batch)
        if isinstance(batch.x, list):
            for x, y in zip(batch.x, batch.y.tolist(), strict=True):
                rows.append(_row(x, names))
                labels.append(y)
                if len(rows) == TOGETHER or form_of(rows[0]) != form_of(rows[-1]):
                    yield from _flushed(rows, labels)
        elif batch.x is not None and len(batch):
            yield as_rows(batch), np.ascontiguousarray(batch.y, dtype=np.int8)
        if left == 0:
            break
    while rows:
        yield from _flushed(rows, labels)


def _flushed(rows: list[Any], labels: list[int]) -> Iterator[tuple[Rows, NDArray[np.int8]]]:
    """Yield the leading rows of one form, and remove them from the lists."""
    kind = form_of(rows[0])
    count = next((t for t, row in enumerate(rows) if form_of(row) != kind), len(rows))
    first, y = rows[:count], np.array(labels[:count], dtype=np.int8)
    del rows[:count], labels[:count]
    yield stacked(first), y


def _row(x: Example, names: dict[str, int]) -> NDArray[np.float64] | CheckedRow:
    """Return one example as (indices, values) or as an array."""
    if isinstance(x, Mapping):
        return encode.mapping(x, names)
    if isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], np.ndarray):
        return encode.pair(*x)
    array = np.atleast_1d(np.asarray(x))
    return encode.vector(array, array.size)


def _blank(x: Rows, y: NDArray[np.int8]) -> NDArray[np.bool_] | None:
    """Return which rows are zero; None if none is."""
    from novikoff.comparators._loops import dual

    out = np.zeros(len(y), dtype=np.bool_)
    if isinstance(x, Sparse):
        count = int(dual.blank_sparse(x.indptr, x.values, out))
    else:
        np.logical_not(x.any(axis=1), out=out)
        count = int(np.count_nonzero(out))
    return out if count else None
