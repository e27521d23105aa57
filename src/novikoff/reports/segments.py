"""Errors by segment: each level of a category, each range of a number.

Ranges are quarters of the rows. The errors are those of the rows that a `Recorder` kept (game/course.py): every row of
a short game, a random sample of a long one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import counted
from novikoff.core.types import Sparse
from novikoff.game.ledger import Ledger
from novikoff.reports.charts import Bar, Bars
from novikoff.reports.sentences import about, brief

DRAWN, LISTED = 6, 40
"""Largest number of columns that are drawn, and listed."""
LEVELS = 8
"""Largest number of levels of a column; the rarest ones are joined."""
DISTINCT = 6
"""Largest number of values of a number that are levels of their own."""
WIDEST = 400
"""Largest number of features; wider rows, such as those of texts, have no segments."""
ENOUGH = 20
"""Smallest number of rows of a segment that counts in the order of columns: one wrong row of one is chance."""
FEWEST = 30
"""Smallest number of rows of a game with segments."""


class Segment(NamedTuple):
    """One level or range of a column.

    Attributes:
        name: Level or range.
        rows: Number of rows.
        error: Sum of their errors.
    """

    name: str
    rows: int
    error: float


@dataclass(frozen=True, slots=True)
class Column:
    """The segments of one column.

    Attributes:
        name: Name of the column.
        segments: Its segments; every row is in one of them.
        spread: Variance between segments of enough rows over that within, per degree of freedom: about 1 if errors do
            not depend on the column.
    """

    name: str
    segments: list[Segment]
    spread: float


@dataclass(frozen=True, slots=True)
class Segments:
    """Errors of a game by segment.

    Attributes:
        columns: Columns, those whose segments differ most first.
        rows: Number of rows in the sample.
        seen: Number of rows from which it was drawn.
        error: Mean error of the sample.
    """

    columns: list[Column]
    rows: int
    seen: int
    error: float

    @property
    def note(self) -> str:
        """The rows that were counted."""
        if self.rows == self.seen:
            return f"Counted on all {counted(self.rows, 'row')}."
        return f"Counted on a random sample: {self.rows:,} of {counted(self.seen, 'row')}."


def of(ledger: Ledger) -> Segments | None:
    """Return the errors by segment; None if the rows were not recorded, or have no columns."""
    course = ledger.course
    if course is None or course.sample.rows < FEWEST or ledger.weighted is not None:
        return None
    errors = course.sample.errors()
    found = []
    for name, values, names in _columns(ledger):
        segments = _segments(values, names, errors)
        if len(segments) > 1:
            found.append(Column(name, segments, _spread(segments, errors)))
    if not found:
        return None
    found.sort(key=lambda one: -one.spread)
    return Segments(found[:LISTED], len(errors), course.sample.seen, float(errors.mean()))


def _columns(ledger: Ledger) -> Iterator[tuple[str, NDArray[np.float64], list[str]]]:
    """Yield name, (rows,) values and names of their codes; the names are empty for numbers, whose NaN is missing."""
    assert ledger.course is not None
    parts = [rows for _, rows, _ in ledger.course.sample.parts]
    if any(isinstance(rows, Sparse) for rows in parts):
        sparse = Sparse.concatenated([rows if isinstance(rows, Sparse) else Sparse.of_dense(rows) for rows in parts])
        yield from _encoded(ledger, sparse)
        return
    width = max(rows.shape[1] for rows in parts)  # type: ignore[union-attr]
    if width > WIDEST:
        return
    x = np.full((sum(map(len, parts)), width), np.nan)
    start = 0
    for rows in parts:
        x[start : start + len(rows), : rows.shape[1]] = rows  # type: ignore[union-attr]
        start += len(rows)
    encoding = ledger.player.encoding
    names = list(encoding.sources() if encoding is not None else ledger.feature_names or ())
    for place in range(width):
        yield names[place] if place < len(names) else f"x{place}", x[:, place], []


def _encoded(ledger: Ledger, rows: Sparse) -> Iterator[tuple[str, NDArray[np.float64], list[str]]]:
    """Yield the columns of a table whose rows are sparse: features of one column are its levels."""
    encoding = ledger.player.encoding
    if encoding is None or encoding.width > WIDEST * LEVELS:
        return
    order = np.argsort(rows.indices[rows.entries], kind="stable")
    features, values = rows.indices[rows.entries][order], rows.values[rows.entries][order]
    owners = np.repeat(np.arange(len(rows)), np.diff(rows.indptr).astype(np.int64))[order]
    grouped: dict[str, list[tuple[int, Any]]] = {}
    for place, meaning in enumerate(encoding.meanings()):
        grouped.setdefault(meaning.column, []).append((place, meaning))
    for name, members in grouped.items():
        numeric = any(meaning.kind == "number" for _, meaning in members)
        column = np.zeros(len(rows)) if numeric else np.full(len(rows), -1.0)
        names: list[str] = []
        for place, meaning in members:
            here = slice(*np.searchsorted(features, [place, place + 1]).tolist())
            if meaning.kind == "number":
                column[owners[here]] = values[here]
        for place, meaning in members:
            here = slice(*np.searchsorted(features, [place, place + 1]).tolist())
            if meaning.kind == "missing":
                column[owners[here]] = np.nan
            elif meaning.kind != "number" and not numeric:
                column[owners[here]] = len(names)
                names.append(meaning.category)
        yield name, column, [] if numeric else [*names, "other"]


def _segments(values: NDArray[np.float64], names: list[str], errors: NDArray[np.float64]) -> list[Segment]:
    """Return the segments of one column.

    Args:
        values: (rows,) numbers, or codes of levels (-1: the last name); NaN where missing.
        names: Names of the codes; empty for numbers.
        errors: (rows,) errors.
    """
    missing = np.isnan(values)
    known = values[~missing]
    codes = np.full(len(values), -1, dtype=np.int64)
    distinct = np.unique(known) if not names else known
    if names:
        codes[~missing] = np.where(known < 0, len(names) - 1, known).astype(np.int64)
        texts = list(names)
    elif len(distinct) <= DISTINCT:
        codes[~missing] = np.searchsorted(distinct, known)
        texts = [f"{value:g}" for value in distinct.tolist()]
    else:
        cuts = np.unique(np.quantile(known, [0.25, 0.5, 0.75]))
        codes[~missing] = np.searchsorted(cuts, known, side="left")  # code k: at most cuts[k]
        texts = _ranges(cuts.tolist())
    texts.append("missing")
    codes[missing] = len(texts) - 1
    rows, sums = np.bincount(codes, minlength=len(texts)), np.bincount(codes, errors, minlength=len(texts))
    found = [Segment(text, int(n), float(error)) for text, n, error in zip(texts, rows, sums, strict=True) if n]
    if names and len(found) > LEVELS:
        ranked = sorted(found, key=lambda one: -one.rows)
        few = ranked[LEVELS - 1 :]
        rest = Segment(f"{len(few):,} others", sum(one.rows for one in few), math.fsum(one.error for one in few))
        found = [*ranked[: LEVELS - 1], rest]
    return found


def _ranges(cuts: list[float]) -> list[str]:
    """Return the names of the ranges between cuts, with as many digits as tell the cuts apart."""
    texts = next(
        found for digits in (3, 4, 6, 17)
        if len(set(found := [f"{cut:.{digits}g}" for cut in cuts])) == len(cuts) or digits == 17
    )  # fmt: skip
    between = [f"{low} to {high}" for low, high in pairwise(texts)]
    return [f"up to {texts[0]}", *between, f"above {texts[-1]}"]


def _spread(segments: list[Segment], errors: NDArray[np.float64]) -> float:
    mean, variance = float(errors.mean()), float(errors.var())
    large = [one for one in segments if one.rows >= min(ENOUGH, len(errors) / LEVELS)]
    if variance <= 0.0 or len(large) < 2:
        return 0.0
    between = math.fsum(one.rows * (one.error / one.rows - mean) ** 2 for one in large)
    return between / variance / (len(large) - 1)


def rate(ledger: Ledger, value: float) -> str:
    """Format the mean error of some rows."""
    return about(value) if ledger.counts else brief(value)


def bars(ledger: Ledger, found: Segments) -> list[Bars]:
    """Return a chart for each of the columns whose segments differ most, with the mean error as a line."""
    times = 100.0 if ledger.counts else 1.0
    across = "error rate, %" if ledger.counts else "mean absolute error"
    return [
        Bars(
            across,
            [Bar(one.name, 0.0, times * one.error / one.rows, end=_end(ledger, one)) for one in column.segments],
            times * found.error,
            f"all rows: {rate(ledger, found.error)}",
            f"Error by {column.name}",
        )
        for column in found.columns[:DRAWN]
    ]  # fmt: skip


def _end(ledger: Ledger, one: Segment) -> str:
    return f"{rate(ledger, one.error / one.rows)} of {one.rows:,}"


def plain(found: Segments) -> dict[str, object]:
    """Return the errors by segment as JSON values."""
    return {
        "rows": found.rows,
        "of": found.seen,
        "columns": [
            {"column": column.name, "segments": [one._asdict() for one in column.segments]} for column in found.columns
        ],
    }
