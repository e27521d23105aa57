"""Encoding of labels as they arrive, in a stream that may be readable only once: -1/+1, or class numbers.

Rule
    The larger of two values is +1. With `positive`, that value is +1 and every other -1. With `multiclass` = k, labels
    are integers from 0 to k-1 and stay as they are; with True, they are any values, numbered in order of first
    appearance. While only one value has appeared, -1 and 0 mean -1 and 1 means +1; any other single value is an error,
    because it could be either. A second value that contradicts this (2 after 1) is an error, and so is a third value.
Use
    Call `look` on values as early as possible, so that both are known in time; then `encode` every row in order.
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
"""Maximum size of the rows that are held back until both labels are known."""
LABEL_SECONDS = 1.0
"""Time limit for a pipe to deliver both labels."""
LONE = {-1: Labels(-1, 1), 0: Labels(0, 1), 1: Labels(-1, 1)}
"""Labels assumed for a value while it is the only one."""


class StreamingLabels:
    """Label encoder of a stream, with the values seen so far. Values are float64 or text, all of one kind.

    Args:
        positive: Value for +1, every other is -1; None for two values.
        multiclass: Number of labels 0 .. k-1, or True to number any values; None for two labels.

    Attributes:
        positive: Value for +1; None for two values.
        expected: Labels of an earlier run: a single value among them keeps its meaning, and so does a positive label
            that was chosen.
    """

    def __init__(self, positive: object = None, multiclass: int | None = None) -> None:
        if positive is not None and multiclass is not None:
            raise SourceError(
                f"labels are binary or multiclass: got positive={positive!r} and multiclass={multiclass}. Pass one."
            )
        self._numbering = Numbering() if multiclass is True else None
        if multiclass is not None and not 1 <= multiclass <= 2**31:
            raise SourceError(f"labels must be from 1 to 2^31: got multiclass={multiclass}.")
        self.positive = positive
        self._many = multiclass
        self._values: list[Any] = []  # first two distinct values; with `positive`, among the others
        self._assumed: Labels | None = None  # labels assumed for a single value
        self._positive_came = False
        self._expected: Labels | None = None

    @property
    def expected(self) -> Labels | None:
        """Labels of an earlier run; None if there was none."""
        return self._expected

    @expected.setter
    def expected(self, labels: Labels | None) -> None:
        self._expected = labels
        if labels is not None and self.positive is None and self._many is None and _was_chosen(labels):
            positive = labels.positive
            self.positive = str(positive).lower() if isinstance(positive, bool) else positive

    @property
    def settled(self) -> bool:
        """Whether no later value can change the encoding."""
        return self.positive is not None or self._many is not None or len(self._values) == 2

    @property
    def lone(self) -> bool:
        """Whether there is one value so far, and it could be either label."""
        return not self.settled and len(self._values) == 1 and self._alone(self._values[0]) is None

    @property
    def labels(self) -> Labels | None:
        """Values for -1 and +1 as far as known; None before the first value, and for multiclass."""
        if self.positive is not None:
            other = self._values[0] if len(self._values) == 1 else f"not {shown(self.positive)}"
            return Labels(other, _plain(self.positive))
        if len(self._values) == 2:
            return Labels(*sorted(self._values))
        return self._assumed

    @property
    def label_values(self) -> list[Any] | None:
        """Values of the numbered labels so far; None if labels are not numbered."""
        return None if self._numbering is None else self._numbering.values

    @property
    def absent(self) -> bool:
        """Whether other values have appeared, but not the positive one."""
        return self.positive is not None and not self._positive_came and bool(self._values)

    def look(self, values: NDArray[Any]) -> None:
        """Register values that will be encoded later."""
        if not self.settled:
            self._note(values)

    def encode(self, values: NDArray[np.generic]) -> NDArray[Any]:
        """Return the labels of the rows: int8 -1/+1, or class numbers for multiclass.

        Raises:
            LabelError: With the index of the first invalid row; the rows before it are valid.
        """
        if self._numbering is not None:
            return self._numbering.encode_all(values)
        if self._many is not None:
            return self._encode_multiclass(values, self._many)
        if self.positive is not None:
            return self._encode_against(values, self.positive)
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
                "labels must take two values", f"has a third value, {shown(values[row])}, after {two}",
                Advice("Pass ", Option("positive", labels.positive), " to treat every other value as -1, or ", MANY),
                row=row,
            )  # fmt: skip
        return _signs(positive)

    def state(self) -> dict[str, Any]:
        """Return the values seen so far as JSON values."""
        assumed = None if self._assumed is None else [self._assumed.negative, self._assumed.positive]
        known = {} if self._numbering is None else {"numbered": list(self._numbering.values)}
        return {"values": list(self._values), "assumed": assumed, "positive_came": self._positive_came, **known}

    def load(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self._values = list(state["values"])
        self._assumed = None if state["assumed"] is None else Labels(*state["assumed"])
        self._positive_came = state["positive_came"]
        if self._numbering is not None:
            self._numbering = Numbering(list(state.get("numbered", ())))

    def _note(self, values: NDArray[np.generic]) -> None:
        """Record the first two distinct values."""
        if len(values) and not self._values:
            self._values.append(_plain(values[0]))
        if self._values:
            other = values != self._values[0]
            if other.any():
                self._values.append(_plain(values[int(np.argmax(other))]))

    def _assume(self) -> Labels:
        """Return the labels assumed for the only value so far."""
        value = self._values[0]
        if self.lone:
            do = Advice("Pass ", Option("positive"), " and the value that is +1, to treat every other as -1.")
            raise LabelError("labels must take two values", f"there is only {shown(value)}", do, row=0, up_to=True)
        self._assumed = self._alone(value)
        assert self._assumed is not None
        return self._assumed

    def _alone(self, value: Any) -> Labels | None:
        """Return the labels assumed for a single value; None if it could be either."""
        if self.expected is not None and value in (self.expected.negative, self.expected.positive):
            return self.expected
        return LONE.get(value)

    def _check_assumed(self, labels: Labels, values: NDArray[np.generic]) -> None:
        """Raise LabelError if the second value changes the sign of rows that are already encoded."""
        if self._assumed is None or len(self._values) < 2:
            return
        first, second = self._values
        if (first == self._assumed.positive) != (first == labels.positive):
            sign = "+1" if first == self._assumed.positive else "-1"
            row = int(np.argmax(values == second))
            self._values.pop()  # restore the state before this batch
            raise LabelError(
                "the larger of two labels must be +1",
                f"has {shown(second)}, after rows with {shown(first)} only, which was read as {sign}",
                Advice("Pass ", Option("positive", labels.positive), "."), row=row,
            )  # fmt: skip
        self._assumed = None

    def _encode_against(self, values: NDArray[np.generic], wanted: object) -> NDArray[np.int8]:
        """Encode one value as +1 and every other as -1."""
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
        """Return labels as int32 from 0 to multiclass-1; raise LabelError for others."""
        numbers = values.dtype.kind == "f"
        good = (
            (values >= 0) & (values < multiclass) & (values == np.floor(values))
            if numbers
            else np.zeros(len(values), bool)
        )
        if not good.all():
            row = int(np.argmin(good))
            must = f"labels must be integers from 0 to {multiclass - 1}"
            do = Advice("Number them from 0. Or: ", POSITIVE)
            raise LabelError(must, f"has {shown(values[row])}", do, row=row)
        return values.astype(np.int32)


def _was_chosen(labels: Labels) -> bool:
    """Return whether the positive label was chosen: the rule would not have found it."""
    negative, positive = labels.negative, labels.positive
    if negative == f"not {shown(positive)}":
        return True
    try:
        return bool(negative > positive)  # type: ignore[operator]
    except TypeError:
        return False


class Outcomes:
    """Real outcomes for regression, with the interface of `StreamingLabels`."""

    labels: Labels | None = None
    label_values: list[object] | None = None
    expected: Labels | None = None
    positive: object = None
    settled, lone, absent = True, False, False

    def look(self, values: NDArray[Any]) -> None:
        """Do nothing: numbers need no encoding."""

    def encode(self, values: NDArray[np.generic]) -> NDArray[np.float64]:
        """Return a float64 copy of the numbers."""
        return values.astype(np.float64)

    def state(self) -> dict[str, Any]:
        """Return an empty state."""
        return {}

    def load(self, state: dict[str, Any]) -> None:
        """Do nothing: there is no state."""


def held_back(
    pieces: Iterable[object], labels: StreamingLabels | Outcomes, look: Callable[[Sequence[Any]], bool],
    ready: Callable[[float], bool], look_further: Callable[[Sequence[Any]], object],
) -> Iterator[Any]:  # fmt: skip
    """Yield pieces, after holding back the first ones until both labels are known or a limit is reached.

    The limits are LOOK_AHEAD_BYTES of held pieces and LABEL_SECONDS of waiting.

    Args:
        pieces: Parts of a source, each with a `size` in bytes.
        labels: Encoder of the labels.
        look: Registers the labels of the last held piece; returns True if no later row will be read.
        ready: Returns whether the next piece is available within a number of seconds.
        look_further: Searches for the second label beyond the held pieces, if the source allows it.
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


def shown(value: object) -> str:
    """Return a value for a message: 1, 0.5, "spam"."""
    plain = _plain(value)
    return f'"{plain}"' if isinstance(plain, str) else str(plain)


def _plain(value: object) -> Any:
    """Return a number as a Python number, an int if it is integral; anything else as text."""
    if isinstance(value, (int, float, np.number)):
        number = float(value)
        return int(number) if math.isfinite(number) and number.is_integer() and abs(number) < 2**53 else number
    return str(value)


def _signs(positive: NDArray[np.bool_]) -> NDArray[np.int8]:
    return positive.view(np.int8) * np.int8(2) - np.int8(1)
