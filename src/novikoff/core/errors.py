"""Exception hierarchy.

    NovikoffError
    ├── InputError          an example or a label that the learner cannot use
    │   ├── SourceError     a file or stream that cannot be read as requested
    │   │   └── LabelError  labels that are missing or invalid
    │   └── LateError       an id that cannot be predicted or labelled now
    ├── SpecError           a name or option that the catalog does not know
    ├── MismatchError       a learner and an environment that do not fit together
    ├── TooLargeError       a class that does not fit in memory
    └── ModelFileError      a file that is not a novikoff model file

Every message has the form *requirement: actual value, location. Advice.* An error stores these parts separately:
callers that know more about the location add it with `at`, and the command line replaces option names in the advice
by its flags (cli/output.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, TypedDict, Unpack

LONGEST = 200
"""Maximum number of characters of a value in a message."""


class Where(TypedDict, total=False):
    """Location of an error, as far as it is known; counted from 1, except unnamed columns and experts, counted from 0.

    Attributes:
        source: Name of the file or stream.
        line: Line of the source.
        row: Row of the source.
        item: Position in a list.
        column: Column of a table, by name or number.
        key: Key of a mapping.
        character: Character of the line.
        expert: Expert, by name or number.
        round: Round of the game.
        up_to: Whether the error concerns everything up to this location.
    """

    source: str
    line: int
    row: int
    item: int
    column: str | int
    key: str
    character: int
    expert: str | int
    round: int
    up_to: bool


NUMBERED = {
    "line": "line {}", "row": "row {:,}", "item": "item {}", "character": "column {}", "column": "column {} (from 0)",
    "key": "key {}", "expert": "expert {}",
}  # fmt: skip
"""Parts of a location in the order in which they are printed, with the format of each."""


@dataclass(frozen=True, slots=True)
class Option:
    """A parameter named in advice, with the value to pass or a letter for it."""

    name: str
    value: Any = None
    letter: str = ""

    def __str__(self) -> str:
        if self.value is None and not self.letter:
            return self.name
        return f"{self.name}={self.letter or _spelled(self.value)}"


def _spelled(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


class Advice(str):
    """Advice to the user: a text that remembers which of its parts are options."""

    parts: tuple[str | Option, ...]

    def __new__(cls, *parts: str | Option) -> Self:
        self = super().__new__(cls, "".join(map(str, parts)))
        self.parts = tuple(p for part in parts for p in (part.parts if isinstance(part, Advice) else (part,)))
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:  # for pickle and copy
        return self.parts


POSITIVE = Advice("Pass ", Option("positive", letter="VALUE"), ", the label that is +1, to treat every other as -1.")
"""Advice for labels of which two or more must be treated as one."""
MANY = Advice(Option("labels", "multiclass"), " if there are more than two.")
"""Advice to append for labels that may be multiclass."""
HEADER = Advice("Pass ", Option("header", True), " if it names the columns, ", Option("header", False), " if not.")
"""Advice for a first line that may or may not be a header."""


def with_options(text: str, named: Callable[[Option], str]) -> str:
    """Return advice with each option formatted by `named`; return any other text unchanged."""
    if not isinstance(text, Advice):
        return text
    return "".join(named(part) if isinstance(part, Option) else part for part in text.parts)


def place(where: Where) -> str:
    """Return the location without the round as text: line 7, column "age" of mail.csv."""
    found = [(what, value) for what, value in where.items() if what in NUMBERED]
    found.sort(key=lambda item: list(NUMBERED).index(item[0]))
    words = (f"{what} {quoted(n)}" if isinstance(n, str) else NUMBERED[what].format(n) for what, n in found)
    there = " of ".join(part for part in (", ".join(words), where.get("source", "")) if part)
    return f"up to {there}" if where.get("up_to") else there


class NovikoffError(Exception):
    """Base class of all exceptions that novikoff raises on purpose.

    Args:
        must: Requirement that was not met; without `got`, the whole message except for the location.
        got: Actual value with its verb: "got 7", or "has 7" after a location.
        do: Advice.
        **where: Location, see `Where`.

    Example:
        >>> import novikoff as nk
        >>> raise nk.NovikoffError("labels must be -1 or +1", "got 7", "Map them first.", round=3)
        Traceback (most recent call last):
        ...
        novikoff.core.errors.NovikoffError: labels must be -1 or +1: got 7 in round 3. Map them first.
    """

    def __init__(self, must: str = "", got: str = "", do: str = "", **where: Unpack[Where]) -> None:
        super().__init__(must, got, do)
        self.must, self.got, self.do, self.where = must, got, do, where

    def at(self, **where: Unpack[Where]) -> Self:
        """Add the location; parts that are already known stay."""
        self.where = {**where, **self.where}
        return self

    def advise(self, *more: str | Option) -> Self:
        """Append to the advice."""
        self.do = Advice(self.do, " " if self.do else "", *more)
        return self

    @property
    def what(self) -> str:
        """Message without the advice."""
        there, when = place(self.where), f"round {self.where['round']:,}" if "round" in self.where else ""
        if self.got:
            return f"{self.must}: {there}{' ' if there else ''}{self.got}{' in ' if when else ''}{when}"
        before = ", ".join(part for part in (there, when) if part)
        return f"{before}: {self.must}" if before else self.must

    def told(self, named: Callable[[Option], str] = str) -> str:
        """Return the whole message, with each option formatted by `named`."""
        do = with_options(self.do, named)
        return f"{self.what}{'.' if self.got else ''}{' ' if do else ''}{do}"

    def __str__(self) -> str:
        return self.told()


def named(value: object) -> str:
    """Return a description of a value for a message: the name of a class, else the value's type."""
    return f"the class {value.__name__}" if isinstance(value, type) else f"a value of type {type(value).__name__}"


class InputError(NovikoffError, ValueError):
    """An example or a label that the learner cannot use; the learner is unchanged."""


class SourceError(InputError):
    """A file or stream that cannot be read as requested."""


class LabelError(SourceError):
    """Labels that are missing or invalid."""


class AbsentLabelError(LabelError):
    """A requested label that turned out to occur in no row, after rows had already been learned."""


class LateError(InputError):
    """An id that cannot be predicted or labelled now.

    Args:
        must: See `NovikoffError`.
        got: See `NovikoffError`.
        do: See `NovikoffError`.
        code: unknown_id, id_taken, label_differs, expired or pending_full.
        **where: See `NovikoffError`.
    """

    def __init__(self, must: str = "", got: str = "", do: str = "", code: str = "", **where: Unpack[Where]) -> None:
        super().__init__(must, got, do, **where)
        self.code = code


class SpecError(NovikoffError, ValueError):
    """A name or option that the catalog does not know."""


class MismatchError(NovikoffError, TypeError):
    """A learner and an environment that do not fit together."""


class TooLargeError(NovikoffError, ValueError):
    """A hypothesis class that does not fit in memory."""


class ModelFileError(NovikoffError, ValueError):
    """A file that is not a novikoff model file, or is damaged."""


def whole(n: int) -> str:
    """Format an integer; one above 2^999 as a power of two, since Python does not print integers of 5,000 digits."""
    return f"{n:,}" if n.bit_length() < 1000 else f"about {'-' if n < 0 else ''}2^{n.bit_length() - 1}"


def counted(n: int, one: str, more: str | None = None) -> str:
    """Format a count with its noun: "1 row", "2,000 rows"."""
    return f"{n:,} {one if n == 1 else more or f'{one}s'}"


def brief(value: int | float | Fraction, most_bits: int = 1000) -> str:
    """Format a number as in code; an integer or Fraction of more than `most_bits` bits by its length."""
    if isinstance(value, float):
        return str(value)
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    return str(value) if bits <= most_bits else f"a number of {bits:,} bits"


def shown(value: object) -> str:
    """Return the repr of any value for a message, shortened; also for values whose repr fails."""
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return brief(value)
    try:
        text = repr(value)
    except Exception:  # such as a list with an integer of 5,000 digits
        return f"a {type(value).__name__} that cannot be printed"
    if "\n" in text:  # such as a data frame
        return named(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def close(given: object, known: Iterable[str], what: str = "") -> str:
    """Return "Did you mean ...?" for the known name that is closest to a given one; "" if none is close."""
    from difflib import get_close_matches

    names = list(known)
    text = str(given)
    found = next((name for name in names if name.lower() == text.strip().lower()), None)
    found = found or next(iter(get_close_matches(text, names, 1, 0.7)), None)
    return "" if found is None else f"Did you mean {what}{quoted(found)}?"


def absent(path: object, do: str = "Check the name.") -> str:
    """Return the message about a file that does not exist, with the closest name in its folder."""
    folder, name = os.path.split(os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else str(path))
    try:
        near = close(name, os.listdir(folder or "."))
    except OSError:
        near = ""
    return f"file not found: {path}. {do}{' ' if near else ''}{near}"


def quoted(cell: object) -> str:
    """Return text in quotes for a message, shortened and on one line."""
    text = str(cell).encode("utf-8", "backslashreplace").decode().replace("\r", "\\r").replace("\n", "\\n")
    return f'"{text}"' if len(text) <= 40 else f'"{text[:37]}..."'
