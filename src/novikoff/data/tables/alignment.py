"""Alignment of a stream with a trained learner: tables by its encoding, other streams by column names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from novikoff.core.errors import Advice, MismatchError, Option, SourceError
from novikoff.core.stream import Stream
from novikoff.core.types import Example
from novikoff.data.column_names import matched, matched_row, mismatch, names_of_row
from novikoff.data.tables import cells
from novikoff.data.tables.column import Column
from novikoff.data.tables.encoding import Encoding, Surprises
from novikoff.data.tables.records import cell_value, values_of_row
from novikoff.data.tables.table import Table


def adopted(
    stream: Stream, encoding: Encoding | None, names: Sequence[str] | None, whose: str = "the learner",
    learn: bool = True, numbered: bool = False, impute: bool = False,
) -> Stream:  # fmt: skip
    """Return the stream as a learner with that encoding or these feature names needs it.

    Args:
        stream: Stream to align; a table adopts the encoding.
        encoding: Encoding of the learner; None if it has none.
        names: Feature names of the learner; None if it has none.
        whose: Name of the learner in messages.
        learn: Whether new features may be added.
        numbered: Whether the learner knows features by number.
        impute: Whether columns of a table may be absent, or new and ignored.
    """
    if not isinstance(stream, Table):
        if encoding is not None and stream.encoding is not None and encoding.agrees(stream.encoding):
            stream.encoding = max(encoding, stream.encoding, key=lambda one: len(one.places))
            return stream
        known = encoding is None or encoding.dense or stream.encoding is encoding
        if not known:
            raise MismatchError(
                f"{whose} was trained on a table with columns that are not numeric: {stream.name} is not a table, or "
                "was converted from another one. Use a table with the same columns."
            )
        return matched(stream, names, whose)
    if encoding is None and numbered and not stream.encoding.dense:
        raise MismatchError(
            f"{whose} identifies features by number: {stream.name} is a table, whose features have names. Start a new "
            "game, or use a source like the first."
        )
    if encoding is None and names is not None:
        if not stream.encoding.dense:
            raise MismatchError(
                f"{whose} was trained on numeric columns",
                f"{stream.name} has other columns",
                Advice("Pass ", Option("columns", letter="NAMES"), " to choose them."),
            )
        encoding = Encoding([Column(name, "number") for name in names])
    if encoding is not None:
        stream.adopt(encoding, learn, whose, impute)
    return stream


def adopted_row(
    x: Example, encoding: Encoding | None, names: Sequence[str] | None, learn: bool = False,
    surprises: Surprises | None = None,
) -> Example:  # fmt: skip
    """Return a row of a pandas frame with the features of that encoding or these names; other examples unchanged.

    The label may be among its values. With an encoding, a mapping from columns to values is a row too, like a JSON
    object: absent columns are missing values. Columns that an open encoding does not know are added if `learn`; in the
    prediction of a live row they have weight 0, otherwise they are ignored.
    """
    if type(x) is np.ndarray or (encoding is None and type(x) is dict):
        return x
    if encoding is not None and encoding.lags is not None and isinstance(x, Mapping):
        x = encoding.lags.extended(x)
    shown = columns_of_row(x, encoding)
    if encoding is None or shown is None:
        return matched_row(x, names)
    if not encoding.open:
        known = [column.name for column in encoding.columns]
        missing = [name for name in known if name not in shown and not isinstance(x, Mapping)]
        new = [name for name in shown if name not in known and name not in (encoding.label, *encoding.left_out)]
        if missing or new:
            raise mismatch("x", "the learner", missing, new)
    live = learn or (surprises is not None and surprises.live)
    values, columns = values_of_row(x, encoding, learn, live)
    try:
        if not encoding.dense:
            return encoding.row(values, learn, surprises, columns)
        arrays = {column.name: cells.array([values[column.name]], column.kind) for column in encoding.columns}
        rows = encoding.rows(arrays, 1, learn, surprises)
    except SourceError as error:
        error.where.pop("row", None)  # there is one row only
        raise
    assert isinstance(rows, np.ndarray)
    return rows[0].astype(np.float64)


def arrays_of_row(x: Any, encoding: Encoding) -> dict[str, object]:
    """Return arrays of one cell for each column of an encoding, from a row with a method `get`."""
    values, tokens = {one.name: cell_value(x.get(one.name)) for one in encoding.columns}, frozenset(encoding.missing)
    return {
        one.name: cells.array([None if cells.is_token(values[one.name], tokens) else values[one.name]], one.kind)
        for one in encoding.columns
    }


def columns_of_row(x: object, encoding: Encoding | None) -> tuple[str, ...] | None:
    """Return the value names of a row of a pandas frame, or of a mapping if there is an encoding; otherwise None."""
    if encoding is None and type(x) is dict:
        return None
    if encoding is not None and isinstance(x, Mapping) and all(isinstance(key, str) for key in x):
        return tuple(x)
    return names_of_row(x)
