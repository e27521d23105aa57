"""Baselines: what those would have paid who learn nothing, and which label was said for which.

Labels
    A table of said x label, and how often the label was another than the round before. From these: the mistakes of the
    best constant (the most frequent label; of several, the largest: +1), and of "the last label again", which begins
    with +1 (with 0 where labels are 0 .. k-1). After more than `MOST` values no table is kept, and no constant known.
Numbers
    The sums of y - a and (y - a)^2, where a is the first y: far from 0 nothing is lost by the difference of two large
    sums. From these: the mean, and its squared loss.
Cost
    A few numpy passes over a batch; memory that does not grow with rounds. Batches of any size leave the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import ModelFileError
from novikoff.core.types import State
from novikoff.numerics.total import Total

MOST = 1000
"""Labels of a table."""
FEW = 100
"""Labels that are counted in a square."""


class Constant(NamedTuple):
    """A learner that always says the same.

    says    a label or a number
    costs   its mistakes, or its loss
    """

    says: Any
    costs: int | float


class Confusion(NamedTuple):
    """Which label was said for which.

    labels   in order
    table    table[i][j]: rounds with labels[i] in which labels[j] was said
    """

    labels: list[Any]
    table: list[list[int]]


@dataclass(slots=True)
class Baselines:
    """What was counted so far.

    counts    (said, label) -> rounds; None once there were too many labels
    changes   rounds whose label was not that of the round before
    last      the label of the last round; at first that which "the last label again" begins with
    numbers   outcomes that were added up
    first     the first of them
    sums, squares   of what they are above the first
    """

    counts: dict[tuple[Any, Any], int] | None = field(default_factory=dict)
    changes: int = 0
    last: Any = 1
    numbers: int = 0
    first: float = 0.0
    sums: Total = field(default_factory=Total)
    squares: Total = field(default_factory=Total)
    _known: set[Any] = field(default_factory=set, repr=False, compare=False)  # the labels of `counts`

    def __post_init__(self) -> None:
        self._known = {label for pair in self.counts or () for label in pair}

    def count_one(self, said: int, y: int) -> None:
        """One round with a label."""
        said, y = int(said), int(y)
        self.changes += y != self.last
        self.last = y
        pair = said, y
        if self.counts is not None and pair in self.counts:
            self.counts[pair] += 1
        else:
            self._add([(pair, 1)])

    def count_signs(self, said: NDArray[Any], y: NDArray[Any]) -> None:
        """Many rounds with -1 and +1."""
        up, true = said > 0, y > 0
        both, ups, trues = (int(np.count_nonzero(one)) for one in (up & true, up, true))
        counts = {(1, 1): both, (1, -1): ups - both, (-1, 1): trues - both, (-1, -1): len(y) - ups - trues + both}
        self._follow(y)
        self._add(counts.items())

    def count(self, said: NDArray[Any], y: NDArray[Any]) -> None:
        """Many rounds with any labels."""
        self._follow(y)
        if self.counts is None:
            return
        values, places = np.unique(np.concatenate([said, y]), return_inverse=True)
        k, n = len(values), len(y)
        if k > MOST:
            self.counts = None
            return
        cells = places.reshape(-1)[:n] * k + places.reshape(-1)[n:]
        labels = [_whole(value) for value in values.tolist()]
        if k <= FEW:
            counts = np.bincount(cells, minlength=k * k)
            found = np.flatnonzero(counts)
            counts = counts[found]
        else:
            found, counts = np.unique(cells, return_counts=True)
        pairs = zip(found.tolist(), counts.tolist(), strict=True)
        self._add([((labels[cell // k], labels[cell % k]), rounds) for cell, rounds in pairs])

    def sum(self, y: NDArray[Any]) -> None:
        """Many rounds with numbers."""
        if not self.numbers and len(y):
            self.first = float(y[0])
        self.numbers += len(y)
        above = np.asarray(y, dtype=np.float64) - self.first
        self.sums.add_all(above)
        self.squares.add_all(above * above)

    def _follow(self, y: NDArray[Any]) -> None:
        """Count the changes of the label."""
        if len(y):
            self.changes += int(np.count_nonzero(y[1:] != y[:-1])) + bool(y[0] != self.last)
            self.last = _whole(y[-1].item())

    def weigh_changes(self, y: NDArray[Any], weights: NDArray[np.int64]) -> None:
        """Add what rows weigh above 1 to the changes of the label, where these are counted once after this.

        "The last label again" predicts a row once too: wrongly, if the label is not that of the row before.
        """
        rows = weights > 0
        labels, more = y[rows], weights[rows] - 1
        if len(labels):
            changed = np.append(bool(labels[0] != self.last), labels[1:] != labels[:-1])
            self.changes += int(more[changed].sum())

    def _add(self, found: Iterable[tuple[tuple[Any, Any], int]]) -> None:
        if self.counts is None:
            return
        for pair, rounds in found:
            if rounds:
                if pair not in self.counts:
                    self._known.update(pair)
                self.counts[pair] = self.counts.get(pair, 0) + rounds
        if len(self._known) > MOST:
            self.counts = None

    def labels(self) -> list[Any]:
        """Those that were said or shown, in order."""
        return [] if self.counts is None else sorted(self._known)

    def confusion(self, labels: list[Any]) -> list[list[int]] | None:
        """The table for these labels; None if there were too many."""
        if self.counts is None:
            return None
        return [[self.counts.get((said, label), 0) for said in labels] for label in labels]

    def shown(self) -> dict[Any, int]:
        """How often each label came; none if there were too many."""
        shown: dict[Any, int] = {}
        for (_, label), rounds in (self.counts or {}).items():
            shown[label] = shown.get(label, 0) + rounds
        return shown

    def most_frequent(self) -> Constant | None:
        """The best constant label, with its mistakes; None if it is not known."""
        shown = self.shown()
        if not shown:
            return None
        often = max(shown, key=lambda label: (shown[label], label))
        return Constant(often, sum(shown.values()) - shown[often])

    def mean(self) -> Constant | None:
        """The mean, with its squared loss; None before the first number, or if the sums are not finite."""
        if not self.numbers:
            return None
        above, squares = float(self.sums) / self.numbers, float(self.squares)
        loss = squares - above * float(self.sums)
        return Constant(self.first + above, max(loss, 0.0)) if math.isfinite(loss) else None

    def state(self) -> State:
        counts = None if self.counts is None else sorted([*pair, rounds] for pair, rounds in self.counts.items())
        plain = {name: value for name, value in asdict(self).items() if name != "_known"}
        return {**plain, "counts": counts, "sums": astuple(self.sums), "squares": astuple(self.squares)}

    @classmethod
    def restore(cls, state: State) -> Baselines:
        rows = state["counts"]
        for name, value in (("changes", state["changes"]), ("numbers", state["numbers"]),
                            *(("counts", rounds) for *_, rounds in rows or ())):  # fmt: skip
            if type(value) is not int or value < 0:
                raise ModelFileError(f"{name} of baselines must be a whole number: got {value!r}.")
        numbers = [
            state["last"],
            state["first"],
            *state["sums"],
            *state["squares"],
            *(one for row in rows or () for one in row),
        ]
        if not all(type(one) in (int, float) for one in numbers):
            raise ModelFileError("baselines must hold numbers.")
        counts = None if rows is None else {(said, label): rounds for said, label, rounds in rows}
        sums, squares = Total(*state["sums"]), Total(*state["squares"])
        return cls(counts, state["changes"], state["last"], state["numbers"], state["first"], sums, squares)


def _whole(value: Any) -> Any:
    """A label as a whole number, if it is one: it is the same however it came."""
    return int(value) if value == value and abs(value) < math.inf and value == int(value) else value
