"""One line of svmlight text, read by Python: slow, exact, and able to say what is wrong.

Format
    label [qid:N] index:value index:value ... [# comment], with blanks or tabs between; numbers as Python's float
    reads them, finite, in ASCII digits; indices are whole numbers from 0 to 2^32-2, in any order.
    Entries of one index are added up in their order, at the place of the first.
"""

from __future__ import annotations

import math
import re

LARGEST_INDEX = 2**32 - 2
NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
FIELD = re.compile(rb"[^ \t]+")
WHOLE = re.compile(rb"[0-9]+")

Row = tuple[float, list[int], list[float]]
"""The label, the indices and the values."""


class BadLineError(Exception):
    """What must be, in which column (from 1) it is not, what is there, and what to do."""

    def __init__(self, must: str, column: int, was: bytes, do: str) -> None:
        super().__init__(must)
        self.must, self.column, self.was, self.do = must, column, was, do

    def message(self, line: int, name: str) -> str:
        """What must be: what was, where."""
        text = repr(self.was[:40])[2:-1] + ("..." if len(self.was) > 40 else "")
        return f'{self.must}: line {line}, column {self.column} of {name} has "{text}"'


def read_line(line: bytes) -> Row | None:
    """The row that a line without its new line holds; None if it is blank or a comment. Raises `BadLineError`."""
    fields = FIELD.finditer(line.removesuffix(b"\r").partition(b"#")[0])
    entries: dict[int, float] = {}
    label = None
    for number, field in enumerate(fields):
        text, column = field.group(), field.start() + 1
        if label is None:
            label = _finite(text, column, "a label")
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
        i, x = int(digits), _finite(value, column + len(index) + 1, "a value")
        if i in entries:
            x += entries[i]
            if not math.isfinite(x):
                raise BadLineError("values of one index must have a finite sum", column, text, "Scale the feature")
        entries[i] = x
    return None if label is None else (label, list(entries), list(entries.values()))


def _finite(text: bytes, column: int, what: str) -> float:
    if not NUMBER.fullmatch(text):
        raise BadLineError(f"{what} must be a finite number", column, text, "Correct the line")
    number = float(text)
    if math.isinf(number):
        raise BadLineError(f"{what} must be finite", column, text, "It is too large for a double: scale it")
    return number
