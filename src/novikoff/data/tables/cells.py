"""Conversion of the cells of a column, an Arrow array of any type, to numbers, codes of values, times or text.

A cell that does not fit its column raises `SourceError` with its row, from 0. Missing cells are NaN, or the code -1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import Advice, Option, SourceError
from novikoff.data.layout import BOOLEANS, NUMBER
from novikoff.data.tables.column import MISSING, NO_FEATURE, NO_NUMBER, Column, Kind, is_missing, moment
from novikoff.data.tables.number_format import POINT, value_of

if TYPE_CHECKING:
    import pyarrow as pa

ISO = "%Y-%m-%d"
"""Default date format."""
WHOLE_REAL = re.compile(r"([+-]?[0-9]+)\.0+")
"""Pattern of an integer written with decimals."""


LABELS_INSTEAD = "Correct the cell, choose another label column, or choose a classifier, such as auto, without task."
"""Advice for regression outcomes that are not numbers."""
WEIGHTS_INSTEAD = "Correct the cell, or choose another column of weights."
"""Advice for weights that are not numbers."""


def bad_cell(row: int, column: str, must: str, was: str, do: str = "Clean or drop the row.") -> SourceError:
    """Return the error of a cell; the row counts from 0 in the current piece, and callers translate it."""
    return SourceError(must, was, do, row=row, column=column)


def missing(row: int, column: str, what: str = "labels", cell: object = None) -> SourceError:
    """Return the error of a missing label or outcome; `cell` is its text, if known."""
    if not isinstance(cell, str) or not cell.strip():
        return bad_cell(row, column, f"{what} must not be missing", "is empty", "Fill or drop the row.")
    text = cell.strip()
    was, do = f'has "{text}", which is read as missing', f"Drop the row, or rename {text} if it is a label."
    return bad_cell(row, column, f"{what} must not be missing", was, do)


def category_instead(column: Column) -> str:
    """Return the advice for a column with cells that are not numbers or dates."""
    return Advice("Correct the cell, or pass ", Option("category", column.name), " to learn from words.")


def array(values: list[object], kind: Kind) -> pa.Array:
    """Return values of one column as an Arrow array of numbers, dates or text; one value does not change the others."""
    import pyarrow as pa

    if kind == "number" or (kind == "time" and not any(isinstance(value, str) for value in values)):
        with suppress(pa.ArrowException, OverflowError):
            return pa.array(values)
    texts = [value if value is None or isinstance(value, str) else written(value) for value in values]
    return pa.array(texts, pa.string())


def numbers(array: pa.Array, column: Column) -> NDArray[np.number]:
    """Return int64 if the column has integers and none is missing, otherwise float64 with NaN for missing ones."""
    import pyarrow as pa

    if is_text(array.type):
        return _checked(_numbers_of_text(array, column), column)
    array = plain(array)
    kind = array.type
    if pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    elif pa.types.is_null(kind) or pa.types.is_decimal(kind):
        array = array.cast(pa.float64())
    elif not pa.types.is_integer(kind) and not pa.types.is_floating(kind):
        raise bad_cell(0, column.name, "a numeric column must contain numbers", f"is {kind}", category_instead(column))
    if array.type == pa.uint64():
        large = array.fill_null(0).to_numpy(zero_copy_only=False) >= 2**63
        if large.any():
            row = int(np.argmax(large))
            raise bad_cell(row, column.name, "whole numbers must be below 2^63", f"has {array[row].as_py()}")
    if array.null_count == 0 and pa.types.is_integer(array.type) and array.type != pa.uint64():
        whole: NDArray[Any] = array.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
        return whole
    return _checked(array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), column)


def number_array(array: pa.Array, column: Column) -> pa.Array:
    """Return the numbers of a column as an Arrow array of doubles, null where they are missing."""
    import pyarrow as pa

    values = numbers(array, column).astype(np.float64, copy=False)
    return pa.array(values, mask=np.isnan(values))


def _checked(values: NDArray[np.generic], column: Column) -> NDArray[Any]:
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise bad_cell(row, column.name, "numbers must be finite", f"has {values[row]}")
    return values


def _numbers_of_text(array: pa.Array, column: Column) -> NDArray[np.float64]:
    values, codes = distinct(array, NO_NUMBER)
    found = np.empty(len(values) + 1)
    found[-1] = math.nan
    for code, value in enumerate(values):
        if value.lower() in BOOLEANS:
            found[code] = BOOLEANS[value.lower()]
        elif column.form is None and NUMBER.fullmatch(value):
            found[code] = float(value)
        elif column.form is not None and (number := value_of(value, column.form)) is not None:
            found[code] = number
        else:
            row = int(np.argmax(codes == code))
            must = "a numeric column must contain numbers"
            if column.form is not None:
                must += f" as in the first rows, with a decimal {'point' if column.form[0] == POINT else 'comma'}"
            raise bad_cell(row, column.name, must, f'has "{value}"', category_instead(column))
    return np.take(found, codes)


def distinct(array: pa.Array, tokens: Sequence[str] = MISSING) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct values as text in order of first appearance, and the index of each row's value (-1: missing).

    Args:
        array: Cells of the column.
        tokens: Texts that mean a missing value.
    """
    import pyarrow as pa

    array = whole(array)
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    codes = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    # firsts[code] is the first row with that code: assigned backwards, so that the earliest row wins.
    firsts = np.full(len(encoded.dictionary) + 1, len(codes))
    firsts[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    came = np.argsort(firsts[:-1])[: np.count_nonzero(firsts[:-1] < len(codes))]
    known: dict[str, int] = {}
    renumbered = np.full(len(firsts), -1, dtype=np.int64)
    for code, value in zip(came.tolist(), encoded.dictionary.take(pa.array(came)).to_pylist(), strict=True):
        if not is_missing(text := written(value), tokens):
            renumbered[code] = known.setdefault(text, len(known))
    return list(known), np.take(renumbered, codes)


def is_token(cell: object, tokens: frozenset[str]) -> bool:
    """Return whether a cell is one of these texts for missing values, or the number that one of them is."""
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return any(NUMBER.fullmatch(token) and float(token) == cell for token in tokens)
    if isinstance(cell, str):
        text = cell.strip().lower()
        return text in tokens or (NUMBER.fullmatch(text) is not None and is_token(float(text), tokens))
    return False


def without(array: pa.Array, tokens: frozenset[str]) -> pa.Array:
    """Return the array with null for the cells that are one of `tokens`."""
    import pyarrow as pa
    from pyarrow import compute

    array = whole(array)
    if pa.types.is_dictionary(array.type):
        codes = [code for code, value in enumerate(array.dictionary.to_pylist()) if is_token(value, tokens)]
        gone = compute.is_in(array.indices, pa.array(codes, array.indices.type))
    elif is_text(array.type):
        unique = array.unique().to_pylist()
        gone = compute.is_in(array, pa.array([one for one in unique if is_token(one, tokens)], array.type))
    elif pa.types.is_integer(array.type) or pa.types.is_floating(array.type) or pa.types.is_decimal(array.type):
        numbers = [float(token) for token in tokens if NUMBER.fullmatch(token)]
        gone = compute.is_in(array.cast(pa.float64(), safe=False), pa.array(numbers, pa.float64()))
    else:
        return array
    return compute.if_else(gone, pa.scalar(None, array.type), array) if compute.any(gone).as_py() else array


def missing_rows(array: pa.Array) -> NDArray[np.bool_] | None:
    """Return which cells of a label column are missing; None if none is."""
    import pyarrow as pa

    array = whole(array)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        gone = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    elif pa.types.is_floating(kind):
        gone = plain(array).is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
    else:
        gone = distinct(array)[1] < 0
    return gone if gone is not None and gone.any() else None


def moments(array: pa.Array, column: Column) -> NDArray[np.float64]:
    """Return seconds since 1970, NaN where missing."""
    import pyarrow as pa

    if is_text(array.type):
        return _moments_of_text(array, column)
    array = plain(array)
    kind = array.type
    if pa.types.is_date(kind) or pa.types.is_null(kind):
        array = array.cast(pa.timestamp("s"))
    elif not pa.types.is_timestamp(kind):
        raise bad_cell(0, column.name, "dates must be dates", f"is {kind}", category_instead(column))
    if array.type.unit == "ns":  # same precision as text: doubles cannot hold nanoseconds since 1970
        array = array.cast(pa.timestamp("us", array.type.tz), safe=False)
    unit = {"s": 1.0, "ms": 1e3, "us": 1e6}[array.type.unit]
    seconds: NDArray[np.float64] = array.cast(pa.int64()).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return seconds / unit


def _moments_of_text(array: pa.Array, column: Column) -> NDArray[np.float64]:
    import pyarrow as pa

    form = column.form or ISO
    values, codes = distinct(array, NO_NUMBER)
    if form.startswith(ISO) and (codes >= 0).all():
        try:  # fast path: Arrow parses ISO dates
            return np.take(moments(pa.array(values, pa.string()).cast(pa.timestamp("us")), column), codes)
        except pa.ArrowException:
            pass
    found = np.full(len(values) + 1, math.nan)
    for code, value in enumerate(values):
        try:
            found[code] = moment(value, form)
        except ValueError:
            row = int(np.argmax(codes == code))
            must = f"dates must have the format of the first, {form}"
            if form.startswith("%m/%d"):
                must = "dates must have the month first, as the first rows are read"
            do = Advice("Write all as 2024-12-31, or pass ", Option("category", column.name), " to learn from words.")
            raise bad_cell(row, column.name, must, f'has "{value}"', do) from None
    return np.take(found, codes)


def text(array: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the bytes of all cells, the end of each (starting with 0), and which of them are missing."""
    import pyarrow as pa

    array = plain(array)
    if not is_text(array.type):
        array = pa.array([written(value) for value in array.to_pylist()], pa.string())
    array = array.cast(pa.large_string())
    missing = array.is_null().to_numpy(zero_copy_only=False)
    _, ends, data = array.fill_null("").buffers()
    offsets = np.frombuffer(ends, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    content = np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, np.uint8)
    bare = offsets[1:] - offsets[:-1] <= max(map(len, NO_FEATURE))
    for row in np.flatnonzero(bare & ~missing).tolist():
        missing[row] = is_missing(bytes(content[offsets[row] : offsets[row + 1]]).decode(), NO_FEATURE)
    return content, offsets, missing


def whole(array: pa.Array) -> pa.Array:
    """Return a chunked array as one array; a single chunk is not copied."""
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # combine_chunks may return a chunked array, depending on the version
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    return array


def plain(array: pa.Array) -> pa.Array:
    """Return one array with values instead of dictionary codes."""
    import pyarrow as pa

    array = whole(array)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def is_text(kind: pa.DataType) -> bool:
    """Return whether it is a text type, or a dictionary of texts."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def spelled(value: str) -> str:
    """Return a category value as it appears in feature names: true for True, and 10 for 10.0, as frames write it."""
    if value.lower() in BOOLEANS:
        return value.lower()
    whole = WHOLE_REAL.fullmatch(value)
    return whole[1] if whole else value


def written(value: object) -> str:
    """Return a category value as it is written in a table."""
    if isinstance(value, str):
        return value.strip()
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat() if value.tzinfo else value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace").strip()
    return str(value).strip()
