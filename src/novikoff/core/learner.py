"""The learner contract: the methods that a game calls, with defaults for all optional ones.

`Learner` is the base class of every learner here: implement `predict_one`, `play_one`, `facts`, and declare `fields`,
the saved state (core/state.py), and `task` if it is not binary classification. Every other method has a default;
`has("score_one")` is True if a learner overrides it. `Predictor` is the part that predicts, for classifiers that do not
learn. core/adapt.py wraps third-party objects in learners.

`play_one` and `learn_many` return labels, or a `StepResult` if the learner draws its predictions, has a loss other than
zero-one, or has probabilities.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import wraps
from inspect import isfunction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from novikoff.core.display import Written
from novikoff.core.errors import Advice, InputError, MismatchError, Option
from novikoff.core.state import Stateful, lookup
from novikoff.core.types import (
    Batch,
    Distribution,
    Domain,
    Example,
    Facts,
    Label,
    LabelValue,
    Outcome,
    Prediction,
    Standing,
    State,
    StepResult,
    Task,
    Theorem,
)

if TYPE_CHECKING:
    from novikoff.comparators.tracker import Tracker
    from novikoff.core.attribution import Attribution, Coefficients, Importances
    from novikoff.core.behaviour import Behaviour
    from novikoff.core.decision_tree import DrawnTree
    from novikoff.core.feature_places import Features, Row
    from novikoff.core.proof import Proof
    from novikoff.core.stream import Stream
    from novikoff.data.tables.encoding import Encoding
    from novikoff.experts.specialists import Between

Ability = Literal[
    "again", "chances", "costs", "learn_many", "mean", "predict_set", "probabilities_one", "probability_one",
    "score_one", "scores_one", "tracker", "widen",
]  # fmt: skip
"""A method that a learner may override."""

ABILITIES: frozenset[str] = frozenset(get_args(Ability))
"""Names of all optional methods."""


class Predictor(ABC, Written):
    """A learner, or a classifier made from one.

    Attributes:
        domain: Domain of x.
        task: Type of prediction problem.
        labels: Number of labels of a multiclass task, those known so far; None for other tasks.
        fixed_labels: Whether multiclass labels are the integers 0 .. `labels`-1 and no others.
        loss: Name of the loss.
        draws: Whether predictions are drawn from `chances(x)`.
        abilities: Methods that the class overrides.
        keeps_scores: Whether `scored` has the scores of the last call.
        learners: Members of an ensemble, all of which play every round.
        features: Numbering of the features of x (core/feature_places.py); None if there is none.
        feature_names: Names of the columns; set by the ledger.
        label_values: Names of the labels; set by the ledger.
        encoding: Encoding of the table that was learned from; set by the ledger.
        size: Number of stored weights, support vectors or hypotheses.
        rows_held: Training rows that are part of the hypothesis and must be saved with it.
        rows_stored: Training rows that are saved for exact resuming only, and left out of a model without rows.
        normalize: Whether examples are divided by their norm; None if that is not an option.
        replaces: Whether a score is explained by replacing columns, because it is not a sum over features.
        scored: Scores of the last round or batch, if `keeps_scores`.
        shares: Mean weight of each forecaster of a mixture over all rounds.
        names: Name of each forecaster of a mixture.
        weights: Probability of following each learner of an ensemble.
    """

    task: Task = "binary"
    fixed_labels: bool = False
    loss: str = "zero-one"
    draws: bool = False
    abilities: ClassVar[frozenset[str]] = frozenset()
    keeps_scores: ClassVar[bool] = False
    feature_names: list[str] | None = None
    label_values: list[LabelValue] | None = None
    encoding: Encoding | None = None
    normalize: bool | None = None
    scored: float | NDArray[np.float64] | None = None
    replaces: bool = False

    if TYPE_CHECKING:  # declared as properties, so that subclasses may use attributes or properties

        @property
        def domain(self) -> Domain: ...
        @property
        def labels(self) -> int | None: ...
        @property
        def learners(self) -> Sequence[Learner]: ...
        @property
        def features(self) -> Features | None: ...
        @property
        def size(self) -> int | None: ...
        @property
        def rows_held(self) -> int: ...
        @property
        def rows_stored(self) -> int: ...
        @property
        def names(self) -> Sequence[str]: ...
        @property
        def shares(self) -> Sequence[float] | NDArray[np.float64]: ...
        @property
        def weights(self) -> Sequence[float] | NDArray[np.float64]: ...
    else:
        labels = features = size = None
        rows_held = rows_stored = 0
        learners = names = shares = weights = ()

    def __init_subclass__(cls, base: bool = False, **more: object) -> None:
        super().__init_subclass__(**more)
        if base:
            return
        overrides = [vars(kind) for kind in cls.__mro__ if kind.__module__ != __name__]
        cls.abilities = frozenset(name for name in ABILITIES if any(name in names for names in overrides))
        for name in BY_ROWS:
            if isfunction(method := vars(cls).get(name)):
                setattr(cls, name, _checked(name, method))

    @abstractmethod
    def predict_one(self, x: Example) -> Prediction:
        """Return the prediction for x without changing the learner."""

    @property
    def original(self) -> object:
        """Object passed by the caller: this one, unless it is adapted."""
        return self

    @property
    def within(self) -> Predictor:
        """Wrapped learner if this one transforms its examples; this one otherwise."""
        return self

    def has(self, ability: Ability) -> bool:
        """Return whether the learner overrides the method."""
        return ability in self.abilities

    @classmethod
    def task_of(cls, given: Mapping[str, object]) -> Task:
        """Return the task of a learner made with these arguments, defaults included."""
        return cls.task

    @property
    def learns_labels(self) -> bool:
        """Whether outcomes are labels; if not, they are passed on unchanged, and `play_one` returns a `StepResult`."""
        return self.task in ("binary", "multiclass")

    @property
    def numbered(self) -> bool:
        """Whether labels may be any values, numbered in the order of their first appearance."""
        return self.task == "multiclass" and not self.fixed_labels

    @property
    def counts_mistakes(self) -> bool:
        """Whether the loss is the number of mistakes."""
        return self.loss == "zero-one"

    @property
    def probable(self) -> bool:
        """Whether each label has a probability."""
        has_one = self.within.has("probability_one") or self.within.has("probabilities_one")
        return self.task != "regression" and has_one

    @property
    def scores_rows(self) -> bool:
        """Whether x has a score, or one per label."""
        return self.within.has("scores_one" if self.numbered else "score_one")

    @property
    def scores(self) -> bool:
        """Whether the prediction is the sign of a score."""
        return self.has("score_one") and self.within.has("score_one")

    @property
    def tells_scores(self) -> bool:
        """Whether the innermost learner keeps the scores of its last call."""
        return self.within.keeps_scores

    @property
    def covers(self) -> bool:
        """Whether there is a prediction set for each prediction."""
        return self.has("predict_set")

    @property
    def averages(self) -> bool:
        """Whether the mean of the weights is available."""
        return self.has("mean")

    @property
    def changes_examples(self) -> bool:
        """Whether examples are transformed before learning."""
        return self.has("again")

    @property
    def normalizes(self) -> bool:
        """Whether the learner, or a member of its ensemble, can divide examples by their norm."""
        return any(one.within.normalize is not None for one in (self, *self.learners))

    @property
    def of_labels(self) -> Callable[[Example], NDArray[np.float64]] | None:
        """Function that returns the probability of each label, or else its score; None if there is neither."""
        if not self.numbered:
            return None
        if self.has("probabilities_one"):
            return self.probabilities_one
        return self.scores_one if self.has("scores_one") else None

    # One example

    def score_one(self, x: Example) -> float:
        """Return the number whose sign is the prediction."""
        raise self._lacks("a score")

    def scores_one(self, x: Example) -> NDArray[np.float64]:
        """Return the score of each label."""
        raise self._lacks("a score")

    def probability_one(self, x: Example) -> float:
        """Return P(+1)."""
        raise self._lacks("a probability")

    def probabilities_one(self, x: Example) -> NDArray[np.float64]:
        """Return the probability of each known label; they may sum to less than 1, the rest being for new labels."""
        raise self._lacks("a probability")

    def chances(self, x: Example) -> Distribution:
        """Return the distribution of the prediction."""
        return {cast(Label, self.predict_one(x)): 1.0}

    def predict_set(self, x: Example, ahead: bool = False) -> tuple[Prediction, ...]:
        """Return the prediction set: labels, or the ends of an interval."""
        raise self._lacks("sets")

    # Explanations, in terms of features; game/explanation.py translates them to columns

    def linear_weights(self) -> Coefficients | None:
        """Return the weights of a linear learner; None for any other."""
        return None

    def attribution(self, x: Example) -> Attribution | None:
        """Return the score of x as a sum over its features; None if the score is not such a sum."""
        return None

    def importances(self) -> Importances | None:
        """Return the importance of each feature, from the state of the learner; None if the state does not show it."""
        return None

    def drawn_tree(self) -> DrawnTree | None:
        """Return a decision tree for reports; None if the learner grows none."""
        return None

    def reference(self) -> Row | None:
        """Return a typical row for comparison; None if the learner has none."""
        return None

    def last_rows(self, most: int) -> Batch | None:
        """Return at most `most` of the last rows, with their outcomes; None if the learner stores none."""
        return None

    def _lacks(self, what: str) -> InputError:
        return InputError(f"the learner must have {what}: {type(self.within.original).__name__} has none.")

    # Batches

    def predict_many(self, batch: Batch) -> NDArray[np.number]:
        """Return the prediction for every row without learning."""
        check_batch(self.__dict__.get("encoding"), batch)
        return np.array([self.predict_one(x) for x, _ in batch.rows()])

    def predict_ahead(self, batch: Batch) -> NDArray[np.number]:
        """Return predictions for rows whose labels are not observed in between."""
        return self.predict_many(batch)

    def scores_many(self, batch: Batch) -> NDArray[np.float64]:
        """Return the score of every row, or the scores of all its labels."""
        one: Callable[[Example], object] = self.scores_one if self.numbered else self.score_one
        return np.array([one(x) for x, _ in self._has_rows(batch, self.scores_rows, "a score").rows()], np.float64)

    def probabilities_many(self, batch: Batch) -> NDArray[np.float64]:
        """Return P(+1) of every row, or the probability of each label."""
        one: Callable[[Example], object] = self.probabilities_one if self.numbered else self.probability_one
        return np.array([one(x) for x, _ in self._has_rows(batch, self.probable, "a probability").rows()], np.float64)

    def _has_rows(self, batch: Batch, has: bool, what: str) -> Batch:
        check_batch(self.__dict__.get("encoding"), batch)
        if not has:
            raise self._lacks(what)
        return batch

    def costs(self, predicted: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the loss of predicted numbers: the squared or the absolute error."""
        gaps = predicted - y
        found: NDArray[np.float64] = np.abs(gaps) if self.loss == "absolute" else gaps * gaps
        return found

    @property
    def all_rows_held(self) -> int:
        """Training rows in the hypothesis, including all members of an ensemble."""
        members = sum(member.all_rows_held for member in self.learners)
        return members + (self.rows_held or (0 if members else self.within.rows_held))

    @property
    def all_rows_stored(self) -> int:
        """Training rows saved for exact resuming, of the learner or the member of its ensemble that has most."""
        members = (member.all_rows_stored for member in self.learners)
        return max(self.rows_stored, self.within.rows_stored, *members, 0)

    def check_hash(self, stream: Stream) -> None:
        """Raise `MismatchError` if the stream hashes features into a different number of places than the learner has.

        Batches are as wide as there are places; a learner that saw single rows only may know fewer.
        """
        if stream.bits is None:
            return
        places = 2**stream.bits
        for one in (self, self.within, *self.learners):
            features = one.features
            if features is None or features.kind != "numbers" or features.count in (0, places):
                continue
            bits = features.count.bit_length() - 1  # a power of two was hashed; another count may be single rows
            if features.count > places or features.count == 2**bits:
                raise MismatchError(
                    f"names must be hashed as in training, to {features.count:,} places",
                    f"those of {stream.name} are hashed to {places:,}",
                    Advice("Pass ", Option("bits", bits), ".") if features.count == 2**bits else "",
                )


class Learner(Predictor, Stateful, base=True):
    """Base class of online learners.

    Only `learn_one`, `play_one`, `learn_many` and `widen` change a learner.

    Attributes:
        promises: Theorems that are evaluated on its games.
        conservative: Whether it changes on mistakes only.
        sums_mistakes: Whether its weights are their initial value plus the sum of y x~ over its mistakes;
            `less(weights)` then returns a copy with these weights subtracted.
        scales: Whether the columns of a table should be scaled first (data/scaled.py).
        wants_bias: Whether its `bias`, a constant feature, should be 1 if columns are scaled.
        needs_columns: Whether it needs columns as they are, so that `scale` in a spec is that of its inner learner.
        live: Whether its state can be copied but is not plain data for a file.
        repeats: Whether the next row of `play_one` is another round of the row before it; set by `repeat`.
        behaviours: Of a learner from outside, what it was seen to do in every round (core/behaviour.py).
        rehearsals: Functions, as "module:function", that compile loops of the learner by playing its parts on generated
            rows, in the order of a game; called in other processes while a game compiles (game/assistants.py).
        seed: Seed of its random draws; None if it draws nothing.
        updates: Number of updates; None if they are not counted.

    Example:
        >>> import novikoff as nk
        >>> class Majority:
        ...     total = 0
        ...     def predict_one(self, x): return 1 if self.total >= 0 else -1
        ...     def learn_one(self, x, y): self.total += y
        >>> isinstance(nk.Perceptron(), nk.Learner), nk.play(Majority(), [(0, -1), (0, -1)]).mistakes
        (True, 1)
    """

    promises: ClassVar[tuple[Theorem, ...]] = ()
    conservative: bool = False
    sums_mistakes: bool = False
    scales: ClassVar[bool] = False
    wants_bias: ClassVar[bool] = False
    needs_columns: ClassVar[bool] = False
    live: ClassVar[bool] = False
    repeats: bool = False
    behaviours: Sequence[Behaviour] = ()
    rehearsals: ClassVar[tuple[str, ...]] = ()

    if TYPE_CHECKING:

        @property
        def seed(self) -> int | None: ...
        @property
        def updates(self) -> int | None: ...
        @property
        def within(self) -> Learner: ...
    else:
        seed = updates = None

    @abstractmethod
    def play_one(self, x: Example, y: Outcome) -> Prediction | StepResult:
        """Predict x, then learn its outcome."""

    def learn_one(self, x: Example, y: Outcome) -> None:
        """Learn the outcome of x."""
        self.play_one(x, y)

    def repeat(self, repeats: bool) -> None:
        """State whether the next row of `play_one` is another round of the row before it, as `weights` of a `Batch` do.

        A row of weight k is learned in k rounds. What a learner computes from earlier outcomes, such as lags, must then
        be that of the first of them: the others would see their own label.
        """
        self.repeats = repeats
        for inner in (self.within, *self.learners):
            if inner is not self:
                inner.repeat(repeats)

    def learn_many(self, batch: Batch) -> NDArray[np.number] | StepResult | None:
        """Predict and learn every row in order; return None, without learning, if rows must be played one by one."""
        check_batch(self.__dict__.get("encoding"), batch)
        return None

    def arrive(self) -> None:
        """Take outcomes that are waiting as known, before a prediction that is made after they came."""

    @property
    def looped(self) -> bool:
        """Whether batches are played row by row."""
        return not self.has("learn_many")

    @abstractmethod
    def facts(self) -> Facts:
        """Return the current quantities that its theorems need: a frozen dataclass of plain values."""

    def _argument(self, name: str, default: object) -> object:
        held = next((field for field in self.fields if field.argument and field.name == name), None)
        return super()._argument(name, default) if held is None else lookup(self, held.path)

    # Methods for games, theorems and reports

    def tracker(self) -> Tracker | None:
        """Return new comparators for its theorems at the start of a game; None if they need none."""
        return None

    def mean(self) -> Learner:
        """Return a learner whose weights are the mean over all rounds, for convex losses."""
        raise self._lacks("the mean of its weights")

    def standing(self) -> Standing:
        """Return the thresholds of prediction sets and their counts, for the theorems on coverage."""
        raise self._lacks("sets")

    def again(self, stream: Stream) -> Stream:
        """Return the stream of a one-pass game with the transformed examples that the learner saw."""
        return stream

    def seen_batch(self, batch: Batch) -> Batch:
        """Return the last batch as the inner learner saw it, for the comparators."""
        return batch

    def seen_row(self, x: Example, later: bool = False) -> Row | dict[str, float]:
        """Return the last x as the inner learner saw it; if `later`, perhaps as a dict, to be encoded with others."""
        if self.features is None:
            raise self._lacks("rows of numbers")
        return self.features.seen_row(x, later)

    def widen(self, width: int) -> None:
        """Grow to `width` columns; all earlier rows had 0 in the new ones."""
        raise InputError(
            f"{type(self.original).__name__} needs all columns in the first rows",
            f"it has {self._columns():,} features, and now there are {width:,}: a number is missing for the first time",
            Advice("Fill or drop such rows, pass ", Option("drop", letter="COLUMN"), ", or choose a learner that "
                   "takes new features, such as auto or perceptron."),
        )  # fmt: skip

    def widen_all(self, width: int) -> None:
        """Widen the learner and the members of its ensemble that have fewer columns."""
        for member in self.learners:
            member.widen_all(width)
        had = self._columns()
        if had is not None and had < width:
            self.widen(width)

    def _columns(self) -> int | None:
        """Return the number of columns; None if it is not fixed."""
        if self.features is None:
            return self.domain.width
        return self.features.count if self.features.kind == "array" else None

    def survivor(self) -> str | None:
        """Return a description of a best hypothesis; None if the learner has no hypotheses."""
        return None

    def proof(self) -> Proof | None:
        """Return the proof of its theorem for a game that starts now (core/proof.py); None if it is not followed."""
        return None

    def textbook(self) -> dict[str, object] | None:
        """Return its rule and constants as plain data, for proof files (docs/proofs.md); None if none describes it."""
        return None

    def tale(self) -> list[str]:
        """Return further lines for a report."""
        return []

    def between(self, first: int, last: int) -> Between:
        """Return results and bounds for the rounds `first` to `last`."""
        raise InputError(
            "a report on some of the rounds needs a learner with guarantees on intervals: "
            f"{type(self.original).__name__} has none. Use logistic:drift=true, or drift=true with another learner."
        )

    def stretches(self, most: int) -> list[Between]:
        """Return `between` for at most `most` parts of the game; empty if there are no bounds for parts."""
        return []

    @property
    def largest_loss(self) -> float:
        """Largest loss of a round; infinite if unknown or if outcomes are rescaled before play."""
        return 1.0 if self.counts_mistakes else math.inf

    def from_state(self, state: State) -> Learner:
        """Return another learner of the same class, with this state."""
        return type(self).restore(state)

    def copy(self) -> Learner:
        """Return an independent copy in the present state."""
        return self.from_state(self.state())

    def settings(self, name: str) -> list[object]:
        """Return the values of a parameter in the learner and the members of its ensemble."""
        team = [one for member in (self, *self.learners) for one in (member, member.within)]
        found = [*(one._argument(name, None) for one in team), asdict(self.facts()).get(name)]
        return [value for value in found if value is not None]


BY_ROWS: Mapping[str, Callable[[Any, Batch], object]] = {
    "learn_many": Learner.learn_many,
    "predict_many": Predictor.predict_many,
    "scores_many": Predictor.scores_many,
    "probabilities_many": Predictor.probabilities_many,
}
"""Default implementations of the batch methods, one row at a time."""


def check_batch(own: Encoding | None, batch: object) -> None:
    """Raise an error if `batch` is not a `Batch`, or if its encoding differs from `own`."""
    if not isinstance(batch, Batch):
        raise InputError(
            "a batch must be a Batch",
            f"got {type(batch).__name__}",
            "Pass nk.Batch(X, y, 1), or the batches of nk.read(new, like=ledger).",
        )
    if own is not None and batch.encoding is not None and not own.agrees(batch.encoding):
        raise MismatchError(
            "a batch must be encoded like the training rows",
            "this one was encoded independently, so its features have other places",
            "Read new rows with nk.read(new, like=ledger), and use its batches.",
        )


def _checked(name: str, method: Callable[..., object]) -> Callable[..., Any]:
    """Return the method with a check of its batch; rows in a list are played one by one."""

    @wraps(method)
    def checked(self: object, batch: Batch, *more: object, **named: object) -> Any:
        check_batch(self.__dict__.get("encoding"), batch)
        if isinstance(batch.x, list):
            return BY_ROWS[name](self, batch)
        return method(self, batch, *more, **named)

    return checked
