"""Types of the game: domains, labels, results, runs, adversaries, theorems.

In round t = 1, 2, ... the learner sees x_t, predicts, sees y_t, pays 1 for a mistake, and learns.
Labels are -1 and +1 internally, or 0 .. k-1 for multiclass learners.
The prediction in a tie is +1, or the smallest label of a multiclass learner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypedDict,
    TypeVar,
    runtime_checkable,
)

import numpy as np
from numpy.typing import NDArray

from novikoff.core.batch import Batch as Batch
from novikoff.core.batch import CheckedRow as CheckedRow
from novikoff.core.batch import Example as Example
from novikoff.core.batch import Json as Json
from novikoff.core.batch import Outcome as Outcome
from novikoff.core.batch import Position as Position
from novikoff.core.batch import Sparse as Sparse
from novikoff.core.batch import count_at as count_at
from novikoff.core.batch import counts_at as counts_at
from novikoff.core.errors import POSITIVE, InputError, shown, whole
from novikoff.core.weights import LabelWeights as LabelWeights

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from novikoff.conformal.theorems.coverage_facts import CoverageFacts
    from novikoff.core.certificate import Certificate
    from novikoff.game.delayed.theorems.late_facts import LateFacts

Label = int
"""Label y: -1 or +1; 0 .. k-1 for multiclass learners."""

Prediction = int | float
"""Prediction of one round: a label, a number, or an expert."""

LabelValue: TypeAlias = object
"""User's value of a label: a text, a boolean, a number, or another value of a column."""

Distribution = Mapping[int, float]
"""Probability of each label; a deterministic prediction has one label with probability 1."""

Facts: TypeAlias = "DataclassInstance"
"""Quantities of a learner that its theorems need: a frozen dataclass of plain values."""


@runtime_checkable
class CountsRounds(Protocol):
    """Facts that count the rounds played, as those of almost every learner do."""

    @property
    def rounds(self) -> int: ...


State = dict[str, Any]
"""Plain data: JSON values, numpy arrays, and dicts of these. Never a pickle."""

Task = Literal["binary", "multiclass", "regression", "advice", "losses"]
"""Prediction problem: labels -1 and +1, labels 0 .. k-1, real outcomes, advice of experts, or their losses alone."""

Kind = Literal["vector", "index", "point", "advice", "losses", "any"]
"""Kind of examples (see `Domain`)."""


@dataclass(frozen=True, slots=True)
class Domain:
    """The set of allowed x; every learner, stream and adversary has one, and `nk.play` raises an error on a mismatch.

    Args:
        kind: "vector" for `width` real features, "index" for an integer 0 .. width-1, "point" for `width` integers,
            "advice" for one prediction of each of `width` experts (y is the outcome), "losses" for no x at all (y has
            the losses of `width` experts), "any" for a Python object.
        width: See `kind`; None if it is not fixed.

    Example:
        >>> import novikoff as nk
        >>> nk.Domain("vector").admits(nk.Domain("point", 2)), nk.Domain("index", 10).admits(nk.Domain("vector", 2))
        (True, False)
    """

    kind: Kind
    width: int | None = None

    def admits(self, other: Domain) -> bool:
        """Return whether a learner on this domain accepts the examples of `other`.

        Integers are real numbers; a single number may be an index, and real numbers may all be integers, hence a point:
        these two are checked on each example.
        """
        if "advice" in (self.kind, other.kind) or "losses" in (self.kind, other.kind):
            return self.kind == other.kind and (self.width == other.width or None in (self.width, other.width))
        if self.kind == "any" and self.width is None:
            return True
        if self.kind == "index":
            fits = self.width is None or other.width is None or other.width <= self.width
            return (other.kind == "index" and fits) or (other.kind in ("vector", "point") and other.width == 1)
        numbers = ("vector", "point", "any") if self.kind == "any" else ("vector", "point")
        fits = self.width is None or other.width is None or self.width == other.width
        return other.kind in numbers and fits

    def origin(self) -> Example:
        """Return the simplest x of the domain, for adversaries that ignore x; for advice, experts that disagree."""
        if self.kind == "advice":
            return tuple(1.0 - 2.0 * (i % 2) for i in range(self.width or 2))
        if self.kind in ("vector", "point"):
            return (0,) * (self.width or 1)
        return 0 if self.kind == "index" or self.width is None else (0,) * self.width

    def __str__(self) -> str:
        width = "" if self.width is None else f"[{self.width if self.width < 2**1000 else whole(self.width)}]"
        return f"{self.kind}{width}"


@dataclass(frozen=True, slots=True)
class Labels:
    """The two user values that stand for -1 and +1.

    Args:
        negative: Value of -1.
        positive: Value of +1.

    Example:
        >>> import novikoff as nk
        >>> nk.Labels("ham", "spam").encode("spam")
        1
    """

    negative: LabelValue = -1
    positive: LabelValue = 1

    def encode(self, value: LabelValue) -> Label:
        """Return -1 or +1 for one of the two values; booleans only if both values are booleans or 0 and 1."""
        boolean = isinstance(value, (bool, np.bool_))
        known = getattr(value, "ndim", 0) == 0 and (not boolean or {self.negative, self.positive} == {0, 1})
        if known and value == self.positive:
            return 1
        if known and value == self.negative:
            return -1
        raise InputError(f"labels must be {self.negative!r} or {self.positive!r}", f"got {value!r}", POSITIVE)

    def decode(self, label: Prediction) -> LabelValue:
        """Return the user's value of -1 or +1."""
        return self.positive if label == 1 else self.negative

    def __str__(self) -> str:
        return f"{self.negative} is -1, {self.positive} is +1"


class Standing(TypedDict):
    """Thresholds of prediction sets and their counts, as plain data for the theorems on coverage.

    Attributes:
        groups: Names of the groups; `rounds`, `misses`, `thresholds` and `moved` have one number per group.
        history: Counts and sums of scores, from which the best fixed threshold is found.
        overlapping: Rounds and misses of each group, if groups overlap.
        columns: Number of columns that define the groups.
    """

    alpha: float
    step: float
    start: float
    most: int | None
    groups: list[str]
    rule: str
    rounds: list[int]
    misses: list[int]
    thresholds: list[float]
    pinball: float
    history: NDArray[np.float64]
    moved: list[float]
    overlapping: dict[str, list[int]]
    columns: int
    delay: int


class StepResult(NamedTuple):
    """Result of playing one round (numbers) or a batch (arrays of shape (rows,)).

    Attributes:
        predictions: Predictions; in a game of losses the number of the chosen expert, or -1 for a mixture of experts.
        losses: Loss of each prediction.
        expected: Expected loss over the learner's draw, given the past.
        members: (rows, K) prediction of each learner of an ensemble.
        chances: (rows, K) probability of a mistake of each learner, given the past; None if none of them draws.
        probabilities: Probability given to the observed label before it was observed; None without probabilities.
        scores: Log-odds of +1 behind the probabilities: (rows,), (rows, K) for the members, (rows, k) for multiclass
            labels.
        sets: (rows, 3) for prediction sets: the group, whether the outcome was missed, and the size, which is -1
            without a set and infinite for the set of all numbers.
        confidences: Multiclass: probability given to the predicted label; NaN if unknown.
        briers: Multiclass: sum over all labels of P^2, with (1 - P)^2 for the observed one.
        results: Result of each learner of an ensemble; None for learners without one.
    """

    predictions: Any
    losses: Any
    expected: Any
    members: Any = None
    chances: Any = None
    probabilities: Any = None
    scores: Any = None
    sets: Any = None
    confidences: Any = None
    briers: Any = None
    results: Any = None

    def of(self, number: int) -> StepResult | None:
        """Return the result of learner `number` of the ensemble, if it has one."""
        found: StepResult | None = None if self.results is None else self.results[number]
        return found


def as_batch(result: StepResult) -> StepResult:
    """Return the result of one round as that of a batch."""
    results = result.results
    batches = None if results is None else [None if one is None else as_batch(one) for one in results]
    arrays = StepResult(*(None if value is None else np.asarray(value)[np.newaxis] for value in result[:-1]))
    return arrays._replace(results=batches)


def stacked(rounds: Sequence[StepResult]) -> StepResult | None:
    """Return the results of rounds as that of a batch; None if there are none."""
    if not rounds:
        return None
    parts = ([one[k] for one in rounds] for k in range(len(StepResult._fields)))
    return StepResult(*(None if part[0] is None else _rows(part) for part in parts))


def _rows(values: list[Any]) -> NDArray[np.generic]:
    """Stack values; scores of labels that were not known in earlier rounds are -inf."""
    most = max(map(np.size, values))
    if np.ndim(values[0]) == 0 or all(np.size(value) == most for value in values):
        return np.array(values)
    return np.array([np.pad(value, (0, most - len(value)), constant_values=-np.inf) for value in values])


@runtime_checkable
class Adversary(Protocol):
    """An environment that chooses examples and labels in reaction to the learner."""

    name: str
    domain: Domain
    promises: ClassVar[tuple[Theorem, ...]]

    def ask(self, probe: Callable[[Example], Distribution]) -> Example:
        """Return the next x; `probe(x)` returns the distribution of the learner's prediction on x, never the draw."""
        ...

    def answer(self, prediction: Distribution) -> Label:
        """Return the label of the last x."""
        ...

    def witness(self) -> object:
        """Return a target that is consistent with every answer so far."""
        ...

    def facts(self) -> Facts:
        """Return the current quantities that its theorems need."""
        ...


class OnlineLearner(Protocol):
    """Any object that can play: its examples and labels are of its own kind, so no type fits all (core/adapt.py)."""

    def predict_one(self, x: Any, /) -> object:
        """Return the prediction for x."""
        ...

    def learn_one(self, x: Any, y: Any, /) -> object:
        """Learn the outcome of x."""
        ...


class BatchSource(Protocol):
    """Any object that can be played as a stream; core/stream.py has the attributes that it may also have."""

    @property
    def name(self) -> str: ...
    @property
    def domain(self) -> Domain: ...
    def batches(self, start: Position | None = None, /) -> Iterator[Batch]:
        """Yield the batches of a new pass."""
        ...


class ArrowFrame(Protocol):
    """A data frame or table that exports its columns through the Arrow interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Source: TypeAlias = str | PathLike[str] | BatchSource | ArrowFrame | Iterable[object]
"""Source of examples: a path, a stream, a data frame, arrays (X, y), or an iterable of rows."""

F = TypeVar("F", covariant=True)


@dataclass(frozen=True, slots=True)
class Run(Generic[F]):
    """Data of one game on which theorems are evaluated.

    Attributes:
        before: Facts of the learner when the game started.
        after: Facts of the learner now.
        rounds: Number of rounds.
        mistakes: Number of mistakes.
        expected: Sum over rounds of the probability of a mistake (or of the expected loss), given the past.
        constants: Mistakes of always predicting -1, and of always predicting +1.
        adaptive: Whether the stream reacted to the learner (an adversary), so it was not fixed in advance.
        deterministic: Whether no prediction was drawn at random.
        tracked: Quantities of the comparators (comparators/tracker.py); None without comparators.
        loss: Total loss; the mistakes, if each costs 1.
        squares: Sum of squared losses of predicted numbers; None if unknown.
        members: Certificates of each learner of an ensemble.
        fixed: Whether all rounds are from one source that is known to be fixed in advance: a file, arrays, a list.
        repeated: Whether rows were played more than once, in several passes or with weights above 1.
        log_loss: Sum of -ln P(y); None for a learner without probabilities.
        brier: Sum of (1 - P(y))^2; None for a learner without probabilities.
        predicted: Sum of P(+1); None for a learner without probabilities.
        coverage: Counts of prediction sets (conformal/theorems/coverage_facts.py); None for a learner without sets.
        late: Facts on delayed labels (game/delayed/theorems/late_facts.py); None in other games.
        arrivals: For theorems on delayed labels: certificates of the game in the order of arrival.

    Example:
        >>> import novikoff as nk
        >>> facts = nk.ThresholdHalving(10).facts()
        >>> nk.Run(facts, facts, rounds=0, mistakes=0, expected=0.0, constants=(0, 0), adaptive=False,
        ...        deterministic=True).mistakes
        0
    """

    before: F
    after: F
    rounds: int
    mistakes: int
    expected: float
    constants: tuple[int, int]
    adaptive: bool
    deterministic: bool
    tracked: Any = None
    loss: float = 0.0
    squares: float | None = None
    members: tuple[tuple[Certificate, ...], ...] = ()
    fixed: bool = True
    repeated: bool = False
    log_loss: float | None = None
    brier: float | None = None
    predicted: float | None = None
    coverage: CoverageFacts | None = None
    late: LateFacts | None = None
    arrivals: tuple[Certificate, ...] = ()


class Theorem(Protocol):
    """A function from a run to a certificate, or None if it does not apply; declared by `theorem` (certificate.py)."""

    name: str
    kind: Literal["D", "E", "P"]
    side: Literal["upper", "lower"]
    quantity: str
    reference: str

    def __call__(self, run: Run[Any], /) -> Certificate | None: ...


def signs(batch: Batch) -> NDArray[np.int8]:
    """Return the labels -1 and +1 of a batch as int8; raise `InputError` with the round of an invalid label."""
    y = batch.y
    if y.ndim == 1 and y.dtype.kind in "iuf":
        if are_signs(y):
            return y.astype(np.int8, copy=False)
        t = int(np.argmin(np.abs(y) == 1))
        raise InputError("a label must be -1 or +1", f"got {y[t]}", round=batch.first + t)
    found = np.empty(len(y), dtype=np.int8)
    for t, value in enumerate(list(y)):
        try:
            found[t] = check_label(value, None)
        except InputError as error:
            error.at(round=batch.first + t)
            raise
    return found


def are_signs(y: NDArray[np.number]) -> bool:
    """Return whether all numbers are -1 or +1; for integers, without a temporary array."""
    if y.dtype.kind == "f":
        return bool((np.abs(y) == 1).all())
    return bool(np.count_nonzero(y) == len(y) and y.min(initial=1) >= -1 and y.max(initial=1) <= 1)


def check_label(y: Outcome, labels: int | None) -> Label:
    """Return y as a label; raise `InputError` if it is not one."""
    if isinstance(y, (bool, np.bool_)):
        what = "-1 or +1" if labels is None else f"an integer from 0 to {labels - 1}"
        stands = 1 if y else -1 if labels is None else 0
        raise InputError(
            f"a label must be {what}, not a boolean: got {y}. Pass {stands}, or the two label values to the source."
        )
    if labels is None:
        value = y[()] if isinstance(y, np.ndarray) and y.ndim == 0 else y
        if isinstance(value, (int, float, np.integer, np.floating, np.bool_)) and (value == 1 or value == -1):
            return 1 if value == 1 else -1
        raise InputError(f"a label must be -1 or +1: got {shown(y)}. Pass the two label values to the source.")
    if isinstance(y, (int, np.integer)) and 0 <= y < labels:
        return int(y)
    raise InputError(f"a label must be an integer from 0 to {labels - 1}: got {shown(y)}.")
