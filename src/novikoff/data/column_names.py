"""Matching of columns by name, so that each feature of a learner is the same column in every source.

Rule
    A learner stores the names of its training columns in order. A source with names (`features`) is matched by name,
    in any order; a missing or new column is an error that names it. The same holds for a row of a pandas frame passed
    to a game. A source without names is matched by position and must have the same number of columns.
Cost
    None if the order agrees: the stream is returned as it is. Otherwise one copy per batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import Advice, MismatchError, Option, counted
from novikoff.core.stream import Stream, there_before
from novikoff.core.types import Batch, Example, Json, Labels, Position

MOST_NAMED = 5
"""Maximum number of columns named in an error."""
NAMELESS = (np.ndarray, dict, list, tuple)
"""Types of most examples, whose values have no names of columns; a dict has names of features."""


class Matched(Stream):
    """Stream with its columns reordered: those of x, or of y for a table of losses.

    Args:
        stream: Stream to reorder.
        features: Column names in the new order.
        order: Index of each new column in the stream.
    """

    def __init__(self, stream: Stream, features: tuple[str, ...], order: NDArray[np.intp]) -> None:
        self._stream, self._order = stream, order
        self.name, self.domain, self.rereadable, self.rows = stream.name, stream.domain, stream.rereadable, stream.rows
        self.outcomes, self.loss, self.bits, self.notes = stream.outcomes, stream.loss, stream.bits, stream.notes
        self.unlabelled, self.table = stream.unlabelled, stream.table
        self.features = features
        self.experts = tuple(stream.experts[c] for c in order) if stream.experts else ()

    @property
    def labels(self) -> Labels | None:  # type: ignore[override]
        """Labels of the inner stream; they may be known only while it is read."""
        return self._stream.labels

    @property
    def fixed(self) -> bool:  # type: ignore[override]
        """Whether the rows exist before the game; known only as the inner stream is read."""
        return there_before(self._stream)

    def fingerprint(self) -> dict[str, Json] | None:
        return self._stream.fingerprint()

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        for batch in self._stream.batches(start):
            x, y = batch.x, batch.y
            if x is None:
                y = np.take(y, self._order, axis=1)
            else:
                x = np.take(cast(NDArray[Any], x), self._order, axis=1)
            yield Batch(x, y, batch.first, batch.end, "borrowed" if batch.memory == "borrowed" else "owned",
                        batch.weights)  # fmt: skip


def matched(stream: Stream, names: Sequence[str] | None, whose: str = "the learner") -> Stream:
    """Return the stream with its columns in the order of `names`, or unchanged if `names` is None.

    Args:
        stream: Stream to match.
        names: Training columns in order.
        whose: Owner of the names, for messages.

    Raises:
        MismatchError: If the columns differ.
    """
    if names is None:
        return stream
    shown, known = stream.features, tuple(names)
    if shown is None:
        width = stream.domain.width
        if width not in (None, len(known)):
            raise MismatchError(
                f"{whose} has {counted(len(known), 'feature')}", f"{stream.name} has {width:,}, without names",
                Advice("Pass ", Option("columns", letter="NUMBERS"), " to choose them."),
            )  # fmt: skip
        _note(stream, f"the columns of {stream.name} have no names: they are matched by position")
        return stream
    order = _order(tuple(shown), known, stream.name, whose)
    if order is None:
        return stream
    _note(stream, f"the columns of {stream.name} are in another order: they are matched by name")
    return Matched(stream, known, order)


def matched_row(x: Example, names: Sequence[str] | None) -> Example:
    """Return a row of a pandas frame in the order of `names`; any other example is returned unchanged."""
    shown = names_of_row(x)
    if names is None or shown is None:
        return x
    order = _order(shown, tuple(names), "x", "the learner")
    return x if order is None else np.asarray(x)[order]


def _order(shown: tuple[str, ...], known: tuple[str, ...], name: str, whose: str) -> NDArray[np.intp] | None:
    """Return the index of each known column among the shown ones; None if the order agrees."""
    if shown == known:
        return None
    there, wanted = set(shown), set(known)
    missing, new = [name for name in known if name not in there], [name for name in shown if name not in wanted]
    if missing or new:
        raise mismatch(name, whose, missing, new, "leave them out")
    if len(wanted) < len(known) or len(there) < len(shown):
        counts = Counter(known) | Counter(shown)
        twice = max(counts, key=counts.__getitem__)
        raise MismatchError(
            f'columns must have different names to be matched: "{twice}" occurs more than once, in {name} or in the '
            f"training columns of {whose}, and their order differs. Rename it."
        )
    places = {name: c for c, name in enumerate(shown)}
    return np.array([places[name] for name in known])


def names_of(X: object) -> tuple[str, ...] | None:
    """Return the column names of a data frame; None for arrays and for columns without text names."""
    if not hasattr(X, "columns"):
        return None
    import narwhals as nw

    frame = nw.from_native(X, pass_through=True)
    names = list(frame.columns) if isinstance(frame, nw.DataFrame) else []
    return tuple(names) if names and all(isinstance(name, str) for name in names) else None


def names_of_row(x: object) -> tuple[str, ...] | None:
    """Return the value names of a row of a pandas frame; None for any other example."""
    if type(x) in NAMELESS or not hasattr(x, "to_numpy") or not hasattr(x, "index"):
        return None
    names = tuple(x.index)
    return names if names and all(isinstance(name, str) for name in names) else None


def _note(stream: Stream, note: str) -> None:
    if note not in stream.notes:
        stream.notes.append(note)


def mismatch(
    name: str, whose: str, missing: Sequence[str], new: Sequence[str], leave_out: str | None = None,
    imputes: bool = False,
) -> MismatchError:  # fmt: skip
    """Return the error for columns that differ from the training columns, with advice.

    Args:
        name: Source.
        whose: Owner of the training columns.
        missing: Training columns that the source lacks.
        new: Columns of the source that are not among them.
        leave_out: Advice for new columns; None for the option that drops them.
        imputes: Whether there is an option to fill absent columns and ignore new ones.
    """
    has = " and ".join(f"{which} {listed_names(some)}" for which, some in (("no", missing), ("a new", new)) if some)
    drop = Option("drop", new[0]) if len(new) == 1 else Option("drop", letter="NAMES")
    how = leave_out or (Advice("pass ", drop) if new else "")
    return MismatchError(
        f"columns must match those that {whose} was trained on", f"{name} has {has}",
        Advice(
            "Rename the columns", ", or " if how else "", how, "; without names they are matched by position.",
            Advice(" Or pass ", Option("missing_columns", "impute"), ".") if imputes else "",
        ),
    )  # fmt: skip


def listed_names(names: Sequence[str]) -> str:
    """Return names in quotes, the first few of many."""
    shown = ", ".join(f'"{name}"' for name in names[:MOST_NAMED])
    return shown + (f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else "")
