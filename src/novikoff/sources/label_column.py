"""The label column of an Arrow file whose rows are lists: two values, the larger +1, or 0 .. many-1.

`positive` overrides; booleans stay booleans. One pass over the column when the file is opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.errors import POSITIVE, Advice, LabelError, Option, SourceError, Where, place, quoted
from novikoff.sources.arrays import against_others, alike, two_labels
from novikoff.sources.layout import WHOLE, is_number
from novikoff.types import Labels

MOST_LABELS = 2**31
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


class LabelValues:
    """What the values of a label column stand for; all of them are looked at when it is made."""

    def __init__(
        self, parts: Iterable[Any], where: Where, positive: Any = None, many: int | None = None
    ) -> None:  # fmt: skip
        self._where = where
        parts = iter(parts)
        first = next(parts, None)
        parts = () if first is None else chain((first,), parts)
        self._labels = LabelColumn(positive, many, first is not None and _is_boolean(first.type))
        self._dtype = np.int8 if many is None or positive is not None else np.int32
        self.rows = 0
        for part in parts:
            values, codes = _distinct(part)
            for code, value in enumerate(values):
                fault = self._labels.learn(_text(value))
                if fault:
                    raise fault.at(row=self.rows + int(np.argmax(codes == code)) + 1).at(**where)
            self.rows += len(codes)
        if self.rows == 0:
            raise SourceError("a source must not be empty", "has no rows", **where)
        self.labels: Labels | None = self._labels.settle(place(where))

    def y(self, part: Any, first: int = 1) -> NDArray[Any]:
        """The labels of a part of the column: int8 -1/+1, or int32 with `many`."""
        values, codes = _distinct(part)
        try:
            coded = np.array([self._labels.code(_text(value)) for value in values], dtype=self._dtype)
        except UnknownLabelError as error:
            must, was = "a source must stay as it is", f"has changed ({error})"
            raise SourceError(must, was, "Open it again.", **self._where) from None
        return np.take(coded, codes)


class LabelColumn:
    """What label cells stand for, learned as they come: two values, one against the rest, or 0 .. many-1."""

    def __init__(self, positive: Any, many: int | None, booleans: bool = False) -> None:
        if many is not None and not 1 <= many <= MOST_LABELS:
            raise SourceError(f"labels must be from one to {MOST_LABELS:,}: got many={many}.")
        self._positive = None if positive is None else _value(str(positive))
        if booleans and positive is not None:
            self._positive = next((value for value in (False, True) if alike(value, positive)), positive)
        self._many = many if positive is None else None
        self._values: list[Any] = []
        self._labels: Labels | None = None

    def learn(self, text: str | bool) -> LabelError | None:
        """Take note of a cell, or of a boolean; the fault, if it has one."""
        value = _value(text)
        if value == "":
            return LabelError("labels must not be missing", "is empty", "Fill or drop the row.")
        if NOT_FINITE.fullmatch(str(value)):
            return LabelError("labels must be finite", f"has {quoted(text)}", "Clean or drop the row.")
        if isinstance(value, str) and ("\n" in value or "\r" in value):
            return LabelError("labels must be on one line", f"has {quoted(text)}", "Is a quote left open?")
        if self._many is not None:
            if isinstance(value, int) and 0 <= value < self._many:
                return None
            must = f"labels must be whole numbers from 0 to {self._many - 1}"
            return LabelError(must, f"has {quoted(text)}", Advice("Number them from 0. Or: ", POSITIVE))
        if value in self._values:
            return None
        if self._positive is None and len(self._values) == 2:
            do = Advice("Pass ", Option("positive", self._sorted()[1]), " to treat every other value as -1.")
            return LabelError("labels must take two values", f"has a third, {quoted(text)}", do)
        if self._positive is None or value == self._positive or len(self._values) < 3:
            self._values.append(value)
        return None

    def settle(self, where: str) -> Labels | None:
        """What the values seen stand for; None if there are many."""
        if self._many is not None:
            return None
        values = self._sorted()
        if self._positive is None:
            self._labels = two_labels(values)
            if self._labels is None:
                was = f"every row in {where} has {quoted(values[0])}"
                raise LabelError("labels must take two values", was, POSITIVE)
        elif self._positive in values:
            self._labels = against_others(values, values.index(self._positive))
        else:
            shown = ", ".join(quoted(value) for value in values)
            raise SourceError(
                "the positive label must occur", f"{where} has no {quoted(self._positive)}, but {shown}",
                Advice("Pass ", Option("positive", letter="VALUE"), " with one that does."),
            )  # fmt: skip
        return self._labels

    def code(self, text: str | bool) -> int:
        """The label of a cell: -1 or +1, or 0 .. many-1."""
        value = _value(text)
        if self._labels is None:
            if not (isinstance(value, int) and 0 <= value < (self._many or 0)):
                raise UnknownLabelError(f"a label {quoted(text)}")
            return int(value)
        if value == self._labels.positive:
            return 1
        if self._positive is None and value != self._labels.negative:
            raise UnknownLabelError(f"a label {quoted(text)}")
        return -1

    def _sorted(self) -> list[Any]:
        numbers = not any(isinstance(value, str) for value in self._values)
        return sorted(self._values, key=None if numbers else str)


class UnknownLabelError(Exception):
    """A label that was not there when the file was opened."""


def _value(text: str | bool) -> Any:
    """A label cell as a number if it is written as one, whole if it is whole; else the text. A boolean as it is."""
    if isinstance(text, bool):
        return text
    cell = text.strip(" \t")
    if WHOLE.fullmatch(cell):
        return int(cell)
    if not is_number(cell):
        return cell
    number = float(cell)
    return int(number) if number.is_integer() else number


def _distinct(part: Any) -> tuple[list[Any], NDArray[Any]]:
    """The distinct values of a label column in the order they come, and which of them each row has."""
    import pyarrow as pa

    try:
        if pa.types.is_dictionary(part.type):
            part = part.cast(part.type.value_type)
        if isinstance(part, pa.ChunkedArray):
            part = part.combine_chunks()
        encoded = part.dictionary_encode(null_encoding="encode")
    except pa.ArrowException as error:
        raise LabelError(f"labels must be numbers or text: they are {part.type} ({error}).") from None
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy()


def _is_boolean(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_boolean(kind.value_type if pa.types.is_dictionary(kind) else kind))


def _text(value: Any) -> str | bool:
    """A label as it would be written in a CSV file; a boolean as it is."""
    if isinstance(value, bool):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return "" if value is None else str(value)
