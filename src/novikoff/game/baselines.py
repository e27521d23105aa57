"""Non-learning baselines, and the confusion table.

Labels
    A table of predicted x observed labels, and how often the label differs from the previous one. These give the
    mistakes of the best constant (the most frequent label; in a tie the largest: +1), and of repeating the previous
    label, starting with +1 (with 0 if labels are 0 .. k-1). With more than `MOST` labels there is no table and no
    constant. Predictions equal to the previous label are counted, to recognise a learner that only repeats it.
Numbers
    The sums of y - a and (y - a)^2, where a is the first y, which avoids cancellation far from 0. These give the mean
    and its squared loss. Two baselines that predict from the outcomes so far alone have no error in the first row: the
    previous number, and the mean of all numbers before.
Cost
    A few numpy passes over a batch; memory independent of the number of rounds. Batches of any size give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.core.state import MOST_ROUNDS, Count, Number, Stateful, Sum, Tuples, Value, require
from novikoff.core.types import LabelValue, Prediction, State
from novikoff.numerics.total import Total

MOST = 1000
"""Maximum number of labels in a table."""
FEW = 100
"""Maximum number of labels counted in a dense square table."""


class Constant(NamedTuple):
    """A constant prediction.

    Attributes:
        says: Predicted label or number.
        costs: Number of mistakes, or total loss.
    """

    says: Any
    costs: int | float


class Plain(NamedTuple):
    """Errors of predictions from earlier outcomes alone.

    Attributes:
        mae: Mean absolute error.
        rmse: Root of the mean squared error.
    """

    mae: float
    rmse: float


class Confusion(NamedTuple):
    """A confusion table.

    Attributes:
        labels: Labels in order.
        table: table[i][j] is the number of rounds with label labels[i] and prediction labels[j].
    """

    labels: list[LabelValue]
    table: list[list[int]]


@dataclass(slots=True)
class Baselines(Stateful):
    """Counts for the baselines.

    Attributes:
        counts: Number of rounds of each pair (prediction, label); None after too many labels.
        changes: Rounds whose label differs from the previous one.
        last: Label of the last round; before the first, the first prediction of repeating the previous label.
        repeats: Rounds whose prediction is the previous label.
        stuck: Those of them whose label is another.
        numbers: Number of numeric outcomes.
        first: First numeric outcome.
        sums: Sum of the outcomes minus the first.
        squares: Sum of the squares of the outcomes minus the first.
        previous: Last numeric outcome.
        above: Sum of the outcomes minus the first, added in order.
        moves: Sum of |y - previous y|.
        move_squares: Sum of its squares.
        spreads: Sum of |y - mean of the numbers before|.
        spread_squares: Sum of its squares.
    """

    fields = (
        Tuples("counts", (int | float, int | float, int), at="_table", optional=True, assigned=False),
        Count("changes"),
        Value("last", int | float),
        Count("repeats"),
        Count("stuck"),
        Count("numbers"),
        Number("first", finite=False),
        Sum("sums", False),
        Sum("squares", False),
        Number("previous", finite=False),
        Number("above", finite=False),
        Sum("moves", False),
        Sum("move_squares", False),
        Sum("spreads", False),
        Sum("spread_squares", False),
    )
    described = "baselines"

    counts: dict[tuple[Prediction, Prediction], int] | None = field(default_factory=dict)
    changes: int = 0
    last: Prediction = 1
    repeats: int = 0
    stuck: int = 0
    numbers: int = 0
    first: float = 0.0
    sums: Total = field(default_factory=Total)
    squares: Total = field(default_factory=Total)
    previous: float = 0.0
    above: float = 0.0
    moves: Total = field(default_factory=Total)
    move_squares: Total = field(default_factory=Total)
    spreads: Total = field(default_factory=Total)
    spread_squares: Total = field(default_factory=Total)
    _known: set[Prediction] = field(default_factory=set, repr=False, compare=False)  # labels in `counts`

    def __post_init__(self) -> None:
        self._known = {label for pair in self.counts or () for label in pair}

    def count_one(self, prediction: int, y: int) -> None:
        """Count one round with a label."""
        prediction, y = int(prediction), int(y)
        self.changes += y != self.last
        if prediction == self.last:
            self.repeats += 1
            self.stuck += y != self.last
        self.last = y
        pair = prediction, y
        if self.counts is not None and pair in self.counts:
            self.counts[pair] += 1
        else:
            self._add([(pair, 1)])

    def count_signs(self, predictions: NDArray[np.number], y: NDArray[np.number]) -> None:
        """Count rounds with labels -1 and +1."""
        up, true = predictions > 0, y > 0
        both, ups, trues = (int(np.count_nonzero(one)) for one in (up & true, up, true))
        counts = {(1, 1): both, (1, -1): ups - both, (-1, 1): trues - both, (-1, -1): len(y) - ups - trues + both}
        self._follow(predictions, y)
        self._add(counts.items())

    def count(self, predictions: NDArray[np.number], y: NDArray[np.number]) -> None:
        """Count rounds with any labels."""
        self._follow(predictions, y)
        if self.counts is None:
            return
        values, places = np.unique(np.concatenate([predictions, y]), return_inverse=True)
        k, n = len(values), len(y)
        if k > MOST:
            self.counts = None
            return
        cells = places.reshape(-1)[:n] * k + places.reshape(-1)[n:]  # one number per pair (prediction, label)
        labels = [_whole(value) for value in values.tolist()]
        if k <= FEW:
            counts = np.bincount(cells, minlength=k * k)
            found = np.flatnonzero(counts)
            counts = counts[found]
        else:
            found, counts = np.unique(cells, return_counts=True)
        pairs = zip(found.tolist(), counts.tolist(), strict=True)
        self._add([((labels[cell // k], labels[cell % k]), rounds) for cell, rounds in pairs])

    def sum(self, y: NDArray[np.number]) -> None:
        """Add rounds with numbers."""
        if not len(y):
            return
        y = np.asarray(y, dtype=np.float64)
        if not self.numbers:
            self.first = self.previous = float(y[0])
        above = y - self.first
        self.sums.add_all(above)
        self.squares.add_all(above * above)
        with np.errstate(over="ignore", invalid="ignore"):  # numbers near the largest double have no such baselines
            totals = np.cumsum(
                np.concatenate([[self.above], above])
            )  # in order: batches of any size give the same bits
            rows = np.maximum(np.arange(self.numbers, self.numbers + len(y)), 1)
            moves = np.abs(y - np.concatenate([[self.previous], y[:-1]]))
            spreads = np.abs(above - totals[:-1] / rows)
            for total, values in ((self.moves, moves), (self.spreads, spreads),
                                  (self.move_squares, moves**2), (self.spread_squares, spreads**2)):  # fmt: skip
                total.add_all(values)
        self.numbers += len(y)
        self.previous, self.above = float(y[-1]), float(totals[-1])

    def _follow(self, predictions: NDArray[np.number], y: NDArray[np.number]) -> None:
        """Count the changes of the label, and the predictions equal to the label before."""
        if len(y):
            changed = np.append(bool(y[0] != self.last), y[1:] != y[:-1])
            repeated = np.append(bool(predictions[0] == self.last), predictions[1:] == y[:-1])
            self.changes += int(np.count_nonzero(changed))
            self.repeats += int(np.count_nonzero(repeated))
            self.stuck += int(np.count_nonzero(repeated & changed))
            self.last = _whole(y[-1].item())

    def weigh_changes(self, y: NDArray[np.number], weights: NDArray[np.int64]) -> None:
        """Add weight - 1 for each row whose label changes; the ordinary count adds the remaining 1 afterwards.

        Repeating the previous label predicts a weighted row only once, wrongly if its label differs from the previous
        row's.
        """
        rows = weights > 0
        labels, more = y[rows], weights[rows] - 1
        if len(labels):
            changed = np.append(bool(labels[0] != self.last), labels[1:] != labels[:-1])
            self.changes += int(more[changed].sum())

    def _add(self, found: Iterable[tuple[tuple[Prediction, Prediction], int]]) -> None:
        if self.counts is None:
            return
        for pair, rounds in found:
            if rounds:
                if pair not in self.counts:
                    self._known.update(pair)
                self.counts[pair] = self.counts.get(pair, 0) + rounds
        if len(self._known) > MOST:
            self.counts = None

    def labels(self) -> list[Prediction]:
        """Return the labels that were predicted or observed, sorted."""
        return [] if self.counts is None else sorted(self._known)

    def confusion(self, labels: Sequence[Prediction]) -> list[list[int]] | None:
        """Return the confusion table of these labels; None if there were too many."""
        if self.counts is None:
            return None
        return [[self.counts.get((predicted, label), 0) for predicted in labels] for label in labels]

    def shown(self) -> dict[Prediction, int]:
        """Return how often each label was observed; empty if there were too many."""
        shown: dict[Prediction, int] = {}
        for (_, label), rounds in (self.counts or {}).items():
            shown[label] = shown.get(label, 0) + rounds
        return shown

    def most_frequent(self) -> Constant | None:
        """Return the best constant label with its mistakes; None if it is unknown."""
        shown = self.shown()
        if not shown:
            return None
        often = max(shown, key=lambda label: (shown[label], label))
        return Constant(often, sum(shown.values()) - shown[often])

    def mean(self) -> Constant | None:
        """Return the mean with its squared loss; None before the first number or if the sums are not finite."""
        if not self.numbers:
            return None
        above, squares = float(self.sums) / self.numbers, float(self.squares)
        loss = squares - above * float(self.sums)  # sum (y - mean)^2 = sum (y - a)^2 - n (mean - a)^2
        return Constant(self.first + above, max(loss, 0.0)) if math.isfinite(loss) else None

    def by_previous(self) -> Plain | None:
        """Return the errors of repeating the previous number; None before the first or if they are not finite."""
        return self._plain(self.moves, self.move_squares)

    def by_mean(self) -> Plain | None:
        """Return the errors of the mean of all numbers before; None before the first or if they are not finite."""
        return self._plain(self.spreads, self.spread_squares)

    def _plain(self, errors: Total, squares: Total) -> Plain | None:
        if not self.numbers or not math.isfinite(float(squares)):
            return None
        return Plain(float(errors) / self.numbers, math.sqrt(float(squares) / self.numbers))

    @property
    def _table(self) -> list[list[object]] | None:
        """Predictions, labels and rounds; None after too many labels."""
        return None if self.counts is None else sorted([*pair, rounds] for pair, rounds in self.counts.items())

    def after_restoring(self, found: State) -> None:
        rows = found["counts"]
        self.counts = None if rows is None else {(predicted, label): rounds for predicted, label, rounds in rows}
        sound = all(0 <= rounds <= MOST_ROUNDS for *_, rounds in rows or ())
        require(sound, f"counts of {self.described} must not be negative", rows)
        self.__post_init__()


def _whole(value: Prediction) -> Prediction:
    """Return a label as an int if it is integral, so that equal labels of different types are the same."""
    return int(value) if value == value and abs(value) < math.inf and value == int(value) else value
