"""Predictions as JSON lines: one object a line, `{"outcome": 1, "anna": 0.7, "ben": null}`, with the keys of the first.

A key that is missing, null and NaN say nothing; true is 1 and false 0. Read by Python's own json.
"""

from __future__ import annotations

import json
from typing import Any

from novikoff.errors import SourceError, quoted
from novikoff.sources.expert_cells import Chosen
from novikoff.sources.expert_text import Block, left_to_python
from novikoff.sources.layout import named

CORRECT = "Correct the line."


def keys(line: bytes, name: str, number: int) -> dict[str, Any]:
    """The first object, whose keys are the columns."""
    try:
        return _object(line)
    except SourceError as error:
        error.at(line=number, source=name)
        raise


class Objects:
    """Lines of objects."""

    def __init__(self, chosen: Chosen) -> None:
        self.chosen = chosen
        self._places = {key: c for c, key in enumerate(chosen.columns)}

    def cells(self, line: bytes) -> list[str]:
        """The values of an object, in the order of the columns, as they would be written in a table."""
        found = [""] * len(self._places)
        for key, value in _object(line).items():
            c = self._places.get(key)
            if c is None:
                do = "Add it to the first line, null if it has nothing to say."
                raise SourceError("a line must have the keys of the first", f"has another, {quoted(key)}", do)
            try:
                found[c] = as_cell(value)
            except SourceError as error:
                error.at(column=named(self.chosen.columns, c))
                raise
        return found

    def block(self, text: bytearray, size: int, added: int) -> Block:
        """Every line is left to Python."""
        return left_to_python(text, size, added, len(self.chosen.used), b" \t\r")


def as_cell(value: Any) -> str:
    """A value as it would be written in a table. Raises `SourceError`."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, (bool, int, float)):
        return str(int(value)) if isinstance(value, (bool, int)) else repr(value)
    raise SourceError("values must be numbers or text", f"has {quoted(json.dumps(value))}", CORRECT)


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise SourceError("a line must be one JSON object", f"is not ({error})", CORRECT) from None
    if not isinstance(found, dict) or not found:
        raise SourceError("a line must be one JSON object with keys", f"has {quoted(line.decode())}", CORRECT)
    return found
