"""Where the rows of a table are cut, so that the features of a row do not depend on which rows are read with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from novikoff.data.tables import cells
from novikoff.data.tables.column import recognise
from novikoff.data.tables.encoding import Encoding
from novikoff.data.tables.piece import Piece


def cut_where_known(piece: Piece, looked: int, encoding: Encoding, sources: Mapping[str, str]) -> Iterator[Piece]:
    """The piece, cut where a column says something for the first time.

    And behind the rows of which the features are known, if so many were `looked` at: the batches before are all as
    wide. sources: the table's name of each column.
    """
    if 0 < looked < piece.rows and not encoding.dense and encoding.bits is None:
        first_rows, piece = piece.cut(looked)
        yield from cut_where_known(first_rows, looked, encoding, sources)
    while True:
        cut = piece.rows
        for column in [column for column in encoding.columns if column.kind == "unknown"]:
            if piece.rows == 0:
                continue
            array = cells.plain(piece.arrays[sources[column.name]])
            _, codes = cells.distinct(array)
            first = int(np.argmax(codes >= 0)) if (codes >= 0).any() else piece.rows
            if first == 0:
                encoding.settle(column, recognise(column.name, array.slice(0, 1).to_pylist()))
            else:
                cut = min(cut, first)
        if cut == piece.rows:
            yield piece
            return
        first_part, piece = piece.cut(cut)
        yield first_part


def cut_by_width(x: Any, known: int, encoding: Encoding) -> Iterator[tuple[Any, slice]]:
    """The rows, cut where dense ones become wider: at the first that lacks a number which none before it lacked.

    So each row is as wide as it is however the table is cut, and a game that is left in between knows no more.
    """
    start, rows = 0, len(x)
    if isinstance(x, np.ndarray) and x.shape[1] > known:
        names = list(encoding.places)
        for width in range(known, x.shape[1]):
            first = int(np.argmax(x[:, width] != 0))
            if first > start:
                encoding.places = {name: place for place, name in enumerate(names[:width])}
                yield np.ascontiguousarray(x[start:first, :width]), slice(start, first)
                start = first
        encoding.places = {name: place for place, name in enumerate(names)}
    yield x[start:] if start else x, slice(start, rows)
