"""The formats that tables come in: `CSV`, `Frame`, and what Arrow, Parquet and JSON lines turn out to be.

An Arrow file that `convert` wrote or that holds lists, and JSON lines with objects within objects, lists, or keys that
come and go, are read by lists.py and data/formats/jsonl.py; with plain values they are tables as any other.
"""

from __future__ import annotations

from collections.abc import Mapping

from novikoff.core.errors import SourceError
from novikoff.core.stream import Stream
from novikoff.core.types import LabelWeights
from novikoff.data.formats import jsonl as nested
from novikoff.data.formats.arrow_file import open_arrow
from novikoff.data.formats.labelled_lines import CHUNK_BYTES
from novikoff.data.formats.lines import look_at
from novikoff.data.formats.origin import OnDisk
from novikoff.data.tables import lists
from novikoff.data.tables.column_selection import Asked, listed
from novikoff.data.tables.columnar import ArrowTable, FrameTable
from novikoff.data.tables.csv_reader import CSV_CHUNK_BYTES, Delimited
from novikoff.data.tables.encoding import Encoding
from novikoff.data.tables.json_rows import Objects, is_table
from novikoff.data.tables.table import Table
from novikoff.data.tables.table_reader import LONGEST_HEAD, MOMENT, RECOGNISED_ROWS

NESTED_BITS = 18


class CSV(Table):
    """The rows of a comma, tab or semicolon separated file: a path, "-" for standard input, or a binary file object.

    label       the label column: its name, or its number from 0 (from the end if negative). By default a column
                named label or target; else one named class or y, if it is the first or the last; else the last
    positive    the label value that is +1, against all others
    header      does the first row name the columns? None: sniff
    delimiter   what stands between cells. None: sniff
    columns     the feature columns, by name or number. By default all but the label
    many        how many labels there are, for a learner with many: whole numbers from 0 to many-1
    drop        columns to leave out
    number, category, text, time   columns that are such, whatever they look like
    bits        hash features into 2^bits places
    skip_bad    how many bad rows to skip (`skipped` lists them: line, message) before it is an error. A row without a
                label is bad; one with a third label is not: it says that there are more, which `positive` is for
    threads     how many parse at a time; None: as many as there are cores
    chunk       bytes parsed at a time; a row may be longer
    outcomes    "labels", or "numbers" to be predicted
    labelled    False: rows to be predicted, without a label
    weight      the column that tells how often a row counts, by name or number, no feature: whole numbers up to 10,000
    label_weights   how often rows count by their label: {"spam": 5}; those not named count once
    """

    def __init__(
        self, source: object, label: str | int | None = None, positive: object = None, header: bool | None = None,
        delimiter: str | None = None, columns: Asked | None = None, multiclass: int | None = None, drop: Asked = (),
        number: Asked = (), category: Asked = (), text: Asked = (), time: Asked = (), bits: int | None = None,
        skip_bad: int = 0, threads: int | None = None, chunk: int = CSV_CHUNK_BYTES, outcomes: str = "labels",
        labelled: bool = True, weight: str | int | None = None,
        label_weights: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        named = [c for some in (columns or (), drop, number, category, text, time) for c in listed(some)]
        asked = [*named, *(one for one in (label, weight) if one is not None)]
        super().__init__(
            Delimited(source, header, delimiter, asked, skip_bad, threads, chunk), label, positive, multiclass, columns,
            drop, number, category, text, time, bits, outcomes, labelled, weight, label_weights,
        )  # fmt: skip


class Frame(Table):
    """The rows of a data frame: pandas, polars, pyarrow, any that narwhals knows. The index of pandas is no column.

    The other parameters are those of `CSV`.
    """

    def __init__(
        self, frame: object, label: str | int | None = None, positive: object = None, columns: Asked | None = None,
        multiclass: int | None = None, name: str = "frame", drop: Asked = (), number: Asked = (), category: Asked = (),
        text: Asked = (), time: Asked = (), bits: int | None = None, outcomes: str = "labels", labelled: bool = True,
        weight: str | int | None = None,
        label_weights: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            FrameTable(frame, name), label, positive, multiclass, columns, drop, number, category, text, time, bits,
            outcomes, labelled, weight, label_weights,
        )  # fmt: skip


def Arrow(  # noqa: N802
    source: object, label: str | int | None = None, positive: object = None, columns: Asked | None = None,
    multiclass: int | None = None, drop: Asked = (), number: Asked = (), category: Asked = (), text: Asked = (),
    time: Asked = (), bits: int | None = None, outcomes: str = "labels", labelled: bool = True,
        weight: str | int | None = None,
        label_weights: LabelWeights | None = None,
) -> Stream:  # fmt: skip
    """The rows of an Arrow IPC or a Parquet file; the parameters are those of `CSV`."""
    file = OnDisk(source)
    kinds = {"drop": drop, "number": number, "category": category, "text": text, "time": time, "bits": bits,
             "weight": weight, "label_weights": label_weights}  # fmt: skip
    found = open_arrow(file)
    converted = found.last_note() is not None and label is None and columns is None and not any(kinds.values())
    if converted or (columns is None and lists.has_lists(found.schema)):
        _refuse(kinds, f"{file} holds rows already")
        if not converted and (outcomes == "numbers" or not labelled):
            raise SourceError(
                f"{'numbers to be predicted' if labelled else 'examples without labels'} must be in plain columns: "
                f"{file} holds lists. Write a column a feature."
            )
        stream = lists.Arrow(file, label, positive, multiclass)
        if stream.encoded is not None:
            stream.encoding = Encoding.restore(stream.encoded)
        if not labelled:
            stream.notes.append(f"{file} has labels, as every file of convert: it is read with them")
        return stream
    return Table(
        ArrowTable(file), label, positive, multiclass, columns, drop, number, category, text, time, bits, outcomes,
        labelled, weight, label_weights,
    )  # fmt: skip


def JSONL(  # noqa: N802
    source: object, label: str | None = None, positive: object = None, bits: int | None = None,
    multiclass: int | None = None, skip_bad: int = 0, chunk: int = CHUNK_BYTES, columns: Asked | None = None,
    drop: Asked = (), number: Asked = (),
    category: Asked = (), text: Asked = (), time: Asked = (), outcomes: str = "labels", labelled: bool = True,
        weight: str | int | None = None,
        label_weights: LabelWeights | None = None,
) -> Stream:  # fmt: skip
    """The rows of JSON lines, as `CSV`; objects whose values are not plain as data/formats/jsonl.py reads them."""
    origin, content, head, _ = look_at(source, RECOGNISED_ROWS + 1, 2, MOMENT, LONGEST_HEAD)
    if outcomes == "numbers" or is_table(head):
        return Table(
            Objects(content, skip_bad, chunk), label, positive, multiclass, columns, drop, number, category, text, time,
            bits, outcomes, labelled, weight, label_weights,
        )  # fmt: skip
    kinds = {"columns": columns, "drop": drop, "number": number, "category": category, "text": text, "time": time,
             "weight": weight, "label_weights": label_weights}  # fmt: skip
    _refuse(kinds, f"the objects of {origin.name} are no rows of a table")
    bits = NESTED_BITS if bits is None else bits
    if labelled:
        return nested.JSONL(content, label, positive, bits, multiclass, skip_bad, chunk)
    from novikoff.data.unlabelled import unlabelled_lines

    return unlabelled_lines(content, "jsonl", {"bits": bits, "skip_bad": skip_bad}, head)


def _refuse(kinds: Mapping[str, object], why: str) -> None:
    asked = [name for name, value in kinds.items() if value not in (None, ())]
    if asked:
        raise SourceError(f"columns must be those of a table: {why}; got {', '.join(asked)}. Leave it out.")
