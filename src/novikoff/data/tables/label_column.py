"""The column of labels of a table, or of numbers to be predicted: what its cells say, as the game knows it.

Labels
    Rows wait until both labels have come, for 16 MB or a second at most; then a file is looked through for the other,
    and a pipe goes by streaming_labels.py.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import Advice, LabelError, SourceError
from novikoff.data.streaming_labels import held_back
from novikoff.data.tables import cells
from novikoff.data.tables.column import Column, Kind, is_missing
from novikoff.data.tables.piece import Piece, Reader
from novikoff.data.written_labels import WrittenLabels


class LabelColumn:
    """What the cells of one column stand for.

    name       of the column
    first      its first cells
    numbers    are its cells numbers to be predicted?
    positive   the label that is +1, against all others
    many       how many labels there are: whole numbers from 0 to many-1; True: any, numbered as they first come
    """

    def __init__(self, name: str, first: Sequence[Any], numbers: bool, positive: Any, many: int | None) -> None:
        self.name, self.numbers = name, numbers
        self._first = [cell for cell in first if not is_missing(cell)]
        self._chosen = positive is not None or many is not None
        self._one_against_all = positive is not None
        self.written = WrittenLabels(name, self._first, positive, many)

    def copy(self) -> LabelColumn:
        """Another that knows as much, for another pass."""
        other = copy.copy(self)
        other.written = copy.copy(self.written)
        return other

    @property
    def kind(self) -> Kind:
        """What its cells are read as."""
        return "number" if self.numbers else "category"

    @property
    def numeric(self) -> bool:
        """Do the first cells look like numbers to be predicted, and was nothing said of labels?"""
        return not self._chosen and self.written.numbers

    @property
    def many(self) -> bool:
        """Are the labels numbered in the order in which they first come?"""
        return not self.numbers and self.written.many

    @property
    def several(self) -> bool:
        """Do the first cells show three labels or more, which are not numbers to be predicted?"""
        return not self.numbers and self.written.several

    def show_many(self) -> None:
        """Let the labels be numbered, unless one of them stands against all others."""
        if not self._one_against_all:
            self._chosen = True
            self.written.show_many()
            self.look_at_first()

    def look_at_first(self) -> None:
        """Take note of what the first cells show, if that is clear."""
        import pyarrow as pa

        if not self.numbers:
            with suppress(ValueError, pa.ArrowException):  # told when its row comes
                self.written.look(*cells.distinct(pa.array(self._first)))

    def values(self, array: Any) -> NDArray[Any]:
        """The labels of rows, or the numbers. Raises `SourceError` with the row, from 0."""
        return self._numbers(array) if self.numbers else self._labels(array)

    def nothing(self) -> NDArray[Any]:
        """The values of no rows."""
        return np.empty(0, dtype=np.float64 if self.numbers else np.int8)

    def _numbers(self, array: Any) -> NDArray[np.float64]:
        try:
            values: NDArray[np.float64] = cells.numbers(array, Column(self.name, "number")).astype(
                np.float64, copy=False
            )
        except SourceError as error:
            error.do = cells.LABELS_INSTEAD if isinstance(error.do, Advice) else error.do
            raise
        if np.isnan(values).any():
            raise cells.missing(int(np.argmax(np.isnan(values))), self.name)
        return values

    def _labels(self, array: Any) -> NDArray[Any]:
        values, codes = cells.distinct(array)
        if (codes < 0).any():
            row = int(np.argmax(codes < 0))
            raise cells.missing(row, self.name, cell=array[row].as_py())
        try:
            return self.written.encode(values, codes)
        except LabelError as error:
            if self.numeric:
                error.do = (
                    "These look like numbers to be predicted: choose a learner of numbers, such as auto-regression."
                )
            raise

    def settled(self, pieces: Iterator[Piece], reader: Reader) -> Iterator[Piece]:
        """The pieces, held back at first until both labels have come, or for as long as may be."""
        if self.numbers:
            return pieces

        def look(held: Sequence[Piece]) -> bool:
            piece = held[-1]
            if piece.rows:
                with suppress(SourceError):  # told when its row comes
                    self.written.look(*cells.distinct(piece.arrays[self.name]))
            if piece.error is not None and self.written.known.lone:  # the other may be in the row that is bad
                raise reader.numbered(piece.error)
            return piece.error is not None

        def look_further(held: Sequence[Piece]) -> None:
            if reader.independent:
                for piece in reader.pieces(held[-1].end, {self.name: self.kind}):
                    if look([piece]) or self.written.known.settled:
                        return

        return held_back(pieces, self.written.known, look, reader.ready, look_further)
