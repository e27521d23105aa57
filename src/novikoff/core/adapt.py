"""Adapters for learners and streams that do not inherit the base classes of this package.

`adapt` wraps any object with `predict_one` and `learn_one` in a `Learner`, and `adapt_stream` any object with `batches`
in a `Stream`. `nk.play`, `nk.Game`, `nk.Hedge` and every other function that takes a learner adapt it once, on entry;
internal code sees only learners with the whole contract of core/learner.py.

Third-party learners get copies of rows and labels. The losses of their predictions are computed here, from the outcomes
of the game, and their probabilities must lie in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray

from novikoff.core.batch import apart
from novikoff.core.behaviour import Behaviour, behaviours_of
from novikoff.core.display import Written
from novikoff.core.errors import InputError, MismatchError, shown
from novikoff.core.learner import Ability, Learner, Predictor
from novikoff.core.stream import Stream
from novikoff.core.types import (
    Batch,
    Distribution,
    Domain,
    Example,
    Label,
    Outcome,
    Position,
    Prediction,
    State,
    StepResult,
    Task,
    Theorem,
)


@dataclass(frozen=True, slots=True)
class NoFacts:
    """Default facts of a learner that does not define `facts`."""

    rounds: int = 0


class _Attribute:
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
    """Return whether a third-party class overrides one of `methods` but not `other`, whose result may then differ."""
    for base in kind.__mro__:
        if other in vars(base):
            return False
        if any(name in vars(base) for name in methods) and not base.__module__.startswith("novikoff."):
            return True
    return False


def _forwarded(name: str) -> Any:
    """Return a method that calls the wrapped object's method, or that of the base class if there is none."""
    default = getattr(Learner, name)

    @wraps(default)
    def method(self: Adapted, *given: object) -> Any:
        defined = getattr(self.original, name, None)
        return default(self, *given) if defined is None else defined(*given)

    return method


class Adapted(Learner):
    """A `Learner` around an object with `predict_one` and `learn_one`, and any other methods of the contract."""

    learners: list[Learner]
    behaviours: list[Behaviour]

    original: Any = None
    domain: Any = _Attribute(Domain("any"))
    promises: Any = _Attribute()  # type: ignore[misc] # per object, not per class
    features: Any = _Attribute()
    feature_names: Any = _Attribute()
    label_values: Any = _Attribute()
    encoding: Any = _Attribute()
    normalize: Any = _Attribute()
    scored: Any = _Attribute()
    size: Any = _Attribute()
    updates: Any = _Attribute()
    rows_held: Any = _Attribute()
    rows_stored: Any = _Attribute()
    names: Any = _Attribute()
    shares: Any = _Attribute()
    weights: Any = _Attribute()
    seed: Any = _Attribute()
    live: Any = _Attribute()  # type: ignore[misc]

    tracker = _forwarded("tracker")
    mean = _forwarded("mean")
    standing = _forwarded("standing")
    again = _forwarded("again")
    widen = _forwarded("widen")
    survivor = _forwarded("survivor")
    tale = _forwarded("tale")
    between = _forwarded("between")
    stretches = _forwarded("stretches")
    linear_weights = _forwarded("linear_weights")
    attribution = _forwarded("attribution")
    importances = _forwarded("importances")
    drawn_tree = _forwarded("drawn_tree")
    reference = _forwarded("reference")
    last_rows = _forwarded("last_rows")
    replaces = _Attribute(False)

    def __init__(self, original: Any) -> None:
        lacks = [name for name in ("predict_one", "learn_one") if not hasattr(original, name)]
        if lacks:
            raise InputError(
                f"a learner must have predict_one and learn_one: {shown(original)} has no {' and no '.join(lacks)}."
            )
        if type(original).__module__.partition(".")[0] == "river":
            raise InputError("a River model must be wrapped", f"got {type(original).__name__}", "Pass nk.wrap(model).")
        self.original = original
        self.task = self._task()
        self.loss = getattr(original, "loss", None) or ("squared" if self.task == "regression" else "zero-one")
        self.draws, self.conservative, self.sums_mistakes = (
            bool(getattr(original, name, False)) for name in ("draws", "conservative", "sums_mistakes")
        )
        self.learners = [adapt(member) for member in getattr(original, "learners", ())]
        self._rounds = self._known = 0  # rounds played, and labels seen in them
        plays = hasattr(original, "play_one") and not _newer(type(original), ("predict_one", "learn_one"), "play_one")
        self._play: Callable[[Example, Any], Any] = original.play_one if plays else self._predict_then_learn
        # Whether to ask for probabilities before each round; no longer once play_one itself returns them.
        self._asks = self.probable
        declares = isinstance(original, Learner) or any(hasattr(original, name) for name in ("facts", "learn_many"))
        self.behaviours = [] if declares or self.task != "binary" or self.draws else behaviours_of(original)

    def __repr__(self) -> str:
        return repr(self.original)

    def _arguments(self) -> list[str]:
        return self.original._arguments() if isinstance(self.original, Written) else []

    def _argument(self, name: str, default: object) -> Any:
        return getattr(self.original, name, default)

    def _task(self) -> Task:
        """Return the declared task; without a declaration, the task that fits the domain and the labels."""
        declared: Task | None = getattr(self.original, "task", None)
        self.fixed_labels = bool(getattr(self.original, "fixed_labels", declared is None))
        if declared is None:
            kind = self.domain.kind
            if kind == "advice" or kind == "losses":
                return kind  # type: ignore[no-any-return] # the domain of any object
            return "binary" if self.labels is None else "multiclass"
        if declared not in get_args(Task):
            must = f"the task of {type(self.original).__name__} must be one of {', '.join(get_args(Task))}"
            raise InputError(f"{must}: got {shown(declared)}.")
        return declared

    @property
    def labels(self) -> int | None:
        """Number of labels; counted here if the object does not count them."""
        counted = self._known if self.task == "multiclass" else None
        found: int | None = getattr(self.original, "labels", counted)
        return found

    @property
    def largest_loss(self) -> float:
        if isinstance(self.original, Learner):
            return self.original.largest_loss
        facts = self.facts()
        top = math.inf if getattr(facts, "scaled", False) else float(getattr(facts, "top", math.inf))
        return 1.0 if self.counts_mistakes else top

    def from_state(self, state: State) -> Learner:
        return adapt(type(self.original).restore(state))

    def copy(self) -> Learner:
        if hasattr(self.original, "state"):
            return super().copy()
        watching, self.behaviours = self.behaviours, []  # comparators are those of one game
        try:
            return deepcopy(self)
        finally:
            self.behaviours = watching

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
        for one in self.behaviours:
            one.look(self.original)
        played = self._play(self._show(x), y.copy() if isinstance(y, np.ndarray) else y)
        self._rounds += 1
        for one in self.behaviours:
            one.see(self.original, x, y, played.predictions if isinstance(played, StepResult) else played)
        if self.task == "multiclass" and isinstance(y, int):
            self._known = max(self._known, y + 1)
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
        # y is read only to look up its probability: the learner has not seen it yet.
        asked: dict[str, Any] = {"expected": 1.0 - self.chances(x).get(y, 0.0)} if self.draws else {}
        if not self.numbered:
            p = float(self.probability_one(x))
            return {**asked, "probabilities": p if y == 1 else 1.0 - p}
        known = np.array(self.probabilities_one(x), dtype=np.float64)
        label = int(self.predict_one(x))
        # A label that was never seen has the probability that the known ones leave.
        p = float(known[y]) if y < len(known) else max(1.0 - float(known.sum()), 0.0)
        sure = float(known[label]) if 0 <= label < len(known) and y < len(known) else math.nan
        brier = float(known @ known) - (p * p if y < len(known) else 0.0) + (1.0 - p) ** 2
        return {**asked, "probabilities": p, "confidences": sure, "briers": brier}

    def _counted(self, played: object, y: Outcome) -> Any:
        """Return the result with losses computed from the game's outcomes; raise `InputError` for invalid ones."""
        if not isinstance(played, StepResult):
            if self.task != "regression":
                return played
            played = StepResult(played, None, None)  # losses are computed below
        if played.probabilities is not None:
            given = np.asarray(played.probabilities, dtype=np.float64)
            if not np.all((given >= 0.0) & (given <= 1.0)):
                wrong = given[~((given >= 0.0) & (given <= 1.0))][0] if given.ndim else given
                raise InputError(f"a probability must be from 0 to 1: {type(self.original).__name__} gave {wrong:g}.")
        if self.task == "regression" and (self.has("costs") or self.loss in ("squared", "absolute")):
            losses = self.costs(np.asarray(played.predictions, dtype=np.float64), np.asarray(y, dtype=np.float64))
            played = played._replace(losses=losses, **({} if self.draws else {"expected": losses}))
        if played.losses is None:
            who = type(self.original).__name__
            must = f"a learner with {self.loss} loss must have costs, or return a StepResult"
            raise InputError(f"{must}: {who} does neither.")
        return played

    def learn_many(self, batch: Batch) -> Any:
        if not self.has("learn_many"):
            return None
        found = self.original.learn_many(batch.to_read())
        if found is None:
            return None
        self._rounds += len(batch)
        if self.task == "multiclass":
            self._known = max(self._known, int(batch.y.max(initial=-1)) + 1)
        if self._asks and (not isinstance(found, StepResult) or found.probabilities is None):
            raise MismatchError(
                f"learn_many of a learner with probabilities must return them: {type(self.original).__name__} did "
                "not. Return a StepResult with probabilities, or do not define learn_many."
            )
        return self._counted(found, batch.y)

    def _many(self, name: str, batch: Batch) -> Any:
        defined = getattr(self.original, name, None)
        return getattr(Learner, name)(self, batch) if defined is None else defined(batch.to_read())

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

    def costs(self, predicted: NDArray[np.float64], y: NDArray[Any]) -> Any:
        defined = getattr(self.original, "costs", None)
        return super().costs(predicted, y) if defined is None else defined(predicted, y)

    def seen_batch(self, batch: Batch) -> Any:
        return getattr(self.original, "seen", batch)

    def seen_row(self, x: Example, later: bool = False) -> Any:
        row = getattr(self.original, "seen", None)
        return self.features.seen_row(x, later) if row is None else row

    def proof(self) -> Any:
        defined = getattr(self.original, "proof", None)
        if defined is not None:
            return defined()
        return next((found for one in self.behaviours if (found := one.proof()) is not None), None)

    def facts(self) -> Any:
        defined = getattr(self.original, "facts", None)
        return NoFacts(self._rounds) if defined is None else defined()

    def state(self) -> State:
        defined = getattr(self.original, "state", None)
        if defined is None:
            raise InputError(
                f"only a learner with state and restore can be saved: {type(self.original).__name__} has no state."
            )
        if self._known and not hasattr(self.original, "labels"):
            raise InputError(
                f"a multiclass learner must count its labels to be saved: {type(self.original).__name__} has no labels."
            )
        return dict(defined())

    @classmethod
    def restore(cls, state: State) -> Self:
        raise TypeError("an adapted learner is restored by the class of the original")


def adapt(learner: object) -> Learner:
    """Return `learner` unchanged if its class is from this package; wrap any other object in a `Learner`.

    >>> class Majority:
    ...     total = 0
    ...     def predict_one(self, x): return 1 if self.total >= 0 else -1
    ...     def learn_one(self, x, y): self.total += y
    >>> adapt(Majority()).task
    'binary'
    """
    return learner if isinstance(learner, Learner) and is_ours(type(learner)) else Adapted(learner)


def adapt_predictor(classifier: object) -> Predictor:
    """Return `classifier` unchanged if its class is from this package; wrap any other object in a `Learner`.

    A classifier of this package may be a `Predictor` that does not learn.
    """
    return classifier if isinstance(classifier, Predictor) and is_ours(type(classifier)) else Adapted(classifier)


def is_ours(kind: type) -> bool:
    """Return whether the class is defined in this package."""
    return kind.__module__.startswith("novikoff.")


class Traits(NamedTuple):
    """Properties of a class of learners that are known before an instance is made.

    Attributes:
        scales: See `Learner.scales`.
        wants_bias: See `Learner.wants_bias`.
        sets: Whether the learners have prediction sets.
    """

    scales: bool
    wants_bias: bool
    sets: bool


def traits(kind: object) -> Traits:
    """Return the traits of a class of learners, or of a function that makes them."""
    if isinstance(kind, type) and issubclass(kind, Learner):
        return Traits(kind.scales, kind.wants_bias, "predict_set" in kind.abilities or kind.needs_columns)
    return Traits(
        bool(getattr(kind, "scales", False)), bool(getattr(kind, "wants_bias", False)), hasattr(kind, "predict_set")
    )


def theorems_of(registered: object) -> tuple[Theorem, ...]:
    """Return the theorems that a registered class or function declares; an empty tuple if it declares none."""
    found: tuple[Theorem, ...] = getattr(registered, "promises", ())
    return found


def is_learner(value: object) -> bool:
    """Return whether `adapt` accepts the object: a learner, or an instance with `predict_one` and `learn_one`."""
    if isinstance(value, Learner):
        return True
    return not isinstance(value, type) and all(hasattr(value, name) for name in ("predict_one", "learn_one"))


# Streams


class _StreamAttribute:
    """Descriptor for an attribute of the wrapped object, or the default of `Stream`."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, stream: AdaptedStream, owner: type) -> Any:
        otherwise = [getattr(Stream, self._name)] if hasattr(Stream, self._name) else []
        return getattr(stream.behind, self._name, *otherwise)


class AdaptedStream(Stream):
    """A stream around an object that does not inherit `Stream`; its rows may not be fixed in advance."""

    fixed = False
    name: Any = _StreamAttribute()
    domain: Any = _StreamAttribute()
    labels: Any = _StreamAttribute()
    multiclass: Any = _StreamAttribute()
    label_values: Any = _StreamAttribute()
    rereadable: Any = _StreamAttribute()
    features: Any = _StreamAttribute()
    experts: Any = _StreamAttribute()
    outcomes: Any = _StreamAttribute()
    loss: Any = _StreamAttribute()
    bits: Any = _StreamAttribute()
    unlabelled: Any = _StreamAttribute()
    table: Any = _StreamAttribute()
    scaled_by_default: Any = _StreamAttribute()

    def __init__(self, behind: Any) -> None:
        self.behind = behind
        self.rows = len(behind) if hasattr(behind, "__len__") else None
        self._notes: list[str] = []

    @property
    def notes(self) -> list[str]:
        """Notes of the wrapped object; an empty list if it has none."""
        notes: list[str] = getattr(self.behind, "notes", self._notes)
        return notes

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        batches: Iterator[Batch] = self.behind.batches(start)
        return batches

    def fingerprint(self) -> dict[str, Any] | None:
        known: dict[str, Any] | None = self.behind.fingerprint() if hasattr(self.behind, "fingerprint") else None
        return known


def is_stream(value: object) -> bool:
    """Return whether the value is a stream or `adapt_stream` can wrap it."""
    return isinstance(value, Stream) or hasattr(value, "batches")


def adapt_stream(stream: object) -> Stream:
    """Return a `Stream` unchanged; wrap any other object that has `batches`."""
    return stream if isinstance(stream, Stream) else AdaptedStream(stream)
