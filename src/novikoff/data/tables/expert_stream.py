"""The rows of a table of predictions as a stream of advice or of losses, whatever its format.

Rows come as numbers, some at a time: from text by expert_text.py, from all other formats by `Columns`, over the pieces
of the table reader. Columns of numbers and truth values become float64; null and NaN say nothing. Columns of text are
for zero-one loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import SourceError, Where
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Position
from novikoff.data.tables.cells import plain, written
from novikoff.data.tables.column import Kind
from novikoff.data.tables.expert_cells import FIRST_TEXT, Chosen, Values
from novikoff.data.tables.expert_losses import Pair, another, not_of_the_pair, told_of
from novikoff.data.tables.piece import Piece, Reader

TRUTH = {"true": "1", "false": "0"}


@dataclass(frozen=True, eq=False)
class Rounds:
    """Some rows as numbers.

    y       the outcomes; None in a table of losses
    end     where the table goes on
    where   in the source a row, from 0, is
    error   what is wrong with the row behind the last; None if nothing is
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64] | None
    end: Position
    where: Callable[[int], Where]
    error: SourceError | None = None


class Rows(Protocol):
    """Who reads the rows."""

    name: str
    rereadable: bool
    fixed: bool
    rows: int | None

    def rounds(self, start: Position | None, values: Values) -> Iterator[Rounds]:
        """The rows, some at a time, from `start` on."""
        ...

    def count(self) -> int | None:
        """How many rows there are; None if that can be known only by playing them."""
        ...

    def fingerprint(self) -> dict[str, Any]:
        """By what a file is known again; empty for other sources."""
        ...


class ExpertTable(Stream):
    """The rounds of a table.

    loss     the name of the loss that its values are for
    what     how errors call its values
    pair     the only two values there may be, where the loss was chosen because there were no others; else None
    """

    def __init__(self, rows: Rows, chosen: Chosen, loss: str, sleeping: bool, pair: Pair | None = None) -> None:
        self._rows, self._chosen, self._sleeping, self.pair = rows, chosen, sleeping, pair
        self.name, self.rereadable, self.fixed, self.rows = rows.name, rows.rereadable, rows.fixed, rows.rows
        self.loss = loss
        self.what = "losses" if loss == "table" else "predictions"
        self.experts = chosen.experts
        self.features = self.experts if chosen.columns else None
        self.domain = Domain("losses" if loss == "table" else "advice", len(self.experts))
        self.values = self._fresh([])

    def fingerprint(self) -> dict[str, Any]:
        """The experts, which have a place each in a learner; and size and time of change of a file."""
        return {**self._rows.fingerprint(), **told_of(self.experts, self.pair)}

    def count(self) -> int | None:
        return self._rows.count()

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        row = start["row"] if start else 0
        self.values = self._fresh(list(start["texts"]) if start else [])
        for some in self._rows.rounds(start, self.values):
            x, y, error = some.x, some.y, some.error
            if self.pair is not None and y is not None and (found := another(x, y, self.pair)) is not None:
                error = self._another(some, *found)
                x, y = x[: found[0]], y[: found[0]]
            first, row = row + 1, row + len(x)
            end = None if error else {**some.end, "row": row, "texts": list(self.values.texts)}
            if len(x):
                yield Batch(None if y is None else x, x if y is None else y, first, end, "owned")
            if error:
                raise error
        if row == 0:
            raise SourceError(f"a source must not be empty: {self.name} has no rows.")

    def _fresh(self, texts: list[str]) -> Values:
        return Values(self.what, self.loss == "zero-one", self._sleeping, texts)

    def _another(self, some: Rounds, row: int, expert: int | None) -> SourceError:
        """What is wrong with a value that is not one of the pair."""
        assert self.pair is not None
        assert some.y is not None
        chosen = self._chosen
        column = chosen.outcome if expert is None else chosen.used[expert]
        value = self.values.shown(some.y[row] if expert is None else some.x[row, expert])
        error = not_of_the_pair(value, self.pair, expert is None)
        return error.at(**some.where(row)).at(column=chosen.named(column or 0), source=self.name)


class Columns:
    """The rows of a table that a reader has in columns."""

    def __init__(self, reader: Reader, chosen: Chosen) -> None:
        self._reader, self._chosen = reader, chosen
        self.name, self.rereadable, self.fixed, self.rows = reader.name, reader.rereadable, reader.fixed, reader.rows
        self.fingerprint = reader.fingerprint

    def count(self) -> int | None:
        if self.rows is None and self._reader.independent:
            return sum(piece.rows for piece in self._reader.pieces(None, {}))
        return self.rows

    def rounds(self, start: Position | None, values: Values) -> Iterator[Rounds]:
        wanted: dict[str, Kind] = {self._reader.names[c]: "number" for c in self._chosen.wanted}
        for piece in self._reader.pieces(start, wanted):
            x, y, error = self._numbers(piece, values)
            yield Rounds(x, y, piece.end or {}, piece.where, error)

    def _numbers(
        self, piece: Piece, values: Values
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, SourceError | None]:
        """The experts' numbers, row by row, and the outcomes, up to a row that is wrong; and what is wrong with it."""
        outcome, wanted, rows, error = self._chosen.outcome, self._chosen.wanted, piece.rows, piece.error
        table = np.zeros((len(wanted), rows))
        arrays = [plain(piece.arrays[self._reader.names[c]]) for c in wanted] if rows else []
        slow = {
            j
            for j, (c, array) in enumerate(zip(wanted, arrays, strict=False))
            if not _copied(array, table[j], values.sleeping and c != outcome)
        }
        fine = np.isfinite(table) | (np.isnan(table) if values.sleeping else False)
        if values.text:
            fine &= ~(np.abs(table) >= FIRST_TEXT)
        if outcome is not None:
            fine[-1] &= np.isfinite(table[-1])
        slow |= {int(j) for j in np.flatnonzero(~fine.all(axis=1))}
        if slow:
            try:
                self._read(sorted((wanted[j], j, arrays[j].to_pylist()) for j in slow), table, values)
            except SourceError as wrong:
                rows = wrong.where.pop("row")
                error = wrong.at(**piece.where(rows)).at(source=self.name)
        x = np.ascontiguousarray(table[: len(self._chosen.used), :rows].T)
        return x, None if outcome is None else table[-1, :rows], error

    def _read(
        self, columns: Sequence[tuple[int, int, list[Any]]], table: NDArray[np.float64], values: Values
    ) -> None:  # fmt: skip
        """Read columns value by value, row after row: texts are numbered in that order."""
        for row in range(table.shape[1]):
            for c, j, cells in columns:
                try:
                    cell, outcome = as_cell(cells[row]), c == self._chosen.outcome
                    table[j, row] = values.outcome(cell) if outcome else values.prediction(cell)
                except SourceError as error:
                    error.at(column=self._chosen.named(c), row=row)
                    raise


def _copied(array: Any, out: NDArray[np.float64], silent: bool) -> bool:
    """Copy a column of numbers, NaN where nothing is said, if that may be; False if it must be read value by value."""
    import pyarrow as pa

    kind = array.type
    numbers = pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    if not numbers or (array.null_count and not silent):
        return False
    out[:] = array.to_numpy(zero_copy_only=False)  # null is NaN
    return True


def as_cell(value: Any) -> str:
    """A value as it would be written in a table: true is 1 and false 0."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, str):
        return TRUTH.get(value, value)  # of JSON, where there are both texts and truth values in a column
    return "" if isinstance(value, (list, dict)) else written(value)
