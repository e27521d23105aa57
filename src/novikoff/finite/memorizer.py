"""Memorizer: the label of every x seen so far, and +1 for any other.

Algorithm
    Predict the last label of x; +1 if x was never seen. Learn by storing the label. Two x are equal if all their
    numbers are: a row of a table, a number, a text, or a dict of features, in which a zero is the same as nothing.
Promise
    finite/theorems/memorized_mistakes.py: if x determines its label, one mistake for each different x at most, so |X|
    on a finite domain. On an infinite one it may err for ever: adversaries/bisection.py shows a new x in every round.
Cost
    O(size of x) per round; all different x in memory, and in a saved model.
Reference
    [shalevshwartz2014], chapter 21.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from numbers import Rational, Real
from typing import Any, ClassVar

import numpy as np

from novikoff.core.errors import InputError, shown
from novikoff.core.learner import Learner
from novikoff.core.state import Coded, Count, require
from novikoff.core.types import Domain, Example, Label, Outcome, State, Theorem, check_label
from novikoff.finite.theorems.memorized_mistakes import MemorizerFacts, memorized_mistakes


def _as_lists(known: dict[str, Label]) -> list[list[str]]:
    return [sorted(key for key, label in known.items() if label == y) for y in (-1, 1)]


def _from_lists(lists: Any) -> dict[str, Label]:
    negative, positive = lists
    if not all(isinstance(key, str) for key in (*negative, *positive)):
        raise ValueError
    return {**dict.fromkeys(negative, -1), **dict.fromkeys(positive, 1)}


class Memorizer(Learner):
    """Learner that stores the label of every x, and predicts +1 for an x that it has not seen.

    Guarantee:
        At most one mistake for each different x, if x determines its label (`memorized_mistakes`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.Memorizer(), [(0, -1), (1, 1), (0, -1), (1, 1), (2, -1)]).mistakes
        2
    """

    domain: Domain

    promises: ClassVar[tuple[Theorem, ...]] = (memorized_mistakes,)
    fields = (
        Coded("known", _as_lists, _from_lists, "two lists of texts"),
        Count("rounds"),
        Count("changes", most="rounds"),
        Count("changed_at", most="rounds"),
    )

    def __init__(self) -> None:
        self.domain = Domain("any")
        self.known: dict[str, Label] = {}
        self.rounds = self.changes = self.changed_at = 0

    def predict_one(self, x: Example) -> Label:
        return self.known.get(key(x), 1)

    def play_one(self, x: Example, y: Outcome) -> Label:
        """Predict, then store the label."""
        place, label = key(x), check_label(y, self.labels)
        found = self.known.get(place)
        self.rounds += 1
        if found is not None and found != label:
            self.changed_at = self.changed_at or self.rounds
            self.changes += 1
        self.known[place] = label
        return 1 if found is None else found

    @property
    def size(self) -> int:
        """Number of different x."""
        return len(self.known)

    @property
    def rows_held(self) -> int:
        """Training rows in the hypothesis: all different x."""
        return len(self.known)

    def facts(self) -> MemorizerFacts:
        return MemorizerFacts(self.rounds, len(self.known), self.changes, self.changed_at)

    def after_restoring(self, found: State) -> None:
        require((self.changes > 0) == (self.changed_at > 0), "a change must have a round", self.changed_at)


def key(x: object) -> str:
    """Return a text that is the same for equal x, and only for these."""
    try:
        return json.dumps(_canonical(x), separators=(",", ":"))
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"x must be a number, a text, a vector or a dict of features: got {shown(x)}. Clean or drop the row."
        ) from None


def _canonical(x: object) -> Any:
    if isinstance(x, str):
        return ["text", x]
    if isinstance(x, Mapping):
        if not all(isinstance(name, str) for name in x):
            raise TypeError
        return ["names", sorted((name, _number(value)) for name, value in x.items() if _number(value) != "0")]
    if isinstance(x, tuple) and len(x) == 2 and all(isinstance(part, np.ndarray) for part in x):  # sparse
        places, values = x
        if places.ndim != 1 or places.shape != values.shape or places.dtype.kind not in "iu":
            raise TypeError
        pairs = sorted((int(i), _number(v)) for i, v in zip(places.tolist(), values.tolist(), strict=True) if v)
        if len({i for i, _ in pairs}) < len(pairs) or any(not 0 <= i < 2**32 for i, _ in pairs):
            raise ValueError
        return ["places", pairs]
    if isinstance(x, (np.ndarray, list, tuple)):
        values = np.asarray(x, object)
        if values.ndim > 1:
            raise TypeError
        if values.ndim == 1:
            return ["vector", [_number(value) for value in values.tolist()]]
        x = values.item()
    return _number(x)


def _number(value: object) -> str:
    """Return a finite number as a text, exactly; 1, 1.0 and Fraction(1) are the same."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Real, np.number)):
        raise TypeError
    if not isinstance(value, Rational) and not math.isfinite(value):
        raise ValueError
    exact: Any = value
    above, below = exact.as_integer_ratio()
    return f"{above:x}" if below == 1 else f"{above:x}/{below:x}"
