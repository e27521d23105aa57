"""Examples with numbers to be predicted: arrays, sparse matrices, data frames, or any iterable of (x, y).

Outcomes y are finite real numbers, shown as they are; their range is the learner's matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.errors import MismatchError, SourceError, Where
from novikoff.sources.arrays import Arrays
from novikoff.sources.columns import Columns, numbers
from novikoff.sources.frames import SparseMatrix, _is_frame, _is_sparse, _table
from novikoff.sources.layout import named
from novikoff.sources.matched import names_of
from novikoff.sources.pairs import HELD, is_plain
from novikoff.stream import Stream
from novikoff.types import Batch, Domain, Example, Position

if TYPE_CHECKING:
    from novikoff.sources.expert_table import ExpertTable


class Targets(Stream):
    """The rows of X with their outcomes y; X may be of scipy.sparse. `features` names the columns, as for arrays."""

    rereadable = True
    outcomes = "numbers"

    def __init__(
        self, X: Any, y: ArrayLike, name: str = "targets", features: Sequence[str] | None = None
    ) -> None:  # fmt: skip
        self.name = name
        self._y = _outcomes(y, name)
        unused = np.ones(len(self._y), dtype=np.int8)  # labels, of which the source of the rows must have some
        if _is_sparse(X):
            self._rows: SparseMatrix | Arrays = SparseMatrix(X, unused, name=name)
        else:
            named = names_of(X) if features is None else features
            self._rows = Arrays(_columns(X, name), unused, name=name, features=named)
            self.features = self._rows.features
        self.domain, self.rows = self._rows.domain, len(self._y)

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        for batch in self._rows.batches(start):
            first = batch.first - 1
            yield replace(batch, y=self._y[first : first + len(batch)])


class TargetTable(Stream):
    """A table in a file: one column the outcome, the others features, all of them numbers (sources/expert_table.py)."""

    outcomes = "numbers"

    def __init__(self, table: ExpertTable) -> None:
        self._table = table
        self.name, self.rereadable, self.fixed = table.name, table.rereadable, table.fixed
        self.features, self.notes = table.features, table.notes
        self.domain = Domain("vector", len(table.experts))

    def fingerprint(self) -> dict[str, Any]:
        """That of the file."""
        return self._table.fingerprint()

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        return self._table.batches(start)


def target_table(
    source: Any, label: str | int | None = None, header: bool | None = None, threads: int | None = None
) -> TargetTable:
    """The examples in a CSV, TSV, JSON lines, Arrow or Parquet file; `label` is the outcome column."""
    from novikoff.sources.expert_table import expert_table

    return TargetTable(expert_table(source, label, "squared", header=header, threads=threads))


class TargetPairs(Stream):
    """Pairs (x, y), played one by one; there may be no end of them. A list can be read again."""

    outcomes = "numbers"

    def __init__(self, pairs: Iterable[tuple[Example, float]], name: str = "pairs") -> None:
        self.name, self._pairs = name, pairs
        self.rereadable, self.fixed = iter(pairs) is not pairs, type(pairs) in HELD
        self.domain = Domain("any")

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        t = skipped = start["row"] if start else 0
        for t, pair in enumerate(islice(self._pairs, skipped, None), start=skipped + 1):
            try:
                x, y = pair
            except (TypeError, ValueError):
                must = "each item must be a pair (x, y)"
                raise SourceError(must, f"is {pair!r}", item=t, source=self.name) from None
            self.fixed = self.fixed and is_plain(pair)
            yield Batch([x], _outcomes([y], f"item {t} of {self.name}"), t, {"row": t})
        if t == 0:
            left = "" if self.rereadable else " (left). Pass a list to read it again"
            raise SourceError(f"a source must not be empty: {self.name} has no items{left}.")


def targets(environment: Any) -> Stream:
    """A stream of numbers to be predicted, from what is no stream yet."""
    if _is_frame(environment):
        return target_frame(environment)
    if isinstance(environment, tuple) and len(environment) == 2 and hasattr(environment[1], "__len__"):
        x, y = environment
        if not (isinstance(x, tuple) and isinstance(y, tuple)):  # those are two pairs (x, y)
            return Targets(x, y)
    if isinstance(environment, Iterable):
        return TargetPairs(environment)
    raise MismatchError(
        f"an environment must be a stream, arrays (X, y) or an iterable of (x, y): got {type(environment).__name__}."
    )


def target_frame(
    frame: Any, target: str | int | None = None, columns: Sequence[str | int] | None = None, name: str = "frame"
) -> Targets:
    """The rows of a data frame. `target` is the column to be predicted: by default label, y, class, target or the last.

    columns   the feature columns, by name or number. By default all but the target
    """
    table = _table(frame, target, columns, name)
    found = Columns(table.schema, name, target, columns)
    where: Where = {"column": named(found.names, found.target), "source": name}
    column = table.column(found.target)
    if column.null_count:
        was = f"has {column.null_count:,} that are"
        raise SourceError("outcomes must not be missing", was, "Drop the rows.", **where)
    try:
        y = numbers(column, np.float64, where, 1)
    except (TypeError, ValueError):
        raise SourceError("outcomes must be numbers", f"is {column.type}", "Choose another column.", **where) from None
    return Targets(found.x(table, 1), y, name, found.features)


def _columns(X: ArrayLike, name: str) -> NDArray[Any]:
    """X as doubles (rows, width); what else is wrong with it, `Arrays` will say."""
    try:
        examples = np.asarray(X)
    except ValueError:
        raise SourceError(
            f"X must be an array: {name} has rows of different lengths. Make them of one length."
        ) from None
    if examples.dtype.kind in "iub":
        examples = examples.astype(np.float64)
    return examples[:, np.newaxis] if examples.ndim == 1 else examples


def _outcomes(y: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        given = np.asarray(y)
    except ValueError:
        raise SourceError(f"outcomes must be numbers: {name} has rows of several.") from None
    if given.dtype.kind not in "iufb":
        raise SourceError(f"outcomes must be numbers: {name} has {given.dtype}. Labels are for a classifier.")
    if given.ndim != 1:
        raise SourceError(f"y must have one dimension: got shape {given.shape}.")
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf, refused below
        reals = np.ascontiguousarray(given, dtype=np.float64)
    finite = np.isfinite(reals)
    if not finite.all():
        row = int(np.argmin(finite))
        raise SourceError(f"outcomes must be finite: row {row + 1} of {name} has {reals[row]}. Clean or drop the row.")
    return reals
