"""Groups of rows: a common learner and one per group, mixed within each group.

Algorithm
    Rows belong to groups, by a column. The common learner plays every row, the group's own learner, an untrained copy
    of it at first, the rows of its group; on the first of them it predicts like the common learner. In each group the
    two are mixed: with probabilities by their posterior, from weights of 1/2; for numbers by AdaHedge on the squared
    losses. So a new group begins like the common learner, and a group that differs is predicted by its own.
Promise
    experts/theorems/grouped_regret.py: in each group, log loss at most that of the better of the two + ln 2; hence in
    sum at most that of the best choice for each group + ln 2 per group.
    experts/theorems/grouped_promise.py: in sum at most the common learner's bound + ln 2 per group.
    experts/theorems/grouped_squares.py: for numbers, the same with twice the measured mixability gap instead of ln 2.
    The guarantees of the common learner also hold for its own predictions, as it plays unchanged.
Cost
    That of two learners per row; a learner per group in memory.
Reference
    [vovk1998] for labels; [derooij2014] for numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.adapt import adapt, is_learner
from novikoff.core.errors import POSITIVE, Advice, InputError, shown
from novikoff.core.feature_places import Features
from novikoff.core.learner import Ability, Learner
from novikoff.core.nesting import Nested, Team
from novikoff.core.state import Argument, Array, Values, require
from novikoff.core.types import (
    Batch,
    CountsRounds,
    Domain,
    Example,
    Outcome,
    Prediction,
    State,
    StepResult,
    Task,
    Theorem,
    check_label,
    signs,
)
from novikoff.data.groups import Groups
from novikoff.experts import _loops
from novikoff.experts.theorems.grouped_facts import GroupedFacts, GroupFacts
from novikoff.experts.theorems.grouped_promise import grouped_promise
from novikoff.experts.theorems.grouped_regret import grouped_regret
from novikoff.experts.theorems.grouped_squares import grouped_squares

if TYPE_CHECKING:
    from novikoff.data.tables.encoding import Encoding

ROUNDS, LOSS, COMMON, OWN, GAP, WRONG = range(6)
"""Columns of `_sums`: rounds, losses of the mixture, of the common learner and of the group's own, mixability gap,
wrong labels."""


class Group(NamedTuple):
    """Results of one group.

    Attributes:
        name: Value of the column.
        rounds: Number of rows.
        loss: Sum of losses: log loss, or squared loss of numbers.
        common: That of the common learner on these rows.
        own: That of the group's own learner.
        bound: Guaranteed largest loss: the lesser of the two + the price of mixing.
        wrong: Number of wrong labels; 0 for numbers.
        weight: Present weight of the group's own learner.
    """

    name: str
    rounds: int
    loss: float
    common: float
    own: float
    bound: float
    wrong: int
    weight: float


class Grouped(Learner):
    """A common learner and one per group, mixed within each group.

    Args:
        learner: Untrained learner: with probabilities for two labels, or of numbers with squared loss.
        by: Column of the groups, by name or number.

    Guarantee:
        In every group log loss at most that of the better of the two plus ln 2 (`grouped_regret`).

    Example:
        >>> import novikoff as nk
        >>> rows = [{"shop": "a", "x": 1.0, "y": "no"}, {"shop": "b", "x": 1.0, "y": "yes"}] * 20
        >>> ledger = nk.play("logistic", rows, label="y", by="shop")
        >>> [(group.name, group.rounds) for group in ledger.learner.groups()]
        [('a', 20), ('b', 20)]
    """

    promises: ClassVar[tuple[Theorem, ...]] = (grouped_regret, grouped_promise, grouped_squares)
    names: ClassVar[list[str]] = ["common learner"]
    replaces = needs_columns = True
    fields = (
        Argument("by", int | str),
        Nested("learner", argument=True, at="_fresh"),
        Nested("common"),
        Team("own", at="_team", assigned=False),
        Values("groups", str, at="_names"),
        Array("sums", ("_count", 6), at="_sums", finite=False),
        Array("logs", ("_count", 2), at="_logs", finite=False),
    )

    def __init__(self, learner: Learner, by: object) -> None:
        player = adapt(learner) if is_learner(learner) else None
        if player is None or player.task not in ("binary", "multiclass", "regression") or player.covers:
            raise InputError(f"groups need a learner on examples: got {shown(learner)}.")
        name = type(player.within.original).__name__
        if player.task == "multiclass":
            raise InputError("groups are for two labels or numbers", f"{name} is multiclass", Advice(POSITIVE))
        if player.task == "binary" and not player.probable:
            do = "Use auto, logistic or ftrl."
            raise InputError("a learner of groups must predict probabilities", f"{name} does not", do)
        if player.task == "regression" and player.loss != "squared":
            raise InputError(
                "groups of numbers need squared loss", f"{name} has {player.loss} loss", "Use auto or vaw."
            )
        facts = player.facts()
        if isinstance(facts, CountsRounds) and facts.rounds:
            raise InputError(f"a learner of groups must be untrained: {name} is not. Pass a new one.")
        if not isinstance(by, (int, str)) or isinstance(by, bool):
            raise InputError(f"groups must be one column, by name or number: got {shown(by)}.")
        self.by, self._groups = by, Groups(by)
        self._fresh, self.common = player.copy(), player
        self.own: list[Learner] = []
        self.task: Task = player.task
        self.loss = player.loss
        self._sums, self._logs = np.zeros((0, 6)), np.zeros((0, 2))
        self._width: int | None = None

    @property
    def within(self) -> Learner:
        return self

    @property
    def domain(self) -> Domain:
        """Domain of the common learner."""
        return self.common.domain

    @property
    def labels(self) -> int | None:
        return self.common.labels

    @property
    def learners(self) -> Sequence[Learner]:
        """The common learner, whose theorems cover all rounds; of numbers none."""
        return (self.common,) if self.task == "binary" else ()

    @property
    def encoding(self) -> Encoding | None:
        """Encoding of the table that was learned from."""
        return self._fresh.encoding

    @encoding.setter
    def encoding(self, encoding: Encoding | None) -> None:
        for learner in (self._fresh, self.common, *self.own):
            learner.encoding = encoding

    @property
    def features(self) -> Features | None:
        return self.common.features

    @property
    def size(self) -> int:
        """Total size of the learners."""
        return sum(one.size or 0 for one in (self.common, *self.own))

    @property
    def rows_held(self) -> int:
        return sum(one.all_rows_held for one in (self.common, *self.own))

    @property
    def looped(self) -> bool:
        return self.common.looped

    def has(self, ability: Ability) -> bool:
        of_labels = ability in ("probability_one", "score_one")
        return self.task == "binary" if of_labels else super().has(ability)

    def groups(self) -> list[Group]:
        """Return the results of each group, in order of appearance."""
        facts = self.facts()
        return [
            Group(one.name, one.rounds, one.loss, one.common, one.own, one.least + one.price, int(self._sums[g, WRONG]),
                  self._weight(g))
            for g, one in enumerate(facts.groups)
        ]  # fmt: skip

    def _weight(self, group: int) -> float:
        """Return the weight of a group's own learner."""
        if group < 0:
            return 0.0
        if self.task == "binary":
            return _loops.grouped.posterior(self._logs[group, 0], self._logs[group, 1])
        return _loops.grouped.hedged(self._sums[group, COMMON], self._sums[group, OWN], self._sums[group, GAP])

    def _ask(self, x: Example) -> tuple[Learner | None, float]:
        """Return the learner of the group of x and its weight."""
        group = self._groups.ask(self.encoding, x)
        return (None, 0.0) if group < 0 else (self.own[group], self._weight(group))

    def predict_one(self, x: Example) -> Prediction:
        if self.task == "binary":
            return 1 if self.probability_one(x) >= 0.5 else -1
        own, weight = self._ask(x)
        common = float(self.common.predict_one(x))
        return common if own is None else common + weight * (float(own.predict_one(x)) - common)

    def predict_ahead(self, batch: Batch) -> NDArray[np.number]:
        if self.task == "binary":
            return self.predict_many(batch)
        found = np.array(self.common.predict_ahead(batch), dtype=np.float64)
        keys = self._groups.keys(self.encoding, batch)
        places = np.array([self._groups.names.get(key, -1) for key in keys], dtype=np.int64)
        for group in np.unique(places[places >= 0]).tolist():
            rows = np.flatnonzero(places == group)
            gap = np.asarray(self.own[group].predict_ahead(_taken(batch, rows)), dtype=np.float64) - found[rows]
            found[rows] += self._weight(group) * gap
        return found

    def probability_one(self, x: Example) -> float:
        """Return P(+1)."""
        own, weight = self._ask(x)
        common = float(self.common.probability_one(x))
        return common if own is None else common + weight * (float(own.probability_one(x)) - common)

    def score_one(self, x: Example) -> float:
        """Return the log-odds of +1."""
        p = self.probability_one(x)
        return math.log(p) - math.log1p(-p) if 0.0 < p < 1.0 else math.copysign(math.inf, p - 0.5)

    def _placed(self, keys: Sequence[str]) -> NDArray[np.int64]:
        """Return the groups of rows, with a learner for each new one."""
        places = self._groups.places(keys)
        more = len(self._groups.names) - len(self.own)
        for _ in range(more):
            learner = self._fresh.copy()
            learner.encoding = self._fresh.encoding  # no part of the state
            if self._width is not None:
                learner.widen_all(self._width)
            self.own.append(learner)
        if more:
            self._sums = np.vstack([self._sums, np.zeros((more, 6))])
            self._logs = np.vstack([self._logs, np.zeros((more, 2))])
        return places

    def play_one(self, x: Example, y: Outcome) -> StepResult:
        y = check_label(y, None) if self.task == "binary" else y
        key = self._groups.key(self.encoding, x)
        common = _result(self.common.play_one(x, y))  # refuses whatever its copies refuse
        group = int(self._placed([key])[0])
        own = _result(self.own[group].play_one(x, y))
        if self.task == "binary":
            chances = self._side_by_side(group, [common.probabilities], [own.probabilities])
            predicted, wrong, mixed = self._mix(group, chances, np.array([y], dtype=np.int8))
            members = np.array([common.predictions])
            return StepResult(
                int(predicted[0]), float(wrong[0]), float(wrong[0]), members, probabilities=float(mixed[0]),
                results=[common],
            )  # fmt: skip
        said = self._side_by_side(group, [common.predictions], [own.predictions])
        found, losses = self._hedge(group, said, np.array([encode.number(y)]))
        return StepResult(float(found[0]), float(losses[0]), float(losses[0]))

    def learn_many(self, batch: Batch) -> StepResult | None:
        """Play every row in order: the common learner, each group's own on its rows, then the mixtures."""
        if self.common.looped:
            return None
        y: Any = signs(batch) if self.task == "binary" else np.asarray(batch.y, dtype=np.float64)
        batch = replace(batch, y=y)
        keys = self._groups.keys(self.encoding, batch)
        played = self.common.learn_many(batch)
        if played is None:
            return None
        common, places = _result(played), self._placed(keys)
        if self.task == "binary":
            labels, wrong, mixed = np.empty(len(y), np.int8), np.empty(len(y)), np.empty(len(y))
        else:
            found, losses = np.empty(len(y)), np.empty(len(y))
        for group in np.unique(places).tolist():
            rows = np.flatnonzero(places == group)
            own = self._played(self.own[group], _taken(batch, rows))
            if self.task == "binary":
                chances = self._side_by_side(group, common.probabilities[rows], own.probabilities)
                labels[rows], wrong[rows], mixed[rows] = self._mix(group, chances, y[rows])
            else:
                said = self._side_by_side(group, common.predictions[rows], own.predictions)
                found[rows], losses[rows] = self._hedge(group, said, y[rows])
        if self.task == "binary":
            members = np.asarray(common.predictions)[:, None]
            return StepResult(labels, wrong, wrong, members, probabilities=mixed, results=[common])
        return StepResult(found, losses, losses)

    def _played(self, learner: Learner, batch: Batch) -> StepResult:
        """Play rows on a group's own learner."""
        played = learner.learn_many(batch)
        if played is not None:
            return _result(played)
        rows = [_result(learner.play_one(x, y)) for x, y in batch.rows()]
        predicted, lost, chances = (
            np.array([getattr(row, name) for row in rows]) for name in ("predictions", "losses", "probabilities")
        )
        return StepResult(predicted, lost, lost, probabilities=chances)

    def _side_by_side(self, group: int, common: Any, own: Any) -> NDArray[np.float64]:
        """Return the forecasts of the two for rows of one group; on its first row they are those of the common one."""
        both = np.column_stack([common, own]).astype(np.float64)
        if self._sums[group, ROUNDS] == 0.0:
            both[0, 1] = both[0, 0]
        return both

    def _mix(self, group: int, chances: NDArray[np.float64], y: NDArray[np.int8]) -> tuple[Any, Any, Any]:
        """Mix P(y) of the two in rows of one group; return predictions, whether they are wrong, and P(y)."""
        losses, mixed = np.empty((len(y), 3)), np.empty(len(y))
        _loops.grouped.mix(self._logs[group], chances, losses, mixed)
        up = np.where(y == 1, mixed >= 0.5, mixed <= 0.5)
        wrong = (up != (y == 1)).astype(np.float64)
        _loops.grouped.add(self._sums[group], losses, wrong)
        return np.where(up, 1, -1).astype(np.int8), wrong, mixed

    def _hedge(self, group: int, said: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[Any, Any]:
        """Mix the numbers of the two in rows of one group; return predictions and their squared losses."""
        found, losses = np.empty(len(y)), np.empty(len(y))
        _loops.grouped.hedge(self._sums[group], said, y, found, losses)
        return found, losses

    def widen(self, width: int) -> None:
        self.widen_all(width)

    def widen_all(self, width: int) -> None:
        """Widen all learners."""
        self._width = width
        for learner in (self.common, *self.own):
            learner.widen_all(width)

    def tale(self) -> list[str]:
        """Return a line for each of the largest groups: rows, loss and bound per row, weight of the own learner."""
        groups = sorted(self.groups(), key=lambda group: -group.rounds)
        what = "log loss" if self.task == "binary" else "squared loss"
        lines = [
            f"Group {one.name}: {one.rounds:,} rows, {what} {one.loss / one.rounds:.4g} per row; guaranteed at most "
            f"{one.bound / one.rounds:.4g} (common learner {one.common / one.rounds:.4g}, its own "
            f"{one.own / one.rounds:.4g}, weight {one.weight:.2g})"
            for one in groups[:SHOWN] if one.rounds
        ]  # fmt: skip
        return [*lines, f"and {len(groups) - SHOWN:,} more groups"] if len(groups) > SHOWN else lines

    def facts(self) -> GroupedFacts:
        names = list(self._groups.names)
        groups = [
            GroupFacts(name, int(row[ROUNDS]), float(row[LOSS]), float(row[COMMON]), float(row[OWN]), float(row[GAP]),
                       self.task == "binary")
            for name, row in zip(names, self._sums, strict=True)
        ]  # fmt: skip
        return GroupedFacts(sum(one.rounds for one in groups), groups)

    @property
    def _names(self) -> list[str]:
        return list(self._groups.names)

    @_names.setter
    def _names(self, names: list[str]) -> None:
        self._groups.load(names)

    @property
    def _count(self) -> int:
        return len(self._groups.names)

    @property
    def _team(self) -> list[Learner]:
        return self.own

    def after_restoring(self, found: State) -> None:
        self.own = list(found["own"] or ())
        kinds = {type(one) for one in (self.common, *self.own)}
        require(len(self.own) == self._count, "every group must have a learner", len(self.own))
        require(kinds == {type(self._fresh)}, "learners of groups must be of one kind", len(kinds))
        rounds = self._sums[:, ROUNDS]
        require(bool((rounds >= 0.0).all() and (rounds % 1.0 == 0.0).all()), "rounds of groups must be counts", rounds)


SHOWN = 12
"""Most groups in a report."""


def _result(played: Any) -> StepResult:
    assert isinstance(played, StepResult)  # it has probabilities, or predicts numbers
    return played


def _taken(batch: Batch, rows: NDArray[np.int64]) -> Batch:
    """Return some rows of a batch."""
    x: Any = batch.x
    some: Any = [x[row] for row in rows.tolist()] if isinstance(x, list) else None
    some = x[rows] if isinstance(x, np.ndarray) else x.take(rows) if some is None else some
    return Batch(some, batch.y[rows], batch.first, None, "owned", encoding=batch.encoding)
