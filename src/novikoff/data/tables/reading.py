"""`nk.read`: open files and frames as streams, optionally with the encoding of a trained model."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from novikoff.core.errors import SourceError
from novikoff.core.learner import Learner
from novikoff.core.stream import Stream
from novikoff.data.arrays import is_frame
from novikoff.data.reader import read as read_file
from novikoff.data.tables.alignment import adopted
from novikoff.data.tables.encoding import Encoding
from novikoff.data.tables.live_sources import live_table
from novikoff.data.tables.table_formats import Frame


@runtime_checkable
class Encoded(Protocol):
    """A game or a classifier that has the encoding of its training table."""

    encoding: Encoding | None
    feature_names: list[str] | None


def read(
    source: object, format: str | None = None, labels: str | None = None, like: Encoded | None = None,
    missing_columns: str = "refuse", **options: Any,
) -> Stream:  # fmt: skip
    r"""Open a path, standard input, a binary file object, a frame, a cursor or a demo as a stream.

    Args:
        source: A path, a URL (s3://, gs://, ...), a glob pattern for several files (day-*.svm), "-" for standard input,
            a binary file object, a data frame, or "demo:NAME"; a list of paths; an Arrow stream (a RecordBatchReader
            or any object with `__arrow_c_stream__`), a list or iterator of frames, or a database cursor.
        format: Name of a format, as in `novikoff list`: csv, svmlight, ...; None detects it.
        labels: "multiclass" for more than two labels, of any type, numbered in order of first appearance; None for two.
        like: Ledger or classifier whose encoding to use, for predictions: columns are matched by name. Pass
            labelled=False for table rows without a label.
        missing_columns: With `like`: "refuse" to raise an error for columns that are absent or new; "impute" to read
            absent ones as missing values and to ignore new ones.
        **options: Options of `ARFF`, `Arrow`, `CSV`, `Frame`, `JSONL`, `NPZ`, `Svmlight`, `Text` or `VW`; None counts
            as not given.

    Returns:
        The stream; its `notes` name the format and other decisions.

    Raises:
        SourceError: If an option does not belong to the format, or the source cannot be read.
        LabelError: If no format matches.

    Example:
        >>> import io
        >>> import novikoff as nk
        >>> stream = nk.read(io.BytesIO(b"height,width,label\n1.0,2.0,ham\n3.0,0.5,spam\n"))
        >>> stream.notes[0]
        'format: csv'
        >>> stream.labels
        Labels(negative='ham', positive='spam')
    """
    if isinstance(like, Learner) or (like is not None and not isinstance(like, Encoded)):
        raise SourceError(
            f"like must be a ledger or a final classifier: got {type(like).__name__}. Pass the result of nk.play, "
            "nk.finalize or nk.load."
        )
    if missing_columns not in ("refuse", "impute"):
        raise SourceError(f"missing_columns must be refuse or impute: got {missing_columns!r}.")
    if is_frame(source):
        stream: Stream = Frame(source, **options)
        if labels == "multiclass":
            stream.show_many()
    elif (live := live_table(source, options)[0]) is not None:
        stream = live
        if labels == "multiclass":
            stream.show_many()
    else:
        stream = read_file(source, format, labels, **options)
    if like is None:
        return stream
    return adopted(stream, like.encoding, like.feature_names, learn=False, impute=missing_columns == "impute")
