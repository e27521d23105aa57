"""Choice of the columns of a table and their kinds: as requested, as detected, or as in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from novikoff.core.errors import Advice, MismatchError, Option, SourceError, counted, quoted
from novikoff.core.stream import Target
from novikoff.core.weights import BALANCED
from novikoff.data.column_names import listed_names, mismatch
from novikoff.data.layout import columns_called, find_column, target_column
from novikoff.data.tables.column import (
    NO_NUMBER,
    Column,
    either_order,
    form_of,
    formatted_number,
    is_missing,
    looks_like_id,
    number_formats,
    recognise,
    sentinel,
    word_among_numbers,
)
from novikoff.data.tables.encoding import Encoding
from novikoff.data.tables.number_format import COMMA, POINT, decimal_mark, value_of
from novikoff.data.tables.row_weights import RowWeights
from novikoff.data.tables.table_reader import Reader

WRITTEN = Advice("Write all as 2024-12-31, or 2024-12-31 23:59:59, or pass ", Option("date_format", "%d/%m/%Y"), ".")
"""Advice for dates."""

Asked = Sequence[str | int] | str | int
"""Columns by name or number, or a single one."""


def listed(asked: Asked) -> Sequence[str | int]:
    """Return the requested columns as a sequence."""
    return [asked] if isinstance(asked, (str, int)) else asked


def find(reader: Reader, column: str | int, what: str) -> str:
    """Return the name of a column given by name or number."""
    names = reader.names
    return names[find_column(column, names, len(names), what, reader.name, reader.named)]


def find_all(reader: Reader, column: str | int, what: str) -> list[str]:
    """Return all columns with a name, or the one with a number."""
    called = columns_called(column, reader.names) if column in reader.names else []
    return [reader.names[c] for c in called] or [find(reader, column, what)]


@dataclass(frozen=True)
class Choice:
    """Options about the columns of a table.

    Attributes:
        label: Requested label column; None for the default.
        used: Names of the feature columns; None for all columns that have no other role.
        left_out: Names of columns to leave out.
        kinds: Requested columns by kind.
        date_format: Format of dates, as in `strptime`; None for the usual ones.
    """

    label: str | int | None
    used: list[str] | None
    left_out: set[str]
    kinds: dict[str, list[str]]
    date_format: str | None = None

    def columns(
        self,
        reader: Reader,
        head: Mapping[str, Sequence[object]],
        label: str | None,
        weight: str | None,
        mark: str = POINT,
    ) -> list[Column]:
        """Return the feature columns with their kinds, without those of the label and the weights.

        Args:
            reader: Reader of the table.
            head: First cells of each column.
            label: Label column.
            weight: Weight column.
            mark: Decimal mark of the table.
        """
        there = reader.names[reader.index :]
        names = self.used
        if names is None:
            names = [name for name in there if name != label and name not in self.left_out]
        if not names:
            needs = "a feature" if label is None else "a label and a feature"
            only = "none left" if label is None else f"column {quoted(label)} only"
            raise SourceError(f"a table must have {needs}: {reader.name} has {only}.")
        both = [*names, *(one for one in (label, weight) if one is not None)]
        if len(set(both)) < len(both):
            twice = max(both, key=both.count)
            raise SourceError(f"a column must be used once: column {quoted(twice)} of {reader.name} is used twice.")
        return [kind_of(reader, name, head[name], self.kinds, mark, self.date_format) for name in names]

    def label_as(self, encoding: Encoding, label: str | None, reader: Reader, learn: bool, whose: str) -> str | None:
        """Return the label column of the encoding, wherever it is, unless another one was requested."""
        if self.label is not None or label is None:
            return label
        if encoding.label in reader.names:
            return encoding.label
        if label in {column.name for column in encoding.columns}.union(
            encoding.left_out
        ):  # the last column, chosen by default
            none = Advice(", ", Option("labelled", False), " if there are none") if not learn else ""
            raise MismatchError(
                f"the labels must be in column {quoted(str(encoding.label))}, as when {whose} was trained",
                f"{reader.name} has no such column",
                Advice("Pass ", Option("label", letter="NAME"), " if it has another name", none, "."),
            )
        return label

    def left_out_as(
        self, encoding: Encoding, label: str | None, weights: RowWeights, reader: Reader, learn: bool, whose: str
    ) -> Choice:
        """Return the options with the columns left out in training, and the weight column, left out again."""
        if self.used is not None:
            return self
        left_out, weight = self.left_out, encoding.weight if weights.column is None else None
        if weight is not None and weight in reader.names and weight not in left_out:
            if learn:
                raise MismatchError(
                    f"rows must be weighted by {quoted(weight)}, as when {whose} was trained",
                    f"{reader.name} has such a column",
                    Advice("Pass ", Option("weight", weight), ", or ", Option("drop", weight), " to count every row "
                           "once."),
                )  # fmt: skip
            left_out = left_out | {weight}  # weights do not matter for predictions
        return replace(self, left_out=left_out | ({*encoding.left_out} & {*reader.names}) - {label})


def label_column(reader: Reader, asked: str | int | None, used: Sequence[str], left_out: set[str]) -> Target:
    """Return the label column: as requested, by its name, or the last (layout.target_column)."""
    if asked is not None:
        return Target(find(reader, asked, "the label column"), "as asked")
    there = [n for n in reader.names[reader.index :] if n not in left_out and n not in used]
    if not there:
        raise SourceError(
            "a table must have a label and a feature", f"{reader.name} has no column left",
            Advice("Pass ", Option("label", letter="NAME"), ", or fewer features."),
        )  # fmt: skip
    if reader.label_last:
        return Target(there[-1], "last column")
    place, chosen = target_column(there, there[0] == reader.names[0])
    return Target(there[place], chosen)


def mark_of(head: Mapping[str, Sequence[object]], default: str) -> str:
    """Return the decimal mark of a table from its first cells, `default` if these do not decide."""
    if default == COMMA or any(isinstance(cell, str) and COMMA in cell for cells in head.values() for cell in cells):
        return decimal_mark(map(number_formats, head.values()), default)
    return default


def check_date_format(form: str | None) -> str | None:
    """Return a format of dates. Raises SourceError if `strptime` does not know it, or it has no day."""
    if form is None:
        return None
    try:
        same = datetime.strptime(datetime(2003, 2, 1, 4, 5, 6).strftime(form), form)
    except (ValueError, TypeError) as error:
        raise SourceError(f"a date format must be one of strptime, such as %d/%m/%Y: got {form!r} ({error}).") from None
    if same.date() != date(2003, 2, 1):
        raise SourceError(f"a date format must have day, month and year, such as %d/%m/%Y: got {form!r}.")
    return form


def kind_of(
    reader: Reader, name: str, head: Sequence[object], chosen: dict[str, list[str]], mark: str, date_format: str | None
) -> Column:
    """Return a column with its kind, as requested or as detected."""
    kinds = [kind for kind, names in chosen.items() if name in names]
    if len(kinds) > 1:
        raise SourceError(f"a column must have one kind: {name} is requested as {' and '.join(kinds)}.")
    if any(isinstance(cell, (list, dict)) for cell in head):
        raise SourceError(
            f"columns must have plain values: column {quoted(name)} of {reader.name} has lists or objects. "
            "Write one column per feature, or leave it out."
        )
    found = recognise(name, head, mark, date_format)
    if not kinds and name in reader.declared:
        kinds = [reader.declared[name]]
    if not kinds or kinds[0] == found.kind:
        return found
    if kinds[0] == "time":
        raise SourceError("dates must have one format", f"{name} of {reader.name} has {_forms(head)}", WRITTEN)
    return Column(name, kinds[0])  # type: ignore[arg-type]


def _forms(cells: Sequence[object]) -> str:
    """Describe why cells are not dates of one format: the first non-date, or two dates of different formats."""
    stripped = [str(cell).strip() for cell in cells if not is_missing(cell, NO_NUMBER)]
    odd = next((cell for cell in stripped if form_of([cell]) is None), None)
    if odd is not None:
        return f"{quoted(odd)}, which is not a date in a known format"
    other = next((k for k in range(2, len(stripped)) if form_of(stripped[:k]) is None), len(stripped))
    return f"{quoted(stripped[0])} and {quoted(stripped[other - 1])}"


def advice(
    columns: Sequence[Column], head: Mapping[str, Sequence[object]], categories: Sequence[str], name: str
) -> list[str]:
    """Return notes on columns whose kind may be wrong; `categories` were requested as such."""
    found: list[str] = []
    formatted: dict[str, list[tuple[str, str]]] = {}  # (column, first formatted cell) by format
    for column in columns:
        cell = formatted_number(column, head[column.name])
        if cell is not None:
            formatted.setdefault(str(column.form), []).append((column.name, cell))
        elif column.name not in categories and (word := word_among_numbers(column, head[column.name])) is not None:
            text = f"{column.name} of {name} is read as a category: its cells are numbers except for {quoted(word)}. "
            found.append(Advice(text, "If that means missing, pass ", Option("missing", word), "."))
        elif (first := either_order(column, head[column.name])) is not None:
            text = f"{column.name} of {name} is read month first, though {quoted(first)} could be day first. If it is, "
            found.append(Advice(text, "pass ", Option("date_format", "%d/%m/%Y"), "."))
        elif (stands := sentinel(column, head[column.name])) is not None:
            text = (
                f"{column.name} of {name} is {stands[0]:g} in {counted(stands[1], 'row')}, unlike its other numbers. "
            )
            found.append(Advice(text, "If that means missing, pass ", Option("missing", f"{stands[0]:g}"), "."))
        elif looks_like_id(column, head[column.name]):
            rows = f"each of the first {len(head[column.name]):,} rows"
            text = f"{column.name} of {name} differs in {rows}: it cannot help to predict new rows. Pass "
            found.append(Advice(text, Option("drop", column.name), " to leave it out."))
    for form, some in formatted.items():
        names, cell = ", ".join(column for column, _ in some), some[0][1]
        text = f"{names} of {name}: {quoted(cell)} is read as the number {value_of(cell, form)!r}. For a category pass "
        found.append(Advice(text, Option("category", some[0][0]), "."))
    return found


def check_label_weights(encoding: Encoding, weights: RowWeights, whose: str) -> None:
    """Raise MismatchError if the label weights differ from those in training."""
    if (encoding.label_weights, encoding.balanced) != (weights.by_label, weights.balanced):
        were = ",".join(f"{label}={weight:.17g}" for label, weight in encoding.label_weights.items())
        were = BALANCED if encoding.balanced else were
        raise MismatchError(
            f"label weights must be those with which {whose} was trained", f"those were {were or 'all the same'}",
            Advice("Pass ", Option("label_weights", were), ".") if were else "Leave the weights out.",
        )  # fmt: skip


def matched_columns(
    encoding: Encoding, columns: Sequence[Column], reader: Reader, whose: str, impute: bool = False, learn: bool = False
) -> tuple[dict[str, str], str | None]:
    """Return the column for each column of the encoding, matched by name or else by position, and a note.

    With `impute`, columns may be absent or new; with `learn`, the error does not mention that.
    """
    known, shown = [c.name for c in encoding.columns], [c.name for c in columns]
    if encoding.named and reader.named:
        missing, new = [n for n in known if n not in shown], [n for n in shown if n not in known]
        if (missing or new) and not (impute and len(missing) < len(known)):
            raise mismatch(reader.name, whose, missing, new, imputes=not impute and not learn)
        if missing or new:
            parts = [f"lack {listed_names(missing)}: all values are read as missing"] if missing else []
            parts += [f"include {listed_names(new)}: not in training and ignored"] if new else []
            return {name: name for name in known if name in shown}, ", and ".join(parts)
        note = "are in another order: they are matched by name" if known != shown else None
        return {name: name for name in known}, note
    if len(known) != len(shown):
        raise MismatchError(
            f"{whose} has {len(known):,} features", f"{reader.name} has {len(shown):,}, without names",
            Advice("Pass ", Option("columns", letter="NUMBERS"), " to choose them."),
        )  # fmt: skip
    note = None if reader.named else "have no names: they are matched by position"
    return dict(zip(known, shown, strict=True)), note
