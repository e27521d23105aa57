"""Which columns of a table are used, and as what: by name or number, as asked for or as they look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from novikoff.errors import Advice, Option, SourceError, quoted
from novikoff.sources.layout import LABEL_NAMES, columns_called, find_column
from novikoff.tables.column import Column, form_of, is_missing, recognise
from novikoff.tables.piece import Reader

WRITTEN = "Write all as 2024-12-31, or 2024-12-31 23:59:59."

Asked = Sequence[str | int] | str | int
"""Columns, by name or number; one may stand alone."""


def listed(asked: Asked) -> Sequence[str | int]:
    """The columns asked for, of which one may stand alone."""
    return [asked] if isinstance(asked, (str, int)) else asked


def find(reader: Reader, column: str | int, what: str) -> str:
    """A column asked for by its name, or else by its number."""
    names = reader.names
    return names[find_column(column, names, len(names), what, reader.name, reader.named)]


def find_all(reader: Reader, column: str | int, what: str) -> list[str]:
    """The columns of a name, of which there may be several; or the one of a number."""
    called = columns_called(column, reader.names) if column in reader.names else []
    return [reader.names[c] for c in called] or [find(reader, column, what)]


def label_column(reader: Reader, asked: str | int | None, used: Sequence[str], left_out: set[str]) -> str:
    """The label column: asked for, or called like one, or the last."""
    if asked is not None:
        return find(reader, asked, "the label column")
    there = [n for n in reader.names[reader.index :] if n not in left_out and n not in used]
    if not there:
        raise SourceError(
            "a table must have a label and a feature", f"{reader.name} has no column left",
            Advice("Pass ", Option("label", letter="NAME"), ", or fewer features."),
        )  # fmt: skip
    lower = {name.lower(): name for name in reversed(there)}
    return next((lower[name] for name in LABEL_NAMES if name in lower), there[-1])


def kind_of(reader: Reader, name: str, head: Sequence[Any], chosen: dict[str, list[str]]) -> Column:
    """What a column is: as it was asked for, or as it looks."""
    kinds = [kind for kind, names in chosen.items() if name in names]
    if len(kinds) > 1:
        raise SourceError(f"a column must be of one kind: {name} is asked for as {' and '.join(kinds)}.")
    if any(isinstance(cell, (list, dict)) for cell in head):
        raise SourceError(
            f"columns must be of plain values: column {quoted(name)} of {reader.name} holds lists or objects. "
            "Write a column a feature, or leave it out."
        )
    found = recognise(name, head)
    if not kinds or kinds[0] == found.kind:
        return found
    if kinds[0] == "time":
        raise SourceError(f"dates must be of one form: {name} of {reader.name} has {_forms(head)}. {WRITTEN}")
    return Column(name, kinds[0])  # type: ignore[arg-type]


def _forms(cells: Sequence[Any]) -> str:
    """What keeps cells from being dates: one that is none, or the first two of different forms."""
    said = [str(cell).strip() for cell in cells if not is_missing(cell)]
    odd = next((cell for cell in said if form_of([cell]) is None), None)
    if odd is not None:
        return f"{quoted(odd)}, which is no date that is known"
    other = next((k for k in range(2, len(said)) if form_of(said[:k]) is None), len(said))
    return f"{quoted(said[0])} and {quoted(said[other - 1])}"
