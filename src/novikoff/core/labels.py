"""Multiclass labels: values of any type, numbered 0, 1, 2, ... in the order of their first appearance.

Different spellings are one label: 1, 1.0 and the text "1" of another file are the same, unless one file has both texts
and numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, shown
from novikoff.core.state import require
from novikoff.core.types import Batch, LabelValue, Prediction

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


class CountedLabels:
    """Labels 0, 1, 2, ... of a multiclass learner, announced or growing, and the number of rounds with each.

    Attributes:
        most: Largest number of labels.
        announced: Number of labels; None if new labels may appear.
        rounds: Number of rounds of the learner.
    """

    most: int = 2**20
    announced: int | None
    rounds: int
    _counts: NDArray[np.int64]

    def _announce(self, labels: int | None) -> None:
        """Begin with these labels, or with none if new ones may appear."""
        if labels is not None and not (type(labels) is int and 2 <= labels <= self.most):
            raise InputError(f"labels must be an integer from 2 to {self.most:,}: got {shown(labels)}. Leave it "
                             "out if new labels may appear.")  # fmt: skip
        self.announced = labels
        self._counts = np.zeros(0 if labels is None else labels, dtype=np.int64)

    @property
    def grows(self) -> bool:
        """Whether new labels may appear."""
        return self.announced is None

    @property
    def labels(self) -> int:
        """Number of labels known now."""
        return len(self._counts)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of rounds with each label."""
        return self._counts.copy()

    @property
    def entropy(self) -> float:
        """Log loss of the best constant probabilities in hindsight: the sum of n ln(T/n)."""
        counts = self._counts[self._counts > 0].astype(np.float64)
        return float((counts * np.log(self.rounds / counts)).sum()) if len(counts) else 0.0

    def _outcome(self, y: object) -> NDArray[np.int64]:
        """Return one label as an array of one, after checking it."""
        value = y[()] if isinstance(y, np.ndarray) and y.ndim == 0 else y
        most = self._most(self.labels)
        if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value < most:
            return np.array([value], dtype=np.int64)
        raise self._refused(value, self.labels)

    def _outcomes(self, batch: Batch) -> NDArray[np.int64]:
        """Return the labels of a batch after checking them."""
        y = np.asarray(batch.y)
        if y.ndim != 1 or y.dtype.kind not in "iu":
            raise self._refused(y.flat[0] if y.size else y, self.labels).at(round=batch.first)
        y = y.astype(np.int64)
        known = np.maximum.accumulate(np.append(self.labels, y[:-1] + 1)) if len(y) else y
        good = (y >= 0) & (y < np.minimum(known + self.grows, self.most))
        if not good.all():
            t = int(np.argmin(good))
            raise self._refused(y[t], int(known[t])).at(round=batch.first + t)
        return y

    def _most(self, known: int) -> int:
        """Return the number of labels that the next round may have if `known` are known."""
        return min(known + 1, self.most) if self.grows else known

    def _refused(self, y: object, known: int) -> InputError:
        what = "labels are numbered in order of appearance" if self.grows else "labels are announced"
        more = f" The learner takes at most {self.most:,} labels: use ftrl." if y == known == self.most else ""
        most = self._most(known) - 1
        return InputError(f"a label must be an integer from 0 to {most}: got {shown(y)}, and {what}.{more}")

    def _check_counts(self) -> None:
        """Raise `ModelFileError` if the counts of a model file contradict the labels or the rounds."""
        known = self.labels
        sound = known == self.announced or (self.announced is None and bool((self._counts > 0).all()))
        require(sound and known <= self.most, "every label must have been announced or observed", self._counts)
        require(int(self._counts.sum()) == self.rounds, "counts of labels must sum to the rounds", self._counts)
