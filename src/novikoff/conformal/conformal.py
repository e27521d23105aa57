"""Conformal: prediction sets around any learner, with the requested coverage on every stream.

Algorithm
    A learner plays unchanged. Each prediction comes with a set of labels, or an interval of numbers: all y whose score
    is at most a threshold q. After a miss q grows by step (1 - alpha), after a hit it falls by step alpha. For q below
    0 the set is empty, from 1 on it contains everything. Scores are from 0 to 1, and are known for every y before the
    outcome:
        1 - P(y)                 of a learner that predicts probabilities, or that draws
        (1 - m/(a + |m|))/2      of one with a score: m is y times the score, a the mean size of earlier scores
        1 if y is not predicted  of any other
        e/(a + e)                for numbers: e = |y - prediction|, a the mean earlier error; everything in round 1
    Means are plain over the first hundred rounds, then exponential moving averages. With `groups`, a column or a
    function of x, each group has a separate threshold. With a list of columns groups overlap: a row is in one group per
    column, and its threshold is start + step times the total excess of its groups, misses minus alpha times rounds.
    With the `rule` "decaying" the step of round t is step/sqrt(t): on a stationary stream, thresholds converge. With
    the rule "quantile" the threshold is that quantile of all earlier scores; a custom rule is an object with
    `threshold()` and `see(score)`. Both run under a governor: after too many misses the set is everything; after too
    few, it is empty.
Promise
    conformal/theorems/coverage_deviation.py: misses differ from alpha T by at most (1 + step)/step, in each group,
    on every stream and however bad the learner is. conformal/theorems/coverage_pinball.py: the thresholds are not much
    worse than the best one. conformal/theorems/coverage_overlapping.py: in overlapping groups, by about sqrt(2 alpha
    T/step) in each. conformal/theorems/coverage_decaying.py: by at most sqrt(T) (1 + step)/step, with decaying steps.
    conformal/theorems/coverage_governed.py: a similar bound for any rule under the governor. The guarantees of the
    learner also hold, as it plays unchanged.
Cost
    A few numbers per round and per group.
Reference
    [gibbs2021]; [angelopoulos2023]; [angelopoulos2024].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from novikoff.conformal import _loops
from novikoff.conformal._loops.conformal_layout import BINS
from novikoff.conformal.theorems.coverage_decaying import coverage_decaying
from novikoff.conformal.theorems.coverage_deviation import coverage_deviation
from novikoff.conformal.theorems.coverage_governed import coverage_governed
from novikoff.conformal.theorems.coverage_overlapping import coverage_overlapping
from novikoff.conformal.theorems.coverage_pinball import coverage_pinball
from novikoff.core import encode
from novikoff.core.adapt import adapt, is_learner
from novikoff.core.errors import InputError, ModelFileError, shown
from novikoff.core.learner import Ability, Learner
from novikoff.core.nesting import Nested
from novikoff.core.state import Argument, Array, Number, Values, require
from novikoff.core.types import (
    Batch,
    Domain,
    Example,
    Facts,
    LabelValue,
    Outcome,
    Prediction,
    Standing,
    State,
    StepResult,
    Theorem,
    as_batch,
)
from novikoff.data.groups import AND, Groups

if TYPE_CHECKING:
    from novikoff.comparators.tracker import Tracker
    from novikoff.core.feature_places import Features
    from novikoff.data.tables.encoding import Encoding

RULES = ("tracker", "decaying", "quantile")
"""Built-in rules for thresholds."""
TRACKERS = RULES[:2]
"""Rules with one threshold per group."""
Numbers = NDArray[np.float64]


@runtime_checkable
class ThresholdRule(Protocol):
    """Custom rule that proposes thresholds."""

    def threshold(self) -> float:
        """Return the threshold of the next round."""
        ...

    def see(self, score: float) -> None:
        """Learn the score of the last round's outcome."""
        ...


Value = TypeVar("Value")
MISSING: Any = object()
"""Marker of an attribute that was not set."""


class OfLearner(Generic[Value]):
    """Attribute that delegates to the wrapped learner unless it was set on the wrapper."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, wrapper: Any, owner: object = None) -> Value:
        if wrapper is None:
            return self  # type: ignore[return-value]
        found: Value = vars(wrapper).get(self.name, MISSING)
        return getattr(wrapper.learner, self.name) if found is MISSING else found

    def __set__(self, wrapper: object, value: Value) -> None:
        vars(wrapper)[self.name] = value


class Around(Learner, base=True):
    """Base class of learners that play another learner and change nothing in its predictions.

    Attributes:
        learner: The learner inside.
    """

    learner: Learner

    # Delegated to the learner unless set here
    domain = OfLearner[Domain]()
    labels = OfLearner[int | None]()
    learners = OfLearner[Sequence[Learner]]()
    features: OfLearner[Features | None] = OfLearner()
    feature_names = OfLearner[list[str] | None]()
    label_values: OfLearner[list[LabelValue] | None] = OfLearner()
    normalize = OfLearner[bool | None]()
    size = OfLearner[int | None]()
    updates = OfLearner[int | None]()
    seed = OfLearner[int | None]()
    names = OfLearner[Sequence[str]]()
    shares: OfLearner[Sequence[float] | Numbers] = OfLearner()
    weights: OfLearner[Sequence[float] | Numbers] = OfLearner()
    predict_many = OfLearner[Any]()
    predict_ahead = OfLearner[Any]()
    score_one = OfLearner[Any]()
    scores_one = OfLearner[Any]()
    scores_many = OfLearner[Any]()
    probability_one = OfLearner[Any]()
    probabilities_one = OfLearner[Any]()
    probabilities_many = OfLearner[Any]()
    chances = OfLearner[Any]()
    costs = OfLearner[Any]()
    linear_weights = OfLearner[Any]()
    attribution = OfLearner[Any]()
    importances = OfLearner[Any]()
    reference = OfLearner[Any]()
    last_rows = OfLearner[Any]()
    replaces = OfLearner[bool]()
    tracker: OfLearner[Callable[[], Tracker | None]] = OfLearner()
    mean: OfLearner[Callable[[], Learner]] = OfLearner()
    again = OfLearner[Any]()
    seen_batch = OfLearner[Any]()
    seen_row = OfLearner[Any]()
    survivor: OfLearner[Callable[[], str | None]] = OfLearner()
    tale: OfLearner[Callable[[], list[str]]] = OfLearner()
    between = OfLearner[Any]()
    stretches = OfLearner[Any]()
    facts: OfLearner[Callable[[], Facts]] = OfLearner()
    largest_loss = OfLearner[float]()

    @property
    def encoding(self) -> Encoding | None:
        """Encoding of the table that was learned from: that of the learner."""
        return self.learner.encoding

    @encoding.setter
    def encoding(self, encoding: Encoding | None) -> None:
        self.learner.encoding = encoding

    @property
    def within(self) -> Learner:
        """The innermost learner."""
        return self.learner.within

    def has(self, ability: Ability) -> bool:
        """Return whether this method is available; most are those of the learner."""
        attribute = getattr_static(type(self), ability)
        return self.learner.has(ability) if isinstance(attribute, OfLearner) else super().has(ability)

    def widen(self, width: int) -> None:
        """Grow to `width` features, if the learner can."""
        self.learner.widen_all(width)

    @property
    def rows_held(self) -> int:
        """Number of training rows that the learner stores."""
        return self.learner.all_rows_held


class Conformal(Around):
    """Wrapper that adds a prediction set to every prediction of a learner.

    Args:
        learner: Learner on examples.
        alpha: Fraction of sets that may miss the outcome.
        step: Step by which a threshold moves.
        start: Initial threshold.
        groups: None, a column (number or name) or a function of x, whose values are groups; or a list of columns, whose
            groups overlap.
        rule: "tracker", "decaying", "quantile", or an object with `threshold()` and `see(score)`.
        delay: Number of rounds, of the group, by which outcomes come late: a threshold depends only on those that came
            before. For the rule "tracker", and numbers or probabilities.

    Guarantee:
        The fraction of misses in T rounds differs from alpha by at most (1 + step) / (step T), in each group and on
        every stream (`coverage_deviation`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.Conformal(nk.Logistic(), alpha=0.2)
        >>> ledger = nk.play(learner, [([1.0, 0.0], -1), ([0.0, 1.0], 1)] * 10)
        >>> learner.predict_set([1.0, 0.0])
        (-1,)
    """

    promises: ClassVar[tuple[Theorem, ...]] = (
        coverage_deviation, coverage_pinball, coverage_overlapping, coverage_decaying, coverage_governed,
    )  # fmt: skip
    conservative = sums_mistakes = False
    fields = (
        *(Argument(name, float) for name in ("alpha", "step", "start")),
        Argument("groups", int | str | list | None),
        Argument("rule", str),
        Argument("delay", int, default=lambda: 0),
        Values("names", str, at="_names"),
        Nested("learner", argument=True),
        Array("counts", ("_count", 2), np.int64, at="_counts", nonnegative=True),
        Array("moving", ("_count", 2), at="_moving"),
        Array("history", (2, BINS), at="_history"),
        Number("pinball", at="_paid.0", finite=False),
        Array("known", (2,), at="_known"),
        Array("pending", (None, 3), at="_pending", default=lambda: np.zeros((0, 3))),
    )

    def __init__(
        self, learner: Learner, alpha: float = 0.1, step: float = 0.05, start: float = 0.5, groups: object = None,
        rule: object = "tracker", delay: int = 0,
    ) -> None:  # fmt: skip
        player = adapt(learner) if is_learner(learner) else None
        if player is None or player.task in ("advice", "losses") or player.covers:
            raise InputError(f"conformal needs a learner on examples: got {shown(learner)}.")
        self.learner = player
        for name, value, sound in (("alpha", alpha, 0.0 < alpha < 1.0), ("step", step, 1e-9 <= step <= 1e3),
                                   ("start", start, 0.0 <= start <= 1.0)):  # fmt: skip
            if not sound:
                must = {"alpha": "between 0 and 1", "step": "from 1e-9 to 1000", "start": "from 0 to 1"}[name]
                raise InputError(f"{name} must be {must}: got {shown(value)}.")
        if rule not in RULES and not isinstance(rule, ThresholdRule):
            raise InputError(
                f"a rule must be tracker, decaying, quantile, or have threshold() and see(score): got {shown(rule)}."
            )
        if groups is not None and rule not in TRACKERS:
            raise InputError(
                f'groups need rule="tracker" or "decaying": got the rule {shown(rule)}. Leave one of them out.'
            )
        if isinstance(groups, list) and rule != "tracker":
            raise InputError(
                f'overlapping groups need rule="tracker": got the rule {shown(rule)}. Leave one of them out.'
            )
        late = type(delay) is int and 0 <= delay <= 10_000
        if not late or (delay and (rule != "tracker" or isinstance(groups, list))):
            do = "Leave it out, or use one threshold per group by the rule tracker."
            raise InputError("delay must be a number of rounds from 0 to 10,000", f"got {shown(delay)}", do)
        if delay and player.task != "regression" and not (player.task == "binary" and player.probable):
            raise InputError("delay is for numbers, or two labels with probabilities: choose another learner.")
        self.delay = delay
        self._pending = np.zeros((0, 3))  # group, miss and error of the rounds whose outcome is to come
        self.alpha, self.step, self.start, self.rule = float(alpha), float(step), float(start), rule
        self.task, self.fixed_labels, self.loss, self.draws = (
            player.task,
            player.fixed_labels,
            player.loss,
            player.draws,
        )
        self.promises = (*player.promises, *type(self).promises)  # type: ignore[misc]
        self.groups, self._groups = groups, Groups(groups)
        self._counts = np.zeros((1, 2), dtype=np.int64)  # rounds and misses of each group
        self._moving = np.array([[self.start, 0.0]])  # for decaying steps (conformal/_loops/conformal.py)
        self._history, self._paid, self._known = np.zeros((2, BINS)), np.zeros(1), np.zeros(2)
        self._scored = not (player.task == "regression" or player.probable or player.draws) and player.scores
        self._returns_scores = player.tells_scores

    @property
    def most(self) -> int | None:
        """Number of labels; None for numbers, 0 where new labels may appear."""
        if self.task == "regression":
            return None
        return 0 if self.numbered else self.labels or 2

    def predict_one(self, x: Example) -> Prediction:
        return self.learner.predict_one(x)

    def predict_set(self, x: Example, ahead: bool = False) -> tuple[Prediction, ...]:
        """Return the labels in the set of x, in order, or the ends of an interval; () is the empty set.

        Args:
            x: Example.
            ahead: Whether x is one of several rows without labels, which are predicted by `predict_ahead`.
        """
        q = self._threshold_of(x)
        if self.task == "regression":
            centre = self.predict_ahead(Batch([x], np.zeros(1), 1))[0] if ahead else self.learner.predict_one(x)
            predicted, scale = float(centre), self._scale()
            wide = _width(np.array([q]), np.array([scale]))[0] / 2.0
            if wide < 0.0:
                return ()
            if not math.isfinite(wide):
                return (-math.inf, math.inf)
            # Rounded up, so that the interval contains every y that the threshold covers.
            wide = math.nextafter(wide * (1.0 + 2.0**-50), math.inf) if wide else 0.0
            return (predicted - wide, predicted + wide)
        scores = self._asked(x)
        return tuple(label for label, score in scores.items() if score <= q or q >= 1.0)

    def _asked(self, x: Example) -> dict[int, float]:
        """Return the score of each label, in order."""
        labels = [-1, 1] if self.task == "binary" else list(range(self.labels or 0))
        if self.learner.probable and self.numbered:
            return dict(enumerate((1.0 - self.learner.probabilities_one(x)).tolist()))
        if self.learner.probable:
            p = float(self.learner.probability_one(x))
            return dict(zip(labels, (p, 1.0 - p), strict=True))
        if self.learner.draws:
            chances = self.learner.chances(x)
            return {label: 1.0 - chances.get(label, 0.0) for label in labels}
        if self._scored:
            margins = float(self.learner.score_one(x)) * np.array([[-1.0], [1.0]])
            return dict(zip(labels, _squashed(margins, np.array([self._scale()]))[:, 0].tolist(), strict=True))
        predicted = self.learner.predict_one(x)
        return {label: float(label != predicted) for label in labels}

    def _scale(self) -> float:
        return float(self._known[1]) if self._known[0] else -1.0

    def _threshold_of(self, x: Example) -> float:
        """Return the threshold of the group, or of the cell, of x."""
        place = self._groups.ask(self.encoding, x)
        if self._groups.each:
            return self._joint(list(self._groups.names)[place] if place >= 0 else self._groups.key(self.encoding, x))
        return self._served(place)

    def _joint(self, cell: str) -> float:
        """Return the threshold of a cell of overlapping groups."""
        inside = self._groups.overlapping()
        here = [place for group in cell.split(AND) for place in inside.get(group, ())]
        rounds, misses = (int(count) for count in self._counts[here].sum(axis=0))
        return self.start + self.step * (misses - self.alpha * rounds)

    def _inside(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the groups of each cell, and rounds and misses of each group."""
        groups = self._groups.overlapping()
        inside = np.full((len(self._counts), len(self._groups.each)), -1, dtype=np.int64)
        totals, filled = np.zeros((len(groups), 2), dtype=np.int64), [0] * len(self._counts)
        for number, cells in enumerate(groups.values()):
            totals[number] = self._counts[cells].sum(axis=0)
            for cell in cells:
                inside[cell, filled[cell]] = number
                filled[cell] += 1
        return inside, totals

    def _served(self, group: int) -> float:
        """Return the threshold of a group for the next round, from the outcomes that have come."""
        if not self.delay or group < 0:
            return self._threshold(group)
        waiting = self._pending[self._pending[:, 0] == group]
        rounds, misses = (int(count) for count in self._counts[group] - [len(waiting), int(waiting[:, 1].sum())])
        return self.start + self.step * (misses - self.alpha * rounds)

    def _threshold(self, group: int) -> float:
        """Return the threshold of a group; -1 is a group not yet seen."""
        rounds, misses = (0, 0) if group < 0 else (int(count) for count in self._counts[group])
        if self.rule == "tracker":
            return self.start + self.step * (misses - self.alpha * rounds)
        if self.rule == "decaying":
            return self.start if group < 0 else float(self._moving[group, 0])
        if self.rule == "quantile":
            counts, history = self._counts.copy(), self._history.copy()
            found, missed = np.empty(1), np.empty(1, dtype=np.bool_)
            _loops.conformal.track_quantile(np.zeros(1), counts, self.alpha, history, found, missed)
            return float(found[0])
        assert not isinstance(self.rule, str)
        q: float = _loops.conformal.governed(misses - self.alpha * rounds, rounds + 1, float(self.rule.threshold()))
        return q

    def play_one(self, x: Example, y: Outcome) -> StepResult:
        """Predict label and set, then learn."""
        key, chances = self._groups.key(self.encoding, x), cast(Any, None)
        score = self.learner.score_one(x) if self._scored and not self._returns_scores else None
        if self.numbered and self.learner.probable:
            chances = dict(enumerate(self.learner.probabilities_one(x).tolist()))
        elif self.learner.draws and not self.learner.learners:
            chances = self.learner.chances(x)
        played = self.learner.play_one(x, y)
        if not isinstance(played, StepResult):
            wrong = float(played != y)
            chance = wrong if chances is None else 1.0 - chances.get(y, 0.0)
            played = StepResult(played, wrong, chance)
        outcome = np.array([encode.number(y) if self.task == "regression" else int(encode.number(y))])
        groups = self._groups.places([key])
        scored = played
        if self._scored:
            scored = played._replace(scores=self.within.scored if self._returns_scores else score)
        return played._replace(sets=self._cover(as_batch(scored), outcome, groups, chances)[0])

    def learn_many(self, batch: Batch) -> StepResult | None:
        """Predict sets and learn every row in order; return None, having done nothing, if the learner cannot."""
        player = self.learner
        # Probabilities of all labels are not in the result of a batch: they are asked for row by row.
        multiclass = self.task == "multiclass" and (player.draws or (self.numbered and player.probable))
        if (
            self.learner.looped
            or multiclass
            or isinstance(batch.x, list)
            or (self._scored and not self._returns_scores)
        ):
            return None
        keys = self._groups.keys(self.encoding, batch)
        played = self.learner.learn_many(batch)
        if played is None:
            return None
        if not isinstance(played, StepResult):
            wrong = (played != batch.y).astype(np.float64)
            played = StepResult(played, wrong, wrong)
        scored = played._replace(scores=self.within.scored) if self._scored else played
        return played._replace(sets=self._cover(scored, batch.y, self._groups.places(keys, len(batch))))

    def _cover(
        self, played: StepResult, y: NDArray[np.generic], groups: NDArray[np.int64], chances: object = None
    ) -> Numbers:
        """Return the sets of the rounds played as (rows, 3): group, whether the outcome was missed, and size.

        The size is the number of labels or the length of the interval; -1 for the empty set, infinite for all numbers,
        and for all labels where new ones may appear.
        """
        if len(self._groups.names) > len(self._counts):
            more = len(self._groups.names) - len(self._counts)
            self._counts = np.vstack([self._counts, np.zeros((more, 2), dtype=np.int64)])
            self._moving = np.vstack([self._moving, [[self.start, 0.0]] * more])
        if self.delay:
            return np.concatenate([
                self._cover_late(as_batch(played_row), y[t : t + 1], int(groups[t]))
                for t, played_row in enumerate(_rows_of(played, len(y)))
            ] or [np.zeros((0, 3))])  # fmt: skip
        scores, by_label, scale = self._scores(played, y, chances)
        q, missed = np.empty(len(y)), np.empty(len(y), dtype=np.bool_)
        if self._groups.each:
            inside, totals = self._inside()
            _loops.conformal.track_overlapping(
                scores,
                groups,
                inside,
                self._counts,
                totals,
                self.alpha,
                self.step,
                self.start,
                self._history,
                q,
                missed,
            )
        elif self.rule == "tracker":
            tracked = (groups, self._counts, self.alpha, self.step, self.start, self._history, self._paid)
            _loops.conformal.track(scores, *tracked, q, missed)
        elif self.rule == "decaying":
            _loops.conformal.track_decaying(
                scores, groups, self._counts, self.alpha, self.step, self._moving, self._history, q, missed
            )
        elif self.rule == "quantile":
            _loops.conformal.track_quantile(scores, self._counts, self.alpha, self._history, q, missed)
        elif not isinstance(self.rule, str):
            for t, score in enumerate(scores.tolist()):
                q[t] = self._threshold(0)
                missed[t] = not (score <= q[t] or q[t] >= 1.0)
                self._counts[0] += (1, missed[t])
                self.rule.see(score)
        if by_label is None:
            sizes = _width(q, scale)
        else:
            held = (by_label <= q).sum(axis=0)
            sizes = np.where(q >= 1.0, float(self.most or np.inf), np.where(held > 0, held, -1.0))
        return np.column_stack([groups, missed, sizes])

    def _cover_late(self, played: StepResult, y: NDArray[Any], group: int) -> Numbers:
        """Return the set of one round as `_cover` does, with outcomes that come `delay` rounds late."""
        q, known = np.array([self._served(group)]), self._known.copy()
        scores, by_label, scale = self._scores(played, y, None)
        self._known = known  # the size of this error is known later
        missed = not (scores[0] <= q[0] or q[0] >= 1.0)
        size = abs(float(played.predictions[0]) - float(y[0])) if self.task == "regression" else 0.0
        self._counts[group] += (1, missed)
        place = min(int(scores[0] * BINS), BINS - 1)
        self._history[:, place] += (1.0, scores[0])
        self._pending = np.vstack([self._pending, [[group, missed, size if math.isfinite(size) else -1.0]]])
        of_group = np.flatnonzero(self._pending[:, 0] == group)
        if len(of_group) > self.delay:
            sizes = self._pending[of_group[:1], 2]
            _loops.conformal.scales(np.where(sizes < 0.0, np.inf, sizes), self._known, np.empty(1))
            self._pending = np.delete(self._pending, of_group[0], axis=0)
        if by_label is None:
            wide = _width(q, scale)
        else:
            held = (by_label <= q).sum(axis=0)
            wide = np.where(q >= 1.0, float(self.most or np.inf), np.where(held > 0, held, -1.0))
        return np.column_stack([[group], [missed], wide])

    def arrive(self) -> None:
        """Take the outcomes of all rounds as known, before a prediction that is made after them."""
        for row in self._pending:
            size = np.inf if row[2] < 0.0 else row[2]
            _loops.conformal.scales(np.array([size]), self._known, np.empty(1))
        self._pending = np.zeros((0, 3))
        self.learner.arrive()

    def _scores(self, played: StepResult, y: NDArray[Any], chances: Any) -> tuple[Numbers, Numbers | None, Numbers]:
        """Return the score of each outcome, of every label as (labels, rows) or None for numbers, and the scales."""
        player, scale = self.learner, np.full(len(y), -1.0)
        if player.task == "regression":
            sizes = np.abs(np.asarray(played.predictions, dtype=np.float64) - y)
            _loops.conformal.scales(sizes, self._known, scale)
            with np.errstate(divide="ignore", invalid="ignore"):
                scores = np.where(sizes > 0.0, sizes / (scale + sizes), 0.0)
            return np.where(scale < 0.0, 0.0, np.where(np.isfinite(sizes), scores, 1.0)), None, scale
        if self.task == "binary":
            if self._scored:
                margins = np.asarray(played.scores, dtype=np.float64) * y
                _loops.conformal.scales(np.abs(margins), self._known, scale)
                by_label = _squashed(np.array([margins, -margins]), scale)
            else:
                of_y = np.asarray(played.expected, dtype=np.float64)  # probability of a mistake; 0 or 1 without draws
                of_y = 1.0 - played.probabilities if player.probable else of_y
                by_label = np.array([of_y, 1.0 - of_y])
            return by_label[0], by_label, scale
        if chances is not None:
            by_label = np.array([[1.0 - chances.get(label, 0.0)] for label in range(self.labels or 0)])
        else:
            by_label = (np.arange(self.labels or 0)[:, None] != np.asarray(played.predictions)).astype(np.float64)
        return by_label[y.astype(np.intp), np.arange(len(y))], by_label, scale

    def __repr__(self) -> str:
        rounds, misses = (int(count) for count in self._counts.sum(axis=0))
        covered = f": {100 * (1 - misses / rounds):.4g} % in {rounds:,} rounds" if rounds else ""
        return f"<Conformal {self.learner!r}, target coverage {100 * (1 - self.alpha):.4g} %{covered}>"

    def standing(self) -> Standing:
        """Return the thresholds and counts that theorems on coverage need, as plain data."""
        names = self._groups.names
        governed, joint = self.rule not in TRACKERS, bool(self._groups.each)
        return {
            "alpha": self.alpha, "step": self.step, "start": self.start, "most": self.most, "groups": list(names),
            "rule": "overlapping" if joint else self.rule if isinstance(self.rule, str) else type(self.rule).__name__,
            "rounds": self._counts[: len(names), 0].tolist(), "misses": self._counts[: len(names), 1].tolist(),
            "thresholds": [self._joint(name) if joint else 0.0 if governed else self._threshold(g)
                           for name, g in names.items()],
            "pinball": float(self._paid[0]), "history": self._history.copy(),
            "moved": self._moving[: len(names), 1].tolist(), "overlapping": self._groups.overlapping(),
            "columns": len(self._groups.each), "delay": self.delay,
        }  # fmt: skip

    def state(self) -> State:
        if not isinstance(self.rule, str) or callable(self._groups.by):
            raise ModelFileError("a saved learner must be plain data: a Python rule or group function is not. "
                                 "Name a column, or use a built-in rule.")  # fmt: skip
        return super().state()

    @property
    def _names(self) -> list[str]:
        """Names of the groups."""
        return list(self._groups.names)

    @_names.setter
    def _names(self, names: list[str]) -> None:
        self._groups.load(names)

    @property
    def _count(self) -> int:
        """Number of groups."""
        return len(self._groups.names)

    def after_restoring(self, found: State) -> None:
        counts, history = self._counts, self._history
        require(bool((counts <= counts[:, :1]).all()), "misses must be from 0 to the number of rounds", counts)
        same = float(history[0].sum()) == float(counts[:, 0].sum())
        require(same, "every round must have a score", history[0].sum())


def _rows_of(played: StepResult, rows: int) -> list[StepResult]:
    """Return the predictions and the probabilities of each row."""
    chances = played.probabilities
    return [
        StepResult(played.predictions[t], None, played.expected[t],
                   probabilities=None if chances is None else chances[t])
        for t in range(rows)
    ]  # fmt: skip


def _squashed(margins: Numbers, scale: Numbers) -> Numbers:
    """Map margins to scores from 0 to 1, decreasing; 1/2 at margin 0 and before there is a scale."""
    size = np.maximum(scale, 0.0) + np.abs(margins)
    known = (scale >= 0.0) & (size > 0.0) & np.isfinite(size)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(known, 0.5 * (1.0 - margins / size), 0.5)


def _width(q: Numbers, scale: Numbers) -> Numbers:
    """Return the length of intervals; -1 for the empty set, infinite for everything."""
    with np.errstate(divide="ignore", invalid="ignore"):
        wide = np.where((q >= 1.0) | (scale < 0.0), np.inf, 2.0 * scale * (q / (1.0 - q)))
    return np.where(q < 0.0, -1.0, wide)
