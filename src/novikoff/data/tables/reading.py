"""`nk.read`: files and frames as streams, by themselves or as a model learned from them."""

from __future__ import annotations

from typing import Any

from novikoff.core.errors import SourceError
from novikoff.core.learner import Learner
from novikoff.core.stream import Stream
from novikoff.data.arrays import is_frame
from novikoff.data.reader import read as read_file
from novikoff.data.tables.alignment import adopted
from novikoff.data.tables.table_formats import Frame


def read(
    source: object, format: str | None = None, labels: str | None = None, like: Any = None, **options: Any
) -> Stream:
    """The stream that `source` names: a path, "-" for standard input, a binary file object, a frame or "demo:iris".

    A path may be a URL (s3://, gs://, ...; data/formats/origin.py), and a pattern of several files: day-*.svm.

    format    arrow, csv, jsonl, parquet, svmlight, text, vw, or one that was registered; None: sniff
    labels    "multiclass" if there are more than two, or may be: of any kind, numbered in the order in which they
    first come
    like      a ledger, or a classifier that was kept: rows are encoded as those that it learned from, columns matched
              by name, to be predicted by its learner; with labelled=False for rows of a table without a label
    options   those of `Arrow`, `CSV`, `Frame`, `JSONL`, `Svmlight`, `Text` or `VW`; None is as good as nothing
    """
    if isinstance(like, Learner) or (like is not None and not hasattr(like, "encoding")):
        raise SourceError(
            f"like must be a ledger, or a classifier that was kept: got {type(like).__name__}. Pass what nk.play, "
            "nk.keep or nk.load returned."
        )
    if is_frame(source):
        stream: Stream = Frame(source, **options)
        if labels == "multiclass":
            stream.show_many()
    else:
        stream = read_file(source, format, labels, **options)
    return stream if like is None else adopted(stream, like.encoding, like.feature_names, learn=False)
