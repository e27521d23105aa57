"""Options about the outcomes of any source, `label`, `positive` and `task`, and dicts as rows of a table.

A list of dicts, or of pairs of a dict and its label, is a table (data/tables/records.py) if one of the first thousand
dicts has a value that is not a number, if the dicts contain their label, or if an option is given. Of an iterator only
the first item is looked at before the game decides. Pairs of dicts of numbers are sparse rows, as before.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import date
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from novikoff.core.adapt import adapt_stream, is_stream
from novikoff.core.errors import InputError, MismatchError, SourceError, close, named, shown
from novikoff.core.stream import Stream
from novikoff.core.types import Adversary
from novikoff.core.weights import LabelWeights
from novikoff.data.arrays import Arrays, is_frame, is_live, is_part, is_sparse, more_than_two
from novikoff.data.formats.files import is_paths
from novikoff.data.memory import arrays_of, is_plain, targets

if TYPE_CHECKING:
    from novikoff.data.tables.table import Table

AskedTask = Literal["classify", "regress", "count"]
"""What to predict: labels, numbers, or whole numbers from 0."""
TASKS = get_args(AskedTask)
LOOKED_AT = 1000
"""Number of first items of a list that decide whether dicts are rows of a table."""


class Reading(NamedTuple):
    """Options about the outcomes of a source.

    Attributes:
        label: Column of the labels, by name or number; None for the default.
        positive: Label that is +1; None for the default.
        task: One of `TASKS`; None to decide from the first rows.
        weight: Column of the row weights; None if there is none.
        label_weights: Weight of rows by label, or "balanced", for sources that are opened as tables.
    """

    label: str | int | None = None
    positive: object = None
    task: AskedTask | None = None
    weight: str | None = None
    label_weights: LabelWeights | None = None

    @property
    def given(self) -> dict[str, Any]:
        """Options of a reader, as far as they were given."""
        both = (("label", self.label), ("positive", self.positive))
        return {name: value for name, value in both if value is not None} | self.weighing

    @property
    def weighing(self) -> dict[str, Any]:
        """Options about weights, as far as they were given."""
        both = (("weight", self.weight), ("label_weights", self.label_weights))
        return {name: value for name, value in both if value is not None}


def check_task(task: object) -> None:
    """Raise InputError unless `task` is None or one of `TASKS`."""
    if task is not None and task not in TASKS:
        raise InputError(f"task must be {', '.join(TASKS)} or None", f"got {shown(task)}", close(task, TASKS))


def read_as(environment: object, reading: Reading) -> Any:
    """Open an environment with options about its outcomes; mixed dicts are opened as a table.

    Other environments are returned as they are if there are no options.
    """
    check_task(reading.task)
    if isinstance(environment, Adversary):
        if reading != Reading():
            raise InputError(
                "label, positive and task are for sources: an adversary chooses its labels. Leave them out."
            )
        return environment
    if hasattr(environment, "__aiter__") and not hasattr(environment, "__iter__"):
        do = 'Write: async for answer in nk.follow(events, "auto", label="label").'
        raise InputError("a source must be read synchronously", f"got {named(environment)}", do)
    found = _opened(environment, reading)
    if reading.task is None:
        if isinstance(found, Stream) and not is_stream(environment):
            found.opened_here = reading.positive is None
        return found
    if reading.task == "classify":
        return _with_labels(found, reading.positive)
    if reading.positive is not None:
        raise InputError(f"positive is for labels, and task={reading.task!r} for numbers: leave one of them out.")
    stream = adapt_stream(found) if is_stream(found) else targets(found)
    if stream.outcomes != "numbers":
        stream.show_numbers()
    stream.counts = reading.task == "count"
    return stream


def table_of(environment: object, numbers: bool) -> Table | None:
    """Return the environment as a table, opened for numbers or labels; None if it is not one."""
    from novikoff.data.tables.table import Table

    if isinstance(environment, (str, os.PathLike)) or is_paths(environment):
        from novikoff.data.reader import read

        environment = read(environment)
    elif not is_stream(environment) and is_frame(environment):
        from novikoff.data.tables.table_formats import Frame

        environment = Frame(environment)
    if not isinstance(environment, Table):
        return None
    if numbers and environment.outcomes == "labels":
        environment.show_numbers()
    return environment


def check_counts(stream: Stream, y: NDArray[Any], first: int) -> None:
    """Raise SourceError if outcomes that are counts are negative or not whole."""
    wrong = (y < 0) | (y != np.floor(y)) if stream.counts else None
    if wrong is not None and wrong.any():
        row = int(np.argmax(wrong))
        raise SourceError(
            "counts must be whole numbers from 0", f"has {float(y[row]):g}", "Use task regress.",
            row=first + row, source=stream.name,
        )  # fmt: skip


def _with_labels(found: object, positive: object) -> object:
    """Return an environment whose outcomes are labels, even if they are many numbers."""
    if isinstance(found, Stream):
        if found.outcomes == "numbers":
            raise MismatchError(f"{found.name} is read as numbers: read it with labels for task='classify'.")
        if found.numeric or found.several:
            found.show_many()
    elif (both := arrays_of(found)) is not None and not is_sparse(both[0]):
        several = positive is None and more_than_two(both[1])
        return Arrays(*both, positive=positive, multiclass=True if several else None)
    return found


def _opened(environment: object, reading: Reading) -> Any:
    """Return the environment, opened with the label column and the positive label if these are given."""
    given = reading.given
    if isinstance(environment, (str, os.PathLike)) or is_paths(environment):
        from novikoff.data.reader import read

        return read(environment, **given) if reading != Reading() else environment
    if is_stream(environment):
        if given := {name: value for name, value in given.items() if name != "label_weights"}:
            option = min(given)
            name = adapt_stream(environment).name
            do = f"Write nk.read(source, {option}={shown(given[option])})."
            raise InputError(f"{option} is an option of the reader", f"got it with the open stream {name}", do)
        return environment
    if is_frame(environment):
        from novikoff.data.tables.table_formats import Frame

        return Frame(environment, **given) if reading != Reading() else environment
    if is_live(environment):
        from novikoff.data.tables.live_sources import live_table

        return live_table(environment, given)[0]
    records, environment = _records(environment, reading)
    if records is not None:
        return records
    if reading.label is not None:
        do = "Leave it out: arrays and pairs come with their labels."
        raise InputError("label must be a column of a table or a key of dicts", f"got {named(environment)}", do)
    if reading.weight is not None:
        do = "Pass the weights themselves: weights=[...]."
        raise InputError("the name of a weight column must be one of a table", f"got {named(environment)}", do)
    if reading.positive is not None:
        if (both := arrays_of(environment)) is None or is_sparse(both[0]):
            do = "Pass nk.Pairs(pairs, labels=nk.Labels(negative, positive))."
            raise InputError("positive is for tables, arrays (X, y) and dicts", f"got {named(environment)}", do)
        return Arrays(*both, positive=reading.positive)
    return environment


def _records(environment: object, reading: Reading) -> tuple[Stream | None, object]:
    """Return the environment as a table if it consists of dicts, otherwise None; and the environment, unread."""
    given = environment
    if (both := arrays_of(environment)) is not None:
        rows, labels = both
        if _is_mixed(rows):
            return _labelled_frame(rows, labels, reading), given
        if not isinstance(rows, (list, tuple)) or not rows or not isinstance(rows[0], Mapping):
            return None, given
        if len(rows) != len(labels):
            raise SourceError(f"rows and labels must have one length: got {len(rows):,} and {len(labels):,}.")
        environment = list(zip(rows, labels, strict=True))
    if not isinstance(environment, Iterable) or isinstance(environment, (np.ndarray, Mapping, str, bytes)):
        return None, given
    if is_sparse(environment) or hasattr(environment, "__array__"):
        return None, given
    held = iter(environment) is not environment
    first = list(islice(environment, LOOKED_AT if held else 1))
    environment = environment if held else chain(first, environment)
    if first and is_part(first[0]):
        from novikoff.data.tables.live_sources import live_table

        return live_table(environment, reading.given)
    if not _are_rows(first, reading):
        return None, given if held else environment
    from novikoff.data.tables.records import Records
    from novikoff.data.tables.table import Table

    fixed = type(environment) in (list, tuple) and all(map(_is_plain_row, environment))
    reader = Records(environment, fixed=fixed)
    if reader.target is not None and reading.label is not None:
        raise InputError("label is for dicts that contain their label: each of these comes with one. Leave it out.")
    return Table(reader, reader.target or reading.label, reading.positive, **reading.weighing), given


def _are_rows(first: list[object], reading: Reading) -> bool:
    """Return whether the first items are rows of a table: dicts with their labels inside, or mixed dicts in pairs."""
    from novikoff.data.tables.records import is_record

    if first and isinstance(first[0], Mapping):
        return True
    pairs = [one for one in first if isinstance(one, (tuple, list)) and len(one) == 2 and isinstance(one[0], Mapping)]
    if not pairs or pairs[0] is not first[0]:
        return False
    asked = any(one is not None for one in (reading.positive, reading.label, reading.weight))
    return asked or any(is_record(x) for x, _ in pairs)


def _is_plain_row(item: Any) -> bool:
    """Return whether a row, or a row with its label, runs no code of the user when it is read."""
    x, y = item if type(item) in (tuple, list) and len(item) == 2 else (item, None)
    values = [value for value in x.values() if not isinstance(value, date)] if type(x) is dict else x
    return is_plain(values) and is_plain(y)


def _is_mixed(rows: Any) -> bool:
    """Return whether rows are a frame with a column that is not numeric."""
    if not is_frame(rows):
        return False
    import narwhals as nw

    return not all(kind.is_numeric() or kind == nw.Boolean for kind in nw.from_native(rows).collect_schema().values())


def _labelled_frame(rows: object, labels: object, reading: Reading) -> Stream:
    """Return a frame and its labels as one table."""
    import pyarrow as pa

    from novikoff.data.tables.columnar import FrameTable
    from novikoff.data.tables.table_formats import Frame

    table = FrameTable(rows)._table
    y = labels.to_numpy() if hasattr(labels, "to_numpy") else np.asarray(labels)
    if y.ndim != 1 or len(y) != table.num_rows:
        raise SourceError(f"rows and labels must have one length: got {table.num_rows:,} and {y.shape}.")
    name = "label"
    while name in table.column_names:
        name += " (outcome)"
    return Frame(table.append_column(name, pa.array(y.tolist())), label=name, positive=reading.positive,
                 **reading.weighing)  # fmt: skip
