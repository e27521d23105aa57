"""Predictions in an Arrow or Parquet file, as a stream of advice or of losses.

Columns of numbers and truth values become float64; null and NaN say nothing. Columns of text are for zero-one loss.
Cost
    One pass; memory of some rows at a time, of Parquet also a row group's pages. The file is mapped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.errors import SourceError
from novikoff.sources.arrow_file import ParquetFile, index_notes, open_arrow, reading
from novikoff.sources.expert_cells import FIRST_TEXT, OUTCOME_NAMES, Values, choose
from novikoff.sources.expert_lines import as_cell
from novikoff.sources.expert_losses import Pair, another, not_of_the_pair, suggested, told_of
from novikoff.sources.layout import SNIFFED_ROWS, named
from novikoff.sources.on_disk import OnDisk
from novikoff.sources.pandas_index import check_asked
from novikoff.stream import Stream
from novikoff.types import Batch, Domain, Position

CELLS_AT_ONCE = 2**20
"""Numbers in a batch, about."""


class ExpertColumns(Stream):
    """The rounds of a table in an Arrow IPC or a Parquet file."""

    rereadable = True

    def __init__(
        self, source: Any, outcome: str | int | None, without: Sequence[str | int], loss: str | None, sleeping: bool
    ) -> None:
        self._source = source if isinstance(source, OnDisk) else OnDisk(source)
        self.name = self._source.name
        self._file = open_arrow(self._source)
        self.notes = [*self._source.notes(), *index_notes(self._file, self.name)]
        names = self._file.names
        known = () if loss == "table" else OUTCOME_NAMES
        check_asked(self._file.index, names, outcome, known, None, self.name)
        without = [column for column in without if column not in self._file.index]  # it is
        self._chosen = choose(names, len(names), outcome, without, loss == "table", self.name)
        self.experts = self.features = self._chosen.experts
        self._wanted = [c for c in (*self._chosen.used, self._chosen.outcome) if c is not None]
        self._plain = [_is_plain(kind) for kind in self._file.schema.types]
        self._at_once = max(CELLS_AT_ONCE // len(self.experts), 64)
        self._sleeping = sleeping
        self.pair: Pair | None = None
        if loss is None:
            loss, self.pair, notes = suggested(self._first_cells(), self._chosen, self.name)
            self.notes += notes
        self.loss = loss
        self.what = "losses" if loss == "table" else "predictions"
        self.domain = Domain("losses" if loss == "table" else "advice", len(self.experts))
        self.values = self._fresh([])

    def __len__(self) -> int:
        return self.count()

    def fingerprint(self) -> dict[str, Any]:
        """The experts, which have a place each in a learner; and size and time of change of a file."""
        return {**self._source.fingerprint(), **told_of(self.experts, self.pair)}

    def count(self) -> int:
        """How many rounds there are."""
        with reading(self._source):
            if isinstance(self._file, ParquetFile):
                return self._file.count()
            return sum(batch.num_rows for batch in self._file.batches(columns=[]))

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        row = start["row"] if start else 0
        self.values = self._fresh(list(start["texts"]) if start else [])
        first = row
        for part in self._parts(row):
            error = None
            try:
                x, y = self._numbers(part)
            except _BadPartError as bad:
                error = bad.cause.at(row=row + bad.row + 1, source=self.name)
                x, y = self._numbers(part.slice(0, bad.row))
            if self.pair is not None and y is not None and (found := another(x, y, self.pair)) is not None:
                error = self._another(x, y, row, *found)
                x, y = x[: found[0]], y[: found[0]]
            row += len(x)
            end = None if error else {"row": row, "texts": list(self.values.texts)}
            if len(x):
                at = row - len(x) + 1
                yield Batch(None if y is None else x, x if y is None else y, at, end, "owned")
            if error:
                raise error
        if row == first == 0:
            raise SourceError(f"a source must not be empty: {self.name} has no rows.")

    def _fresh(self, texts: list[str]) -> Values:
        return Values(self.what, self.loss == "zero-one", self._sleeping, texts)

    def _parts(self, skip: int) -> Iterator[Any]:
        """Record batches of some rows, without the first `skip`; columns that are not used are not looked at."""
        wanted = self._wanted
        if not isinstance(self._file, ParquetFile):
            for batch in self._file.batches(skip, wanted):
                for at in range(0, batch.num_rows, self._at_once):
                    yield batch.slice(at, self._at_once)
            return
        yield from self._file.batches(skip, wanted, self._at_once)

    def _first_cells(self) -> dict[int, list[str]]:
        """The first cells of the outcome and the experts, by the number of their column."""
        for part in islice(self._parts(0), 1):
            head = part.slice(0, SNIFFED_ROWS)
            return {c: [_cell(value) for value in head.column(c).to_pylist()] for c in self._wanted}
        return {c: [] for c in self._wanted}

    def _numbers(self, part: Any) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """The experts' numbers, row by row, and the outcomes; texts are numbered in the order of rows."""
        from novikoff.kernels.cells import transposed

        outcome = self._chosen.outcome
        table = np.empty((len(self._wanted), part.num_rows))
        slow = [j for j, c in enumerate(self._wanted) if not self._copied(part.column(c), table[j], c)]
        fine = np.isfinite(table) | (np.isnan(table) if self._sleeping else False)
        if self.loss == "zero-one":
            fine &= ~(np.abs(table) >= FIRST_TEXT)
        if outcome is not None:
            fine[-1] &= np.isfinite(table[-1])
        slow += [] if fine.all() else np.flatnonzero(~fine.all(axis=1)).tolist()
        if slow:
            self._read(part, sorted({(self._wanted[j], j) for j in slow}), table)
        experts = table[: len(self.experts)]
        x = np.empty(experts.shape[::-1])
        transposed(experts, x)
        return x, None if outcome is None else table[-1]

    def _another(self, x: Any, y: Any, before: int, row: int, expert: int | None) -> SourceError:
        """What is wrong with a value that is not one of the pair."""
        assert self.pair is not None
        column = self._chosen.outcome if expert is None else self._chosen.used[expert]
        value = self.values.shown(y[row] if expert is None else x[row, expert])
        error = not_of_the_pair(value, self.pair, expert is None)
        return error.at(row=before + row + 1, column=named(self._chosen.columns, column or 0), source=self.name)

    def _copied(self, column: Any, out: NDArray[np.float64], c: int) -> bool:
        """Copy a column of numbers; False if it must be read value by value."""
        if not self._plain[c]:
            out[:] = 0.0
            return False
        if column.null_count and (not self._sleeping or c == self._chosen.outcome):
            out[:] = 0.0
            return False
        out[:] = column.to_numpy(zero_copy_only=False)  # null is NaN
        return True

    def _read(self, part: Any, slow: list[tuple[int, int]], table: NDArray[np.float64]) -> None:
        """Read columns value by value, row after row: texts are numbered in that order."""
        found = [part.column(c).to_pylist() for c, _ in slow]
        for row in range(part.num_rows):
            for (c, j), values in zip(slow, found, strict=True):
                try:
                    cell = _cell(values[row])
                    outcome = c == self._chosen.outcome
                    table[j, row] = self.values.outcome(cell) if outcome else self.values.prediction(cell)
                except SourceError as error:
                    raise _BadPartError(row, error.at(column=named(self._chosen.columns, c))) from None


class _BadPartError(Exception):
    """A value that is wrong: its row, and what is wrong with it."""

    def __init__(self, row: int, cause: SourceError) -> None:
        super().__init__(row, cause)
        self.row, self.cause = row, cause


def _is_plain(kind: Any) -> bool:
    """Is a column of this type one of numbers?"""
    import pyarrow as pa

    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind))


def _cell(value: Any) -> str:
    """A value as it would be written in a table; times and the like as Python writes them."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return as_cell(value if value is None or isinstance(value, (str, bool, int, float)) else str(value))
