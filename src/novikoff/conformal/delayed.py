"""Delayed: a learner whose outcomes come a fixed number of rounds late, as in forecasts of several steps.

Algorithm
    The prediction of round t is that of the learner after the outcomes of the rounds before t - delay; then the outcome
    of round t - delay comes, and is learned with the features of its own round. With lags from h on (`horizon`) and a
    delay of h - 1, the prediction of a row is a forecast h rows ahead, learned directly. With `by`, a column of groups,
    rounds are counted within the group: an outcome comes with the row of its group that is `delay` rows later.
Promise
    No bound on the loss. Around it `conformal:[delayed:[...],delay=d],delay=d` has intervals with the coverage of
    conformal/theorems/coverage_deviation.py, whose thresholds also wait for the outcomes.
Cost
    One prediction more per round; the last `delay` rows in memory.
Reference
    [joulani2013].
"""

from __future__ import annotations

import math
from collections import deque
from typing import Any, ClassVar

import numpy as np

from novikoff.comparators.tracker import Tracker
from novikoff.conformal.conformal import Around
from novikoff.conformal.theorems.delayed_facts import DelayedFacts
from novikoff.core import encode
from novikoff.core.adapt import adapt, is_learner
from novikoff.core.errors import POSITIVE, Advice, InputError, shown
from novikoff.core.learner import Learner
from novikoff.core.nesting import Nested
from novikoff.core.state import Argument, Coded, Count, keeps_rows
from novikoff.core.types import (
    Batch,
    Example,
    Facts,
    Outcome,
    Prediction,
    StepResult,
    Theorem,
    check_label,
)
from novikoff.data.groups import Groups

MOST = 10_000
"""Largest delay."""

Waiting = tuple[int, Any, float]
"""Number of a round, its row and its outcome."""


class Delayed(Around):
    """Learner whose outcomes come a fixed number of rounds late.

    Args:
        learner: Learner on numbers or two labels.
        delay: Number of rounds after a row before whose prediction its outcome is not known.
        by: Column of groups, by name or number, in which rounds are counted; None for one group.

    Guarantee:
        None on the loss; around it, conformal sets have their coverage (`coverage_deviation`).

    Example:
        >>> import novikoff as nk
        >>> ledger = nk.play(nk.Delayed(nk.VAW(), delay=2), ([[1.0]] * 5, [3.0] * 5), record=True)
        >>> [round(float(one[0]), 1) for one in ledger.predictions]
        [0.0, 0.0, 0.0, 1.2, 1.7]
    """

    promises: ClassVar[tuple[Theorem, ...]] = ()
    conservative = sums_mistakes = False
    needs_columns = True
    fields = (
        Nested("learner", argument=True),
        Argument("delay", int),
        Argument("by", int | str | None),
        Count("rounds"),
        Coded(
            "waiting",
            lambda rows: [_packed(group, *row) for group in rows for row in rows[group] if keeps_rows()],
            lambda saved: _unpacked(saved),
            "rows",
        ),
    )

    def __init__(self, learner: Learner, delay: int = 0, by: object = None) -> None:
        player = adapt(learner) if is_learner(learner) else None
        if player is None or player.task not in ("binary", "multiclass", "regression") or player.covers:
            raise InputError(f"a delay needs a learner on examples: got {shown(learner)}.")
        name = type(player.within.original).__name__
        if player.task == "multiclass":
            raise InputError("delays are for two labels or numbers", f"{name} is multiclass", Advice(POSITIVE))
        if type(delay) is not int or not 0 <= delay <= MOST:
            raise InputError(f"a delay must be a number of rounds from 0 to {MOST:,}: got {shown(delay)}.")
        if isinstance(by, list) or callable(by):
            raise InputError(f"groups of a delay must be one column, by name or number: got {shown(by)}.")
        self.learner, self.delay, self.rounds, self.by = player, delay, 0, by
        self._groups = Groups(by)
        self.waiting: dict[str, deque[Waiting]] = {}
        self.task, self.fixed_labels, self.loss, self.draws = (
            player.task,
            player.fixed_labels,
            player.loss,
            player.draws,
        )
        self.learners = ()

    @property
    def within(self) -> Learner:
        return self  # its scores and rows are those of other rounds

    @property
    def looped(self) -> bool:
        return True

    def predict_one(self, x: Example) -> Prediction:
        return self.learner.predict_one(x)

    def play_one(self, x: Example, y: Outcome) -> StepResult:
        """Predict x, and learn the outcome that comes now."""
        y = check_label(y, None) if self.task == "binary" else y
        chance = None
        if self.task == "regression":
            predicted: Any = float(self.learner.predict_one(x))
            lost = float(self.learner.costs(np.array([predicted]), np.array([encode.number(y)]))[0])
        else:
            predicted = self.learner.predict_one(x)
            lost = float(predicted != y)
            if self.learner.probable:
                up = float(self.learner.probability_one(x))
                chance = up if y == 1 else 1.0 - up
        waiting = self.waiting.setdefault(self._groups.key(self.encoding, x), deque())
        waiting.append((self.rounds, _kept(x), encode.number(y)))
        self.rounds += 1
        if len(waiting) > self.delay:
            self._learn(*waiting.popleft())
        return StepResult(predicted, lost, lost, probabilities=chance)

    def _learn(self, number: int, x: Any, y: float) -> None:
        self.learner.learn_one(x, y if self.task == "regression" else int(y))

    def arrive(self) -> None:
        """Learn all outcomes that are waiting, before a prediction that is made after them."""
        for row in sorted((row for rows in self.waiting.values() for row in rows), key=lambda row: row[0]):
            self._learn(*row)
        self.waiting.clear()

    def learn_many(self, batch: Batch) -> None:
        return None

    def tracker(self) -> Tracker | None:
        return None

    def facts(self) -> Facts:
        return DelayedFacts(self.rounds, self.delay)

    @property
    def rows_stored(self) -> int:
        """Number of training rows that wait for their outcome; a model without rows leaves them out."""
        return sum(map(len, self.waiting.values())) + self.learner.all_rows_stored


def _kept(x: Example) -> Any:
    """Return a copy of a row that the caller cannot change."""
    if isinstance(x, np.ndarray):
        return x.copy()
    if isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], np.ndarray):
        return x[0].copy(), x[1].copy()
    return dict(x) if isinstance(x, dict) else x


def _packed(group: str, number: int, x: Any, y: float) -> dict[str, Any]:
    found: dict[str, Any] = {"group": group, "number": number, "y": y}
    if isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], np.ndarray):
        return {**found, "indices": x[0], "values": x[1]}
    return {**found, "x": x if isinstance(x, (np.ndarray, int, float, str, dict)) else np.asarray(x, np.float64)}


def _unpacked(saved: Any) -> dict[str, deque[Waiting]]:
    found: dict[str, deque[Waiting]] = {}
    for one in saved:
        if "x" in one:
            x: Any = one["x"]
        else:
            indices, values = np.asarray(one["indices"]), np.asarray(one["values"], dtype=np.float64)
            if indices.dtype != np.uint32 or indices.shape != values.shape or indices.ndim != 1:
                raise ValueError("not a sparse row")
            x = indices, values
        if not math.isfinite(one["y"]) or type(one["group"]) is not str or type(one["number"]) is not int:
            raise ValueError("not a row that waits")
        found.setdefault(one["group"], deque()).append((one["number"], x, float(one["y"])))
    return found
