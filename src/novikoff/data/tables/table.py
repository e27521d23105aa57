"""Tables as streams: any format, columns of every kind, read in one pass.

Columns
    Kinds are detected from the first rows (data/tables/column.py) and listed by `describe`; `number`, `category`,
    `text` and `time` override them, `columns` selects, `drop` leaves out. data/tables/encoding.py turns them into
    features. A learner keeps the encoding of its table, and later tables use it: matched by name, in any order.
Labels
    The column `label`, by name or number; otherwise one named label or target; otherwise one named class or y, if it is
    the first or the last; otherwise the last. Two values, the larger +1; `positive` overrides; `multiclass` for
    0 .. k-1, or for any labels. With `outcomes="numbers"` they are regression outcomes. Rows without a label are
    skipped and counted.
    data/tables/label_column.py reads the cells. With `labelled=False` there is no label, and y is -1.
Weights
    A row of weight k is learned in k rounds and scored once (data/tables/row_weights.py): k comes from a column of
    weights, from the label, or is the product of both. Fractions are rounded by a coin (core/weights.py).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import (
    AbsentLabelError,
    Advice,
    LabelError,
    MismatchError,
    Option,
    SourceError,
    counted,
    quoted,
)
from novikoff.core.stream import Stream, Target
from novikoff.core.types import Batch, Domain, Labels, LabelWeights, Position, Sparse, count_at
from novikoff.core.weights import BALANCED
from novikoff.data.formats.pandas_index import check_asked, unnamed_note
from novikoff.data.layout import LABEL_NAMES
from novikoff.data.streaming_labels import shown
from novikoff.data.tables import cells
from novikoff.data.tables.column import NO_FEATURE, Column, Kind, is_missing, is_whole, recognise
from novikoff.data.tables.column_selection import (
    Asked,
    Choice,
    advice,
    check_date_format,
    check_label_weights,
    find,
    find_all,
    label_column,
    listed,
    mark_of,
    matched_columns,
)
from novikoff.data.tables.encoding import Encoding, Surprises
from novikoff.data.tables.label_column import LabelColumn
from novikoff.data.tables.lags import LAGGED, Lagged, Lags, check_sources
from novikoff.data.tables.number_format import POINT, decimal_mark
from novikoff.data.tables.row_weights import RowWeights, repeated
from novikoff.data.tables.table_reader import Piece, Reader

UNUSUAL, FEW = 0.1, 5
"""Share of rows with unseen values, and number of such rows, from which a warning says so."""


class Table(Stream):
    """Stream over the rows of a table.

    Args:
        reader: Reader of the rows; all other arguments are those of `CSV`.
        label: Label column.
        positive: Label for +1.
        multiclass: Number of labels, or True to number any labels.
        columns: Feature columns.
        drop: Columns to leave out.
        number: Columns to read as numbers.
        category: Columns to read as categories.
        text: Columns to read as text.
        time: Columns to read as dates.
        bits: Features are hashed into 2^bits.
        outcomes: "labels" or "numbers".
        labelled: Whether there is a label column.
        weight: Column of row weights.
        label_weights: Weight of rows by label.
        missing: Further texts that mean a missing value.
        date_format: Format of dates.
        presence: Whether each word of a text counts once.
    """

    table = scaled_by_default = True

    encoding: Encoding
    carried: str | None = None
    keep_all: bool = False
    """Whether rows without a label are kept, to be predicted; `unlabelled_rows` finds them."""

    def __init__(
        self,
        reader: Reader,
        label: str | int | None = None,
        positive: object = None,
        multiclass: int | None = None,
        columns: Asked | None = None,
        drop: Asked = (),
        number: Asked = (),
        category: Asked = (),
        text: Asked = (),
        time: Asked = (),
        bits: int | None = None,
        outcomes: str = "labels",
        labelled: bool = True,
        weight: str | int | None = None,
        label_weights: LabelWeights | None = None,
        missing: Sequence[str] | str = (),
        date_format: str | None = None,
        presence: bool = False,
    ) -> None:
        if bits is not None and not 1 <= bits <= 32:
            raise SourceError(f"bits must be from 1 to 32: got {bits}.")
        self._reader, self.outcomes, self.unlabelled = reader, outcomes, not labelled
        self.name, self.rereadable, self.fixed, self.rows = reader.name, reader.rereadable, reader.fixed, reader.rows
        self.notes += reader.notes
        self._pass_notes: list[str] = []
        self._given: Position | None = None  # for a part: labels found in the first rows of the table
        self._positive, self._many = positive, multiclass
        check_asked(reader.levels, reader.names, label, LABEL_NAMES, columns, self.name)
        reader.tokens = frozenset(str(one).strip().lower() for one in listed(missing))
        head = reader.first_cells()
        chosen = {kind: [find(reader, c, f"a {kind} column") for c in listed(asked)] for kind, asked in
                  (("number", number), ("category", category), ("text", text), ("time", time))}  # fmt: skip
        left_out = {name for c in listed(drop) for name in find_all(reader, c, "a column to leave out")}
        left_out |= {name for name in reader.spare if all(map(is_missing, head[name]))}
        used = None if columns is None else [find(reader, c, "a feature column") for c in listed(columns)]
        weight = None if weight is None else find(reader, weight, "the weight column")
        if weight is not None:
            left_out.add(weight)
            reader.weight = weight
        self.weights = RowWeights(weight, label_weights if labelled else None)
        if outcomes == "numbers":
            self._refuse_label_weights()
        if self.weights.used:
            self.rows = None  # unknown: the sum of the weights
        self._choice = Choice(label, used, left_out, chosen, check_date_format(date_format))
        self._first = dict(head)
        self.target_column = label_column(reader, label, used or [], left_out) if labelled else None
        self._begin(None if self.target_column is None else self.target_column.name, bits, presence)

    def _begin(self, label: str | None, bits: int | None, presence: bool, lags: Lags | None = None) -> None:
        """Choose the columns and begin their encoding."""
        reader, head, weight = self._reader, self._first, self.weights.column
        self._choose(label)
        in_use = {self.label, weight, *(column.name for column in self.columns)}
        ignored = [name for name in reader.names[reader.index :] if name not in in_use]
        self.encoding = Encoding(
            self.columns, bits, reader.named, self.label, ignored, weight, self.weights.by_label,
            missing=sorted(reader.tokens), presence=presence, balanced=self.weights.balanced,
            lags=lags,
        )  # fmt: skip
        self.encoding.average(head)
        self.encoding.open = reader.grows and self._choice.used is None and not self.encoding.dense
        self._foresee()
        self._learn, self._adopted, self._surprises, self._no_label = True, False, Surprises(), 0
        self._ends: tuple[NDArray[np.int64], NDArray[np.int64]] = np.zeros(0, np.int64), np.zeros(0, np.int64)
        if self._labels is not None:
            self._labels.look_at_first()
            if self._labels.written.spaced is not None:
                label = quoted(self._labels.written.spaced)
                self.notes.append(f"spaces around labels of {self.name}, as in {label}, are removed")
        first = {*reader.names[: reader.index]}
        if first & {self.label, *(column.name for column in self.columns)}:
            self.notes[:] = [note for note in self.notes if note != unnamed_note(reader.index, self.name)]
        self._advice = advice(self.columns, head, self._choice.kinds["category"], self.name)
        self.notes += self._advice

    def look_back(self, lags: Lags) -> None:
        """Add lags as further columns (data/tables/lags.py); before the first pass."""
        if self.unlabelled or self.label is None:
            raise SourceError(f"lags need a label: {self.name} has none.")
        lags.label = self.label
        check_sources(lags, self._reader)
        self._add_lags(lags, self.label)
        for name in lags.columns:
            if recognise(name, self._first[name]).kind not in LAGGED:
                raise SourceError(f"lags are for numbers and categories: {quoted(name)} of {self.name} is neither.")
        self.notes[:] = [note for note in self.notes if note not in self._advice]
        encoding = self.encoding
        self._begin(self.label, encoding.bits, encoding.presence, lags)
        self.notes[:] = list(dict.fromkeys(self.notes))

    def _add_lags(self, lags: Lags, label: str | None) -> None:
        self._reader = Lagged(self._reader, lags, label)
        self._first = self._reader.first_cells()
        if self._choice.used is not None:
            self._choice = replace(self._choice, used=[*self._choice.used, *lags.names])

    def begin_again(self) -> None:
        if isinstance(self._reader, Lagged):
            self._reader.begin_again()

    def played(self, rounds: int | None) -> None:
        if isinstance(self._reader, Lagged):
            ends, numbers = self._ends
            place = len(ends) if rounds is None else int(np.searchsorted(ends, rounds, side="right"))
            if rounds is None or place:
                self._reader.played(None if rounds is None else int(numbers[place - 1]))

    def _refuse_label_weights(self) -> None:
        if self.weights.labelled:
            raise SourceError(
                f"label weights are for classification: the target of {self.name} is numeric. Leave them out."
            )

    def _foresee(self) -> None:
        """Assign indices to the features of the first rows, so that the width is constant among them."""
        if self.encoding.bits is not None:
            return
        if self.encoding.dense:
            self.encoding.expect_missing(self._first)
            return
        rows = len(next(iter(self._first.values())))
        try:
            arrays = {column.name: cells.array(self._first[column.name], column.kind) for column in self.columns}
        except UnicodeEncodeError:  # raised when its row is read
            return
        try:
            self.encoding.rows(arrays, rows)
        except SourceError as wrong:  # raised when its row is read; the rows before it are valid
            rows = wrong.where["row"]
            self.encoding.rows({name: array.slice(0, rows) for name, array in arrays.items()}, rows)

    def _choose(self, label: str | None) -> None:
        """Choose the columns in use and their kinds, with this label column."""
        self.label = self._reader.label = label
        head, mark = self._first, mark_of(self._first, self._mark)
        self.columns = self._choice.columns(self._reader, head, label, self.weights.column, mark)
        self._sources = {column.name: column.name for column in self.columns}
        self._point = all(c.kind == "boolean" or all(map(is_whole, head[c.name])) for c in self.columns)
        self._labels = (
            None if label is None
            else LabelColumn(label, head[label], self.outcomes == "numbers", self._positive, self._many, mark)
        )  # fmt: skip

    @property
    def reader(self) -> Reader:
        """Reader of the format."""
        return self._reader

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        """Domain: vectors, or points if all columns are integers."""
        if self.encoding.dense:
            return Domain("point" if self._point else "vector", self.encoding.width)
        return Domain("vector", None if self.encoding.bits is None else 2**self.encoding.bits)

    @property
    def bits(self) -> int | None:  # type: ignore[override]
        """Number of bits of hashed features; None if they are not hashed."""
        bits: int | None = self.encoding.bits
        return bits

    @property
    def features(self) -> tuple[str, ...] | None:  # type: ignore[override]
        """Column names of dense rows; None if there are none."""
        return self.encoding.features if self.encoding.dense and self._reader.named else None

    @property
    def most_bad(self) -> int:  # type: ignore[override]
        """Number of bad rows that may be skipped."""
        return self._reader.most_bad

    @property
    def skipped(self) -> list[tuple[int, str]]:  # type: ignore[override]
        """Skipped bad rows of this pass as (line, message)."""
        return self._reader.skipped

    @property
    def labels(self) -> Labels | None:  # type: ignore[override]
        """Values for -1 and +1; None before they are known, and for multiclass."""
        return None if self._labels is None or self._labels.numbers else self._labels.written.labels

    def described(self) -> Iterator[tuple[str, str, str | None]]:
        """Yield name, kind and first value of each column; the value is None if the first rows have none."""
        used = {column.name: column for column in self.encoding.columns}
        for name in self._reader.names:
            column = used.get(name)
            role = {self.label: "label", self.weights.column: "weight"}.get(name)
            what = role if role else column.what if column else "left out"
            yield name, what, next((str(cell) for cell in self._first.get(name, ()) if not is_missing(cell)), None)

    @property
    def multiclass(self) -> bool:  # type: ignore[override]
        """Whether labels are numbered in order of first appearance."""
        return self._labels is not None and self._labels.multiclass

    @property
    def label_values(self) -> list[object] | None:  # type: ignore[override]
        """Values of the numbered labels so far; None if labels are not numbered."""
        return self._labels.written.label_values if self._labels is not None and self._labels.multiclass else None

    @property
    def several(self) -> bool:  # type: ignore[override]
        """Whether the first rows have three or more labels that are not regression outcomes."""
        return self._labels is not None and self._labels.several

    def show_many(self) -> None:
        if self._labels is not None and self._positive is None:
            self._many = True
            self._labels.show_many()

    def show_numbers(self) -> None:
        self._refuse_label_weights()
        super().show_numbers()
        if self._labels is not None:
            self._labels.numbers = True

    def describe(self) -> list[str]:
        """Return one line per column: its kind and its first value."""
        described = ((name, what, "nothing yet" if first is None else first) for name, what, first in self.described())
        return [f"{name}: {what} ({quoted(first)[1:-1]}, ...)" for name, what, first in described]

    @property
    def numeric(self) -> bool:  # type: ignore[override]
        """Whether the first labels are regression outcomes: more than two, not all integers unless there are many.

        A few distinct integers may be classes, so they do not count.
        """
        return self._labels is not None and self._labels.numeric

    def fingerprint(self) -> dict[str, Any]:
        """Return the fingerprint of a file."""
        return self._reader.fingerprint()

    _mark = POINT
    """Decimal mark of numbers that fit both."""

    def adopt(
        self, encoding: Encoding, learn: bool = True, whose: str = "the learner", impute: bool = False
    ) -> None:  # fmt: skip
        """Use the encoding of a learner: columns are matched by name, in any order, or by position without names.

        Args:
            encoding: Encoding of the learner.
            learn: Whether new features may be added.
            whose: Name of the learner in messages.
            impute: Whether columns may be absent, all their cells missing, and others be new, and ignored; otherwise
                either is an error.
        """
        if learn:
            check_label_weights(encoding, self.weights, whose)
        if not self._reader.tokens >= {*encoding.missing}:
            self._reader.tokens |= {*encoding.missing}
            self._first = self._reader.first_cells()
        self._mark = decimal_mark(([c.form] for c in encoding.columns if c.kind == "number" and c.form), POINT)
        self._adopt_lags(encoding, learn, whose)
        if encoding.named and self._reader.named:
            label = self._choice.label_as(encoding, self.label, self._reader, learn, whose)
            self._choice = self._choice.left_out_as(encoding, label, self.weights, self._reader, learn, whose)
            self.notes[:] = [
                note for note in self.notes if note not in self._advice
            ]  # obsolete: the learner has fixed the columns
            if label is not None and label != self.label:
                self.target_column = Target(label, f"as {whose} learned")
            self._choose(label)
        self._sources, note = matched_columns(encoding, self.columns, self._reader, whose, impute, learn)
        if note and (sentence := f"the columns of {self.name} {note}") not in self.notes:
            self.notes.append(sentence)
        self._point &= encoding.dense
        self._learn, self._adopted, self._surprises = learn, True, Surprises()
        self.encoding = encoding if learn else Encoding.restore(encoding.state())

    def _adopt_lags(self, encoding: Encoding, learn: bool, whose: str) -> None:
        """Continue the lags of a learner; a table with other lags is an error."""
        own = self._reader.lags if isinstance(self._reader, Lagged) else None
        if encoding.lags is None or (own is not None and not own.same(encoding.lags)):
            if own is not None:
                had = "none" if encoding.lags is None else f"{encoding.lags.count}"
                raise MismatchError(f"a game keeps its lags: {whose} has {had}. Leave them out.")
            return
        if isinstance(self._reader, Lagged):
            self._reader = self._reader.inner
        label = (self.label if self.label is not None and learn else None) if not self.unlabelled else None
        if label is not None and self._choice.label is None and encoding.label in self._reader.names:
            label = encoding.label
        self._add_lags(encoding.lags if learn else Lags.restore(encoding.lags.state()), label)

    def extent(self) -> int:
        """Return the number of rows, or the size of a text in bytes."""
        extent = self._reader.extent() if self.rereadable else None
        return super().extent() if extent is None else extent

    def borders(self) -> Sequence[int]:
        """Return the first rows of record batches or row groups."""
        return self._reader.borders()

    def part(self, first: int, last: int) -> Self:
        """Return the rows that start from `first` on and before `last`: rows, or bytes of a text.

        The first rows of the table determine columns and labels; a part with other features is an error.
        """
        self._within(first, last)
        part = copy.copy(self)
        part._reader = self._reader.part(first, last)
        part.read_as(self)
        part.name, part.rows = part._reader.name, None if self.rows is None else last - first
        part.weights.seed = first  # other coins for the rows of each part
        return part

    def read_as(self, other: Stream) -> None:
        """Use the columns and labels of another table."""
        if not isinstance(other, Table):
            raise SourceError(f"both sources must be tables: {self.name} is one, {other.name} is not.")
        known = other._label_state()
        self.__dict__.pop("notes", None)
        self.adopt(Encoding.restore(other.encoding.state()), whose=other.name)
        self._labels = None if other._labels is None else other._labels.copy()
        by_label: LabelWeights = BALANCED if other.weights.balanced else other.weights.by_label
        self.weights, self._pass_notes = RowWeights(other.weights.column, by_label, met=True), []
        self._point = other._point
        self._given = {**known, "known": [*self.encoding.known()]}

    def _label_state(self) -> Position:
        """Return the label values found in the first rows."""
        if self.multiclass:
            raise SourceError(f"only binary labels can be read in parts: those of {self.name} are multiclass.")
        if self._given is None:
            next(iter(self.batches()), None)
        return self._given or ({} if self._labels is None else self._labels.written.state())

    def _check_known(self) -> None:
        """Raise SourceError for a part with features that the first rows of its table lack."""
        if self._given is not None and self.encoding.known() != self._given["known"]:
            names = {column.name for column in self.encoding.columns if column.kind in ("category", "time", "unknown")}
            which = f" ({', '.join(sorted(names)[:3])})" if names else ""
            raise SourceError(
                f"a table read in parts must have all features in its first rows: {self.name} has more{which}",
                "a new category, or the first cell that is missing",
                Advice("Pass ", Option("bits", 18), " to hash them, or convert the table first: novikoff convert."),
            )

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        if start and self.encoding.knows_less(_known(start)):
            yield from self._from_beginning(_played(start))
            return
        row, read = (_played(start), count_at(start)) if start else (0, 0)  # rounds played, and rows read
        there = [column for column in self.encoding.columns if column.name in self._sources]
        wanted: dict[str, Kind] = {self._sources[c.name]: self._as_written(c).cells for c in there}
        if self.carried is not None:
            wanted.setdefault(self.carried, "category")
        if self.weights.column is not None:
            wanted[self.weights.column] = "number"
        labels = self._labels
        if labels is not None:
            wanted[labels.name] = labels.kind
            labels.written.begin(self.expected, start or self._given)
        self.weights.begin(start)
        self._surprises, self._no_label = Surprises(), 0
        self._ends = np.zeros(0, np.int64), np.zeros(0, np.int64)
        pieces = self._reader.read(start, wanted)
        try:
            for whole in pieces if labels is None else labels.settled(pieces, self._reader):
                looked = len(self._first[self._reader.names[0]]) - read
                for every in self._known_pieces(whole, looked):
                    piece = self._with_label(every)
                    known = self.encoding.width
                    x, y, counts, error = self._rows(piece)
                    self._check_known()
                    played = row + (len(y) if counts is None else int(counts.sum()))
                    end = None if error or piece.end is None else self._position(piece.end, played)
                    self._note_ends(piece, row, len(y), counts)
                    for part, rows in cut_by_width(x, known, self.encoding) if len(y) else ():
                        last = end if rows.stop == len(y) else None
                        self._last = piece, rows.start
                        if counts is None:
                            yield Batch(part, y[rows], row + rows.start + 1, last, "owned", encoding=self.encoding)
                        else:
                            for batch in repeated(part, y[rows], counts[rows], row, last):
                                yield replace(batch, encoding=self.encoding)
                            row += int(counts[rows].sum())
                    row, read = played, read + len(y) + every.rows - piece.rows
                    if error:
                        raise error
            if row == 0 and self._given is None and self._no_label and not self.keep_all:
                do = Advice("Name the column of the labels with ", Option("label"), ".")
                without = f"all {counted(self._no_label, 'row')} of {self.name} are without"
                raise SourceError(f"a row must have a label in column {quoted(self.label)}", without, do)
            if row == 0 and self._given is None:
                raise SourceError(f"a source must not be empty: {self.name} has no rows.")
            if not self._adopted:
                self._check_met()
        except LabelError as error:
            if self._no_label:
                have = f"{counted(self._no_label, 'row')} {'has' if self._no_label == 1 else 'have'} no label"
                error.advise(f"{have}, or one that is read as missing, such as NA: rename it if it is a label.")
            raise
        finally:
            self._update_notes()

    def _note_ends(self, piece: Piece, row: int, rows: int, counts: NDArray[np.int64] | None) -> None:
        """Store the round after which each row of a piece is played, for `played`."""
        if piece.numbers is None:
            return
        ends = row + (np.arange(1, rows + 1) if counts is None else np.cumsum(counts))
        waiting = self._ends[0] > row
        self._ends = (np.append(self._ends[0][waiting], ends), np.append(self._ends[1][waiting], piece.numbers[:rows]))

    def _with_label(self, piece: Piece) -> Piece:
        """Return the piece without rows that have no label, unless all are kept; they are counted.

        At other predictions they are errors.
        """
        if self._labels is None or not (self._learn or self.keep_all) or not piece.rows:
            return piece
        gone = cells.missing_rows(piece.arrays[self._labels.name])
        if gone is None:
            return piece
        self._no_label += int(np.count_nonzero(gone))
        return piece if self.keep_all else piece.without(gone)

    def _known_pieces(self, piece: Piece, looked: int) -> Iterator[Piece]:
        """Yield the piece, split where a column first has a value: one of unknown kind, or one that is new."""
        for part in cut_where_new(piece, self.encoding, self._sources, self._reader, self._learn):
            yield from cut_where_known(part, looked, self.encoding, self._sources)
            looked -= part.rows

    def __getstate__(self) -> dict[str, object]:
        """Return what is pickled: without the piece behind the last batch, which holds functions."""
        return {name: value for name, value in self.__dict__.items() if name != "_last"}

    def cells(self, row: int) -> dict[str, object]:
        """Return a row of the last batch by column, None where a value is missing; rows must not be weighted."""
        piece, start = self._last
        found = {
            column.name: piece.arrays[self._sources[column.name]].slice(start + row, 1).to_pylist()[0]
            for column in self.encoding.columns
            if column.name in self._sources
        }
        return {name: None if is_missing(cell, NO_FEATURE) else cell for name, cell in found.items()}

    def carry(self, column: str | int) -> None:
        """Keep the values of a column, such as an id, for `carried_values`; the column may also be a feature."""
        self.carried = find(self._reader, column, "the id column")

    def carried_values(self, rows: int) -> list[object]:
        """Return the values of the column that `carry` named, for the `rows` rows of the last batch."""
        assert self.carried is not None
        piece, start = self._last
        found: list[object] = cells.plain(piece.arrays[self.carried]).slice(start, rows).to_pylist()
        return found

    def unlabelled_rows(self, rows: int) -> NDArray[np.bool_] | None:
        """Return which of the `rows` rows of the last batch have no label, if they are kept; None if none."""
        if self._labels is None or not self.keep_all:
            return None
        piece, start = self._last
        return cells.missing_rows(piece.arrays[self._labels.name].slice(start, rows))

    @property
    def surprises(self) -> Surprises:
        """Unseen values of the last pass, in the rows of a table that is predicted."""
        return self._surprises

    def _from_beginning(self, row: int) -> Iterator[Batch]:
        """Yield the batches after `row` rounds, reading from the start to find the feature indices."""
        for batch in self.batches():
            done = batch.first - 1
            if done + len(batch) > row:
                yield batch if done >= row else replace(batch.part(row - done, len(batch)), first=row + 1)

    def _check_met(self) -> None:
        """Raise AbsentLabelError if the positive label, next to two others, or a weighted label never occurs."""
        written = None if self._labels is None or self._labels.numbers else self._labels.written
        if written is not None and written.known.absent and written.mistaken:
            raise AbsentLabelError(
                "the positive label must occur", f"{self.name} has {written.met}, not {shown(self._positive)}",
                Advice("Pass ", Option("positive"), " and one of these."),
            )  # fmt: skip
        if self.weights.unmet:
            label = min(self.weights.unmet)
            raise AbsentLabelError(
                "every label with a weight must occur",
                f"{self.name} has "
                + (f"no {quoted(label)}" if written is None else f"{written.met}, not {quoted(label)}"),
                Advice("Correct or leave out its weight in ", Option("label_weights"), "."),
            )

    def _update_notes(self) -> None:
        """Replace the notes of an earlier pass by those of this one."""
        self.notes[:] = [note for note in self.notes if note not in self._pass_notes]
        self._pass_notes = []
        if self.skipped:
            rows = f"{len(self.skipped)} bad rows" if len(self.skipped) > 1 else "1 bad row"
            self._pass_notes.append(f"{rows} of {self.name} skipped, the first: {self.skipped[0][1]}")
        if self._no_label:
            what = "predicted, and not counted" if self.keep_all else "skipped"
            self._pass_notes.append(f"{counted(self._no_label, 'row')} of {self.name} without a label {what}.")
        for label in sorted(self.weights.unmet):
            self._pass_notes.append(f"no label of {self.name} is {quoted(label)}, which has a weight.")
        if self._labels is not None and self._labels.written.known.absent:
            self._pass_notes.append(
                f"no label of {self.name} is {shown(self._labels.written.known.positive)}, the positive label: all are "
                "-1."
            )
        if isinstance(self._reader, Lagged) and self._reader.unknown and not self._learn:
            self._pass_notes.append(
                f"{counted(self._reader.unknown, 'row')} of {self.name} with lags of labels that are not known yet: "
                "they are missing. Learn the labels first, or play with a horizon."
            )
        played = max(self._surprises.rows, 1)
        for column, (new, first) in self._surprises.categories.items():
            self._pass_notes.append(
                f"{counted(new, 'row')} of {self.name} with a category of {column} that was not in training, the "
                f"first {quoted(first)}: it has weight 0.{unusual(new, played)}"
            )
            alike = self._surprises.alike(column, self.encoding)
            if alike is not None:
                self._pass_notes.append(
                    f"{column} of {self.name} has {quoted(alike[0])} where training had {quoted(alike[1])}: they count "
                    "as two categories. Write them alike."
                )
        for column, filled in self._surprises.numbers.items():
            self._pass_notes.append(
                f"{counted(filled, 'row')} of {self.name} without a number in {column}, where none was missing in "
                f"training: replaced by the mean, {self.encoding.means.get(column, 0.0):.4g}."
                f"{unusual(filled, played)}"
            )
        elsewhere = () if self.encoding.lags is None else self.encoding.lags.names
        for column, lost in self._surprises.gaps.items():
            if column not in self._sources or column in elsewhere:  # has a note of its own
                continue
            before, share = self.encoding.missed.get(column), lost / played
            if before is not None and lost >= FEW and share > 2.0 * before + UNUSUAL:
                self._pass_notes.append(
                    f"{counted(lost, 'row')} of {self.name} without a value in {column}: {100 * share:.3g} %, where "
                    f"{100 * before:.3g} % were missing in training. Check the column."
                )
        self.notes += self._pass_notes

    def _rows(self, piece: Piece) -> tuple[Any, NDArray[Any], NDArray[np.int64] | None, SourceError | None]:
        """Return x, y and weights of the rows up to a bad one, and its error."""
        rows, error = piece.rows, piece.error and self._reader.numbered(piece.error)
        while True:
            try:
                y, x = self._y(piece, rows), self._x(piece, rows)
                return x, y, self.weights.of(piece.arrays, rows, self.label, y), error
            except SourceError as wrong:
                lone = self._labels is not None and self._labels.written.known.lone
                if error is not None and lone:  # the second label may be in the bad row
                    y = self._y(piece, 0)
                    return self._x(piece, 0), y, self.weights.of(piece.arrays, 0, self.label, y), error
                rows = wrong.where.pop("row")
                there = piece.where(piece.rows - 1 if wrong.where.get("up_to") else rows)
                error = self._reader.numbered(wrong.at(**there).at(source=self.name))

    def _as_written(self, column: Column) -> Column:
        """Return a column of the encoding with the number format of this table, if it has one."""
        own = next((one for one in self.columns if one.name == self._sources.get(column.name)), None)
        return replace(column, form=own.form) if own is not None and own.kind == column.kind == "number" else column

    def _x(self, piece: Piece, rows: int) -> NDArray[np.number] | Sparse:
        if not rows:
            return np.empty((0, self.encoding.width))
        arrays = {
            c.name: piece.arrays[self._sources[c.name]].slice(0, rows) if c.name in self._sources
            else cells.array([None] * rows, c.kind)
            for c in self.encoding.columns
        }  # fmt: skip
        for column in self.encoding.columns:
            written = self._as_written(column)
            if written.form != column.form and written.kind == "number":
                arrays[column.name] = cells.number_array(arrays[column.name], written)
        x: NDArray[np.number] | Sparse = self.encoding.rows(arrays, rows, self._learn, self._surprises)
        self._surprises.rows += rows
        if isinstance(x, np.ndarray) and not self._point:
            return x.astype(np.float64, copy=False)
        return x

    def _y(self, piece: Piece, rows: int) -> NDArray[Any]:
        if self._labels is None:
            return np.full(rows, -1, dtype=np.int8)
        if not rows:
            return self._labels.nothing()
        array = piece.arrays[self._labels.name].slice(0, rows)
        gone = cells.missing_rows(array) if self.keep_all else None
        if gone is None:
            return self._labels.values(array)
        known = np.flatnonzero(~gone)
        try:
            found = self._labels.values(array.take(known)) if len(known) else self._labels.nothing()
        except SourceError as wrong:
            wrong.where["row"] = int(known[wrong.where["row"]])
            raise
        y = np.full(rows, 0 if self._labels.numbers or self.multiclass else -1, dtype=found.dtype)
        y[known] = found
        return y

    def _position(self, end: Position, played: int) -> Position:
        return {
            **end,
            **({"played": played} if played != end["row"] or self.weights.used or self._given is not None else {}),
            **(self._labels.written.state() if self._labels is not None else {}),
            **(self.weights.state() if self.weights.used else {}),
            "known": self.encoding.known(),
        }


def unusual(rows: int, of: int) -> str:
    """Return a warning if the share of rows is so large that the table may differ from that of training; else ""."""
    share = rows / of
    return f" That is {100 * share:.3g} % of the rows: check the column." if share > UNUSUAL and rows >= FEW else ""


def _known(position: Position) -> list[int]:
    """Return the sizes that the encoding had at a position."""
    known = position["known"]
    assert isinstance(known, list)
    return [one for one in known if isinstance(one, int)]


def _played(position: Position) -> int:
    """Return the number of rounds up to a position: rows, unless they are weighted."""
    return count_at(position, "played" if "played" in position else "row")


def cut_where_new(
    piece: Piece, encoding: Encoding, sources: dict[str, str], reader: Reader, learn: bool
) -> Iterator[Piece]:  # fmt: skip
    """Yield the piece, split where a column that is not in the first rows has its first value; add it there.

    Args:
        piece: Rows to split.
        encoding: Encoding of the table.
        sources: Name in the table of each column of the encoding, which gets the new ones.
        reader: Reader of the table.
        learn: Whether new columns may be added; otherwise they are ignored.
    """
    new = [name for name in piece.arrays if name not in reader.names and name not in sources]
    if not new or not learn:
        yield piece
        return
    firsts = []
    for name in new:
        codes = cells.distinct(piece.arrays[name], NO_FEATURE)[1]
        if (codes >= 0).any():
            firsts.append((int(np.argmax(codes >= 0)), name))
    done = 0
    for first, name in sorted(firsts, key=lambda one: one[0]):
        if not encoding.open:
            must, was = "rows must have the keys of the first ones", f"has a new key, {quoted(name)}"
            do = "Add it to the first row, with the value None if there is none."
            raise SourceError(must, was, do, **piece.where(first - done)).at(source=reader.name)
        if first > done:
            before, piece = piece.cut(first - done)
            yield before
            done = first
        encoding.admit(recognise(name, cells.plain(piece.arrays[name]).slice(0, 1).to_pylist()))
        sources[name] = name
    yield piece


def cut_where_known(piece: Piece, looked: int, encoding: Encoding, sources: Mapping[str, str]) -> Iterator[Piece]:
    """Yield the piece, split where a column of unknown kind has its first value.

    Also split after the `looked` first rows, whose features are known: so all batches before have the same width.

    Args:
        piece: Rows to split.
        looked: Number of rows whose features are known.
        encoding: Encoding of the table.
        sources: Name in the table of each column of the encoding.
    """
    if 0 < looked < piece.rows and not encoding.dense and encoding.bits is None:
        first_rows, piece = piece.cut(looked)
        yield from cut_where_known(first_rows, looked, encoding, sources)
    while True:
        cut = piece.rows
        for column in [column for column in encoding.columns if column.kind == "unknown"]:
            if piece.rows == 0 or column.name not in sources:
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


def cut_by_width(
    x: NDArray[np.number] | Sparse, known: int, encoding: Encoding
) -> Iterator[tuple[NDArray[np.number] | Sparse, slice]]:
    """Yield the rows, split where dense rows grow wider: at the first missing value of a column.

    So the width of each row does not depend on the batches, and a game that is stopped in between has no features of
    later rows.
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
