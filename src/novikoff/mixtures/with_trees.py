"""Base class that adds trees, stacks and a mixture on top to the linear mixture, for all three tasks.

The linear mixture plays every row. Where the first row has at most 256 columns, trees play them too: columns as the
table has them (trees/columns.py), stored for refits (trees/store.py). On rows that are wide, hashed or text, and with
`fast`, the learner is its linear mixture alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators import tracker as trackers
from novikoff.comparators.tracker import Tracker
from novikoff.core.attribution import Importances, shared_importances
from novikoff.core.errors import InputError, shown
from novikoff.core.feature_places import Features, Row
from novikoff.core.learner import Learner
from novikoff.core.state import Argument, Field, Part, Value, integer, require
from novikoff.core.types import Batch, Example, Outcome, Sparse, State, StepResult, as_batch
from novikoff.linear.scale_free import Rows
from novikoff.trees.columns import MOST_COLUMNS, Columns
from novikoff.trees.store import RowStore

Vector = NDArray[np.float64]

JOINS = (32, 128)
"""Number of rounds after which the first stack, and all forecasters but it and the linear mixture, join."""


class WithTrees(Rows):
    """Linear mixture with trees on table columns, and forecasters on top of both.

    Attributes:
        drift: None to adapt to changes; False for a stream that does not change; True to also mix copies that start at
            different times.
        full: Whether trees play; None before the first row.
        columns: Columns of the rows, for trees.
        stored: Last rows.
    """

    features: Features
    drift: bool | None
    _top: Any
    tree_fields: ClassVar[tuple[Field, ...]] = (
        Argument("drift", bool | None),
        Value("full", bool | None),
        Part("columns", when="full"),
        Part("stored", when="full"),
    )

    def _prepare(self, full: bool | None) -> None:
        """Create the parts that do not depend on rows; `full` is False if trees must not play."""
        self.columns, self.stored = Columns(), RowStore()
        self._full: bool | None = None
        self.full = full

    @property
    def full(self) -> bool | None:
        """Whether trees play; None before the first row."""
        return self._full

    @full.setter
    def full(self, full: bool | None) -> None:
        self._full = full
        if full:
            self._create()

    @property
    @abstractmethod
    def forecasters(self) -> list[str]:
        """Names of the forecasters on top, if trees play."""

    @property
    def names(self) -> list[str]:
        """Names of the forecasters, in order."""
        return self.forecasters if self.full else list(super().names)

    @property
    def weights(self) -> Vector:
        """Weights of the forecasters, in order."""
        return np.array(self._top.weights if self.full else super().weights, dtype=np.float64)

    @property
    def shares(self) -> Vector:
        """Mean weight of each forecaster over all rounds; empty if an earlier version did not record it."""
        found = self._top.shares / max(self.stored.count, 1) if self.full else super().shares
        return np.array(found, dtype=np.float64)

    @property
    def rows_stored(self) -> int:
        """Number of training rows that are saved for exact resuming only."""
        return self.stored.count - self.stored.first if self.full else 0

    @abstractmethod
    def _create(self) -> None:
        """Create untrained trees, stacks and the mixture on top."""

    @abstractmethod
    def _resume(self) -> None:
        """Resume the refits that were in progress when the state was saved."""

    @abstractmethod
    def _forecast(self, played: StepResult) -> NDArray[Any]:
        """Return the forecasts (rows, ...) of the linear mixture, which has just played rows."""

    @abstractmethod
    def _mixed(
        self, x: Vector, kinds: NDArray[np.int8], y: NDArray[Any], linear: NDArray[Any], copies: Vector | None,
        again: NDArray[np.bool_] | None,
    ) -> StepResult:  # fmt: skip
        """Play rows, at most as many as may be stored at once.

        Args:
            x: (rows, columns) Columns.
            kinds: (columns,) 0 for numbers, 1 for categories.
            y: (rows,) Outcomes.
            linear: (rows, ...) Forecasts of the linear mixture.
            copies: (rows,) Forecasts of another learner on the same rows; None without one.
            again: (rows,) Whether each round is another round of the row before it; None for none.

        Returns:
            The result, whose scores are the forecasts of all forecasters and, last, of the mixture.
        """

    def _decide(self, batch: Batch | None, row: Row | None) -> None:
        """Decide by the first row whether trees play."""
        if self.full is not None:
            return
        encoding = self.encoding if batch is None else batch.encoding or self.encoding
        if encoding is not None:
            self.full = self._decided(Columns.refusal(encoding) == "")
            return
        if batch is not None:
            x = batch.x if isinstance(batch.x, Sparse) else batch.table()
            width = int(x.row(0)[0].max(initial=0)) + 1 if isinstance(x, Sparse) else x.shape[1]
        else:
            assert row is not None
            width = int(row[0].max(initial=0)) + 1 if isinstance(row, tuple) else len(row)
        self.full = self._decided(width <= MOST_COLUMNS)

    def _decided(self, full: bool) -> bool:
        """Raise an error if copies were requested for rows that only the linear mixture plays."""
        if self.drift and not full:
            raise InputError(
                f"drift=true needs a table of at most {MOST_COLUMNS} columns, not text or hashed rows. "
                "Use linear-mixture:drift=true."
            )
        return full

    def learn_many(self, batch: Batch) -> StepResult:
        played = super().learn_many(batch)
        if not len(batch):
            return played
        self._decide(batch, None)
        if not self.full:
            return played
        rows, encoding = self.features.rows(batch, learn=False), batch.encoding or self.encoding
        y, linear, found = self._outcomes(batch), self._forecast(played), []
        copies, again = self._copies_forecast(batch, None, None), batch.copies
        for stretch, x, kinds in self.columns.stretches(rows, encoding):
            start = stretch.start
            while start < stretch.stop:
                here = slice(start, start + self._together(stretch.stop - start))
                columns = x[here.start - stretch.start : here.stop - stretch.start]
                others = None if copies is None else copies[here]
                repeated = None if again is None else again[here]
                found.append(self._mixed(columns, kinds, y[here], linear[here], others, repeated))
                start = here.stop
        result = found[0]
        if len(found) > 1:
            parts = zip(*found, strict=True)
            result = StepResult(*(None if some[0] is None else _joined(some) for some in parts))
        self.scored = self._score_of(result)
        return result

    def play_one(self, x: Example, y: Outcome) -> StepResult:
        played = super().play_one(x, y)
        if self.full is False:
            return played
        row = self.features.row(x, learn=False)
        self._decide(None, row)
        if not self.full:
            return played
        columns = self.columns.learn_one(row, self.encoding, capped=True)
        forecasts = self._forecast(as_batch(played)), self._copies_forecast(None, x, y)
        again = np.array([True]) if self.repeats else None
        result = self._mixed(columns, self.columns.kinds, self._outcome(y), *forecasts, again)
        self.scored = None if (scored := self._score_of(result)) is None else scored.item(0)
        return StepResult(*(None if part is None else part[0] if part.ndim > 1 else part[0].item() for part in result))

    def _together(self, rows: int) -> int:
        """Return how many of the next rows are played at once."""
        return self.stored.together(rows)

    def _copies_forecast(self, batch: Batch | None, x: Example | None, y: Outcome | None) -> Vector | None:
        """Play a batch, or one row, with another learner and return its forecasts; None without one."""
        return None

    def _score_of(self, result: StepResult) -> Vector | None:
        """Return the scores (rows,) of the mixture; None if there is not one per row."""
        return None

    leading: ClassVar[int] = 0
    """Columns of the stored rows before those of x."""

    def importances(self) -> Importances | None:
        """Return the mean of the importances of the linear mixture and the trees, each as a fraction of its sum.

        It is weighted by the influence of each on the forecast: the change per unit of change of the input. Members
        that forget, and random features, are left out.
        """
        own = super().importances()
        if not self.full or not self.rounds:
            return own
        linear, trees = self._influences()
        places, parts = self.columns.places(), []
        for influence, gains in trees:
            values = np.zeros(self.features.count)
            values[places] = gains[: len(places)]
            parts.append((influence, values))
        return shared_importances([*([] if own is None else [(linear, own.values)]), *parts], self.features.count)

    @abstractmethod
    def _influences(self) -> tuple[float, list[tuple[float, Vector]]]:
        """Return the influence of the linear mixture; that of each tree model, and its gains by column of x."""

    @property
    @abstractmethod
    def _stored_labels(self) -> int | None:
        """Number of labels that stored outcomes may have, from 0; None for numbers."""

    @abstractmethod
    def _as_outcomes(self, y: Vector) -> NDArray[Any]:
        """Return stored outcomes as labels or numbers."""

    def reference(self) -> Row | None:
        if not self.rows_stored:
            return None
        x = self.stored.rows(self.stored.first, self.stored.count)[0]
        return self.columns.typical_row(x[:, self.leading :], self.features)

    def last_rows(self, most: int) -> Batch | None:
        if not self.rows_stored:
            return None
        first = max(self.stored.first, self.stored.count - most)
        x, y = self.stored.rows(first, self.stored.count)
        return Batch(self.columns.examples(x[:, self.leading :], self.features), self._as_outcomes(y), first + 1)

    def _columns_of(self, x: Example | Batch) -> Vector:
        """Return the columns of rows to predict, as they would be learned."""
        if isinstance(x, Batch):
            return self.columns.to_predict(self.columns.rows(self.features.rows(x, learn=False)))
        return self.columns.to_predict(self.columns.row(self.features.row(x, learn=False)))

    def after_restoring(self, found: State) -> None:
        super().after_restoring(found)
        if self.full:
            _, y = self.stored.rows(self.stored.first, self.stored.count)
            labels = self._stored_labels
            known = labels is None or bool(((y >= 0.0) & (y < labels) & (y == np.floor(y))).all())
            require(known, f"stored outcomes must be labels from 0 to {(labels or 0) - 1}", y)
            self._resume()


def _joined(parts: Sequence[NDArray[np.generic]]) -> NDArray[Any]:
    """Return arrays of several stretches as one; ln P (rows, forecasters, labels) of labels that came later is -inf."""
    if parts[0].ndim == 3:
        labels = max(part.shape[2] for part in parts)
        parts = [np.pad(part, ((0, 0), (0, 0), (0, labels - part.shape[2])), constant_values=-np.inf) for part in parts]
    return np.concatenate(parts)


def joins_of(stacks: int, others: int) -> tuple[int, ...]:
    """Return the numbers of rounds after which forecasters join: first the linear mixture, then the first stack.

    Args:
        stacks: Number of stacks, which come last.
        others: Number of inputs besides the linear mixture.
    """
    return (0, *[JOINS[1]] * others, JOINS[0], *[JOINS[1]] * (stacks - 1))


def rehearsed(*parts: str) -> tuple[str, ...]:
    """Return the names of functions of rehearsals.py, which is imported in other processes only."""
    return tuple(f"novikoff.mixtures.rehearsals:{part}" for part in parts)


def checked_drift(drift: object) -> bool | None:
    """Return the argument `drift` of `auto`."""
    if drift is not None and not isinstance(drift, bool):
        raise InputError(f"drift must be True, False or None: got {shown(drift)}.")
    return drift


class AutoTracker(Tracker):
    """Tracker of `auto`: that of its linear mixture, or that of the mixture on top if trees play.

    Args:
        linear: Tracker of the linear mixture; None if it has none, or trees play.
        top: Tracker of the mixture on top; None if trees do not play.
        forecasts: Number of scores per round if trees play: one per forecaster, and that of the mixture on top.
    """

    kind = "auto"

    def __init__(self, linear: Tracker | None, top: Tracker | None, forecasts: int) -> None:
        self.linear, self.top, self.forecasts, self._chosen = linear, top, forecasts, False

    @property
    def chosen(self) -> Tracker | None:
        """The tracker in use; before the first row, that of the linear mixture."""
        return self.top if self._chosen and self.top is not None else self.linear

    def _choose(self, played: NDArray[np.generic], dimension: int) -> Tracker | None:
        """Choose the tracker by the shape of the first scores."""
        if not self._chosen:
            self._chosen = True
            if np.ndim(played) > dimension and np.shape(played)[dimension] == self.forecasts:
                self.linear = None
            else:
                self.top = None
        return self.chosen

    @property
    def rows(self) -> int:
        return 0 if self.chosen is None else self.chosen.rows

    @property
    def rows_held(self) -> int:
        return 0 if self.chosen is None else self.chosen.rows_held

    def see(self, batch: Batch, played: NDArray[np.generic]) -> None:
        if len(batch) and (chosen := self._choose(played, 1)) is not None:
            chosen.see(batch, played)

    def see_row(self, x: Any, y: Any, played: Any) -> None:
        if (chosen := self._choose(played, 0)) is not None:
            chosen.see_row(x, y, played)

    def inner(self, played: NDArray[np.generic]) -> Tracker:
        return self._choose(played, 1) or self

    def due(self, rounds: int) -> int:
        return rounds if self.chosen is None else self.chosen.due(rounds)

    def check(self, learner: Learner) -> None:
        inner = learner.within
        if self._chosen and isinstance(inner, WithTrees):
            must = "comparators must be those of a mixture with trees exactly if trees play"
            require((self.top is not None) == bool(inner.full), must, inner.full)
        if self.chosen is not None:
            self.chosen.check(learner)

    def look(self, learner: Any) -> None:
        if self.chosen is not None:
            self.chosen.look(learner)

    def facts(self, learner: Any) -> Any:
        return None if self.chosen is None else self.chosen.facts(learner)

    def state(self) -> State:
        return {
            "kind": self.kind,
            "forecasts": self.forecasts,
            "chosen": self._chosen,
            "linear": None if self.linear is None else self.linear.state(),
            "top": None if self.top is None else self.top.state(),
        }

    @classmethod
    def restore(cls, state: State) -> AutoTracker:
        parts = [None if state[name] is None else trackers.restored(state[name]) for name in ("linear", "top")]
        made = cls(parts[0], parts[1], integer(state, "forecasts", 1, 2**20))
        made._chosen = bool(state["chosen"])
        return made
