"""What a column of a table is: a number, a category, a date, words; and how that is recognised from its first cells.

Kinds
    number     one feature, its value
    boolean    the same, true is 1 and false 0
    category   a feature of value 1 for each value: `colour=red`
    time       days since the first row, and the month, the weekday and the hour as categories
    text       a feature for each word, its value how often the word occurs
    ignored    no feature
Recognised
    By the cells of the first rows that say something: all numbers (but for one, or one in ten, which is then an error
    and not a sign of a category), all booleans, all dates of one form; else words if most cells differ and have
    several words, else a category. A column with nothing in them waits for its first cell.
Missing
    An empty cell, NA, N/A, #N/A, <NA>, NaN, None, null and ?, in any spelling, among numbers and dates also -, --, ---,
    a dot and "missing", and what a frame calls missing: no feature of the column, but the feature `age is missing`.
    Labels may be None, - and a dot. A number that is infinite is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, get_args

from novikoff.data.layout import BOOLEANS, NUMBER

Kind = Literal["number", "boolean", "category", "time", "text", "ignored", "unknown"]
KINDS: tuple[str, ...] = get_args(Kind)

MISSING = ("", "?", "na", "n/a", "nan", "null")
"""Cells without a value in any column, in lower case."""
NO_FEATURE = (*MISSING, "none", "<na>", "#n/a")
"""Cells without a value in a column of features: "none" may be a label."""
NO_NUMBER = (*NO_FEATURE, "-", "--", "---", ".", "missing")
"""Cells without a value in a column of numbers or dates: a dash, or "missing", may be a category."""
WHOLE = re.compile(r"[+-]?[0-9]+")
INTEGER = re.compile(r"-?[0-9]{1,19}")
DISGUISED = re.compile(r"[+-]?[$€£¥]? ?[+-]?([0-9]+|[0-9]{1,3}([., '][0-9]{3})+)([.,][0-9]+)? ?[$€£¥%]?")
"""A number as people write it: $1,234.50, 12,5 or 40 %."""
INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
DATES = (
    "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%d %H:%M:%S.%f", "%Y/%m/%d", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S",
    "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S",
    "%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S",
)  # fmt: skip
"""The forms of dates; of those that fit the first cells, the first."""
DAY = 86_400.0
ZONE = re.compile(r"(Z|[+-][0-9]{2}:?[0-9]{2})$")
SEVERAL_WORDS = 4.0
"""Words in a cell, in the mean, from which a column is text."""
ID_ROWS = 20
"""First rows, at least, that a column must tell apart to be pointed out as an id."""


@dataclass(frozen=True)
class Column:
    """A column that is used.

    form   of a date, as `strptime` takes it
    timed  a date that has an hour
    """

    name: str
    kind: Kind
    form: str | None = None
    timed: bool = False

    def state(self) -> list[Any]:
        """As plain data."""
        return [self.name, self.kind, self.form, self.timed]

    @property
    def what(self) -> str:
        """Its kind, in words."""
        order = {"%m/": ", month first", "%d/": ", day first"}.get((self.form or "")[:3], "")
        date = ("date and time" if self.timed else "date") + order
        words = {"time": date, "text": "text, word by word"}
        return words.get(self.kind, self.kind)

    def __str__(self) -> str:
        return f"{self.name}: {self.what}"


def names_apart(names: Iterable[str]) -> list[str]:
    """The names of columns; one without a name, or with one that was before, is told by its number."""
    found: dict[str, None] = {}
    for number, given in enumerate(names):
        name = given or f"x{number}"
        while name in found:
            name = f"{name} (column {number})"
        found[name] = None
    return list(found)


def is_missing(cell: Any, tokens: Sequence[str] = MISSING) -> bool:
    """Has a cell no value: is it None, or text that is one of the tokens?"""
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in tokens)


def recognise(name: str, cells: Iterable[Any]) -> Column:
    """What a column is, from its first cells: text as in a file, or values as in a frame."""
    said = [cell.strip() if isinstance(cell, str) else cell for cell in cells if not is_missing(cell, NO_FEATURE)]
    said = [cell for cell in said if cell == cell]  # NaN
    if not said:
        return Column(name, "unknown")
    if not all(isinstance(cell, str) for cell in said):
        return _of_values(name, said)
    typed = [cell for cell in said if not is_missing(cell, NO_NUMBER)]  # as they are if these are numbers or dates
    if typed and _nearly_all(typed, lambda cell: NUMBER.fullmatch(cell) or INFINITE.fullmatch(cell)):
        return Column(name, "number")
    if typed and all(cell.lower() in BOOLEANS for cell in typed):
        return Column(name, "boolean")
    form = form_of(typed) if typed else None
    if form is not None:
        return Column(name, "time", form, any(moment(cell, form) % DAY for cell in typed))
    return Column(name, "text" if _is_text(said) else "category")


def _nearly_all(cells: Sequence[str], test: Callable[[str], object]) -> bool:
    """Does it hold for all, but for one of several or one in ten?"""
    failed = sum(not test(cell) for cell in cells)
    return failed == 0 or (failed < len(cells) / 2 and failed <= max(1, len(cells) // 10))


def form_of(cells: Sequence[str]) -> str | None:
    """The form that all of these dates have, a zone apart; None if they are no dates."""
    if not all(cell[:1].isdigit() for cell in cells):  # quick, and all forms begin so
        return None
    bare = [ZONE.sub("", cell) if ":" in cell else cell for cell in cells]
    return next((form for form in DATES if all(_fits(cell, form) for cell in bare)), None)


def either_order(column: Column, cells: Sequence[object]) -> str | None:
    """Of a date that is read month first where day first fits the first cells too: the first of them; else None."""
    if column.form is None or not column.form.startswith("%m/%d"):
        return None
    said = [cell.strip() for cell in cells if isinstance(cell, str) and not is_missing(cell, NO_NUMBER)]
    other = column.form.replace("%m/%d", "%d/%m")
    bare = [ZONE.sub("", cell) if ":" in cell else cell for cell in said]
    return said[0] if said and all(_fits(cell, other) for cell in bare) else None


def moment(cell: str, form: str) -> float:
    """Seconds since 1970 of a date in that form; a zone that it has is heeded, else it is taken for UTC."""
    zone = ZONE.search(cell) if ":" in cell else None
    if zone is None:
        return _read(cell, form).replace(tzinfo=UTC).timestamp()
    return _read(cell[: zone.start()] + zone[0].replace("Z", "+0000"), form + "%z").timestamp()


@lru_cache(2**12)
def _read(cell: str, form: str) -> datetime:
    """A date in that form; the same ones come again and again."""
    return datetime.strptime(cell, form)


def _fits(cell: str, form: str) -> bool:
    try:
        _read(cell, form)
    except ValueError:
        return False
    return True


def _of_values(name: str, said: list[object]) -> Column:
    """A column of a frame, or of JSON, whose values are not text."""
    if all(isinstance(value, bool) for value in said):
        return Column(name, "boolean")
    if all(isinstance(value, (int, float, Decimal)) for value in said):
        return Column(name, "number")
    if all(hasattr(value, "isoformat") for value in said):  # dates and times of Python
        return Column(name, "time", None, any(has_hour(value) for value in said))
    return Column(name, "category")


def has_hour(value: object) -> bool:
    """Is a date or time of Python's at another time than midnight, in UTC if it has a zone?"""
    if not isinstance(value, datetime):
        return False
    value = value.astimezone(UTC) if value.tzinfo else value
    return bool(value.hour or value.minute or value.second or value.microsecond)


def _is_text(said: list[str]) -> bool:
    words = sum(len(cell.split()) for cell in said) / len(said)
    return words >= SEVERAL_WORDS and 2 * len(set(said)) > len(said)


def disguised_number(column: Column, cells: Sequence[object]) -> str | None:
    """Of a category whose cells are numbers with a currency, a percent sign or commas: the first of them; else None."""
    said = [cell.strip() for cell in cells if isinstance(cell, str) and not is_missing(cell, NO_NUMBER)]
    if column.kind != "category" or not said or not _nearly_all(said, DISGUISED.fullmatch):
        return None
    return next((cell for cell in said if DISGUISED.fullmatch(cell) and not NUMBER.fullmatch(cell)), None)


def word_among_numbers(column: Column, cells: Sequence[object]) -> str | None:
    """Of a category whose cells are numbers, but for one word that comes again: that word; else None."""
    said = [str(cell).strip() for cell in cells if not is_missing(cell, NO_NUMBER)]
    words = {cell for cell in said if not NUMBER.fullmatch(cell)}
    if column.kind != "category" or len(words) != 1:
        return None
    (word,) = words
    return word if 2 * said.count(word) < len(said) else None


def looks_like_id(column: Column, cells: Sequence[Any]) -> bool:
    """Is it different in every row, as a name or number of the row is?"""
    said = [cell.strip() if isinstance(cell, str) else cell for cell in cells]
    if len(said) < ID_ROWS or len(set(said)) < len(said) or any(is_missing(cell, NO_FEATURE) for cell in said):
        return False
    if column.kind == "category":
        return True
    whole = all(WHOLE.fullmatch(str(cell)) for cell in said)
    if column.kind != "number" or not whole:
        return False
    numbers = [int(cell) for cell in said]
    return all(b - a == 1 for a, b in pairwise(numbers)) or bool(
        re.search(r"(^|_|\b)(id|uuid|key|index|number|no)$", column.name, re.IGNORECASE)
    )


def is_whole(cell: object) -> bool:
    """Is it missing, or a whole number of 64 bits?"""
    written = str(cell).strip()
    return is_missing(cell, NO_NUMBER) or (INTEGER.fullmatch(written) is not None and -(2**63) <= int(written) < 2**63)
