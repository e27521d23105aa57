"""Numbers as people write them: $1,234.50, 12 %, 3,5, 1'234, (120) for -120.

Format
    A format is its decimal mark, a point or a comma, followed by its unit if there is one: a currency sign or %. The
    unit is not part of the value: 12 % is 12. Digits may be grouped by the other mark, apostrophes or spaces.
Decimal mark
    1,234 fits both marks, 1,5 and 1.234,50 fit the comma only, 1,234.50 the point only. The columns of a table that fit
    one mark decide for those that fit both; if none does, the mark is a point.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

POINT, COMMA = ".", ","
CURRENCIES = "$€£¥"
SPACES = " \u00a0\u202f\u2009"
"""Spaces that group digits: ordinary, no-break, narrow no-break and thin."""


def _pattern(mark: str) -> re.Pattern[str]:
    """Return the pattern of a number with this decimal mark; groups: bracket, sign, unit, sign, digits, unit."""
    other = re.escape(COMMA if mark == POINT else POINT)
    grouped = rf"[1-9][0-9]{{0,2}}(?P<between>[{other}'’{SPACES}])(?:[0-9]{{2,3}}(?P=between))*[0-9]{{3}}"
    digits = rf"(?P<digits>(?:{grouped}|[0-9]+)(?:{re.escape(mark)}[0-9]*)?|{re.escape(mark)}[0-9]+)"
    unit, space = f"[{CURRENCIES}]", f"[{SPACES}]?"
    return re.compile(
        rf"(?P<bracket>\()?(?P<sign>[+\-−])?(?P<before>{unit})?{space}(?P<inner>[+\-−])?{digits}"
        rf"(?P<power>[eE][+-]?[0-9]+)?{space}(?P<after>{unit}|%)?(?(bracket)\))"
    )


PATTERNS = {mark: _pattern(mark) for mark in (POINT, COMMA)}


@lru_cache(2**14)
def parsed(cell: str, mark: str) -> tuple[float, str] | None:
    """Return the value and the unit of a number with this decimal mark; None if the cell is not one."""
    found = PATTERNS[mark].fullmatch(cell)
    if found is None or (found["sign"] and found["inner"]) or (found["before"] and found["after"]):
        return None
    digits = found["digits"]
    if found["between"]:
        digits = digits.replace(found["between"], "")
    value = float(digits.replace(mark, ".") + (found["power"] or ""))
    negative = "-−".find(found["sign"] or found["inner"] or "+") >= 0
    if found["bracket"] and (found["sign"] or found["inner"]):
        return None
    return (-value if negative or found["bracket"] else value), found["before"] or found["after"] or ""


def value_of(cell: str, form: str) -> float | None:
    """Return the value of a cell in a column of this format; None if it is not such a number.

    A cell may lack the currency of its column, but not the percent sign, unless it is 0.
    """
    found = parsed(cell, form[0])
    if found is None:
        return None
    value, unit = found
    if unit == form[1:] or (not unit and (form[1:] != "%" or value == 0)):
        return value
    return None


def formats(cells: Sequence[str]) -> list[str]:
    """Return the formats that all cells have; at most one per decimal mark."""
    found = []
    for mark in (POINT, COMMA):
        unit = ""
        for cell in cells:
            one = parsed(cell, mark)
            if one is None or (unit and one[1] not in ("", unit)):
                break
            unit = unit or one[1]
        else:
            if unit != "%" or all(value_of(cell, mark + unit) is not None for cell in cells):
                found.append(mark + unit)
    return found


def decimal_mark(columns: Iterable[Sequence[str]], default: str = POINT) -> str:
    """Return the decimal mark of a table: the one that a column proves, otherwise `default`.

    Args:
        columns: Formats that fit each column of numbers.
        default: Mark if no column proves one, or columns prove both.
    """
    proved = {forms[0][0] for forms in columns if len(forms) == 1}
    return proved.pop() if len(proved) == 1 else default
