"""Meaning of the cells in a table of predictions, for all formats: roles of columns, values of cells, and the loss.

Numbers stay as they are. Text is allowed if predictions are only compared with outcomes (zero-one loss): each text gets
a number from 2^52 on, in order of appearance, shared by outcomes and experts. Empty, ?, NA and NaN are missing.

The loss of a table is inferred if its first rows leave no doubt; otherwise it must be given.

squared     all numbers from 0 to 1, some written with decimals: probabilities and outcomes (the Brier score). The loss
            rejects any later value outside 0 to 1
zero-one    the outcome and every expert have text: labels, which can only be compared
zero-one    two integers, shared by outcomes and experts, and no other value: with two values every loss is the zero-one
            loss, up to scale. A third value later is an error
Everything else is ambiguous: 50 and 60 for an outcome of 55 may be labels, both wrong, or degrees, both close.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import Advice, Option, SourceError, quoted
from novikoff.data.formats.pandas_index import unnamed_first
from novikoff.data.layout import WHOLE, column_name, find_column, is_number, named
from novikoff.data.tables.column import is_missing

OUTCOME_NAMES = ("outcome", "y", "label", "class", "target")
"""Default names of the outcome column."""
FIRST_TEXT = 2**52
"""Number that stands for the first text."""
MOST_TEXTS = 2**16
"""Maximum number of distinct texts."""
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Columns in use.

    Attributes:
        columns: Names of all columns.
        outcome: Outcome column; None in a table of losses.
        used: Columns of the experts.
        experts: Names of the experts.
    """

    columns: tuple[str, ...]
    outcome: int | None
    used: tuple[int, ...]
    experts: tuple[str, ...]

    @property
    def wanted(self) -> tuple[int, ...]:
        """Columns of the experts, then that of the outcome."""
        return self.used if self.outcome is None else (*self.used, self.outcome)

    def column(self, c: int) -> str:
        """Return the name of column c for messages."""
        return column_name(self.columns, c)

    def named(self, c: int) -> str | int:
        """Return the name of column c, or c if it has none."""
        return named(self.columns, c)


def choose(
    columns: Sequence[str], width: int, outcome: str | int | None, without: Sequence[str | int], losses: bool,
    name: str,
) -> Chosen:  # fmt: skip
    """Return the outcome column and those of the experts.

    The outcome is by default a column with one of the `OUTCOME_NAMES`, otherwise the last; the experts are all other
    columns that are not left out.
    """
    if losses and outcome is not None:
        raise SourceError(f"a table of losses must have no outcome: got {outcome!r}. Leave it out, or choose a loss.")
    left_out = {find_column(column, columns, width, "a column to leave out", name) for column in without}
    asked = None if outcome is None else find_column(outcome, columns, width, "the outcome", name)
    left_out |= {c for c in range(unnamed_first(columns)) if c != asked}  # an index
    target = asked
    if not losses and outcome is None:
        called = {column.strip().lower(): c for c, column in reversed(list(enumerate(columns))) if c not in left_out}
        last = max((c for c in range(width) if c not in left_out), default=width - 1)
        target = next((called[known] for known in OUTCOME_NAMES if known in called), last)
    used = tuple(c for c in range(width) if c != target and c not in left_out)
    if target in left_out or not used:
        needs = "an expert" if losses else "an outcome and an expert"
        raise SourceError(f"a table must have {needs}: {name} has {width - len(left_out)} column(s) left.")
    names = [columns[c] if columns and columns[c] else f"e{j}" for j, c in enumerate(used)]
    twice = {one for one in names if names.count(one) > 1} if len(set(names)) < len(names) else set()
    experts = tuple(f"{one} (column {c})" if one in twice else one for one, c in zip(names, used, strict=True))
    return Chosen(tuple(columns), target, used, experts)


LEAVE_OUT, ZERO_ONE = Option("without"), Option("loss", "zero-one")
SLEEP = Advice("Fill it, or pass ", Option("sleeping", True), " to let experts abstain where a cell is empty.")
ENCODE = {
    "predictions": Advice("Encode it, leave the column out (", LEAVE_OUT, "), or pass ", ZERO_ONE, "."),
    "losses": "Encode it.",
}


@dataclass
class Values:
    """Conversion of cells to numbers.

    Attributes:
        what: "predictions" or "losses".
        text: Whether values other than numbers are allowed.
        sleeping: Whether an expert may abstain, which is NaN.
        texts: Texts so far, in order of appearance.
    """

    what: str = "predictions"
    text: bool = False
    sleeping: bool = False
    texts: list[str] = field(default_factory=list)
    _known: dict[str, float] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._known = {text: float(FIRST_TEXT + k) for k, text in enumerate(self.texts)}

    def row(self, cells: Sequence[str], chosen: Chosen) -> tuple[list[float], float]:
        """Return the experts' numbers and the outcome (0 if there is none). Raises `SourceError` with the column."""
        known = self._known
        try:  # fast path: all texts are known
            y = 0.0 if chosen.outcome is None else known[cells[chosen.outcome]]
            return [known[cells[c]] for c in chosen.used], y
        except KeyError:
            pass
        numbers = []
        for c in sorted(chosen.wanted):
            try:
                number = self.outcome(cells[c]) if c == chosen.outcome else self.prediction(cells[c])
            except SourceError as error:
                error.at(column=chosen.named(c))
                raise
            if c == chosen.outcome:
                y = number
            else:
                numbers.append(number)
        return numbers, y if chosen.outcome is not None else 0.0

    def prediction(self, cell: str) -> float:
        """Return an expert's number; NaN if it abstains and may."""
        if not is_missing(cell):
            return self._number(cell, self.what)
        if self.sleeping:
            return math.nan
        raise SourceError(f"{self.what} must not be missing", _nothing(cell), SLEEP)

    def outcome(self, cell: str) -> float:
        """Return the number of an outcome."""
        if is_missing(cell):
            raise SourceError("outcomes must not be missing", _nothing(cell), "Fill or drop the row.")
        return self._number(cell, "outcomes")

    def _number(self, cell: str, what: str) -> float:
        text = cell.strip(" \t")
        if is_number(text):
            number = float(text)
            if math.isfinite(number) and (not self.text or abs(number) < FIRST_TEXT):
                return number
            limit = "be below 2^52" if math.isfinite(number) else "be finite"
            raise SourceError(f"{what} must {limit}", f"has {quoted(text)}", "Scale it, or drop the row.")
        if NOT_FINITE.fullmatch(text):
            raise SourceError(f"{what} must be finite", f"has {quoted(text)}", "Clean or drop the row.")
        if not self.text:
            raise SourceError(f"{what} must be numbers", f"has {quoted(text)}", ENCODE[self.what])
        if "\n" in text or "\r" in text:
            raise SourceError(f"{what} must be on one line", f"has {quoted(text)}", "Is a quote left open?")
        if text not in self._known:
            if len(self.texts) >= MOST_TEXTS:
                must, was = f"{what} must have at most {MOST_TEXTS:,} texts", f"has one more, {quoted(text)}"
                raise SourceError(must, was, Advice("Leave out a column of names (", LEAVE_OUT, ")."))
            self._known[text] = float(FIRST_TEXT + len(self.texts))
            self.texts.append(text)
        return self._known[text]

    def shown(self, number: float) -> str | float:
        """Return the value that a number stands for."""
        k = number - FIRST_TEXT
        return self.texts[int(k)] if 0 <= k < len(self.texts) else number


def _nothing(cell: str) -> str:
    return f"has {quoted(cell.strip())}" if cell.strip() else "is empty"


Pair = tuple[float, float]
"""The only two values of a table."""

LOSSES = Advice(
    "Pass ", ZERO_ONE, " (right or wrong), absolute or squared (numbers from 0 to 1), log (probabilities "
    "of an outcome that is 0 or 1) or table (the columns are losses)."
)  # fmt: skip
SHOWN = 3


def columns_of(chosen: Chosen, rows: Sequence[Sequence[str]]) -> dict[int, list[str]]:
    """Return the cells of the outcome and the experts by column; short rows have fewer."""
    return {c: [cells[c] for cells in rows if c < len(cells)] for c in chosen.wanted}


def suggested(columns: Mapping[int, Sequence[str]], chosen: Chosen, name: str) -> tuple[str, Pair | None, list[str]]:
    """Infer the loss from these values; return it with the pair of values, if there are two, and a note.

    A wrong cell among numbers (text, or 1e999) does not make them text: it is an error when its line is read.
    """
    there = {c: [cell.strip(" \t") for cell in cells if not is_missing(cell)] for c, cells in columns.items()}
    texts = {c: [cell for cell in cells if not is_number(cell)] for c, cells in there.items()}
    numbers = {cell: float(cell) for cells in there.values() for cell in cells if is_number(cell)}
    finite = {cell: value for cell, value in numbers.items() if math.isfinite(value)}
    decimals = [cell for cell in finite if not WHOLE.fullmatch(cell)]
    values = sorted(set(finite.values()))
    outcomes = chosen.outcome if chosen.outcome is not None else -1
    if texts[outcomes]:
        if all(texts[c] for c in chosen.used if there[c]):
            why = f"the first rows have text, such as {quoted(texts[outcomes][0])}"
            return "zero-one", None, [_note("zero-one", why)]
        numeric = next(c for c in chosen.used if there[c] and not texts[c])
        what = f"text as outcomes, such as {quoted(texts[outcomes][0])}, and numbers in {chosen.column(numeric)}"
    elif there[outcomes] and decimals and values[0] >= 0.0 and values[-1] <= 1.0:
        return "squared", None, [_note("squared", "the first rows have numbers from 0 to 1 with decimals")]
    elif any(texts.values()):
        textual = next(c for c in chosen.used if texts[c])
        what = f"numbers as outcomes, and text in {chosen.column(textual)}, such as {quoted(texts[textual][0])}"
    elif len(values) == 2 and not decimals and _share(there, outcomes, finite):
        why = f"the first rows have only the values {shown(values[0])} and {shown(values[1])}"
        return "zero-one", (values[0], values[1]), [_note("zero-one", why)]
    elif not values:
        what = "no values"
    elif len(values) == 1:
        what = f"only the value {shown(values[0])}"
    else:
        some = ", ".join(map(shown, values[:SHOWN])) + (" …" if len(values) > SHOWN else "")
        what = f"the numbers {some}, which may be labels or amounts"
    must = "the loss is ambiguous and must be named"
    raise SourceError(must, f"the first rows of {name} have {what}", LOSSES)


def _share(there: Mapping[int, Sequence[str]], outcomes: int, numbers: Mapping[str, float]) -> bool:
    """Return whether an outcome is among the predictions."""
    came = {numbers.get(cell) for cell in there[outcomes]}
    return any(numbers.get(cell) in came for c, cells in there.items() if c != outcomes for cell in cells)


def _note(loss: str, why: str) -> str:
    return Advice(f"loss: {loss} ({why}); ", Option("loss"), " changes it")


def another(x: NDArray[np.float64], y: NDArray[np.float64], pair: Pair) -> tuple[int, int | None] | None:
    """Return row and expert (None: the outcome) of the first value outside the pair; None if all are in it.

    NaN is allowed: the expert abstains.
    """
    wrong = (x != pair[0]) & (x != pair[1]) & ~np.isnan(x)
    wrong_outcomes = (y != pair[0]) & (y != pair[1])
    rows = np.flatnonzero(wrong.any(axis=1) | wrong_outcomes)
    if not len(rows):
        return None
    row = int(rows[0])
    return row, int(np.flatnonzero(wrong[row])[0]) if wrong[row].any() else None


def not_of_the_pair(value: str | float, pair: Sequence[float], outcome: bool) -> SourceError:
    """Return the error for a third value."""
    what = "outcomes" if outcome else "predictions"
    must = f"{what} must be {shown(pair[0])} or {shown(pair[1])}, from which the zero-one loss was inferred"
    return SourceError(must, f"has {quoted(value) if isinstance(value, str) else shown(value)}", LOSSES)


def identity_of(experts: Sequence[str], pair: Pair | None) -> dict[str, object]:
    """Return the part of the fingerprint that a resumed game must match: the experts, and the pair if there is one."""
    return {"experts": list(experts), **({} if pair is None else {"pair": list(pair)})}


def shown(value: float) -> str:
    """Return a number as a table writes it."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
