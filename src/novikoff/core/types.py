"""The words of the game: what is asked, who answers, what is remembered.

Rounds go t = 1, 2, ...: see x_t, predict, see y_t, pay 1 for a mistake, learn.
Labels are -1 and +1 inside (or 0 .. k-1 for learners with many labels).
Ties say +1 everywhere; with many labels, the smallest label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from novikoff.conformal.theorems.coverage_facts import CoverageFacts
    from novikoff.core.certificate import Certificate
    from novikoff.game.delayed.theorems.late_facts import LateFacts

Label = int
"""y: -1 or +1; 0 .. k-1 for learners with many labels."""

Prediction = int | float
"""Of one round: a label, a number, or an expert."""

LabelValue: TypeAlias = object
"""What the user calls a label: text, a boolean, a number, or another value of a column."""

Distribution = Mapping[int, float]
"""The chance of each label; a deterministic prediction has one label with chance 1."""

Facts: TypeAlias = "DataclassInstance"
"""What theorems need to know of a learner: a frozen dataclass of plain values."""

State = dict[str, Any]
"""Plain data: JSON values, numpy arrays, and dicts of these. Never a pickle."""

Kind = Literal["vector", "index", "point", "advice", "losses", "any"]


@dataclass(frozen=True, slots=True)
class Domain:
    """What x may be. Every learner, stream and adversary has one; `play` refuses a mismatch.

    kind    vector: `width` real features · index: a whole number 0 .. width-1 ·
            point: `width` whole numbers · advice: a prediction of each of `width` experts, y the outcome ·
            losses: no x at all, y the losses of `width` experts · any: a Python object
    width   None when it is not fixed
    """

    kind: Kind
    width: int | None = None

    def admits(self, other: Domain) -> bool:
        """Can a learner on this domain be shown the examples of `other`?

        Whole numbers are real numbers, a lone number is an index, and numbers that happen to be whole are
        points: the last two are checked on each example as it comes.
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
        """The plainest x of the domain, for adversaries that do not care what they show; experts that disagree."""
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
    """How two values of the user's stand for -1 and +1."""

    negative: LabelValue = -1
    positive: LabelValue = 1

    def encode(self, value: LabelValue) -> Label:
        """-1 or +1 for one of the two values; a boolean is one of them only where both booleans are."""
        boolean = isinstance(value, (bool, np.bool_))
        known = getattr(value, "ndim", 0) == 0 and (not boolean or {self.negative, self.positive} == {0, 1})
        if known and value == self.positive:
            return 1
        if known and value == self.negative:
            return -1
        raise InputError(f"labels must be {self.negative!r} or {self.positive!r}", f"got {value!r}", POSITIVE)

    def decode(self, label: Label) -> LabelValue:
        """The user's value for -1 or +1."""
        return self.positive if label == 1 else self.negative

    def __str__(self) -> str:
        return f"{self.negative} is -1, {self.positive} is +1"


LabelWeights = Mapping[str, float] | Mapping[bool, float] | Mapping[int, float] | Mapping[float, float]
"""The weight of the rows of each label, by what the user calls the label."""


class Standing(TypedDict):
    """What theorems on coverage need to know of the thresholds of sets, as plain data.

    groups      the names of the groups; `rounds`, `misses`, `thresholds` and `moved` have a number for each
    history     counts and sums of scores, from which the best fixed threshold is found
    overlapping rounds and misses of each group, where groups overlap
    columns     columns that the groups come from
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


class StepResult(NamedTuple):
    """What a learner did that pays losses: numbers for one round, arrays (rows,) for a batch.

    predictions   what it said; in a game of losses the number of the expert it followed, or -1 for a mixture of them
    losses        what that cost
    expected      what it cost on average over the learner's coin, given the past
    members       (rows, K): what each learner of a team said
    chances       (rows, K): with what chance each of them, given the past, was to be wrong; None if none of them draws
    probabilities with what probability it expected the label that came, before it came; None if it has none
    scores        the log-odds of +1 that they come from, (rows,), or (rows, K) of each member; (rows, k) of many labels
    sets          (rows, 3) of a learner that says sets: its group, was the outcome missed, how large it was; -1 of
                  nothing, infinite of all numbers
    confidences   of many labels: with what probability it expected the one that it said; NaN where that is not told
    briers        of many labels: the sum over all of (P - 1 if it came)^2
    results       those of each learner of a team that has results itself, else None in its place
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
        """That of a learner of the team, if it has results."""
        found: StepResult | None = None if self.results is None else self.results[number]
        return found


def as_batch(result: StepResult) -> StepResult:
    """One round as a batch."""
    results = result.results
    batches = None if results is None else [None if one is None else as_batch(one) for one in results]
    arrays = StepResult(*(None if value is None else np.asarray(value)[np.newaxis] for value in result[:-1]))
    return arrays._replace(results=batches)


def stacked(rounds: Sequence[StepResult]) -> StepResult | None:
    """Rounds with probabilities as a batch; None if there are none."""
    if not rounds:
        return None
    parts = ([one[k] for one in rounds] for k in range(len(StepResult._fields)))
    return StepResult(*(None if part[0] is None else _rows(part) for part in parts))


def _rows(values: list[Any]) -> NDArray[np.generic]:
    """One below the other; scores of labels that were new in between are -inf before."""
    most = max(map(np.size, values))
    if np.ndim(values[0]) == 0 or all(np.size(value) == most for value in values):
        return np.array(values)
    return np.array([np.pad(value, (0, most - len(value)), constant_values=-np.inf) for value in values])


@runtime_checkable
class Adversary(Protocol):
    """An environment that answers back."""

    name: str
    domain: Domain
    promises: ClassVar[tuple[Theorem, ...]]

    def ask(self, probe: Callable[[Example], Distribution]) -> Example:
        """The next x. `probe(x)` tells what the learner would say there, never how its coin will fall."""
        ...

    def answer(self, prediction: Distribution) -> Label:
        """The label of the x just asked."""
        ...

    def witness(self) -> object:
        """A target consistent with every answer so far."""
        ...

    def facts(self) -> Facts:
        """What its theorems need to know of it now."""
        ...


F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Run(Generic[F]):
    """What a theorem is told: plain facts about one game.

    before, after   the player's facts when the game started, and now
    expected        the sum over rounds of the chance of a mistake (or of the expected loss), given the past
    constants       mistakes that "always -1" and "always +1" would have made
    adaptive        the stream answered back (an adversary), so it was not fixed in advance
    fixed           the rounds came from one source that is known to have been there before: a file, arrays, a list
    deterministic   no prediction was drawn by a coin
    tracked         what the comparators saw (comparators/tracker.py); None if there were none
    loss            what the predictions cost; mistakes, where a mistake costs 1
    squares         the sum of the squared losses of predicted numbers; None if it is not known
    members         the certificates of each learner of a team
    repeated        some rows were played more than once: the stream was gone through again, or a weight was above 1
    log_loss, brier the sums of -ln P(y) and of (1 - P(y))^2; None for a learner without probabilities
    predicted       the sum of P(+1), likewise
    coverage        what the sets held (conformal/theorems/coverage_facts.py); None for a learner that says none
    late            of answers whose labels came late (game/delayed/theorems/late_facts.py); None in other games
    arrivals        for theorems on such answers: the certificates of the game in the order of arrival
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
    """Evaluates a bound on a run; None where it has nothing to say. Declared by `theorem` (certificate.py)."""

    name: str
    kind: Literal["D", "E", "P"]
    side: Literal["upper", "lower"]
    quantity: str
    reference: str

    def __call__(self, run: Run[Any], /) -> Certificate | None: ...


def signs(batch: Batch) -> NDArray[np.int8]:
    """The labels of a batch, -1 and +1, as kernels take them; or an error that says what a label is, and where."""
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
    """Are all of these numbers -1 or +1? Of whole numbers it is told without an array of that length."""
    if y.dtype.kind == "f":
        return bool((np.abs(y) == 1).all())
    return bool(np.count_nonzero(y) == len(y) and y.min(initial=1) >= -1 and y.max(initial=1) <= 1)


def check_label(y: Outcome, labels: int | None) -> Label:
    """Y as a label, or an error that says what a label is."""
    if isinstance(y, (bool, np.bool_)):
        what = "-1 or +1" if labels is None else f"a whole number from 0 to {labels - 1}"
        stands = 1 if y else -1 if labels is None else 0
        raise InputError(
            f"a label must be {what}, not a boolean: got {y}. Pass {stands}, or give the source the two values it uses."
        )
    if labels is None:
        value = y[()] if isinstance(y, np.ndarray) and y.ndim == 0 else y
        if isinstance(value, (int, float, np.integer, np.floating, np.bool_)) and (value == 1 or value == -1):
            return 1 if value == 1 else -1
        raise InputError(f"a label must be -1 or +1: got {shown(y)}. Give the source the two values it uses.")
    if isinstance(y, (int, np.integer)) and 0 <= y < labels:
        return int(y)
    raise InputError(f"a label must be a whole number from 0 to {labels - 1}: got {shown(y)}.")
