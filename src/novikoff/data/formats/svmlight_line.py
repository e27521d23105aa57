"""One line of svmlight text, read by Python: slow, exact, and able to say what is wrong.

Format
    label [qid:N] index:value index:value ... [# comment], with blanks or tabs between; numbers as Python's float
    reads them, finite, in ASCII digits; indices are whole numbers from 0 to 2^32-2, in any order.
    Entries of one index are added up in their order, at the place of the first.
"""

from __future__ import annotations

import math
import re
from typing import Unpack

from novikoff.core.errors import LabelError, SourceError, Where

LARGEST_INDEX = 2**32 - 2
NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
FIELD = re.compile(rb"[^ \t]+")
WHOLE = re.compile(rb"[0-9]+")

Row = tuple[float, dict[int, float], int]
"""The label, the values by their indices, and one number more: in svmlight text, one more than the largest index."""


class BadLineError(Exception):
    """What must be, in which column (from 1) it is not, what is there, what to do, and which error that is."""

    def __init__(self, must: str, column: int, was: bytes, do: str, error: type[SourceError] = SourceError) -> None:
        super().__init__(must)
        self.must, self.column, self.was, self.do, self._error = must, column, was, do, error

    def error(self, prefix: bytes) -> SourceError:
        """An error of ours, as if the prefix were not on the line."""
        was = self.was.replace(prefix, b"", 1) if self.column == 1 else self.was
        text = repr(was[:40])[2:-1] + ("..." if len(was) > 40 else "")
        return self._error(self.must, f'has "{text}"', self.do, character=max(1, self.column - len(prefix)))


class BadValueError(BadLineError):
    """What must be, what is there instead, what to do, which error that is, and the key under which it was, if any."""

    def __init__(
        self, must: str, was: str, do: str, error: type[SourceError] = SourceError, **where: Unpack[Where]
    ) -> None:  # fmt: skip
        super().__init__(must, 0, was.encode(), do, error)
        self._got, self._where = f"has {was}", where

    def error(self, prefix: bytes) -> SourceError:
        return self._error(self.must, self._got, self.do, **self._where)


def read_line(line: bytes) -> Row | None:
    """The row that a line without its new line holds; None if it is blank or a comment. Raises `BadLineError`."""
    fields = FIELD.finditer(line.removesuffix(b"\r").partition(b"#")[0])
    entries: dict[int, float] = {}
    label = None
    for number, field in enumerate(fields):
        text, column = field.group(), field.start() + 1
        if label is None:
            label = finite(text, column, "a label")
            continue
        index, colon, value = text.partition(b":")
        if index == b"qid" and number == 1:
            if not WHOLE.fullmatch(value):
                raise BadLineError("qid must be a whole number", column, text, "Correct the line")
            continue
        if not colon:
            raise BadLineError("a feature must be index:value", column, text, "Correct the line")
        if not WHOLE.fullmatch(index):
            raise BadLineError("an index must be a whole number from 0", column, text, "Correct the line")
        digits = index.lstrip(b"0") or b"0"
        if len(digits) > 10 or int(digits) > LARGEST_INDEX:
            raise BadLineError(f"an index must be at most {LARGEST_INDEX}", column, text, "Number the features anew")
        i, x = int(digits), finite(value, column + len(index) + 1, "a value")
        if i in entries:
            x += entries[i]
            if not math.isfinite(x):
                raise BadLineError("values of one index must have a finite sum", column, text, "Scale the feature")
        entries[i] = x
    return None if label is None else (label, entries, max(entries, default=-1) + 1)


def finite(text: bytes, column: int, what: str) -> float:
    """The number that a text is. Raises `BadLineError`."""
    error = LabelError if what == "a label" else SourceError
    if not NUMBER.fullmatch(text):
        raise BadLineError(f"{what} must be a finite number", column, text, "Correct the line", error)
    number = float(text)
    if math.isinf(number):
        raise BadLineError(f"{what} must be finite", column, text, "It is too large for a double: scale it", error)
    return number
