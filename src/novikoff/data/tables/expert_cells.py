"""What the cells of a table of predictions stand for, whatever the format: which column is what, and which number.

Numbers are themselves. Text is allowed where predictions are only compared with outcomes (zero-one loss): each text
gets a number from 2^52 on, in the order in which they come, the same for outcome and experts. Nothing, ?, NA and NaN
are missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from novikoff.core.errors import Advice, Option, SourceError, quoted
from novikoff.data.formats.pandas_index import unnamed_first
from novikoff.data.layout import column_name, find_column, is_number, named
from novikoff.data.tables.column import is_missing

OUTCOME_NAMES = ("outcome", "y", "label", "class", "target")
FIRST_TEXT = 2**52
MOST_TEXTS = 2**16
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which columns are used: the outcome's number (None in a table of losses), and the experts', with their names."""

    columns: tuple[str, ...]
    outcome: int | None
    used: tuple[int, ...]
    experts: tuple[str, ...]

    @property
    def wanted(self) -> tuple[int, ...]:
        """The experts' columns, and then the outcome's."""
        return self.used if self.outcome is None else (*self.used, self.outcome)

    def column(self, c: int) -> str:
        """Column c as it is called in a message."""
        return column_name(self.columns, c)

    def named(self, c: int) -> str | int:
        """Column c by its name, or by its number if it has none."""
        return named(self.columns, c)


def choose(
    columns: Sequence[str], width: int, outcome: str | int | None, without: Sequence[str | int], losses: bool,
    name: str,
) -> Chosen:  # fmt: skip
    """The outcome column, by default one called so, else the last; the experts are all others but those left out."""
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
SLEEP = Advice("Fill it, or pass ", Option("sleeping", True), " to let experts sit out where they say nothing.")
ENCODE = {
    "predictions": Advice("Encode it, leave the column out (", LEAVE_OUT, "), or pass ", ZERO_ONE, "."),
    "losses": "Encode it.",
}


@dataclass
class Values:
    """Cells to numbers.

    what       they are "predictions" or "losses"
    text       other values than numbers are allowed
    sleeping   an expert may say nothing, which is NaN
    texts      the texts that came so far, in order
    """

    what: str = "predictions"
    text: bool = False
    sleeping: bool = False
    texts: list[str] = field(default_factory=list)
    _known: dict[str, float] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._known = {text: float(FIRST_TEXT + k) for k, text in enumerate(self.texts)}

    def row(self, cells: Sequence[str], chosen: Chosen) -> tuple[list[float], float]:
        """The experts' numbers and the outcome's (0 if there is none). Raises `SourceError`, with the column."""
        known = self._known
        try:  # most texts have come before
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
        """What an expert says: NaN if nothing, and that may be."""
        if not is_missing(cell):
            return self._number(cell, self.what)
        if self.sleeping:
            return math.nan
        raise SourceError(f"{self.what} must not be missing", _nothing(cell), SLEEP)

    def outcome(self, cell: str) -> float:
        """What came of it."""
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
                must, was = f"{what} must be of at most {MOST_TEXTS:,} texts", f"has one more, {quoted(text)}"
                raise SourceError(must, was, Advice("Is it a column of names? Leave it out (", LEAVE_OUT, ")."))
            self._known[text] = float(FIRST_TEXT + len(self.texts))
            self.texts.append(text)
        return self._known[text]

    def shown(self, number: float) -> str | float:
        """What a number stands for."""
        k = number - FIRST_TEXT
        return self.texts[int(k)] if 0 <= k < len(self.texts) else number


def _nothing(cell: str) -> str:
    return f"has {quoted(cell.strip())}" if cell.strip() else "is empty"
