"""The learner contract: the methods that a game calls, with defaults for all optional ones.

`Learner` is the base class of every learner here: implement `predict_one`, `play_one`, `facts`, and declare `fields`,
the saved state (core/state.py). Every other method has a default; `has("score_one")` is True if a learner overrides
it. `Predictor` is the part that predicts, for classifiers that do not learn.

`adapt` makes a `Learner` of any object with `predict_one` and `learn_one`. Learners from outside this package get
copies of rows and labels. Losses of their predictions are computed from the game's outcomes, and their probabilities
must be from 0 to 1.

`play_one` and `learn_many` return labels, or a `StepResult` if the learner draws its predictions, has another loss than
mistakes, or has probabilities.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from inspect import isfunction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.core.batch import apart
from novikoff.core.display import Written
from novikoff.core.errors import Advice, InputError, MismatchError, Option, shown
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
    Theorem,
)

if TYPE_CHECKING:
    from novikoff.comparators.tracker import Tracker
    from novikoff.core.feature_places import Features, Row
    from novikoff.core.stream import Stream
    from novikoff.data.tables.encoding import Encoding
    from novikoff.experts.specialists import Between

Task = Literal["binary", "multiclass", "regression", "advice", "losses"]

Ability = Literal[
    "again", "chances", "costs", "learn_many", "mean", "predict_set", "probabilities_one", "probability_one",
    "score_one", "scores_one", "tracker", "widen",
]  # fmt: skip
"""A method that a learner may override."""

OF_BATCHES = ("learn_many", "predict_many", "scores_many", "probabilities_many")
"""Methods that take a batch."""


class Predictor(ABC, Written):
    """A learner, or a classifier made from one.

    Attributes:
        domain: Domain of x.
        labels: None for -1 and +1; the number of labels known so far if `numbered`.
        outcomes: "labels", or "numbers" for regression.
        loss: Name of the loss.
        draws: Whether predictions are drawn from `chances(x)`.
        numbered: Whether labels are multiclass, numbered by first appearance.
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
        scored: Scores of the last round or batch, if `keeps_scores`.
        shares: Mean weight of each forecaster of a mixture over all rounds.
        names: Name of each forecaster of a mixture.
        weights: Probability of following each learner of an ensemble.
    """

    outcomes: str = "labels"
    loss: str = "zero-one"
    draws: bool = False
    numbered: bool = False
    keeps_scores: ClassVar[bool] = False
    feature_names: list[str] | None = None
    label_values: list[LabelValue] | None = None
    encoding: Encoding | None = None
    normalize: bool | None = None
    scored: float | NDArray[np.float64] | None = None

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

    def __init_subclass__(cls, base: bool = False, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name in () if base else OF_BATCHES:
            if isfunction(cls.__dict__.get(name)):
                setattr(cls, name, _checked(name, cls.__dict__[name]))

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
        return getattr(type(self), ability, DEFAULTS[ability]) is not DEFAULTS[ability]

    @property
    def task(self) -> Task:
        """Type of prediction problem."""
        if self.outcomes == "numbers":
            return "regression"
        if self.domain.kind in ("advice", "losses"):
            return "advice" if self.domain.kind == "advice" else "losses"
        return "multiclass" if self.numbered or self.labels is not None else "binary"

    @classmethod
    def task_of(cls, given: Mapping[str, Any]) -> Task:
        """Return the task of a learner made with these arguments, defaults included."""
        return "regression" if cls.outcomes == "numbers" else "multiclass" if cls.numbered else "binary"

    @property
    def pays(self) -> bool:
        """Whether outcomes are passed on unchanged and `play_one` returns a `StepResult`."""
        return self.task in ("regression", "advice", "losses")

    @property
    def counts_mistakes(self) -> bool:
        """Whether the loss is the number of mistakes."""
        return self.loss == "zero-one"

    @property
    def probable(self) -> bool:
        """Whether each label has a probability."""
        own = self.within.has("probability_one") or self.within.has("probabilities_one")
        return self.outcomes == "labels" and own

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
        return any(adapt(one).within.normalize is not None for one in (self.original, *self.learners))

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
        said: Any = self.predict_one(x)
        return {said: 1.0}

    def predict_set(self, x: Example, ahead: bool = False) -> tuple[Prediction, ...]:
        """Return the prediction set of labels, or the interval."""
        raise self._lacks("sets")

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

    def costs(self, said: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the loss of predicted numbers: the squared or the absolute error."""
        gaps = said - y
        found: NDArray[np.float64] = np.abs(gaps) if self.loss == "absolute" else gaps * gaps
        return found

    @property
    def all_rows_held(self) -> int:
        """Training rows in the hypothesis, including all members of an ensemble."""
        members = sum(adapt(member).all_rows_held for member in self.learners)
        return members + (self.rows_held or (0 if members else self.within.rows_held))

    @property
    def all_rows_stored(self) -> int:
        """Training rows saved for exact resuming, of the learner or the member of its ensemble that has most."""
        members = (adapt(member).all_rows_stored for member in self.learners)
        return max(self.rows_stored, self.within.rows_stored, *members, 0)

    def check_hash(self, stream: Stream) -> None:
        """Raise `MismatchError` if the stream hashes features into another number of places than the learner has.

        Batches are as wide as there are places; from single rows the learner may know fewer.
        """
        if stream.bits is None:
            return
        places = 2**stream.bits
        for one in (self, self.within, *map(adapt, self.learners)):
            features = one.features
            if features is None or features.kind != "numbers" or features.count in (0, places):
                continue
            bits = features.count.bit_length() - 1
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
        wants_bias: Whether its `bias`, a constant feature, should be 1 then.
        live: Whether its state can be copied but is not plain data for a file.
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
    live: ClassVar[bool] = False

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

    def learn_many(self, batch: Batch) -> NDArray[np.number] | StepResult | None:
        """Predict and learn every row in order; return None, without learning, if rows must be played one by one."""
        check_batch(self.__dict__.get("encoding"), batch)
        return None

    @property
    def looped(self) -> bool:
        """Whether batches are played row by row."""
        return not self.has("learn_many")

    @abstractmethod
    def facts(self) -> Facts:
        """Return the current quantities that its theorems need: a frozen dataclass of plain values."""

    def _argument(self, name: str, default: Any) -> Any:
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
        """Return the last x as the inner learner saw it; if `later`, in a form to be encoded with others."""
        if self.features is None:
            raise self._lacks("rows of numbers")
        return self.features.seen_row(x, later)

    def widen(self, width: int) -> None:
        """Grow to `width` columns; all earlier rows had 0 in the new ones."""
        raise InputError(
            f"the first rows must have all columns for {type(self.original).__name__}",
            f"it has {self._columns():,} features, and now there are {width:,}: a number is missing for the first time",
            Advice("Fill or drop such rows, pass ", Option("drop", letter="COLUMN"), ", or choose a learner that "
                   "takes new features, such as auto or perceptron."),
        )  # fmt: skip

    def widen_all(self, width: int) -> None:
        """Widen the learner and the members of its ensemble that have fewer columns."""
        for member in self.learners:
            adapt(member).widen_all(width)
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

    def tale(self) -> list[str]:
        """Return further lines for a report."""
        return []

    def between(self, first: int, last: int) -> Between:
        """Return results and bounds for the rounds `first` to `last`."""
        raise InputError(
            "a learner needs guarantees on stretches to report some of its rounds: "
            f"{type(self.original).__name__} has none. Use auto:drift=true, or drift=true with another learner."
        )

    def stretches(self, most: int) -> list[Between]:
        """Return `between` for at most `most` parts of the game; empty if there are no bounds for parts."""
        return []

    @property
    def largest_loss(self) -> float:
        """Largest loss of a round; infinite if unknown or if outcomes are rescaled before play."""
        facts: Any = self.facts()
        known = not getattr(facts, "scaled", False)
        return 1.0 if self.counts_mistakes else float(getattr(facts, "top", math.inf)) if known else math.inf

    def settings(self, name: str) -> list[object]:
        """Return the values of a parameter in the learner and the members of its ensemble."""
        team = (self, *map(adapt, self.learners))
        having = [one for member in team for one in (member.original, member.within.original)] + [self.facts()]
        found = (getattr(one, name, None) for one in having)
        return [value for value in found if value is not None]


DEFAULTS: Mapping[str, Any] = {
    name: getattr(Learner, name)
    for name in (
        "again", "chances", "costs", "learn_many", "mean", "predict_set", "probabilities_one", "probability_one",
        "score_one", "scores_one", "tracker", "widen",
    )
}  # fmt: skip
"""Default implementation of each `Ability`."""


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
            "a batch must be encoded as the training rows",
            "this one was encoded by its own table, where features have other places",
            "Read new rows with nk.read(new, like=ledger), and take its batches.",
        )


def _checked(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method with a check of its batch; rows in a list are played one by one."""

    @wraps(method)
    def checked(self: object, batch: Batch, *more: object, **named: object) -> Any:
        check_batch(self.__dict__.get("encoding"), batch)
        if isinstance(batch.x, list):
            return getattr(Learner, name)(self, batch)
        return method(self, batch, *more, **named)

    return checked


# Learners from outside the package


@dataclass(frozen=True, slots=True)
class NoFacts:
    """Facts of a learner without `facts`."""

    rounds: int = 0


class _Of:
    """Descriptor for an attribute of the wrapped object, or the default of the base class."""

    def __init__(self, default: object = None) -> None:
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, adapted: Adapted | None, owner: object = None) -> Any:  # type of the wrapped object's attribute
        if adapted is None:
            return self
        return getattr(adapted.original, self.name, getattr(Learner, self.name, self.default))

    def __set__(self, adapted: Adapted, value: object) -> None:
        with suppress(AttributeError):  # objects with __slots__ cannot store it; the ledger does
            setattr(adapted.original, self.name, value)


def _newer(kind: type, methods: Sequence[str], other: str) -> bool:
    """Return whether a foreign class overrides one of `methods` but inherits `other`, which may not match."""
    for base in kind.__mro__:
        if other in vars(base):
            return False
        if any(name in vars(base) for name in methods) and not base.__module__.startswith("novikoff."):
            return True
    return False


def _forwarded(name: str) -> Any:
    """Return a method that calls the wrapped object's, or that of the base class."""
    default = getattr(Learner, name)

    @wraps(default)
    def method(self: Adapted, *given: object) -> Any:
        own = getattr(self.original, name, None)
        return default(self, *given) if own is None else own(*given)

    return method


class Adapted(Learner):
    """A `Learner` around an object with `predict_one` and `learn_one`, and any other methods of the contract."""

    learners: list[Learner]

    original: Any = None
    domain: Any = _Of(Domain("any"))
    labels: Any = _Of()
    promises: Any = _Of()  # type: ignore[misc] # per object, not per class
    features: Any = _Of()
    feature_names: Any = _Of()
    label_values: Any = _Of()
    encoding: Any = _Of()
    normalize: Any = _Of()
    scored: Any = _Of()
    size: Any = _Of()
    updates: Any = _Of()
    rows_held: Any = _Of()
    rows_stored: Any = _Of()
    names: Any = _Of()
    shares: Any = _Of()
    weights: Any = _Of()
    seed: Any = _Of()
    live: Any = _Of()  # type: ignore[misc]

    tracker = _forwarded("tracker")
    mean = _forwarded("mean")
    standing = _forwarded("standing")
    again = _forwarded("again")
    widen = _forwarded("widen")
    survivor = _forwarded("survivor")
    tale = _forwarded("tale")
    between = _forwarded("between")
    stretches = _forwarded("stretches")

    def __init__(self, original: Any) -> None:
        lacks = [name for name in ("predict_one", "learn_one") if not hasattr(original, name)]
        if lacks:
            raise InputError(
                f"a learner must have predict_one and learn_one: {shown(original)} has no {' and no '.join(lacks)}."
            )
        if type(original).__module__.partition(".")[0] == "river":
            raise InputError("a River model must be wrapped", f"got {type(original).__name__}", "Pass nk.wrap(model).")
        self.original = original
        self.outcomes = outcomes(original)
        self.loss = getattr(original, "loss", None) or "zero-one"
        self.draws, self.conservative, self.sums_mistakes, self.numbered = (
            bool(getattr(original, name, False)) for name in ("draws", "conservative", "sums_mistakes", "numbered")
        )
        self.learners = list(getattr(original, "learners", ()))
        self._rounds = 0
        plays = hasattr(original, "play_one") and not _newer(type(original), ("predict_one", "learn_one"), "play_one")
        self._play: Callable[[Example, Any], Any] = original.play_one if plays else self._predict_then_learn
        self._asks = self.probable  # until it returns probabilities from play_one

    def __repr__(self) -> str:
        return repr(self.original)

    def has(self, ability: Ability) -> bool:
        if ability == "learn_many" and _newer(type(self.original), ("predict_one", "learn_one", "play_one"), ability):
            return False
        if isinstance(self.original, Learner):
            return self.original.has(ability)
        return getattr(self.original, ability, None) is not None

    @property
    def within(self) -> Learner:
        found = getattr(self.original, "within", self.original)
        return self if found is self.original else adapt(found)

    @property
    def tells_scores(self) -> bool:
        keeps: bool | None = getattr(self.original, "keeps_scores", None)
        return hasattr(self.original, "scored") if keeps is None else keeps

    def _show(self, x: object) -> Any:
        """Return a copy of x with read-only arrays."""
        if isinstance(x, np.ndarray):
            return apart(x)
        if isinstance(x, tuple):
            return tuple(apart(part) if isinstance(part, np.ndarray) else part for part in x)
        return x.copy() if isinstance(x, (dict, list)) else x

    def _predict_then_learn(self, x: Example, y: Label) -> Label:
        prediction: Label = self.original.predict_one(x)
        self.original.learn_one(x, y)
        return prediction

    def predict_one(self, x: Example) -> Any:
        return self.original.predict_one(self._show(x))

    def learn_one(self, x: Example, y: Outcome) -> None:
        self.play_one(x, y)

    def play_one(self, x: Example, y: Outcome) -> Prediction | StepResult:
        """Predict, then learn; probabilities are queried before the label is revealed."""
        asked = self._ask(x, y) if self._asks else None
        played = self._play(self._show(x), y.copy() if isinstance(y, np.ndarray) else y)
        self._rounds += 1
        if asked is not None:
            if isinstance(played, StepResult) and played.probabilities is not None:
                self._asks = False
            else:
                label = played.predictions if isinstance(played, StepResult) else played
                wrong = float(label != y)
                played = StepResult(label, wrong, wrong)._replace(**asked)
        found: Prediction | StepResult = self._counted(played, y)
        return found

    def _ask(self, x: Example, y: Any) -> dict[str, Any]:
        """Return the `StepResult` fields that follow from the probabilities of x and the label y."""
        asked: dict[str, Any] = {"expected": 1.0 - self.chances(x).get(y, 0.0)} if self.draws else {}
        if not self.numbered:
            p = float(self.probability_one(x))
            return {**asked, "probabilities": p if y == 1 else 1.0 - p}
        known = np.array(self.probabilities_one(x), dtype=np.float64)
        label = int(self.predict_one(x))
        p = float(known[y]) if y < len(known) else max(1.0 - float(known.sum()), 0.0)
        sure = float(known[label]) if 0 <= label < len(known) and y < len(known) else math.nan
        brier = float(known @ known) - (p * p if y < len(known) else 0.0) + (1.0 - p) ** 2
        return {**asked, "probabilities": p, "confidences": sure, "briers": brier}

    def _counted(self, played: Any, y: Outcome) -> Any:
        """Return the result with losses computed from the game's outcomes; raise `InputError` for invalid ones."""
        if not isinstance(played, StepResult):
            return played
        if played.probabilities is not None:
            given = np.asarray(played.probabilities, dtype=np.float64)
            if not np.all((given >= 0.0) & (given <= 1.0)):
                wrong = given[~((given >= 0.0) & (given <= 1.0))][0] if given.ndim else given
                raise InputError(f"a probability must be from 0 to 1: {type(self.original).__name__} gave {wrong:g}.")
        if self.outcomes == "numbers" and (self.has("costs") or self.loss in ("squared", "absolute")):
            losses = self.costs(np.asarray(played.predictions, dtype=np.float64), np.asarray(y, dtype=np.float64))
            played = played._replace(losses=losses, **({} if self.draws else {"expected": losses}))
        return played

    def learn_many(self, batch: Batch) -> Any:
        if not self.has("learn_many"):
            return None
        found = self.original.learn_many(batch.to_read())
        if found is None:
            return None
        self._rounds += len(batch)
        if self._asks and (not isinstance(found, StepResult) or found.probabilities is None):
            raise MismatchError(
                f"learn_many of a learner with probabilities must return them: {type(self.original).__name__} did "
                "not. Answer with a StepResult that has probabilities, or leave learn_many out."
            )
        return self._counted(found, batch.y)

    def _many(self, name: str, batch: Batch) -> Any:
        own = getattr(self.original, name, None)
        return getattr(Learner, name)(self, batch) if own is None else own(batch.to_read())

    def predict_many(self, batch: Batch) -> NDArray[np.number]:
        found: NDArray[Any] = self._many("predict_many", batch)
        return found

    def predict_ahead(self, batch: Batch) -> NDArray[np.number]:
        found: NDArray[Any] = self._many("predict_ahead", batch)
        return found

    def scores_many(self, batch: Batch) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self._many("scores_many", self._has_rows(batch, self.scores_rows, "a score"))
        return found

    def probabilities_many(self, batch: Batch) -> NDArray[np.float64]:
        has = self._has_rows(batch, self.probable, "a probability")
        found: NDArray[np.float64] = self._many("probabilities_many", has)
        return found

    def score_one(self, x: Example) -> float:
        return float(self.original.score_one(self._show(x)))

    def scores_one(self, x: Example) -> Any:
        return self.original.scores_one(self._show(x))

    def probability_one(self, x: Example) -> Any:
        return self.original.probability_one(self._show(x))

    def probabilities_one(self, x: Example) -> Any:
        return self.original.probabilities_one(self._show(x))

    def predict_set(self, x: Example, ahead: bool = False) -> Any:
        return self.original.predict_set(self._show(x), ahead) if ahead else self.original.predict_set(self._show(x))

    def chances(self, x: Example) -> Distribution:
        if not self.draws:
            return {self.predict_one(x): 1.0}
        distribution: Distribution = self.original.chances(self._show(x))
        return distribution

    def costs(self, said: NDArray[np.float64], y: NDArray[Any]) -> Any:
        own = getattr(self.original, "costs", None)
        return super().costs(said, y) if own is None else own(said, y)

    def seen_batch(self, batch: Batch) -> Any:
        return getattr(self.original, "seen", batch)

    def seen_row(self, x: Example, later: bool = False) -> Any:
        row = getattr(self.original, "seen", None)
        return self.features.seen_row(x, later) if row is None else row

    def facts(self) -> Any:
        own = getattr(self.original, "facts", None)
        return NoFacts(self._rounds) if own is None else own()

    def state(self) -> State:
        own = getattr(self.original, "state", None)
        if own is None:
            raise InputError(
                f"only a learner with state and restore can be saved: {type(self.original).__name__} has no state."
            )
        return dict(own())

    @classmethod
    def restore(cls, state: State) -> Self:
        raise TypeError("an adapted learner is restored by the class of the original")


def adapt(learner: object) -> Learner:
    """Return `learner` if it is one of this package's, else a `Learner` made of it.

    >>> class Majority:
    ...     total = 0
    ...     def predict_one(self, x): return 1 if self.total >= 0 else -1
    ...     def learn_one(self, x, y): self.total += y
    >>> adapt(Majority()).task
    'binary'
    """
    if isinstance(learner, Predictor) and is_ours(type(learner)):
        return learner  # type: ignore[return-value] # classifiers that do not learn are only used to predict
    return Adapted(learner)


def is_ours(kind: type) -> bool:
    """Return whether the class is one of this package's."""
    return kind.__module__.startswith("novikoff.")


def as_learner(value: Any) -> Any:
    """Return `value` if it has the whole contract, else a `Learner` around its `predict_one` and `learn_one`."""
    whole = all(hasattr(value, name) for name in ("domain", "labels", "facts"))
    return value if whole else adapt(value)


def outcomes(learner: object) -> str:
    """Return the type of outcomes of a learner or a class of learners: "labels" or "numbers"."""
    return str(getattr(learner, "outcomes", "labels"))


def scales(kind: object) -> bool:
    """Return whether the columns of a table should be scaled for learners of this class."""
    return bool(getattr(kind, "scales", False))


def wants_bias(kind: object) -> bool:
    """Return whether a constant feature should be added to scaled columns."""
    return bool(getattr(kind, "wants_bias", False))


def has_sets(kind: object) -> bool:
    """Return whether learners of this class have prediction sets."""
    return getattr(kind, "predict_set", Learner.predict_set) is not Learner.predict_set


def rounds_learned(facts: object) -> int:
    """Return the number of rounds in a learner's facts; 0 if they have no count."""
    return int(getattr(facts, "rounds", 0))


def is_learner(value: object) -> bool:
    """Return whether the object has `predict_one` and `learn_one`."""
    return not isinstance(value, type) and all(hasattr(value, name) for name in ("predict_one", "learn_one"))
