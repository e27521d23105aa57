"""Label column of a table, or its regression outcomes.

Labels
    Rows are held back until both labels are known, for at most 16 MB or one second; then a file is searched for the
    second label, and a pipe follows the rule of streaming_labels.py.
Cells
    Labels as written, encoded as -1 and +1: numbers or text, true and false. Spaces around a label are stripped. Labels
    are numbers if the first is one and no early cell is a word: then all must be, below 2^53. Otherwise they are text.
    If the first ones are true or false, all must be, and they stay booleans. streaming_labels.py assigns the signs.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import Advice, LabelError, Option, SourceError, quoted
from novikoff.core.labels import are_numbers
from novikoff.core.types import Labels
from novikoff.data.layout import BOOLEANS, is_number
from novikoff.data.streaming_labels import StreamingLabels, held_back, shown
from novikoff.data.tables import cells
from novikoff.data.tables.column import Column, Kind, is_missing, recognise
from novikoff.data.tables.number_format import POINT, value_of
from novikoff.data.tables.table_reader import Piece, Reader

if TYPE_CHECKING:
    import pyarrow as pa


class LabelColumn:
    """Label column of a table.

    Args:
        name: Name of the column.
        first: First cells of the column.
        numbers: Whether the cells are regression outcomes.
        positive: Label for +1; every other label is -1.
        multiclass: Number of labels 0 .. k-1, or True to number any labels in order of appearance; None for two.
        mark: Decimal mark of the table.
    """

    def __init__(
        self, name: str, first: Sequence[object], numbers: bool, positive: object, multiclass: int | None,
        mark: str = POINT,
    ) -> None:  # fmt: skip
        self.name, self.numbers = name, numbers
        self._first = [cell for cell in first if not is_missing(cell)]
        self._chosen = positive is not None or multiclass is not None
        self._one_against_all = positive is not None
        self.written = WrittenLabels(name, self._first, positive, multiclass)
        found = recognise(name, self._first, mark)
        self.form = found.form if found.kind == "number" and (numbers or not self._chosen) else None
        values = set() if self.form is None else {value_of(str(cell).strip(), self.form) for cell in self._first}
        self._formatted = are_numbers({value for value in values if value is not None})
        if not numbers and not self._formatted:
            self.form = None

    def copy(self) -> LabelColumn:
        """Return a copy for another pass."""
        other = copy.copy(self)
        other.written = copy.copy(self.written)
        return other

    @property
    def kind(self) -> Kind:
        """Kind with which the cells are read."""
        return "number" if self.numbers and self.form is None else "category"

    @property
    def numeric(self) -> bool:
        """Whether the first cells look like regression outcomes, and no option is about labels."""
        return not self._chosen and (self.written.numbers or self._formatted)

    @property
    def multiclass(self) -> bool:
        """Whether labels are numbered in order of first appearance."""
        return not self.numbers and self.written.multiclass

    @property
    def several(self) -> bool:
        """Whether the first cells have three or more labels that are not regression outcomes."""
        return not self.numbers and self.written.several and not self._formatted

    def show_many(self) -> None:
        """Switch to numbered labels, unless `positive` is given."""
        if not self._one_against_all:
            self._chosen = True
            self.written.show_many()
            self.look_at_first()

    def look_at_first(self) -> None:
        """Register the labels of the first cells, if these are valid."""
        import pyarrow as pa

        if not self.numbers:
            with suppress(ValueError, pa.ArrowException):  # raised when its row is read
                self.written.look(*cells.distinct(pa.array(self._first)))

    def values(self, array: pa.Array) -> NDArray[Any]:
        """Return the labels of rows, or the numbers. Raises `SourceError` with the row, from 0."""
        return self._numbers(array) if self.numbers else self._labels(array)

    def nothing(self) -> NDArray[Any]:
        """Return an empty array of values."""
        return np.empty(0, dtype=np.float64 if self.numbers else np.int8)

    def _numbers(self, array: pa.Array) -> NDArray[np.float64]:
        try:
            values: NDArray[np.float64] = cells.numbers(array, Column(self.name, "number", self.form)).astype(
                np.float64, copy=False
            )
        except SourceError as error:
            error.do = cells.LABELS_INSTEAD if isinstance(error.do, Advice) else error.do
            raise
        if np.isnan(values).any():
            raise cells.missing(int(np.argmax(np.isnan(values))), self.name)
        return values

    def _labels(self, array: pa.Array) -> NDArray[Any]:
        values, codes = cells.distinct(array)
        if (codes < 0).any():
            row = int(np.argmax(codes < 0))
            raise cells.missing(row, self.name, cell=array[row].as_py())
        try:
            return self.written.encode(values, codes)
        except LabelError as error:
            if self.numeric:
                error.do = "These look like numbers to predict: choose a regression learner, such as auto-regression."
            raise

    def settled(self, pieces: Iterator[Piece], reader: Reader) -> Iterator[Piece]:
        """Yield the pieces, after holding back the first ones until both labels are known or a limit is reached."""
        if self.numbers:
            return pieces

        def look(held: Sequence[Piece]) -> bool:
            piece = held[-1]
            if piece.rows:
                with suppress(SourceError):  # raised when its row is read
                    values, codes = cells.distinct(piece.arrays[self.name])
                    self.written.look(values, codes[codes >= 0])
            if piece.error is not None and self.written.known.lone:  # the second label may be in the bad row
                raise reader.numbered(piece.error)
            return piece.error is not None

        def look_further(held: Sequence[Piece]) -> None:
            if reader.independent:
                for piece in reader.read(held[-1].end, {self.name: self.kind}):
                    if look([piece]) or self.written.known.settled:
                        return

        return held_back(pieces, self.written.known, look, reader.ready, look_further)


TRUTH = {"true": "true", "1": "true", "1.0": "true", "false": "false", "0": "false", "0.0": "false"}
"""Spellings of a boolean as the positive label."""
EXACT = 2.0**53
"""Limit below which every integer is a double."""
MOST_NAMED = 10
"""Maximum number of labels named in a message."""


class WrittenLabels:
    """Encoder of the labels of a column.

    Args:
        column: Name or number of the column, for messages.
        first: First cells of the column: text, or values.
        positive: Label for +1; every other label is -1.
        multiclass: Number of labels 0 .. k-1, or True to number any labels; ignored if `positive` is given.
    """

    def __init__(
        self, column: str | int, first: Iterable[Any], positive: object = None, multiclass: int | None = None
    ) -> None:
        given = list(first)
        bare_cells = [cell.strip() if isinstance(cell, str) else cell for cell in given]
        self.spaced = next((cell for cell, bare in zip(given, bare_cells, strict=True) if cell != bare), None)
        self.worded = any(isinstance(cell, str) and not is_number(cell) for cell in bare_cells)
        self.booleans = bool(bare_cells) and all(isinstance(cell, bool) for cell in bare_cells)
        self._column = column
        if self.booleans and multiclass is None:
            positive = TRUTH.get("true" if positive is None else str(positive).lower(), positive)
        elif isinstance(positive, str) and is_number(positive) and not self.worded:
            positive = float(positive)
        self._given = positive, multiclass if positive is None else None
        seen = {str(cell) if self.worded or not is_number(str(cell)) else float(cell) for cell in bare_cells}
        self._seen = seen
        self._several = positive is None and multiclass is None and len(seen) > 2
        self.numbers = not (self.worded or self.booleans) and are_numbers({one for one in seen if type(one) is float})
        self.begin()

    @property
    def met(self) -> str:
        """Labels of the first cells, in words."""
        seen = sorted(self._seen, key=lambda label: (isinstance(label, str), label))
        return ", ".join(map(shown, seen[:MOST_NAMED])) + (", ..." if len(seen) > MOST_NAMED else "")

    @property
    def mistaken(self) -> bool:
        """Whether there are two other labels than the positive one, or one that differs from it only in case."""
        positive = str(self._given[0]).strip().lower()
        return len(self._seen) > 1 or any(str(label).lower() == positive for label in self._seen)

    @property
    def several(self) -> bool:
        """Whether the first cells have three or more labels that are not regression outcomes."""
        return self._several and not self.numbers

    @property
    def multiclass(self) -> bool:
        """Whether labels are numbered in order of first appearance."""
        return self._given[1] is True

    def show_many(self) -> None:
        """Switch to numbered labels."""
        self._given = None, True
        self.begin()

    def begin(self, expected: Labels | None = None, state: dict[str, Any] | None = None) -> None:
        """Start a new pass, or resume one from `state`.

        Args:
            expected: Labels of an earlier run: a single value among them keeps its meaning.
            state: Result of `state`; None for a new pass.
        """
        self.known = StreamingLabels(*self._given)
        self.known.expected = expected
        self._texts = True if self.worded else None  # None: the first label decides
        if state is not None:
            self.known.load(state["labels"])
            self._texts = state["texts"]

    def state(self) -> dict[str, Any]:
        """Return the state of the pass as JSON values."""
        return {"labels": self.known.state(), "texts": self._texts}

    @property
    def labels(self) -> Labels | None:
        """Values for -1 and +1; None before they are known, and for multiclass."""
        found = self.known.labels
        positive = BOOLEANS.get(str(found.positive)) if found is not None and self.booleans else None
        return found if positive is None else Labels(not positive, positive)

    @property
    def label_values(self) -> list[Any] | None:
        """Values of the numbered labels so far; None if labels are not numbered."""
        found = self.known.label_values
        return found if found is None or not self.booleans else [BOOLEANS[value] for value in found]

    def look(self, texts: Sequence[str], codes: NDArray[np.int64]) -> None:
        """Register labels that will be encoded later. Raises `SourceError` as `encode` does."""
        values = self._values(texts, codes)
        if self.known.settled:
            self.known.encode(values)
        self.known.look(values)

    def encode(self, texts: Sequence[str], codes: NDArray[np.int64]) -> NDArray[Any]:
        """Return the labels of the rows: -1/+1, or class numbers. Raises `SourceError` with the row, from 0."""
        try:
            return np.take(self.known.encode(self._values(texts, codes)), codes)
        except LabelError as error:
            error.where["row"] = int(np.argmax(codes == error.where["row"]))
            raise error.at(column=self._column) from None

    def _values(self, texts: Sequence[str], codes: NDArray[np.int64]) -> NDArray[Any]:
        """Return the labels as numbers or as text, all of one kind."""
        if (codes < 0).any():
            raise self._bad(codes, -1, "labels must not be missing", "is empty", "Fill or drop the row.")
        if self._texts is None and len(texts):
            self._texts = not is_number(texts[int(codes[0])])
        if not self._texts:
            for code, text in enumerate(texts):
                if not is_number(text):
                    do = Advice("Correct the cell, or pass ", Option("positive", letter="VALUE"), ".")
                    raise self._bad(codes, code, "labels must be numbers, as the first is", f"has {quoted(text)}", do)
            numbers = np.array([float(text) for text in texts])
            if not (np.abs(numbers) < EXACT).all():  # two distinct labels must not round to the same double
                code = int(np.argmin(np.abs(numbers) < EXACT))
                raise self._bad(codes, code, "labels must be below 2^53", f"has {quoted(texts[code])}")
            return numbers
        other = next((code for code, text in enumerate(texts) if text not in BOOLEANS), None) if self.booleans else None
        if other is not None:
            must = "labels must be true or false, as the first is"
            raise self._bad(codes, other, must, f"has {quoted(texts[other])}")
        column = np.empty(len(texts), dtype=object)
        column[:] = texts
        return column

    def _bad(
        self, codes: NDArray[np.int64], code: int, must: str, was: str, do: str = "Clean or drop the row."
    ) -> SourceError:  # fmt: skip
        return SourceError(must, was, do, row=int(np.argmax(codes == code)), column=self._column)
