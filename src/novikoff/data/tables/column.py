"""Kind of a table column (number, category, date, text), and its detection from the first cells.

Kinds
    number     one feature, its value
    boolean    the same, true is 1 and false 0
    category   one feature with value 1 per category: `colour=red`
    time       days since the first row, and month, weekday and hour as categories
    text       one feature per word, its value the number of occurrences
    ignored    no feature
Detection
    From the first cells that are not missing: numbers if all are (except for one, or one in ten, which is then an error
    rather than a sign of a category); booleans if all are; numbers if all have one format such as $1,234.50
    (number_format.py); dates if all have one format; otherwise text if most cells differ and have several words,
    otherwise a category. A column without values stays unknown until its first value.
Missing
    Missing are an empty cell, NA, N/A, #N/A, <NA>, NaN, None, null and ?, in upper or lower case; among numbers and
    dates also -, --, ---, a dot, "missing" and errors of a spreadsheet such as #DIV/0!; and the missing values of a
    frame. A missing cell has no feature of its
    column, but the feature `age is missing`. None, - and a dot are valid labels. An infinite number is an error.
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
from novikoff.data.tables.number_format import COMMA, POINT, formats

Kind = Literal["number", "boolean", "category", "time", "text", "ignored", "unknown"]
KINDS: tuple[str, ...] = get_args(Kind)

MISSING = ("", "?", "na", "n/a", "nan", "null")
"""Missing-value texts in any column, in lower case."""
NO_FEATURE = (*MISSING, "none", "<na>", "#n/a")
"""Missing-value texts in a feature column: "none" may be a label."""
SHEET_ERRORS = ("#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!")
NO_NUMBER = (*NO_FEATURE, "-", "--", "---", ".", "missing", *SHEET_ERRORS)
"""Missing-value texts in a column of numbers or dates: a dash, or "missing", may be a category."""
WHOLE = re.compile(r"[+-]?[0-9]+")
INTEGER = re.compile(r"-?[0-9]{1,19}")
INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
DATES = (
    "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%d %H:%M:%S.%f", "%Y/%m/%d", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S",
    "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S",
    "%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %I:%M %p", "%m/%d/%Y %I:%M:%S %p", "%m/%d/%y", "%m/%d/%y %H:%M", "%d/%m/%y", "%d/%m/%y %H:%M",
    "%d-%m-%Y", "%d-%m-%Y %H:%M", "%d-%m-%Y %H:%M:%S", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%d. %B %Y",
    "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y", "%a %b %d %H:%M:%S %Y", "%a, %d %b %Y %H:%M:%S",
)  # fmt: skip
"""Date formats; the first one that fits the first cells is used."""
NAMED_FIRST = {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
               "mon", "tue", "wed", "thu", "fri", "sat", "sun"}  # fmt: skip
"""Beginnings of dates that begin with a month or a weekday."""
SENTINELS = (-99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0, 999999.0)
"""Numbers that often stand for a missing value."""
DAY = 86_400.0
"""Seconds per day."""
ZONE = re.compile(r"(Z|[+-][0-9]{2}:?[0-9]{2})$")
SEVERAL_WORDS = 4.0
"""Mean number of words per cell from which a column is text."""
ID_ROWS = 20
"""Minimum number of first rows for a column to be reported as an id."""


@dataclass(frozen=True)
class Column:
    """A column that is used as a feature.

    Attributes:
        name: Name of the column.
        kind: Kind of the column.
        form: Format of a date, as in `strptime`; that of a number (number_format.py), None if it is written as 1234.5.
        timed: Whether a date has a time of day.
    """

    name: str
    kind: Kind
    form: str | None = None
    timed: bool = False

    def state(self) -> list[Any]:
        """Return the fields as plain data."""
        return [self.name, self.kind, self.form, self.timed]

    @property
    def cells(self) -> Kind:
        """Kind with which a reader reads the cells: formatted numbers are read as text."""
        return "category" if self.kind == "number" and self.form is not None else self.kind

    @property
    def what(self) -> str:
        """Kind of the column, in words."""
        order = {"%m/": ", month first", "%d/": ", day first"}.get((self.form or "")[:3], "")
        date = ("date and time" if self.timed else "date") + order
        words = {"time": date, "text": "text, word by word"}
        return words.get(self.kind, self.kind)

    def __str__(self) -> str:
        return f"{self.name}: {self.what}"


def names_apart(names: Iterable[str]) -> list[str]:
    """Return unique column names; an empty or repeated name gets the column number."""
    found: dict[str, None] = {}
    for number, given in enumerate(names):
        name = given or f"x{number}"
        while name in found:
            name = f"{name} (column {number})"
        found[name] = None
    return list(found)


def is_missing(cell: object, tokens: Sequence[str] = MISSING) -> bool:
    """Return whether a cell is None or one of the missing-value texts."""
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in tokens)


def number_formats(cells: Iterable[object]) -> list[str]:
    """Return the formats that fit all cells, if these are text: at most one per decimal mark."""
    typed = [cell if not isinstance(cell, str) else cell.strip() for cell in cells if not is_missing(cell, NO_NUMBER)]
    texts = [cell for cell in typed if isinstance(cell, str)]
    return formats(texts) if texts and len(texts) == len(typed) else []


def recognise(name: str, cells: Iterable[Any], mark: str = POINT, date_format: str | None = None) -> Column:
    """Detect the kind of a column from its first cells: text as in a file, or values as in a frame.

    Args:
        name: Name of the column.
        cells: First cells.
        mark: Decimal mark of numbers such as 1,234, which fit both.
        date_format: Format of dates, as in `strptime`, tried before all others; None for the usual formats.
    """
    stripped = [cell.strip() if isinstance(cell, str) else cell for cell in cells if not is_missing(cell, NO_FEATURE)]
    stripped = [cell for cell in stripped if cell == cell]  # NaN
    if not stripped:
        return Column(name, "unknown")
    if not all(isinstance(cell, str) for cell in stripped):
        return _of_values(name, stripped)
    typed = [cell for cell in stripped if not is_missing(cell, NO_NUMBER)]  # values if the column is numbers or dates
    if typed and date_format is not None and all(_fits(ZONE.sub("", cell), date_format) for cell in typed):
        return Column(name, "time", date_format, any(moment(cell, date_format) % DAY for cell in typed))
    if typed and _nearly_all(typed, lambda cell: NUMBER.fullmatch(cell) or INFINITE.fullmatch(cell)):
        grouped = mark == COMMA and any(POINT in cell for cell in typed) and COMMA in formats(typed)
        return Column(name, "number", COMMA if grouped else None)
    if typed and all(cell.lower() in BOOLEANS for cell in typed):
        return Column(name, "boolean")
    forms = formats(typed) if typed else []
    if forms:
        return Column(name, "number", next((form for form in forms if form[0] == mark), forms[0]))
    form = form_of(typed) if typed else None
    if form is not None:
        return Column(name, "time", form, any(moment(cell, form) % DAY for cell in typed))
    return Column(name, "text" if _is_text(stripped) else "category")


def _nearly_all(cells: Sequence[str], test: Callable[[str], object]) -> bool:
    """Return whether the test holds for all cells, except for one of several or one in ten."""
    failed = sum(not test(cell) for cell in cells)
    return failed == 0 or (failed < len(cells) / 2 and failed <= max(1, len(cells) // 10))


def form_of(cells: Sequence[str]) -> str | None:
    """Return the format that all of these dates have, apart from a time zone; None if they are not dates."""
    if not all(cell[:1].isdigit() or cell[:3].lower() in NAMED_FIRST for cell in cells):  # fast check of the beginning
        return None
    bare = [ZONE.sub("", cell) if ":" in cell else cell for cell in cells]
    return next((form for form in DATES if all(_fits(cell, form) for cell in bare)), None)


def either_order(column: Column, cells: Sequence[object]) -> str | None:
    """Return the first date of a column read month first if day first also fits the first cells; otherwise None."""
    if column.form is None or not column.form.startswith("%m/%d"):
        return None
    stripped = [cell.strip() for cell in cells if isinstance(cell, str) and not is_missing(cell, NO_NUMBER)]
    other = column.form.replace("%m/%d", "%d/%m")
    bare = [ZONE.sub("", cell) if ":" in cell else cell for cell in stripped]
    return stripped[0] if stripped and all(_fits(cell, other) for cell in bare) else None


def moment(cell: str, form: str) -> float:
    """Return seconds since 1970 of a date in that format, in its time zone, by default UTC."""
    zone = ZONE.search(cell) if ":" in cell else None
    if zone is None:
        return _read(cell, form).replace(tzinfo=UTC).timestamp()
    return _read(cell[: zone.start()] + zone[0].replace("Z", "+0000"), form + "%z").timestamp()


@lru_cache(2**12)
def _read(cell: str, form: str) -> datetime:
    """Parse a date in that format; cached, because dates repeat."""
    return datetime.strptime(cell, form)


def _fits(cell: str, form: str) -> bool:
    try:
        _read(cell, form)
    except ValueError:
        return False
    return True


def _of_values(name: str, stripped: list[object]) -> Column:
    """Detect the kind of a column of a frame or of JSON whose values are not text."""
    if all(isinstance(value, bool) for value in stripped):
        return Column(name, "boolean")
    if all(isinstance(value, (int, float, Decimal)) for value in stripped):
        return Column(name, "number")
    if all(hasattr(value, "isoformat") for value in stripped):  # Python dates and times
        return Column(name, "time", None, any(has_hour(value) for value in stripped))
    return Column(name, "category")


def has_hour(value: object) -> bool:
    """Return whether a Python date or time is not at midnight, in UTC if it has a time zone."""
    if not isinstance(value, datetime):
        return False
    value = value.astimezone(UTC) if value.tzinfo else value
    return bool(value.hour or value.minute or value.second or value.microsecond)


def _is_text(stripped: list[str]) -> bool:
    words = sum(len(cell.split()) for cell in stripped) / len(stripped)
    return words >= SEVERAL_WORDS and 2 * len(set(stripped)) > len(stripped)


def formatted_number(column: Column, cells: Sequence[object]) -> str | None:
    """Return the first cell of a column of formatted numbers that is not written as 1234.5; otherwise None."""
    if column.kind != "number" or column.form is None:
        return None
    stripped = (cell.strip() for cell in cells if isinstance(cell, str) and not is_missing(cell, NO_NUMBER))
    return next((cell for cell in stripped if column.form != POINT or not NUMBER.fullmatch(cell)), None)


def word_among_numbers(column: Column, cells: Sequence[object]) -> str | None:
    """Return the only word among the numbers of a category column, if most cells are numbers; otherwise None."""
    stripped = [str(cell).strip() for cell in cells if not is_missing(cell, NO_NUMBER)]
    words = {cell for cell in stripped if not NUMBER.fullmatch(cell)}
    if column.kind != "category" or len(words) != 1:
        return None
    (word,) = words
    return word if 2 * stripped.count(word) < len(stripped) else None


def sentinel(column: Column, cells: Sequence[object]) -> tuple[float, int] | None:
    """Return a number such as -999 that may stand for a missing value, and how often it occurs; otherwise None.

    It must occur twice, and be the only negative number, or further from the others than these are from each other.
    """
    if column.kind != "number" or column.form is not None:
        return None
    values = [
        float(str(cell)) for cell in cells if not is_missing(cell, NO_NUMBER) and NUMBER.fullmatch(str(cell).strip())
    ]
    for value in SENTINELS:
        others = [one for one in values if one != value and one == one]
        if values.count(value) > 1 and others:
            low, high = min(others), max(others)
            if value < 0 <= low or max(low - value, value - high) > high - low:
                return value, values.count(value)
    return None


def looks_like_id(column: Column, cells: Sequence[Any]) -> bool:
    """Return whether a column looks like an id of its rows: a different name, or a number that counts the rows."""
    stripped = [cell.strip() if isinstance(cell, str) else cell for cell in cells]
    if (
        len(stripped) < ID_ROWS
        or len(set(stripped)) < len(stripped)
        or any(is_missing(cell, NO_FEATURE) for cell in stripped)
    ):
        return False
    if column.kind == "category":
        return True
    whole = all(WHOLE.fullmatch(str(cell)) for cell in stripped)
    if column.kind != "number" or not whole:
        return False
    numbers = [int(cell) for cell in stripped]
    return all(b - a == 1 for a, b in pairwise(numbers)) or bool(
        re.search(r"(^|_|\b)(id|uuid|key|index|number|no)$", column.name, re.IGNORECASE)
    )


def is_whole(cell: object) -> bool:
    """Return whether a cell is missing or a 64-bit integer."""
    written = str(cell).strip()
    return is_missing(cell, NO_NUMBER) or (INTEGER.fullmatch(written) is not None and -(2**63) <= int(written) < 2**63)
