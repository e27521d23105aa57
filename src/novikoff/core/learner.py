"""The learner contract: what a game asks of a learner, with the default of all it need not have.

`Learner` is the base of every learner here: bring `predict_one`, `play_one`, `facts`, and `fields`, what is saved
(core/state.py). Every other method has a default; `has("score_one")` is True where a learner brings its own.
`Predictor` is the part that predicts, for classifiers that learn no more.

`adapt` makes a `Learner` of any object with `predict_one` and `learn_one`. Learners from outside this package are shown
copies of rows and labels. Losses of their predictions are counted from the game's outcomes, and their probabilities
must be from 0 to 1.

`play_one` and `learn_many` return labels, or a `StepResult` from a learner that draws its predictions, pays another
loss than a mistake, or has probabilities.
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
"""A method that a learner may have of its own."""

OF_BATCHES = ("learn_many", "predict_many", "scores_many", "probabilities_many")
"""Methods that take a batch."""


class Predictor(ABC, Written):
    """What predicts: a learner, or a classifier that was made of one.

    domain         what x may be
    labels         None for -1 and +1; the number of labels known so far, where `numbered`
    outcomes       "labels", or "numbers" for regression
    loss           the name of what a prediction costs
    draws          predictions are drawn from `chances(x)`
    numbered       labels are many, numbered as they first come
    learners       the members of a team, all of which play every round
    features       how the features of x are numbered (core/feature_places.py); None where they are not
    feature_names, label_values, encoding   names of the columns and labels, and the encoding of the table that was
                   learned from: set by the ledger
    size           what is held: weights, supports, hypotheses
    rows_held      training rows that the hypothesis is made of, without which it cannot be saved
    normalize      examples are divided by their length; None where that is no option
    scored         the scores of the last round or batch, where `keeps_scores`
    shares, names  of a mixture: the mean weight of each forecaster over all rounds, and its name
    weights        of a team: the chance of each learner to be followed
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

    if TYPE_CHECKING:  # properties, so that a learner may have either an attribute or a property of its own

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
        def names(self) -> Sequence[str]: ...
        @property
        def shares(self) -> Sequence[float] | NDArray[np.float64]: ...
        @property
        def weights(self) -> Sequence[float] | NDArray[np.float64]: ...
    else:
        labels = features = size = None
        rows_held = 0
        learners = names = shares = weights = ()

    def __init_subclass__(cls, base: bool = False, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name in () if base else OF_BATCHES:
            if isfunction(cls.__dict__.get(name)):
                setattr(cls, name, _checked(name, cls.__dict__[name]))

    @abstractmethod
    def predict_one(self, x: Example) -> Prediction:
        """Predict x. Asking changes nothing."""

    @property
    def original(self) -> object:
        """The object that the caller gave: this one, unless it was adapted."""
        return self

    @property
    def within(self) -> Predictor:
        """The learner that learns, where another brings it its examples; this one otherwise."""
        return self

    def has(self, ability: Ability) -> bool:
        """Return whether the method is its own, and not the default."""
        return getattr(type(self), ability, DEFAULTS[ability]) is not DEFAULTS[ability]

    @property
    def task(self) -> Task:
        """What is predicted: one of two labels, of many, a number, an outcome from advice, or losses."""
        if self.outcomes == "numbers":
            return "regression"
        if self.domain.kind in ("advice", "losses"):
            return "advice" if self.domain.kind == "advice" else "losses"
        return "multiclass" if self.numbered or self.labels is not None else "binary"

    @classmethod
    def task_of(cls, given: Mapping[str, Any]) -> Task:
        """Return the task of a learner that is made with these arguments, all parameters with a default included."""
        return "regression" if cls.outcomes == "numbers" else "multiclass" if cls.numbered else "binary"

    @property
    def pays(self) -> bool:
        """Return whether outcomes are taken as they are, and answered with a `StepResult`."""
        return self.task in ("regression", "advice", "losses")

    @property
    def counts_mistakes(self) -> bool:
        """Return whether mistakes are what it pays for."""
        return self.loss == "zero-one"

    @property
    def probable(self) -> bool:
        """Return whether each label has a probability."""
        own = self.within.has("probability_one") or self.within.has("probabilities_one")
        return self.outcomes == "labels" and own

    @property
    def scores_rows(self) -> bool:
        """Return whether x has a score, or each of many labels one."""
        return self.within.has("scores_one" if self.numbered else "score_one")

    @property
    def scores(self) -> bool:
        """Return whether the sign of a score is the prediction."""
        return self.has("score_one") and self.within.has("score_one")

    @property
    def tells_scores(self) -> bool:
        """Return whether the learner that learns keeps the scores of its last call."""
        return self.within.keeps_scores

    @property
    def covers(self) -> bool:
        """Return whether a set comes with each prediction."""
        return self.has("predict_set")

    @property
    def averages(self) -> bool:
        """Return whether the mean of its weights is known."""
        return self.has("mean")

    @property
    def changes_examples(self) -> bool:
        """Return whether examples are changed before they are learned from."""
        return self.has("again")

    @property
    def normalizes(self) -> bool:
        """Return whether examples can be divided by their length, by it or by one of its team."""
        return any(adapt(one).within.normalize is not None for one in (self.original, *self.learners))

    @property
    def of_labels(self) -> Callable[[Example], NDArray[np.float64]] | None:
        """The probability of each of many labels, or else its score; None if it has neither."""
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
        """Return the score of each of many labels."""
        raise self._lacks("a score")

    def probability_one(self, x: Example) -> float:
        """Return P(+1)."""
        raise self._lacks("a probability")

    def probabilities_one(self, x: Example) -> NDArray[np.float64]:
        """Return P of each of many labels; the rest is that of labels never seen."""
        raise self._lacks("a probability")

    def chances(self, x: Example) -> Distribution:
        """Return the distribution of the prediction."""
        said: Any = self.predict_one(x)
        return {said: 1.0}

    def predict_set(self, x: Example, ahead: bool = False) -> tuple[Prediction, ...]:
        """Return the set of labels, or the interval, beside the prediction."""
        raise self._lacks("sets")

    def _lacks(self, what: str) -> InputError:
        return InputError(f"the learner must have {what}: {type(self.within.original).__name__} has none.")

    # Batches

    def predict_many(self, batch: Batch) -> NDArray[np.number]:
        """Predict every row, learning nothing."""
        check_batch(self.__dict__.get("encoding"), batch)
        return np.array([self.predict_one(x) for x, _ in batch.rows()])

    def predict_ahead(self, batch: Batch) -> NDArray[np.number]:
        """Predict rows that come without labels: the last outcome is not that of the row before."""
        return self.predict_many(batch)

    def scores_many(self, batch: Batch) -> NDArray[np.float64]:
        """Return the score of every row, or those of each of many labels."""
        one: Callable[[Example], object] = self.scores_one if self.numbered else self.score_one
        return np.array([one(x) for x, _ in self._has_rows(batch, self.scores_rows, "a score").rows()], np.float64)

    def probabilities_many(self, batch: Batch) -> NDArray[np.float64]:
        """Return P(+1) of every row, or P of each of many labels."""
        one: Callable[[Example], object] = self.probabilities_one if self.numbered else self.probability_one
        return np.array([one(x) for x, _ in self._has_rows(batch, self.probable, "a probability").rows()], np.float64)

    def _has_rows(self, batch: Batch, has: bool, what: str) -> Batch:
        check_batch(self.__dict__.get("encoding"), batch)
        if not has:
            raise self._lacks(what)
        return batch

    def costs(self, said: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the loss of predicted numbers: the squared or the absolute difference."""
        gaps = said - y
        found: NDArray[np.float64] = np.abs(gaps) if self.loss == "absolute" else gaps * gaps
        return found

    @property
    def all_rows_held(self) -> int:
        """Training rows in its hypothesis, those of its team together."""
        members = sum(adapt(member).all_rows_held for member in self.learners)
        return members + (self.rows_held or (0 if members else self.within.rows_held))

    def check_hash(self, stream: Stream) -> None:
        """Refuse features that are hashed to other places than those it has weights of.

        Rows that it was shown in batches were as wide as there are places; of single rows it knows fewer.
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
                    f"names must be hashed as those that were learned from, to {features.count:,} places",
                    f"those of {stream.name} are hashed to {places:,}",
                    Advice("Pass ", Option("bits", bits), ".") if features.count == 2**bits else "",
                )


class Learner(Predictor, Stateful, base=True):
    """One algorithm. `learn_one` and `play_one`, `learn_many` and `widen` change it; nothing else does.

    promises        the theorems that are evaluated on its games
    conservative    it changes on its mistakes only
    sums_mistakes   its weights are the sum of y x~ over its mistakes, and what they were before; `less(weights)` is
                    then a copy whose weights are that much less
    scales          examples of a table are better brought to one scale first (data/scaled.py)
    wants_bias      its `bias` is better 1 then, a constant feature
    live            its state can be copied, but is no plain data for a file
    seed            of its coins; None if it has none
    updates         how often it changed; None if that is not counted
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
        """Predict, then learn, looking at x once."""

    def learn_one(self, x: Example, y: Outcome) -> None:
        """Learn the label of x."""
        self.play_one(x, y)

    def learn_many(self, batch: Batch) -> NDArray[np.number] | StepResult | None:
        """Predict and learn every row in order; None, having done nothing, where that must go row by row."""
        check_batch(self.__dict__.get("encoding"), batch)
        return None

    @property
    def looped(self) -> bool:
        """Return whether batches are played row by row."""
        return not self.has("learn_many")

    @abstractmethod
    def facts(self) -> Facts:
        """Return what its theorems need to know of it now: a frozen dataclass of plain values."""

    def _argument(self, name: str, default: Any) -> Any:
        held = next((field for field in self.fields if field.argument and field.name == name), None)
        return super()._argument(name, default) if held is None else lookup(self, held.path)

    # What games, theorems and reports ask besides

    def tracker(self) -> Tracker | None:
        """Return the comparators that its theorems need, for a game that begins now; None if they need none."""
        return None

    def mean(self) -> Learner:
        """Return the learner whose weights are the mean of all it had, for convex losses."""
        raise self._lacks("the mean of its weights")

    def standing(self) -> Standing:
        """Return what theorems on coverage need to know of the thresholds of its sets."""
        raise self._lacks("sets")

    def again(self, stream: Stream) -> Stream:
        """Return the stream of a game of one pass, as it was seen."""
        return stream

    def seen_batch(self, batch: Batch) -> Batch:
        """Return the batch of the last call as it was seen: comparators must see the same."""
        return batch

    def seen_row(self, x: Example, later: bool = False) -> Row | dict[str, float]:
        """Return the x of the last call as a row, as it was seen; if `later`, what will be encoded with others."""
        if self.features is None:
            raise self._lacks("rows of numbers")
        return self.features.seen_row(x, later)

    def widen(self, width: int) -> None:
        """Let arrays have `width` columns from now on; all rows before had 0 in the new ones."""
        raise InputError(
            f"all columns of a table must be there in its first rows for {type(self.original).__name__}",
            f"it has {self._columns():,} features, and now there are {width:,}: a number is missing for the first time",
            Advice("Fill or drop such rows, pass ", Option("drop", letter="COLUMN"), ", or choose a learner that "
                   "takes new features, such as auto or perceptron."),
        )  # fmt: skip

    def widen_all(self, width: int) -> None:
        """Widen it and its team, where their arrays have fewer columns."""
        for member in self.learners:
            adapt(member).widen_all(width)
        had = self._columns()
        if had is not None and had < width:
            self.widen(width)

    def _columns(self) -> int | None:
        """Columns of its arrays; None where they are not fixed."""
        if self.features is None:
            return self.domain.width
        return self.features.count if self.features.kind == "array" else None

    def survivor(self) -> str | None:
        """Return a hypothesis that did best, in words; None if it has no hypotheses."""
        return None

    def tale(self) -> list[str]:
        """Return what else a report has of its game, in lines."""
        return []

    def between(self, first: int, last: int) -> Between:
        """Return what happened between two rounds, and what was promised there."""
        raise InputError(
            "a learner to be asked about some of its rounds must promise something there: "
            f"{type(self.original).__name__} does not. Play auto:drift=true, or another learner so."
        )

    def stretches(self, most: int) -> list[Between]:
        """Return the game in `most` parts or fewer, each as `between` has it; none if nothing is promised there."""
        return []

    @property
    def largest_loss(self) -> float:
        """Largest loss of a round; infinite where it is not known, or outcomes of any size are scaled before play."""
        facts: Any = self.facts()
        known = not getattr(facts, "scaled", False)
        return 1.0 if self.counts_mistakes else float(getattr(facts, "top", math.inf)) if known else math.inf

    def settings(self, name: str) -> list[object]:
        """Return what it, or those of its team, were given for a parameter of that name."""
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
"""The methods of `Ability` as the base class has them."""


def check_batch(own: Encoding | None, batch: object) -> None:
    """Refuse what is not a batch, and one whose features have other places than those of the encoding `own`, if any."""
    if not isinstance(batch, Batch):
        raise InputError(
            "a batch must be a Batch",
            f"got {type(batch).__name__}",
            "Pass nk.Batch(X, y, 1), or the batches of nk.read(new, like=ledger).",
        )
    if own is not None and batch.encoding is not None and not own.agrees(batch.encoding):
        raise MismatchError(
            "a batch must be encoded as the rows that were learned from",
            "this one was encoded by its own table, where features have other places",
            "Read new rows with nk.read(new, like=ledger), and take its batches.",
        )


def _checked(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, after a look at the encoding of its batch; rows in a list go one by one."""

    @wraps(method)
    def checked(self: object, batch: Batch, *more: object, **named: object) -> Any:
        check_batch(self.__dict__.get("encoding"), batch)
        if isinstance(batch.x, list):
            return getattr(Learner, name)(self, batch)
        return method(self, batch, *more, **named)

    return checked


# Objects from outside


@dataclass(frozen=True, slots=True)
class NoFacts:
    """Facts of an object that has none of its own."""

    rounds: int = 0


class _Of:
    """An attribute of the object that was adapted, or the default of the base class."""

    def __init__(self, default: object = None) -> None:
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, adapted: Adapted | None, owner: object = None) -> Any:  # whatever the object has
        if adapted is None:
            return self
        return getattr(adapted.original, self.name, getattr(Learner, self.name, self.default))

    def __set__(self, adapted: Adapted, value: object) -> None:
        with suppress(AttributeError):  # an object with slots is known by its ledger only
            setattr(adapted.original, self.name, value)


def _newer(kind: type, methods: Sequence[str], other: str) -> bool:
    """Return whether a class from outside brings one of these methods, and has `other`, not made for it, from ours."""
    for base in kind.__mro__:
        if other in vars(base):
            return False
        if any(name in vars(base) for name in methods) and not base.__module__.startswith("novikoff."):
            return True
    return False


def _forwarded(name: str) -> Any:
    """A method of the object that was adapted, or that of the base class."""
    default = getattr(Learner, name)

    @wraps(default)
    def method(self: Adapted, *given: object) -> Any:
        own = getattr(self.original, name, None)
        return default(self, *given) if own is None else own(*given)

    return method


class Adapted(Learner):
    """A `Learner` made of an object with `predict_one` and `learn_one`, and of whatever else of the contract it has."""

    learners: list[Learner]

    original: Any = None
    domain: Any = _Of(Domain("any"))
    labels: Any = _Of()
    promises: Any = _Of()  # type: ignore[misc] # of the object, not of this class
    features: Any = _Of()
    feature_names: Any = _Of()
    label_values: Any = _Of()
    encoding: Any = _Of()
    normalize: Any = _Of()
    scored: Any = _Of()
    size: Any = _Of()
    updates: Any = _Of()
    rows_held: Any = _Of()
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
            raise InputError(
                "a model of River must be wrapped", f"got {type(original).__name__}", "Pass nk.wrap(model)."
            )
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
        self._asks = self.probable  # until it returns probabilities itself

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
        """x, copied, and arrays to be read only."""
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
        """Predict, then learn; probabilities are asked for before the label is shown."""
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
        """What its probabilities of x are worth when label y comes: fields of a `StepResult`."""
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
        """What was returned, its losses counted from the game's outcomes, its probabilities checked."""
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
                f"learn_many of a learner with probabilities must answer with them: {type(self.original).__name__} did "
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
                f"a learner to be saved must have state and restore: {type(self.original).__name__} has no state."
            )
        return dict(own())

    @classmethod
    def restore(cls, state: State) -> Self:
        raise TypeError("an adapted learner is restored by the class of its original")


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
        return learner  # type: ignore[return-value] # classifiers that learn no more are asked for predictions alone
    return Adapted(learner)


def is_ours(kind: type) -> bool:
    """Return whether the class is one of this package's."""
    return kind.__module__.startswith("novikoff.")


def as_learner(value: Any) -> Any:
    """Return `value` if it has the whole contract, else a `Learner` made of its `predict_one` and `learn_one`."""
    whole = all(hasattr(value, name) for name in ("domain", "labels", "facts"))
    return value if whole else adapt(value)


def outcomes(learner: object) -> str:
    """Return what a learner, or a class of learners, predicts: "labels" or "numbers"."""
    return str(getattr(learner, "outcomes", "labels"))


def scales(kind: object) -> bool:
    """Return whether examples are better brought to one scale first, for learners of this class."""
    return bool(getattr(kind, "scales", False))


def wants_bias(kind: object) -> bool:
    """Return whether a constant feature is better added then."""
    return bool(getattr(kind, "wants_bias", False))


def has_sets(kind: object) -> bool:
    """Return whether learners of this class have sets beside their predictions."""
    return getattr(kind, "predict_set", Learner.predict_set) is not Learner.predict_set


def rounds_learned(facts: object) -> int:
    """Return how many rounds a learner with these facts had learned from; 0 if they have no count."""
    return int(getattr(facts, "rounds", 0))


def is_learner(value: object) -> bool:
    """Return whether it can play: an object with `predict_one` and `learn_one`."""
    return not isinstance(value, type) and all(hasattr(value, name) for name in ("predict_one", "learn_one"))
