"""Table formats: `CSV`, `Frame`, and Arrow, Parquet, JSON lines and ARFF.

An Arrow file of `convert` or with lists, and JSON lines with nested objects, lists or varying keys, are read by
lists.py and data/formats/jsonl.py; with plain values they are tables like any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from novikoff.core.errors import Advice, Option, SourceError
from novikoff.core.registry import Format
from novikoff.core.stream import Stream
from novikoff.core.types import LabelWeights
from novikoff.data.formats import jsonl as nested
from novikoff.data.formats.arrow_file import open_arrow
from novikoff.data.formats.byte_reader import OBJECTS
from novikoff.data.formats.labelled_lines import CHUNK_BYTES
from novikoff.data.formats.lines import first_lines, look_at, mostly
from novikoff.data.formats.origin import OnDisk
from novikoff.data.layout import LABEL_NAMES
from novikoff.data.tables import arff, lists
from novikoff.data.tables.column_selection import Asked, listed
from novikoff.data.tables.columnar import ArrowTable, FrameTable
from novikoff.data.tables.csv_reader import CSV_CHUNK_BYTES, Delimited
from novikoff.data.tables.encoding import Encoding
from novikoff.data.tables.json_rows import Objects, is_table
from novikoff.data.tables.table import Table
from novikoff.data.tables.table_reader import LONGEST_HEAD, MOMENT, RECOGNISED_ROWS

NESTED_BITS = 18
"""Default bits of the hash of nested JSON objects."""
IF_LABEL = Advice("If it is the label, leave out ", Option("unlabelled"))
"""Advice for an object without labels that has a key named like one."""


class CSV(Table):
    r"""Stream over a delimited text file: commas, tabs or semicolons.

    Args:
        source: Path, "-" for standard input, or binary file object.
        label: Label column, by name or by number from 0 (negative: from the end). By default a column named label or
            target; otherwise one named class or y, if it is the first or the last; otherwise the last.
        positive: Label for +1; every other label is -1.
        header: Whether the first row is a header; None detects it.
        delimiter: Cell separator; None detects it.
        columns: Feature columns, by name or number; by default all but the label.
        multiclass: Number of labels 0 .. k-1, or True to number any labels; None for two labels.
        drop: Columns to leave out.
        number: Columns to read as numbers.
        category: Columns to read as categories.
        text: Columns to read as text, word by word.
        time: Columns to read as dates.
        bits: Features are hashed into 2^bits indices; None numbers them.
        skip_bad: Number of bad rows to skip before an error; `skipped` lists them as (line, message). A third label is
            an error in any case; rows without a label are skipped without this option.
        threads: Number of parsing threads; None for one per core.
        chunk: Bytes parsed at a time; a row may be longer.
        outcomes: "labels", or "numbers" for regression.
        labelled: False for rows without a label, to be predicted.
        weight: Column of row weights, by name or number: integers from 0 to 10,000. It is not a feature.
        label_weights: Weight of rows by label, such as {"spam": 5}; other labels have weight 1.
        encoding: Encoding of the text, such as "cp1252"; None detects UTF-8, UTF-16 and Windows-1252.
        missing: Further cells that mean a missing value, such as ["unknown", "-999"].
        date_format: Format of dates, as in `strptime`, such as "%d/%m/%Y"; None for the usual ones.
        presence: Whether each word of a text column counts once, however often it occurs.

    Example:
        >>> import io
        >>> import novikoff as nk
        >>> stream = nk.CSV(io.BytesIO(b"age,city,label\n31,Rome,yes\n45,Oslo,no\n28,Rome,yes\n"))
        >>> stream.describe()
        ['age: number (31, ...)', 'city: category (Rome, ...)', 'label: label (yes, ...)']
    """

    def __init__(
        self, source: object, label: str | int | None = None, positive: object = None, header: bool | None = None,
        delimiter: str | None = None, columns: Asked | None = None, multiclass: int | None = None, drop: Asked = (),
        number: Asked = (), category: Asked = (), text: Asked = (), time: Asked = (), bits: int | None = None,
        skip_bad: int = 0, threads: int | None = None, chunk: int = CSV_CHUNK_BYTES, outcomes: str = "labels",
        labelled: bool = True, weight: str | int | None = None,
        label_weights: LabelWeights | None = None, encoding: str | None = None, missing: Sequence[str] | str = (),
        date_format: str | None = None, presence: bool = False,
    ) -> None:  # fmt: skip
        named = [c for some in (columns or (), drop, number, category, text, time) for c in listed(some)]
        asked = [*named, *(one for one in (label, weight) if one is not None)]
        super().__init__(
            Delimited(source, header, delimiter, asked, skip_bad, threads, chunk, encoding), label, positive,
            multiclass, columns, drop, number, category, text, time, bits, outcomes, labelled, weight, label_weights,
            missing, date_format, presence,
        )  # fmt: skip


class Frame(Table):
    """Stream over a data frame of pandas, polars, pyarrow or any other library that narwhals supports.

    The index of a pandas frame is not a column.

    Args:
        frame: Data frame.
        label: Label column, by name or number; default as in `CSV`.
        positive: Label for +1; every other label is -1.
        columns: Feature columns, by name or number; by default all but the label.
        multiclass: Number of labels 0 .. k-1, or True to number any labels; None for two labels.
        name: Name of the source in messages.
        drop: Columns to leave out.
        number: Columns to read as numbers.
        category: Columns to read as categories.
        text: Columns to read as text, word by word.
        time: Columns to read as dates.
        bits: Features are hashed into 2^bits indices; None numbers them.
        outcomes: "labels", or "numbers" for regression.
        labelled: False for rows without a label, to be predicted.
        weight: Column of row weights, by name or number.
        label_weights: Weight of rows by label.
        missing: Further cells that mean a missing value.
        date_format: Format of dates that are text, as in `strptime`.
        presence: Whether each word of a text column counts once, however often it occurs.

    Example:
        >>> import novikoff as nk
        >>> import pyarrow as pa
        >>> stream = nk.Frame(pa.table({"age": [31, 45], "label": ["yes", "no"]}))
        >>> next(stream.batches()).y
        array([ 1, -1], dtype=int8)
    """

    def __init__(
        self, frame: object, label: str | int | None = None, positive: object = None, columns: Asked | None = None,
        multiclass: int | None = None, name: str = "frame", drop: Asked = (), number: Asked = (), category: Asked = (),
        text: Asked = (), time: Asked = (), bits: int | None = None, outcomes: str = "labels", labelled: bool = True,
        weight: str | int | None = None,
        label_weights: LabelWeights | None = None, missing: Sequence[str] | str = (), date_format: str | None = None,
        presence: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            FrameTable(frame, name), label, positive, multiclass, columns, drop, number, category, text, time, bits,
            outcomes, labelled, weight, label_weights, missing, date_format, presence,
        )  # fmt: skip


def Arrow(  # noqa: N802
    source: object, label: str | int | None = None, positive: object = None, columns: Asked | None = None,
    multiclass: int | None = None, drop: Asked = (), number: Asked = (), category: Asked = (), text: Asked = (),
    time: Asked = (), bits: int | None = None, outcomes: str = "labels", labelled: bool = True,
        weight: str | int | None = None,
        label_weights: LabelWeights | None = None, missing: Sequence[str] | str = (), date_format: str | None = None,
        presence: bool = False,
) -> Stream:  # fmt: skip
    """Open an Arrow IPC or Parquet file as a stream.

    Args:
        source: Path, URL, "-" for standard input, or binary file object.
        label: Label column, by name or number; default as in `CSV`.
        positive: Label for +1; every other label is -1.
        columns: Feature columns, by name or number; by default all but the label.
        multiclass: Number of labels 0 .. k-1, or True to number any labels; None for two labels.
        drop: Columns to leave out.
        number: Columns to read as numbers.
        category: Columns to read as categories.
        text: Columns to read as text, word by word.
        time: Columns to read as dates.
        bits: Features are hashed into 2^bits indices; None numbers them.
        outcomes: "labels", or "numbers" for regression.
        labelled: False for rows without a label, to be predicted.
        weight: Column of row weights, by name or number.
        label_weights: Weight of rows by label.
        missing: Further cells that mean a missing value.
        date_format: Format of dates that are text, as in `strptime`.
        presence: Whether each word of a text column counts once, however often it occurs.

    Returns:
        A table for plain columns; a stream of lists for list columns and for files of `convert`.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import novikoff as nk
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "iris.arrow"
        ...     rows = nk.convert(nk.read("demo:iris"), path)
        ...     nk.Arrow(path).rows
        150
    """
    file = OnDisk(source)
    kinds = {"drop": drop, "number": number, "category": category, "text": text, "time": time, "bits": bits,
             "weight": weight, "label_weights": label_weights, "missing": missing,
             "date_format": date_format, "presence": presence or None}  # fmt: skip
    found = open_arrow(file)
    converted = found.last_note() is not None and label is None and columns is None and not any(kinds.values())
    if converted or (columns is None and lists.has_lists(found.schema)):
        _refuse(kinds, f"{file} has encoded rows")
        if not converted and (outcomes == "numbers" or not labelled):
            raise SourceError(
                f"{'numbers to predict' if labelled else 'examples without labels'} must be in plain columns: "
                f"{file} has lists. Write one column per feature."
            )
        stream = lists.Arrow(file, label, positive, multiclass)
        if stream.encoded is not None:
            stream.encoding = Encoding.restore(stream.encoded)
        if not labelled:
            stream.notes.append(f"{file} has labels, as every file that convert wrote: it is read with them")
        return stream
    return Table(
        ArrowTable(file), label, positive, multiclass, columns, drop, number, category, text, time, bits, outcomes,
        labelled, weight, label_weights, missing, date_format, presence,
    )  # fmt: skip


def JSONL(  # noqa: N802
    source: object, label: str | None = None, positive: object = None, bits: int | None = None,
    multiclass: int | None = None, skip_bad: int = 0, chunk: int = CHUNK_BYTES, columns: Asked | None = None,
    drop: Asked = (), number: Asked = (),
    category: Asked = (), text: Asked = (), time: Asked = (), outcomes: str = "labels", labelled: bool = True,
        weight: str | int | None = None,
        label_weights: LabelWeights | None = None, encoding: str | None = None, missing: Sequence[str] | str = (),
        date_format: str | None = None, presence: bool = False,
) -> Stream:  # fmt: skip
    r"""Open JSON lines as a stream: a table if values are plain, otherwise hashed features.

    A table may also be one JSON array of objects.

    Args:
        source: Path, "-" for standard input, or binary file object.
        label: Key of the label; default as in `CSV`.
        positive: Label for +1; every other label is -1.
        bits: Features are hashed into 2^bits indices; None numbers those of a table.
        multiclass: Number of labels 0 .. k-1, or True to number any labels; None for two labels.
        skip_bad: Number of bad lines to skip before an error; `skipped` lists them as (line, message).
        chunk: Bytes parsed at a time; a line may be longer.
        columns: Feature columns, by name or number; by default all but the label.
        drop: Columns to leave out.
        number: Columns to read as numbers.
        category: Columns to read as categories.
        text: Columns to read as text, word by word.
        time: Columns to read as dates.
        outcomes: "labels", or "numbers" for regression.
        labelled: False for rows without a label, to be predicted.
        weight: Column of row weights, by name or number.
        label_weights: Weight of rows by label.
        encoding: Encoding of the text; None detects UTF-8 and UTF-16.
        missing: Further cells that mean a missing value.
        date_format: Format of dates that are text, as in `strptime`.
        presence: Whether each word of a text column counts once, however often it occurs.

    Returns:
        A table if the objects have plain values and nearly the same keys; otherwise a stream of hashed features.

    Example:
        >>> import io
        >>> import novikoff as nk
        >>> stream = nk.JSONL(io.BytesIO(b'{"label": true, "age": 31}\n{"label": false, "age": 45}\n'))
        >>> next(stream.batches()).y
        array([ 1, -1], dtype=int8)
    """
    origin, content, head, _ = look_at(source, RECOGNISED_ROWS + 1, 2, MOMENT, LONGEST_HEAD, encoding or OBJECTS)
    if outcomes == "numbers" or is_table(head):
        return Table(
            Objects(content, skip_bad, chunk, encoding=encoding), label, positive, multiclass, columns, drop, number,
            category, text, time, bits, outcomes, labelled, weight, label_weights,
            missing, date_format, presence,
        )  # fmt: skip
    kinds = {"columns": columns, "drop": drop, "number": number, "category": category, "text": text, "time": time,
             "weight": weight, "label_weights": label_weights, "encoding": encoding,
             "missing": missing, "date_format": date_format, "presence": presence or None}  # fmt: skip
    _refuse(kinds, f"the objects of {origin.name} are not rows of a table")
    bits = NESTED_BITS if bits is None else bits
    if labelled:
        return nested.JSONL(content, label, positive, bits, multiclass, skip_bad, chunk)
    stream = nested.JSONL.without_labels(content, bits=bits, skip_bad=skip_bad)
    stream.notes.append("format: jsonl, without labels")
    keys = re.findall(rb'"(%b)"[ \t]*:' % "|".join(LABEL_NAMES).encode(), head.partition(b"\n")[0])
    if keys:
        stream.notes.append(Advice(f'"{keys[0].decode()}" is read as a feature. ', IF_LABEL))
    return stream


def ARFF(  # noqa: N802
    source: object, label: str | int | None = None, positive: object = None, columns: Asked | None = None,
    multiclass: int | None = None, drop: Asked = (), number: Asked = (), category: Asked = (), text: Asked = (),
    time: Asked = (), bits: int | None = None, skip_bad: int = 0, chunk: int = CHUNK_BYTES, outcomes: str = "labels",
    labelled: bool = True, weight: str | int | None = None, label_weights: LabelWeights | None = None,
    encoding: str | None = None, missing: Sequence[str] | str = (), date_format: str | None = None,
    presence: bool = False,
) -> Table:  # fmt: skip
    r"""Open a file of Weka or MOA (ARFF) as a stream.

    Args:
        source: Path, URL, "-" for standard input, or binary file object.
        label: Class attribute, by name or number; by default the last.
        positive: Label for +1; every other label is -1.
        columns: Feature columns, by name or number; by default all but the label.
        multiclass: Number of labels 0 .. k-1, or True to number any labels; None for two labels.
        drop: Columns to leave out.
        number: Columns to read as numbers; by default the numeric attributes.
        category: Columns to read as categories.
        text: Columns to read as text, word by word.
        time: Columns to read as dates.
        bits: Features are hashed into 2^bits indices; None numbers them.
        skip_bad: Number of bad lines to skip before an error; `skipped` lists them as (line, message).
        chunk: Bytes parsed at a time; a line may be longer.
        outcomes: "labels", or "numbers" for regression.
        labelled: False for rows without a label, to be predicted.
        weight: Column of row weights, by name or number.
        label_weights: Weight of rows by label.
        encoding: Encoding of the text; None detects UTF-8, UTF-16 and Windows-1252.
        missing: Further cells that mean a missing value.
        date_format: Format of dates in string attributes, as in `strptime`.
        presence: Whether each word of a text column counts once, however often it occurs.

    Returns:
        A table; numbers of nominal and string attributes are categories.

    Example:
        >>> import io
        >>> import novikoff as nk
        >>> header = b"@relation people\n@attribute age numeric\n@attribute class {no, yes}\n@data\n"
        >>> next(nk.ARFF(io.BytesIO(header + b"31,yes\n{0 45}\n")).batches()).y
        array([ 1, -1], dtype=int8)
    """
    table = Table(
        arff.Attributes(source, skip_bad, chunk, encoding), label, positive, multiclass, columns, drop, number,
        category, text, time, bits, outcomes, labelled, weight, label_weights, missing, date_format, presence,
    )  # fmt: skip
    if outcomes == "labels" and table.numeric and table.reader.declared.get(str(table.label)) == "category":
        table.show_many()
    return table


def _refuse(kinds: Mapping[str, object], why: str) -> None:
    """Raise SourceError if an option about columns was given."""
    asked = [name for name, value in kinds.items() if value not in (None, ())]
    if asked:
        raise SourceError(f"options on columns are for tables: {why}; got {', '.join(asked)}. Leave it out.")


def _unlabelled(open_table: Callable[..., Stream]) -> Callable[..., Stream]:
    """Return the function that opens a table without a label column."""

    def unlabelled(source: object, numbers: bool = False, **options: object) -> Stream:
        table = open_table(source, labelled=False, outcomes="numbers" if numbers else "labels", **options)
        if table.unlabelled and table.encoding is not None:
            table.notes.append("every column is a feature: there are no labels")
        return table

    return unlabelled


OBJECT = re.compile(rb'\{[ \t]*["}]')


def _recognises_objects(head: bytes) -> bool:
    """Return whether most lines start like a JSON object."""
    return mostly(first_lines(head), OBJECT.match)


FORMATS = {
    "csv": Format(CSV, unlabelled=_unlabelled(CSV)),  # read if no other format matches
    "arff": Format(ARFF, recognises=arff.recognises, unlabelled=_unlabelled(ARFF)),
    "jsonl": Format(JSONL, recognises=_recognises_objects, unlabelled=_unlabelled(JSONL)),
    "arrow": Format(Arrow, recognises=lambda head: head.startswith(b"ARROW1"), unlabelled=_unlabelled(Arrow)),
    "parquet": Format(Arrow, recognises=lambda head: head.startswith(b"PAR1"), unlabelled=_unlabelled(Arrow)),
}
