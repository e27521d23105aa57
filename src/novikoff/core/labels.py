"""Multiclass labels: values of any type, numbered 0, 1, 2, ... in the order of their first appearance.

Different spellings are one label: 1, 1.0 and the text "1" of another file are the same, unless one file has both texts
and numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError
from novikoff.core.types import LabelValue, Prediction

MOST_CLASSES = 20
"""Maximum number of distinct integers that are interpreted as classes rather than as numbers to predict."""


class Numbering:
    """A numbering of label values.

    Args:
        values: User's value of each label; the list belongs to the caller and grows in place.
        known: Number of labels already learned without values: if the first value is one of 0 .. known-1, the values
            are these numbers.
    """

    def __init__(self, values: list[LabelValue] | None = None, known: int = 0) -> None:
        self.values, self._known = [] if values is None else values, known
        self._codes = {_key(value): code for code, value in enumerate(self.values)}

    def cut(self, known: int) -> None:
        """Forget the values of label `known` and later ones, because their rows were rejected."""
        for value in self.values[known:]:
            del self._codes[_key(value)]
        del self.values[known:]

    def find(self, value: LabelValue) -> int | None:
        """Return the label of a value; None if it is new."""
        code = self._codes.get(_key(plain_label(value)))
        if code is not None:
            return code
        # Not found as it is: a text may spell a number, or a number a text ("1" and 1).
        others = ((code, one) for code, one in enumerate(self.values) if isinstance(one, str) != isinstance(value, str))
        return next((code for code, one in others if alike(one, value)), None)

    def encode(self, value: LabelValue) -> int:
        """Return the label of a value; a new value gets the next number."""
        given = plain_label(value)
        if not self.values and type(given) is int and 0 <= given < self._known:
            self.values.extend(range(self._known))
            self._codes.update((code, code) for code in range(self._known))
        code = self.find(value)
        if code is None:
            code = len(self.values)
            whole = isinstance(given, float) and given.is_integer() and abs(given) < 2**53  # exact as an integer
            self.values.append(int(given) if isinstance(given, float) and whole else given)
            self._codes[_key(self.values[-1])] = code
        return code

    def encode_all(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the labels of an array of values, numbering new ones in order."""
        if values.dtype.kind == "O":
            return np.array([self.encode(value) for value in values.tolist()], dtype=np.int64)
        distinct, firsts, places = np.unique(values, return_index=True, return_inverse=True)
        codes = np.empty(len(distinct), dtype=np.int64)
        for place in np.argsort(firsts).tolist():
            codes[place] = self.encode(distinct[place])
        return codes[places.reshape(-1)]

    def decode(self, label: Prediction) -> LabelValue:
        """Return the user's value of a label; the number itself if it is not named yet, None before the first value."""
        if 0 <= label < len(self.values):
            return self.values[int(label)]
        return label if self.values else None


def plain_label(value: object) -> object:
    """Return a label as stored in a model file: a text, boolean or number."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def one_label(y: object) -> object:
    """Return a label as a plain value; raise `InputError` unless it is a text, boolean or finite number."""
    value = y[()] if isinstance(y, np.ndarray) and y.ndim == 0 else y
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (str, int, float, bool)) or value != value or value in (float("inf"), -float("inf")):
        raise InputError(f"a label must be text, a boolean or a finite number: got {y!r}.")
    return value


def alike(value: object, wanted: object) -> bool:
    """Return whether two values are equal or spelled alike, as 1 and "1.0", or True, "true" and 1."""
    boolean = isinstance(value, bool) or isinstance(wanted, bool)
    if str(value) == str(wanted) or (boolean and str(value).lower() == str(wanted).lower()):
        return True
    try:
        return float(value) == float(wanted)  # type: ignore[arg-type] # or raises TypeError
    except (TypeError, ValueError, OverflowError):
        return False


def _key(value: object) -> object:
    """Return a dictionary key that tells True from 1, which Python considers equal."""
    return (value,) if isinstance(value, bool) else value


def are_numbers(values: set[float]) -> bool:
    """Return whether the values are numbers to predict rather than labels."""
    return len(values) > MOST_CLASSES or (len(values) > 2 and not all(map(float.is_integer, values)))
