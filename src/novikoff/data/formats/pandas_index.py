"""Detection of a pandas index stored among the columns: it numbers rows and is not a feature.

In Arrow tables and files the index is recognised by the metadata of the schema, under the key "pandas", or by names
such as `__index_level_0__`. In text it is the first column or columns, if only these have no name (R writes row names
in the same way).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from novikoff.core.errors import SourceError

UNNAMED = re.compile(r"__index_level_[0-9]+__")
"""Pattern of the names that pyarrow gives to the levels of an unnamed index."""


def index_columns(schema: Any) -> tuple[int, ...]:
    """Return the columns of a schema that hold the index of the original frame."""
    try:
        listed = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))["index_columns"]
    except (ValueError, KeyError, TypeError):  # no metadata, or not from pandas
        listed = []
    levels = {level for level in listed if isinstance(level, str)} if isinstance(listed, list) else set()
    return tuple(c for c, name in enumerate(schema.names) if name in levels or UNNAMED.fullmatch(name))


def index_notes(levels: Sequence[str], name: str) -> list[str]:
    """Return the notes about an index that is ignored; empty if there is none."""
    named = [f'"{level}"' for level in levels if not UNNAMED.fullmatch(level)]
    which = f" ({', '.join(named)})" if named else ""
    note = f"the index of {name}{which} is ignored: it is not a column. reset_index() turns it into one"
    return [note] if levels else []


def check_asked(
    levels: Sequence[str], names: Sequence[str], label: Any, known: Sequence[str], others: Any, name: str
) -> None:  # fmt: skip
    """Raise SourceError if an index is requested as a column, or is named like a label while no column is.

    Args:
        levels: Names of the index.
        names: Names of the columns.
        label: Column requested as label or outcome; None for the default.
        known: Default names of that column.
        others: Further requested columns, if any.
        name: Name of the source in messages.
    """
    asked = [label, *([others] if isinstance(others, str) else others or ())]
    called = label is None and not any(column.lower() in known for column in names)
    for level in levels:
        if level in asked or (called and level.lower() in known):
            raise SourceError(f'"{level}" is the index, not a column, of {name}. Call reset_index() first.')


def unnamed_first(names: Sequence[str]) -> int:
    """Return the number of leading unnamed columns of a header, an index of pandas or R; 0 if others have no name."""
    count = next((c for c, name in enumerate(names) if name), 0)
    return count if all(names[count:]) else 0


def unnamed_note(count: int, name: str) -> str:
    """Return the note about an index in text."""
    which = "the first column" if count == 1 else f"the first {count} columns"
    return f"{which} of {name} ignored: no name, like the index that pandas and R write"
