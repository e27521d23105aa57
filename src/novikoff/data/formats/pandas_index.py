"""The index of a pandas frame, which is written among its columns: it numbers rows, and says nothing of them.

In Arrow tables and files it is named by the metadata of the schema, under the key "pandas", or, where these were lost,
by names such as `__index_level_0__`. In text it is the first column, or the first few, the only ones without a name (R
writes the names of rows so, too).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from novikoff.core.errors import SourceError

UNNAMED = re.compile(r"__index_level_[0-9]+__")


def index_columns(schema: Any) -> tuple[int, ...]:
    """Which columns of a schema hold the index of the frame it was made from."""
    try:
        told = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))["index_columns"]
    except (ValueError, KeyError, TypeError):  # there are none, or they are not from pandas
        told = []
    levels = {level for level in told if isinstance(level, str)} if isinstance(told, list) else set()
    return tuple(c for c, name in enumerate(schema.names) if name in levels or UNNAMED.fullmatch(name))


def index_notes(levels: Sequence[str], name: str) -> list[str]:
    """What to tell the user of an index that was left out, if there is one."""
    named = [f'"{level}"' for level in levels if not UNNAMED.fullmatch(level)]
    which = f" ({', '.join(named)})" if named else ""
    left_out = f"the index of {name}{which} is left out: it is no column. reset_index() makes one of it"
    return [left_out] if levels else []


def check_asked(
    levels: Sequence[str], names: Sequence[str], label: Any, known: Sequence[str], others: Any, name: str
) -> None:  # fmt: skip
    """Refuse an index that is asked for as a column, or that is called as a label is when no column is.

    label    the column asked for as the label, or as the outcome; None: the one that is called like one of `known`
    others   columns asked for beside it, if any
    """
    asked = [label, *([others] if isinstance(others, str) else others or ())]
    called = label is None and not any(column.lower() in known for column in names)
    for level in levels:
        if level in asked or (called and level.lower() in known):
            raise SourceError(
                f'"{level}" must be a column to be used as one: it is the index of {name}. Call reset_index() first.'
            )


def unnamed_first(names: Sequence[str]) -> int:
    """How many columns of a header are an index, as pandas and R write it: the first, if only they have no name."""
    count = next((c for c, name in enumerate(names) if name), 0)
    return count if all(names[count:]) else 0


def unnamed_note(count: int, name: str) -> str:
    """What to tell the user of an index in text."""
    which = "the first column" if count == 1 else f"the first {count} columns"
    return f"{which} of {name} left out: without a name, an index as pandas and R write it"
