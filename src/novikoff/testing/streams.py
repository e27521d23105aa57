"""Contract of a stream."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from novikoff.core.adapt import adapt_stream
from novikoff.core.errors import NovikoffError, SourceError, shown
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Labels, Sparse
from novikoff.testing.failing import fail, require, require_plain


def check_stream(make: Callable[[], Stream]) -> None:
    """Check everything that the library relies on in a stream.

    Args:
        make: Function that opens the stream, from the same source each time.

    Raises:
        AssertionError: If the stream breaks a contract.
    """
    stream = make()
    _check_declared(stream)
    rows = _check_numbering(stream)
    _check_memory(make())
    _check_reading_again(stream, rows)
    _check_going_on(make, rows)
    _check_parts(make, rows)
    _check_fingerprint(make)


def _check_declared(stream: Stream) -> None:
    """Check the attributes of a stream."""
    kind = type(stream).__name__
    for part in ("name", "domain", "labels", "rereadable", "batches"):
        require(hasattr(stream, part), f"a stream must have name, domain, labels, rereadable and batches: {kind} has "
                 f"no {part}")  # fmt: skip
    require(isinstance(stream.name, str) and stream.name != "", f"the name of {kind} must be text: {stream.name!r}")
    require(isinstance(stream.domain, Domain), f"the domain of {kind} must be a Domain: it is {stream.domain!r}")
    require(type(stream.rereadable) is bool, f"rereadable of {kind} must be true or false: {stream.rereadable!r}")


def _check_numbering(stream: Stream) -> list[_Row]:
    """Check that batches are numbered consecutively and match the stream's attributes; return the rows."""
    rows: list[_Row] = []
    for batch in stream.batches():
        first = len(rows) + 1
        require(len(batch) > 0, f"no batch may be empty: the one at round {first} of {stream.name} is")
        must = f"batches must be numbered consecutively: one of {stream.name} begins at {batch.first}"
        require(batch.first == first, f"{must}, not {first}")
        _check_kind(batch, stream)
        rows += _rows_of(batch)
    require(bool(rows), f"a stream must have rows: {stream.name} has none")
    labels = stream.labels
    require(labels is None or isinstance(labels, Labels), f"labels of {stream.name} must be Labels: {labels!r}")
    if isinstance(labels, Labels) and labels.negative == labels.positive:
        fail(f"labels of {stream.name} must differ: both are {labels.negative!r}")
    known = adapt_stream(stream)
    if known.rows is not None:
        require(
            known.rows == len(rows),
            f"the length of {stream.name} must be {len(rows)}, its rows: it is {known.rows}",
        )
    names, width = known.features, stream.domain.width
    if names is not None:
        require(all(isinstance(name, str) for name in names), f"features of {stream.name} must be names: {names!r}")
        fits = width is None or stream.domain.kind not in ("vector", "point") or len(names) == width
        require(fits, f"features of {stream.name} must name all of its {width} columns: there are {len(names)} names")
    return rows


def _check_kind(batch: Batch, stream: Stream) -> None:
    """Check that a batch has the form of the stream's domain."""
    kind, width, x, y = stream.domain.kind, stream.domain.width, batch.x, batch.y
    where = f"the batch at round {batch.first} of {stream.name}"
    if stream.labels is not None and y.ndim == 1:
        require(bool(np.isin(y, (-1, 1)).all()), f"labels must be -1 and +1 in a batch: {where} has {shown(y)}")
    if isinstance(x, np.ndarray) and kind in ("vector", "point"):
        require(x.ndim == 2, f"x must have two dimensions, rows and features: {where} has {x.ndim}")
        fits = width is None or x.shape[1] == width
        require(fits, f"x must be as wide as the domain, {width}: {where} has {x.shape[1]} columns")
        require(kind == "vector" or x.dtype.kind == "i", f"points are integers: {where} has {x.dtype}")
    if isinstance(x, np.ndarray) and kind == "index":
        require(x.ndim == 1 and x.dtype.kind == "i", f"indices are integers, one per row: {where} has {x.dtype}")
    if isinstance(x, Sparse):
        require(kind == "vector", f"sparse rows need a domain of vectors: {where} has {stream.domain}")


def _check_memory(stream: Stream) -> None:
    """Check that batches whose memory is not borrowed do not change."""
    held = [(batch, _rows_of(batch)) for batch in stream.batches() if batch.memory != "borrowed"]
    for batch, then in held:
        must = f"a batch whose memory is not borrowed must not change: the one at round {batch.first} of {stream.name}"
        require(_rows_of(batch) == then, f"{must} has changed")


def _check_reading_again(stream: Stream, rows: list[_Row]) -> None:
    """Check that a rereadable stream repeats its rows, and that any other stream rejects a second pass."""
    if stream.rereadable:
        next(iter(stream.batches()))  # a pass that is not finished
        again = [row for batch in stream.batches() for row in _rows_of(batch)]
        require(again == rows, f"a rereadable stream must repeat its rows: {stream.name} yields others")
        return
    try:
        next(iter(stream.batches()), None)
    except NovikoffError:
        return
    fail(f"a stream that is not rereadable must reject a second pass: {stream.name} begins one")


def _check_going_on(make: Callable[[], Stream], rows: list[_Row]) -> None:
    """Check that a newly opened stream can resume after every batch."""
    ends, done = [], 0
    for batch in make().batches():
        done += len(batch)
        if batch.end is not None:
            ends.append((batch.end, done))
    for end, done in _some(ends):
        stream = make()
        require_plain(end, f"the end of a batch of {stream.name}", arrays=False)
        left: list[_Row] = []
        for batch in stream.batches(json.loads(json.dumps(end))):
            must = f"rows must keep their numbers when a stream resumes: {stream.name} begins at {batch.first}"
            require(batch.first == done + len(left) + 1, f"{must}, not {done + len(left) + 1}")
            left += _rows_of(batch)
        must = f"a stream must resume where a batch ended: after {done} rows {stream.name} yields {len(left)} others"
        require(left == rows[done:], f"{must}, which are not the rows that follow")


def _check_parts(make: Callable[[], Stream], rows: list[_Row]) -> None:
    """Check that parts add up to the whole, unless the stream cannot be split."""
    stream = adapt_stream(make())
    for count in (1, 2, 5):
        try:
            parts = [[row for batch in part.batches() for row in _rows_of(batch)] for part in stream.parts(count)]
        except SourceError:
            return
        together = [row for part in parts for row in part]
        must = f"consecutive parts must make up the whole: {count} parts of {stream.name} have {len(together)} rows"
        require(len(parts) == count and together == rows, f"{must}, which are not those of the whole")


def _check_fingerprint(make: Callable[[], Stream]) -> None:
    """Check that the fingerprint of an unchanged source does not change."""
    stream = adapt_stream(make())
    first = stream.fingerprint()
    require_plain(first, f"the fingerprint of {stream.name}", arrays=False)
    same = first == stream.fingerprint() == adapt_stream(make()).fingerprint()
    require(same, f"the fingerprint of an unchanged source must not change: that of {stream.name} does")


class _Row(NamedTuple):
    """A row as plain values that can be compared."""

    x: Any
    y: Any


def _rows_of(batch: Batch) -> list[_Row]:
    """Return the rows of a batch as plain values."""
    return [_Row(_value(x), _value(y)) for x, y in batch.rows()]


def _value(value: object) -> object:
    """Return an array as its bytes, so that equality is to the last bit, NaN included."""
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes())
    return tuple(map(_value, value)) if isinstance(value, tuple) else repr(value)


def _some(ends: list[Any]) -> list[Any]:
    """Return all, or the first and last four."""
    return ends if len(ends) <= 8 else [*ends[:4], *ends[-4:]]
