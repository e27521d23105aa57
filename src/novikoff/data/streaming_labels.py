"""Label values that come one after the other, in a stream that cannot be read again, as -1 and +1, or numbered.

Rule
    Two values, the larger is +1. With `positive`, that value is +1 and every other -1; with `many`, labels are whole
    numbers from 0 to many-1 and stay as they are, or, if it is True, any values, numbered in the order they first come.
    While only one value has come: -1 and 0 stand for -1, and 1 stands for +1; any other could be either, an error.
    A second value that shows this was wrong (2 after 1) is an error, and so is a third value.
Use
    `look` at what can be had early, so that both values are known in time; then `encode` every row in order.
Cost
    O(1) memory, a few passes over the values of a batch.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.encode import number
from novikoff.core.errors import MANY, POSITIVE, Advice, LabelError, Option, SourceError
from novikoff.core.labels import Numbering
from novikoff.core.types import Labels

LOOK_AHEAD_BYTES = 2**24
LABEL_SECONDS = 1.0  # how long a pipe may take to show both labels
LONE = {-1: Labels(-1, 1), 0: Labels(0, 1), 1: Labels(-1, 1)}
"""What a value stands for while it is the only one."""


class StreamingLabels:
    """What the values of a stream stand for, as far as is known. Values are float64 or text, all of one kind."""

    def __init__(self, positive: object = None, multiclass: int | None = None) -> None:
        if positive is not None and multiclass is not None:
            raise SourceError(
                f"labels must be two or many: got positive={positive!r} and multiclass={multiclass}. Pass one."
            )
        self._numbering = Numbering() if multiclass is True else None
        if multiclass is not None and not 1 <= multiclass <= 2**31:
            raise SourceError(f"labels must be from 1 to 2^31: got multiclass={multiclass}.")
        self._positive = positive
        self._many = multiclass
        self._values: list[Any] = []  # the first two that came; with `positive`, of the others
        self._assumed: Labels | None = None  # what was told of a lone value
        self._positive_came = False
        self.expected: Labels | None = None  # what values stood for before: a lone one of them stands for it again

    @property
    def settled(self) -> bool:
        """Nothing that comes can change what the values stand for."""
        return self._positive is not None or self._many is not None or len(self._values) == 2

    @property
    def lone(self) -> bool:
        """Has one value come that could be either label?"""
        return not self.settled and len(self._values) == 1 and self._alone(self._values[0]) is None

    @property
    def labels(self) -> Labels | None:
        """What the values stand for, as far as is known; None before the first, and with `many`."""
        if self._positive is not None:
            other = self._values[0] if len(self._values) == 1 else f"not {shown(self._positive)}"
            return Labels(other, _plain(self._positive))
        if len(self._values) == 2:
            return Labels(*sorted(self._values))
        return self._assumed

    @property
    def label_values(self) -> list[Any] | None:
        """What numbered labels stand for, so far; None if they are not numbered."""
        return None if self._numbering is None else self._numbering.values

    @property
    def absent(self) -> bool:
        """Other values came, and the positive one did not."""
        return self._positive is not None and not self._positive_came and bool(self._values)

    def look(self, values: NDArray[Any]) -> None:
        """Take note of values that will be encoded later."""
        if not self.settled:
            self._note(values)

    def encode(self, values: NDArray[np.generic]) -> NDArray[Any]:
        """The labels of the rows: int8 -1/+1, or whole numbers with `many`.

        Raises `LabelError`, with the row of the values, from 0, that is wrong; those before it are good.
        """
        if self._numbering is not None:
            return self._numbering.encode_all(values)
        if self._many is not None:
            return self._encode_multiclass(values, self._many)
        if self._positive is not None:
            return self._encode_against(values, self._positive)
        if len(values) == 0:
            return np.empty(0, dtype=np.int8)
        if len(self._values) < 2:
            self._note(values)
        labels = self.labels or self._assume()
        self._check_assumed(labels, values)
        positive = values == labels.positive
        known = positive | (values == labels.negative)
        if not known.all():
            row = int(np.argmin(known))
            two = f"{shown(labels.negative)} and {shown(labels.positive)}"
            raise LabelError(
                "labels must take two values", f"has a third, {shown(values[row])}, beside {two}",
                Advice("Pass ", Option("positive", labels.positive), " to treat every other value as -1, or ", MANY),
                row=row,
            )  # fmt: skip
        return _signs(positive)

    def state(self) -> dict[str, Any]:
        """What is known, as JSON values."""
        assumed = None if self._assumed is None else [self._assumed.negative, self._assumed.positive]
        known = {} if self._numbering is None else {"numbered": list(self._numbering.values)}
        return {"values": list(self._values), "assumed": assumed, "positive_came": self._positive_came, **known}

    def load(self, state: dict[str, Any]) -> None:
        """Know what was known when `state` was taken."""
        self._values = list(state["values"])
        self._assumed = None if state["assumed"] is None else Labels(*state["assumed"])
        self._positive_came = state["positive_came"]
        if self._numbering is not None:
            self._numbering = Numbering(list(state.get("numbered", ())))

    def _note(self, values: NDArray[np.generic]) -> None:
        """The first two values that came."""
        if len(values) and not self._values:
            self._values.append(_plain(values[0]))
        if self._values:
            other = values != self._values[0]
            if other.any():
                self._values.append(_plain(values[int(np.argmax(other))]))

    def _assume(self) -> Labels:
        """What the only value so far stands for."""
        value = self._values[0]
        if self.lone:
            do = Advice("Pass ", Option("positive"), " and the value that is +1, to treat every other as -1.")
            raise LabelError("labels must take two values", f"there is only {shown(value)}", do, row=0, up_to=True)
        self._assumed = self._alone(value)
        assert self._assumed is not None
        return self._assumed

    def _alone(self, value: Any) -> Labels | None:
        """What a value stands for while it is the only one; None if that is not known."""
        if self.expected is not None and value in (self.expected.negative, self.expected.positive):
            return self.expected
        return LONE.get(value)

    def _check_assumed(self, labels: Labels, values: NDArray[np.generic]) -> None:
        """A lone value was encoded before the second came: it must keep its sign."""
        if self._assumed is None or len(self._values) < 2:
            return
        first, second = self._values
        if (first == self._assumed.positive) != (first == labels.positive):
            sign = "+1" if first == self._assumed.positive else "-1"
            row = int(np.argmax(values == second))
            self._values.pop()  # as it was before
            raise LabelError(
                "the larger of two labels must be +1",
                f"has {shown(second)}, after rows of {shown(first)} alone, which was taken for {sign}",
                Advice("Pass ", Option("positive", labels.positive), "."), row=row,
            )  # fmt: skip
        self._assumed = None

    def _encode_against(self, values: NDArray[np.generic], wanted: object) -> NDArray[np.int8]:
        """One value against every other."""
        if values.dtype.kind in "OUT":
            wanted = str(wanted)
        else:
            try:
                wanted = float(wanted) if isinstance(wanted, str) else number(wanted)
            except (TypeError, ValueError, OverflowError):
                must = f"the positive label must be a number, not {wanted!r}"
                raise LabelError(must, "has one", row=0) from None
        positive = np.asarray(values == wanted)
        others = values[~positive]
        self._positive_came = self._positive_came or len(others) < len(values)
        if len(self._values) < 2:
            self._note(others)
        return _signs(positive)

    def _encode_multiclass(self, values: NDArray[Any], multiclass: int) -> NDArray[np.int32]:
        """Whole numbers from 0 to many-1."""
        numbers = values.dtype.kind == "f"
        good = (
            (values >= 0) & (values < multiclass) & (values == np.floor(values))
            if numbers
            else np.zeros(len(values), bool)
        )
        if not good.all():
            row = int(np.argmin(good))
            must = f"labels must be whole numbers from 0 to {multiclass - 1}"
            do = Advice("Number them from 0. Or: ", POSITIVE)
            raise LabelError(must, f"has {shown(values[row])}", do, row=row)
        return values.astype(np.int32)


class Outcomes:
    """Numbers to be predicted, which stand for themselves: in the place of labels."""

    labels: Labels | None = None
    label_values: list[object] | None = None
    expected: Labels | None = None
    settled, lone, absent = True, False, False

    def look(self, values: NDArray[Any]) -> None:
        """There is nothing to find out."""

    def encode(self, values: NDArray[np.generic]) -> NDArray[np.float64]:
        """The numbers as they are, in memory of their own."""
        return values.astype(np.float64)

    def state(self) -> dict[str, Any]:
        """Nothing is known."""
        return {}

    def load(self, state: dict[str, Any]) -> None:
        """Nothing was."""


def held_back(
    pieces: Iterable[Any], labels: StreamingLabels | Outcomes, look: Callable[[Sequence[Any]], bool],
    ready: Callable[[float], bool], look_further: Callable[[Sequence[Any]], object],
) -> Iterator[Any]:  # fmt: skip
    """Pieces (of a `size` in bytes), held back at first until both labels have come, or for as long as may be.

    look           takes note of the labels of the last piece that is held; True if no row behind it will be read
    ready          will the next piece not be waited for, for so many seconds?
    look_further   looks for the second label behind those that are held, if it can
    """
    held: deque[Any] = deque()
    deadline = 0.0
    for piece in pieces:
        held.append(piece)
        if labels.labels is None and not labels.settled:
            deadline = deadline or time.monotonic() + LABEL_SECONDS
            if not look(held) and not labels.settled:
                size = sum(one.size for one in held)
                if size < LOOK_AHEAD_BYTES and ready(max(0.0, deadline - time.monotonic())):
                    continue
                look_further(held)
        while held:
            yield held.popleft()
    yield from held


def shown(value: Any) -> str:
    """A value for a message: 1, 0.5, "spam"."""
    plain = _plain(value)
    return f'"{plain}"' if isinstance(plain, str) else str(plain)


def _plain(value: object) -> Any:
    """A number as a Python number, whole if it is whole; anything else as text."""
    if isinstance(value, (int, float, np.number)):
        number = float(value)
        return int(number) if math.isfinite(number) and number.is_integer() and abs(number) < 2**53 else number
    return str(value)


def _signs(positive: NDArray[np.bool_]) -> NDArray[np.int8]:
    return positive.view(np.int8) * np.int8(2) - np.int8(1)
