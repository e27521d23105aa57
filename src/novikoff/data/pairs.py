"""Any iterable of (x, y) as a stream, played pair by pair: it may be endless, and x may be any object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, SourceError, named, shown
from novikoff.core.labels import Numbering, one_label
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Example, Labels, Position, check_label

HELD = (list, tuple, np.ndarray)
"""What holds its items without any code of its own; not so a subclass."""
PLAIN = frozenset((int, float, complex, bool, str, bytes, type(None), Fraction, Decimal))


def is_plain(value: Any) -> bool:
    """Numbers, text, and lists, tuples, dicts or arrays of them: what has no code of somebody's behind it."""
    kind = type(value)
    if kind in PLAIN or (isinstance(value, np.generic) and kind.__module__ == "numpy"):
        return True
    if kind is np.ndarray:
        return not value.dtype.hasobject or all(map(is_plain, value.reshape(-1).tolist()))
    if kind is dict:
        return is_plain([*value]) and is_plain([*value.values()])
    return kind in HELD and (PLAIN.issuperset(map(type, value)) or all(map(is_plain, value)))


def arrays_of(environment: Any) -> tuple[Any, Any] | None:
    """X and y, if it is (X, y): not two pairs (x, y)."""
    if isinstance(environment, tuple) and len(environment) == 2 and hasattr(environment[1], "__len__"):
        x, y = environment
        return None if isinstance(x, tuple) and isinstance(y, tuple) else (x, y)
    return None


def _told(pair: Any) -> str:
    """An item that is not a pair, on one line."""
    text = shown(pair)
    return named(pair) if "\n" in text else text


class Pairs(Stream):
    """Pairs (x, y). `labels` says which two values stand for -1 and +1; without it y is -1 or +1 already.

    `many` is for learners with labels 0 .. many-1; if it is True, labels are any values, numbered as they come.
    A list can be read again; a generator goes on where it was.
    `fixed` is true for a list, a tuple or an array of plain values: any other object may make its pairs as it is asked.
    """

    def __init__(
        self,
        pairs: Iterable[tuple[Example, Any]],
        domain: Domain | None = None,
        labels: Labels | None = None,
        many: int | None = None,
        name: str = "pairs",
    ) -> None:
        given: Any = labels
        if given is not None and not isinstance(given, Labels):
            two = given if isinstance(given, (list, tuple)) and len(given) == 2 else ("ham", "spam")
            do = f"Pass nk.Labels({two[0]!r}, {two[1]!r}), or many=True for more than two."
            raise SourceError("labels must be Labels, the values for -1 and +1", f"got {shown(given)}", do)
        if labels is not None and many is not None:
            raise SourceError(f"labels must be two or many: got {labels} and many={many}. Pass one of them.")
        try:
            self.rereadable = iter(pairs) is not pairs
        except TypeError:
            raise SourceError(f"pairs must be an iterable of (x, y): got {type(pairs).__name__}.") from None
        self.fixed = type(pairs) in HELD
        self._pairs = pairs
        self._many = many
        self.name = name
        self.domain = domain or Domain("any")
        self.labels = labels or (Labels() if many is None else None)
        self._set_numbering(many is True)

    def _set_numbering(self, many: bool) -> None:
        self.many, self._numbering = many, Numbering()
        self.label_values = self._numbering.values if many else None

    def show_many(self) -> None:
        self.labels = None
        self._set_numbering(True)

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        t = skipped = start["row"] if start else 0
        if self.many:
            self._set_numbering(True)
        for t, pair in enumerate(islice(self._pairs, skipped, None), start=skipped + 1):
            try:
                x, y = pair
            except (TypeError, ValueError):
                must = "each item must be a pair (x, y)"
                raise SourceError(must, f"is {_told(pair)}", item=t, source=self.name) from None
            self.fixed = self.fixed and is_plain(pair)
            yield Batch([x], self._outcome(y, t), t, {"row": t})
        if t == 0:
            left = "" if self.rereadable else " (left). Pass a list to read it again"
            raise SourceError(f"a source must not be empty: {self.name} has no items{left}.")

    def _outcome(self, y: Any, t: int) -> NDArray[Any]:
        """Of item t."""
        try:
            if self.many:
                return np.array([self._numbering.encode(one_label(y))])
            labels = self.labels or Labels()
            label = check_label(y, self._many) if labels == Labels() else labels.encode(y)
            return np.array([label], dtype=np.int8 if self._many is None else np.int32)
        except InputError as error:
            raise SourceError(*error.args, item=t, source=self.name) from None
        except ValueError:  # an array has no one truth
            raise SourceError("a label must be one value", f"has {y!r}", item=t, source=self.name) from None
