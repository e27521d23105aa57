"""Examples as bytes: parsed from JSON once, stored in the database, and read back without JSON.

An object of features is hashed like a line of JSON lines (data/formats/jsonl.py): pairs of an index and a double, 12
bytes each. Text such as "75" counts as a number if the feature was a number before. An array of numbers becomes
doubles; null in advice is a NaN (an expert that abstains). A number is one double. A model has examples of one form.

In a model with a schema, or made from a game on a table, an object is a record (data/tables/records.py): it is stored
as JSON, because the same row has other features once more categories and columns are known.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, NovikoffError
from novikoff.core.types import Batch, Domain, Sparse
from novikoff.data.formats.jsonl import Names
from novikoff.data.formats.lines import BadLineError
from novikoff.data.layout import is_number
from novikoff.server.wire import RefusedError

PAIRS = np.dtype([("index", "<u4"), ("value", "<f8")])
"""Stored form of a feature: 12 bytes."""
EXACT = 2.0**53
"""Smallest integer whose successor is not a double."""
MOST_NUMBERS = 10_000
"""Largest number of features remembered as numbers."""


class Rows:
    """Reader of the examples of one model.

    Attributes:
        numbers: Features that were numbers so far, as keys.

    Args:
        domain: Domain of the learner.
        bits: Bits of the feature hash.
        records: Function that encodes an object as a row of a table, to check it; None to hash objects.
    """

    def __init__(self, domain: Domain, bits: int, records: Callable[[dict[str, Any]], object] | None = None) -> None:
        self._records = records
        self._kind, self._width, self._bits = domain.kind, domain.width, bits
        self._names = Names(bits)
        self.numbers: dict[str, None] = {}

    @property
    def records(self) -> bool:
        """Whether objects are rows of a table."""
        return self._records is not None

    def read(self, x: object) -> tuple[str, bytes]:
        """Return the form and the bytes of an example, or refuse it."""
        try:
            return self._read(x)
        except OverflowError:  # an integer beyond the doubles
            raise RefusedError("bad_example", "numbers must be finite.") from None

    def _read(self, x: object) -> tuple[str, bytes]:
        if isinstance(x, dict) and self._records is not None:
            return "record", self._record(x)
        if isinstance(x, dict):
            return "pairs", self._pairs(x)
        if isinstance(x, list):
            return f"array {len(x)}", self._array(x)
        if type(x) is float or type(x) is int:
            return "number", self._array([x])
        if x is None and self._kind == "losses":
            return "none", b""
        raise RefusedError("bad_example", "x must be an object of features, an array of numbers, or a number.")

    def _record(self, x: dict[str, object]) -> bytes:
        """Return an object as JSON, after a trial encoding."""
        assert self._records is not None
        if not x:
            raise RefusedError("bad_example", "x must have at least one column.")
        try:
            self._records(x)
        except NovikoffError as error:
            raise RefusedError("bad_example", str(error)) from None
        return json.dumps(x, allow_nan=False).encode()

    def _pairs(self, x: dict[str, object]) -> bytes:
        if self._kind not in ("vector", "any"):
            raise RefusedError("bad_example", f"x must be an array or a number: the learner plays on {self._kind}.")
        entries: dict[int, float] = {}
        try:
            self._names.add(entries, self._typed(x), "")
        except BadLineError as error:
            raise RefusedError("bad_example", str(error.error(b""))) from None
        except RecursionError:
            raise RefusedError("bad_example", "an object is nested too deeply. Flatten it.") from None
        pairs = np.empty(len(entries), PAIRS)
        pairs["index"], pairs["value"] = list(entries.keys()), list(entries.values())
        return pairs.tobytes()

    def names(self, x: object) -> dict[int, str]:
        """Return the key of each index of an object of features; keys that share an index are joined."""
        found: dict[int, str] = {}
        for key, value in self._typed(x).items() if isinstance(x, dict) else ():
            entries: dict[int, float] = {}
            self._names.add(entries, {key: value}, "")
            for index in entries:
                found[index] = f"{found[index]} + {key}" if index in found else key
        return found

    def known(self) -> dict[int, str]:
        """Return the names of the features read since the start, by index."""
        return self._names.known()

    def _typed(self, x: dict[str, object]) -> dict[str, object]:
        """Return the object with numbers instead of numeric text, for features that were numbers so far."""
        typed = dict(x)
        for key, value in x.items():
            if type(value) is float or type(value) is int:
                if key not in self.numbers and len(self.numbers) < MOST_NUMBERS:
                    self.numbers[key] = None
            elif type(value) is str and key in self.numbers and is_number(value):
                typed[key] = float(value)
        return typed

    def _array(self, x: list[Any]) -> bytes:
        abstains = self._kind == "advice"
        values = [math.nan if value is None and abstains else value for value in x]
        if not values or not all(type(value) is float or type(value) is int for value in values):
            raise RefusedError("bad_example", "an array must have one or more numbers, and nothing else.")
        values = list(map(float, values))
        if not all(map(math.isfinite, values)) and not (abstains and not any(map(math.isinf, values))):
            raise RefusedError("bad_example", "numbers must be finite.")
        if self._kind in ("index", "point") and not all(value.is_integer() and abs(value) < EXACT for value in values):
            raise RefusedError("bad_example", "numbers must be integers below 2^53: the learner plays on a grid.")
        if self._width is not None and self._kind != "index" and len(values) != self._width:
            raise RefusedError("bad_example", f"x must have {self._width:,} numbers: got {len(values):,}.")
        return np.array(values).tobytes()

    def batch(self, form: str, rows: Sequence[bytes], y: NDArray[Any], first: int) -> Batch:
        """Return rows of one form, with their labels, as a batch."""
        return Batch(self._x(form, rows), y, first, memory="owned")

    def _x(self, form: str, rows: Sequence[bytes]) -> NDArray[Any] | Sparse | None:
        if form == "none":
            return None
        if form == "pairs":
            ends = np.zeros(len(rows) + 1, np.uint64)
            np.cumsum([len(row) // PAIRS.itemsize for row in rows], out=ends[1:])
            pairs = np.frombuffer(b"".join(rows), PAIRS)
            indices, values = np.ascontiguousarray(pairs["index"]), np.ascontiguousarray(pairs["value"])
            return Sparse(ends, indices, values, 2**self._bits, checked=True)
        numbers = np.frombuffer(b"".join(rows), np.float64).reshape(len(rows), -1)
        if self._kind in ("index", "point"):
            numbers = numbers.astype(np.int64)
        return numbers[:, 0].copy() if form == "number" or self._kind == "index" else numbers.copy()


def check_form(known: str | None, form: str) -> None:
    """Refuse an example whose form differs from earlier ones."""
    if known is not None and form != known:
        raise InputError(f"examples must have one form: got {_describe(form)} after {_describe(known)}.")


def _describe(form: str) -> str:
    kind, _, width = form.partition(" ")
    return {"pairs": "an object", "record": "an object", "number": "a number", "none": "nothing"}.get(
        kind, f"an array of {width} numbers"
    )
