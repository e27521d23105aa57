"""The exceptions, one tree.

    NovikoffError
    ├── InputError          an example or a label that the learner cannot take
    │   ├── SourceError     a file or stream that cannot be read as asked
    │   │   └── LabelError  labels that are missing, or cannot be
    │   └── LateError       an id that cannot be predicted, or labelled, now
    ├── SpecError           a name or option that the catalog does not know
    ├── MismatchError       a learner and an environment that do not fit together
    ├── TooLargeError       a class that will not fit in memory
    └── ModelFileError      a model file that is not one of ours

Every message has the form *what must be: what was, where. What to do.* An error keeps these apart: who lets it pass and
knows better where it was says so with `at`, and the command line names its flags for the options (cli/output.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, TypedDict, Unpack

LONGEST = 200
"""Characters of what was given that a message shows."""


class Where(TypedDict, total=False):
    """Where it was, as far as is known. All count from 1, but unnamed columns and experts, which count from 0.

    column      of a table: its name, or its number
    character   of the line
    up_to       all that came up to there
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
"""What has a number, or a name, and how the number is told."""


@dataclass(frozen=True, slots=True)
class Option:
    """A parameter, as advice names it: with a value to pass, or with a letter that stands for one."""

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
    """What to do: words, and the options among them, which it remembers."""

    parts: tuple[str | Option, ...]

    def __new__(cls, *parts: str | Option) -> Self:
        self = super().__new__(cls, "".join(map(str, parts)))
        self.parts = tuple(p for part in parts for p in (part.parts if isinstance(part, Advice) else (part,)))
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:  # for pickle and copy
        return self.parts


POSITIVE = Advice("Pass ", Option("positive", letter="VALUE"), ", the label that is +1, to treat every other as -1.")
MANY = Advice(Option("labels", "multiclass"), " if there are more than two.")
HEADER = Advice("Pass ", Option("header", True), " if it names the columns, ", Option("header", False), " if not.")


def with_options(text: str, named: Callable[[Option], str]) -> str:
    """Advice with its options `named` otherwise; any other text as it is."""
    if not isinstance(text, Advice):
        return text
    return "".join(named(part) if isinstance(part, Option) else part for part in text.parts)


def place(where: Where) -> str:
    """Where it was, in words, but for the round: line 7, column "age" of mail.csv."""
    found = [(what, value) for what, value in where.items() if what in NUMBERED]
    found.sort(key=lambda item: list(NUMBERED).index(item[0]))
    words = (f"{what} {quoted(n)}" if isinstance(n, str) else NUMBERED[what].format(n) for what, n in found)
    there = " of ".join(part for part in (", ".join(words), where.get("source", "")) if part)
    return f"up to {there}" if where.get("up_to") else there


class NovikoffError(Exception):
    """Whatever novikoff raises on purpose.

    must    what must be; or, alone, all there is to say but where it was
    got     what was, with its verb: 'got 7', or 'has 7' behind a place
    do      what to do
    where   where it was
    """

    def __init__(self, must: str = "", got: str = "", do: str = "", **where: Unpack[Where]) -> None:
        super().__init__(must, got, do)
        self.must, self.got, self.do, self.where = must, got, do, where

    def at(self, **where: Unpack[Where]) -> Self:
        """The same error, which was there, as far as it did not know."""
        self.where = {**where, **self.where}
        return self

    def advise(self, *more: str | Option) -> Self:
        """The same error, with more to do."""
        self.do = Advice(self.do, " " if self.do else "", *more)
        return self

    @property
    def what(self) -> str:
        """What must be: what was, where."""
        there, when = place(self.where), f"round {self.where['round']:,}" if "round" in self.where else ""
        if self.got:
            return f"{self.must}: {there}{' ' if there else ''}{self.got}{' in ' if when else ''}{when}"
        before = ", ".join(part for part in (there, when) if part)
        return f"{before}: {self.must}" if before else self.must

    def told(self, named: Callable[[Option], str] = str) -> str:
        """All of it, with options as they are `named`."""
        do = with_options(self.do, named)
        return f"{self.what}{'.' if self.got else ''}{' ' if do else ''}{do}"

    def __str__(self) -> str:
        return self.told()


def named(value: Any) -> str:
    """What was given, for a message: a class by its name, another value by its type."""
    return f"the class {value.__name__}" if isinstance(value, type) else f"a value of type {type(value).__name__}"


class InputError(NovikoffError, ValueError):
    """An example or a label that the learner cannot take; the learner is as it was."""


class SourceError(InputError):
    """A file or stream that cannot be read as asked."""


class LabelError(SourceError):
    """Labels that are missing, or cannot be."""


class AbsentLabelError(LabelError):
    """A label that was named and that no row had: what was learned before this was known is not as asked."""


class LateError(InputError):
    """An id that cannot be predicted, or labelled, now.

    code   unknown_id · id_taken · label_differs · expired · pending_full
    """

    def __init__(self, must: str = "", got: str = "", do: str = "", code: str = "", **where: Unpack[Where]) -> None:
        super().__init__(must, got, do, **where)
        self.code = code


class SpecError(NovikoffError, ValueError):
    """A name or option that the catalog does not know."""


class MismatchError(NovikoffError, TypeError):
    """A learner and an environment that do not fit together."""


class TooLargeError(NovikoffError, ValueError):
    """A hypothesis class that will not fit in memory."""


class ModelFileError(NovikoffError, ValueError):
    """A model file that is not one of ours, or is damaged."""


def whole(n: int) -> str:
    """A whole number for a message; one of hundreds of digits by its length (Python refuses to print 5,000)."""
    return f"{n:,}" if n.bit_length() < 1000 else f"about {'-' if n < 0 else ''}2^{n.bit_length() - 1}"


def counted(n: int, one: str, more: str | None = None) -> str:
    """A count and its noun: "1 row", "2,000 rows"."""
    return f"{n:,} {one if n == 1 else more or f'{one}s'}"


def brief(value: int | float | Fraction, most_bits: int = 1000) -> str:
    """A number as it is written in code; a whole number or Fraction of more bits by its length."""
    if isinstance(value, float):
        return str(value)
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    return str(value) if bits <= most_bits else f"a number of {bits:,} bits"


def shown(value: object) -> str:
    """Whatever was given, for a message: cut short, and also where Python refuses to print it."""
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return brief(value)
    try:
        text = repr(value)
    except Exception:  # a list with a whole number of 5,000 digits, say
        return f"a {type(value).__name__} that cannot be printed"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def quoted(cell: object) -> str:
    """Text as it is shown in a message: short, and on one line."""
    text = str(cell).encode("utf-8", "backslashreplace").decode().replace("\r", "\\r").replace("\n", "\\n")
    return f'"{text}"' if len(text) <= 40 else f'"{text[:37]}..."'
