"""The words of the game: what is asked, who answers, what is remembered.

Rounds go t = 1, 2, ...: see x_t, predict, see y_t, pay 1 for a mistake, learn.
Labels are -1 and +1 inside (or 0 .. k-1 for learners with many labels).
Ties say +1 everywhere; with many labels, the smallest label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    Protocol,
    Self,
    TypeVar,
    runtime_checkable,
)

import numpy as np
from numpy.typing import NDArray

from novikoff.errors import InputError, shown, whole

if TYPE_CHECKING:
    from novikoff.certificate import Certificate

Example = Any
"""x: an int, a Fraction, a sequence or array of numbers, or any Python object (see `Domain`)."""

Label = int
"""y: -1 or +1; 0 .. k-1 for learners with many labels."""

Distribution = Mapping[int, float]
"""The chance of each label; a deterministic prediction has one label with chance 1."""

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

    negative: Any = -1
    positive: Any = 1

    def encode(self, value: Any) -> Label:
        """-1 or +1 for one of the two values; a boolean is one of them only where both booleans are."""
        boolean = isinstance(value, (bool, np.bool_))
        known = getattr(value, "ndim", 0) == 0 and (not boolean or {self.negative, self.positive} == {0, 1})
        if known and value == self.positive:
            return 1
        if known and value == self.negative:
            return -1
        raise InputError(
            f"labels must be {self.negative!r} or {self.positive!r}: got {value!r}. "
            "Name the positive value to treat every other as -1."
        )

    def decode(self, label: Label) -> Any:
        """The user's value for -1 or +1."""
        return self.positive if label == 1 else self.negative

    def __str__(self) -> str:
        return f"{self.negative} is -1, {self.positive} is +1"


@dataclass(frozen=True, slots=True, eq=False)
class Sparse:
    """Rows with few non-zeros: row t is indices[indptr[t]:indptr[t+1]] and the values beside them.

    No index is repeated within a row, the order is as read. `width` is one more than the largest index there may be.
    Arrays may be read-only (mapped files are).
    This is a border: rows that are built by hand are checked here, and made arrays of the right kind. `checked` is for
    those who have seen to that: our readers, which merge repeats as they parse, and parts of what was checked.
    """

    indptr: NDArray[np.uint64]
    indices: NDArray[np.uint32]
    values: NDArray[Any]  # float64 or float32
    width: int
    checked: bool = False

    def __post_init__(self) -> None:
        if not self.checked:
            for name, array in zip(("indptr", "indices", "values"), _checked(self), strict=True):
                object.__setattr__(self, name, array)
            object.__setattr__(self, "checked", True)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, rows: slice) -> Sparse:
        start, stop, _ = rows.indices(len(self))
        return Sparse(self.indptr[start : stop + 1], self.indices, self.values, self.width, checked=True)

    def rows(self) -> Iterator[tuple[NDArray[np.uint32], NDArray[Any]]]:
        """Each row as (indices, values)."""
        ends = self.indptr.tolist()
        for start, stop in pairwise(ends):
            yield self.indices[start:stop], self.values[start:stop]


def _checked(x: Sparse) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[Any]]:
    """The arrays of sparse rows as kernels take them, which look no further: or an error that says what is wrong."""
    ends, places, values = np.asarray(x.indptr), np.asarray(x.indices), np.asarray(x.values)
    if ends.ndim != 1 or len(ends) == 0 or ends.dtype.kind not in "iu" or np.any(ends[1:] < ends[:-1]) or ends[0] < 0:
        raise InputError(f"indptr must be whole numbers from 0 that do not fall: got {shown(x.indptr)}.")
    if places.ndim != 1 or places.shape != values.shape or int(ends[-1]) > len(places):
        shapes = f"{places.shape} and {values.shape}"
        raise InputError(f"indices and values must be of one length, to {int(ends[-1])} at least: got {shapes}.")
    start, stop = int(ends[0]), int(ends[-1])
    used = places[start:stop]
    if len(used) and (places.dtype.kind not in "iu" or used.min() < 0 or used.max() >= x.width):
        raise InputError(f"indices must be whole numbers below the width, {x.width}: got {shown(used)}.")
    if len(used) and values.dtype.kind not in "iufb":
        raise InputError(f"values must be numbers: got {values.dtype}.")
    whole, numbers = ends.astype(np.uint64), values if values.dtype in (np.float64, np.float32) else None
    features = places.astype(np.uint32)
    row = first_repeat(whole - whole[0], features[start:stop])
    if row is not None:
        given = shown(features[int(ends[row]) : int(ends[row + 1])].tolist())
        raise InputError(f"no index may be repeated in a row: row {row + 1:,} has {given}. Add their values up.")
    with np.errstate(over="ignore"):  # a long double beyond the doubles becomes infinite
        return whole, features, values.astype(np.float64) if numbers is None else numbers


def first_repeat(ends: NDArray[np.uint64], indices: NDArray[np.uint32]) -> int | None:
    """The first row, from 0, in which an index is repeated."""
    if len(indices) < 2:
        return None
    rising = indices[1:] > indices[:-1]
    starts = ends[(ends > 0) & (ends < len(indices))]
    rising[starts - np.uint64(1)] = True  # the last of a row and the first of the next are not compared
    if rising.all():
        return None
    rows = np.repeat(np.arange(len(ends) - 1), np.diff(ends).astype(np.int64))
    order = np.lexsort((indices, rows))
    same = (indices[order][1:] == indices[order][:-1]) & (rows[order][1:] == rows[order][:-1])
    return int(rows[order][int(np.argmax(same))]) if same.any() else None


Position = dict[str, Any]
"""Where a stream can go on after a batch: plain JSON values that only the stream understands."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Consecutive rounds.

    x       (rows,) for indices, (rows, width) for points, vectors and advice (float64, NaN where an expert is silent),
            `Sparse`, a list of any objects, or None where y says all. Arrays of numbers are made float64, float32 or
            int64, which is what is computed with; any other is taken for a list of its rows
    y       int8 (-1/+1), int32 (many labels), float64 outcomes, or (rows, experts) losses
    first   the number of the first round, from 1
    end     where the stream goes on after this batch; None if it cannot say
    """

    x: NDArray[Any] | Sparse | list[Example] | None
    y: NDArray[Any]
    first: int
    end: Position | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "y", np.asarray(self.y))  # a list will do
        if isinstance(self.x, np.ndarray) and self.x.dtype not in COMPUTED:
            object.__setattr__(self, "x", _computed(self.x))
        if self.x is not None and len(self.x) != len(self.y):
            raise InputError(f"a batch must have a label for each example: got {len(self.x)} and {len(self.y)} labels.")

    def __len__(self) -> int:
        return len(self.y)

    def part(self, start: int, stop: int) -> Batch:
        """The rounds from position `start` to before `stop`."""
        end = self.end if stop >= len(self) else None
        x = None if self.x is None else self.x[start:stop]
        return Batch(x, self.y[start:stop], self.first + start, end)

    def rows(self) -> Iterator[tuple[Example, Any]]:
        """The same rounds one by one."""
        if self.x is None:
            return zip(repeat(None), self.y, strict=False)
        if isinstance(self.x, Sparse):
            return zip(self.x.rows(), self.y.tolist(), strict=True)
        examples = self.x.tolist() if isinstance(self.x, np.ndarray) and self.x.ndim == 1 else self.x
        return zip(examples, self.y.tolist(), strict=True)


COMPUTED = frozenset((np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.int64)))
"""The arrays that kernels read; sums of their numbers are doubles."""


def _computed(x: NDArray[Any]) -> NDArray[Any] | list[Example]:
    """Numbers of another size or order of bytes as kernels take them; objects one by one, checked as they come."""
    if x.dtype.kind == "f" or (x.dtype.kind == "u" and x.size and x.max() > np.iinfo(np.int64).max):
        with np.errstate(over="ignore"):  # a long double beyond the doubles becomes infinite
            return x.astype(np.float64)
    return x.astype(np.int64) if x.dtype.kind in "iub" else list(x)


class StepResult(NamedTuple):
    """What a learner did that pays losses: numbers for one round, arrays (rows,) for a batch.

    predictions   what it said; in a game of losses the number of the expert it followed, or -1 for a mixture of them
    losses        what that cost
    expected      what it cost on average over the learner's coin, given the past
    members       (rows, K): what each learner of a team said
    chances       (rows, K): with what chance each of them, given the past, was to be wrong; None if none of them draws
    probabilities with what probability it expected the label that came, before it came; None if it has none
    scores        the log-odds of +1 that they come from, (rows,), or (rows, K) of each member
    """

    predictions: Any
    losses: Any
    expected: Any
    members: Any = None
    chances: Any = None
    probabilities: Any = None
    scores: Any = None


class Learner(Protocol):
    """One algorithm. `learn_one` is the only method that changes it.

    Optional: `play_one(x, y)` predicts, then learns, looking at x once; `learn_many(batch)` does so for every row,
    compiled, or answers None, having done nothing, where it must be played row by row; `predict_many(batch)` tells what
    it says of every row, learning nothing; `feature_names`, those of the columns it learned from, which `play` sets and
    sources are matched by; `tracker()` gives the comparators its theorems need; `size` is what it holds;
    `conservative` is True if it changes on mistakes alone. A learner that draws its predictions has `draws = True` and
    `chances(x)`, the distribution it draws from; its `learn_many` answers with `StepResult`. So do `play_one` and
    `learn_many` of a learner that has a `loss`: on advice or losses, or one whose `outcomes` are "numbers"; and of one
    with `probability_one(x)`, P(+1). A team has `learners`, all of which play every round.
    """

    domain: Domain
    labels: int | None  # None: -1/+1; k: 0 .. k-1
    promises: ClassVar[tuple[Theorem, ...]]

    def predict_one(self, x: Example) -> Label:
        """The label it would say now; asking changes nothing."""
        ...

    def learn_one(self, x: Example, y: Label) -> None:
        """Learn the label of x."""
        ...

    def facts(self) -> Any:
        """What its theorems need to know of it now: a frozen dataclass of plain values."""
        ...

    def state(self) -> State:
        """All of it, as plain data."""
        ...

    @classmethod
    def restore(cls, state: State) -> Self:
        """The learner whose `state` this is."""
        ...


Lasting = bool | Literal["mapped"]
"""Do the arrays of a batch stay as they are when the next one is read?"""


class Stream(Protocol):
    """A source of labelled examples.

    Optional: `features`, the names of the columns, None if they have none; `__len__`, the number of rows; `notes`, a
    list of lines to tell the user (the format that was recognised, rows that were skipped); `lasting`, true if the
    arrays of a batch are not used again for a later one, and "mapped" if they lie in a mapped file; `fixed`, false if
    somebody's code makes the rows as they are asked for (environment.py).
    """

    name: str
    domain: Domain
    labels: Labels | None
    rereadable: bool

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        """A fresh pass, batch by batch; from `start` on, the `end` of an earlier batch."""
        ...


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

    def witness(self) -> Any:
        """A target consistent with every answer so far."""
        ...

    def facts(self) -> Any:
        """What its theorems need to know of it now."""
        ...


F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Run(Generic[F]):
    """What a theorem is told: plain facts about one game.

    before, after   the player's facts when the ledger was opened, and now
    expected        the sum over rounds of the chance of a mistake (or of the expected loss), given the past
    constants       mistakes that "always -1" and "always +1" would have made
    adaptive        the stream answered back (an adversary), so it was not fixed in advance
    fixed           the rounds came from one source that is known to have been there before: a file, arrays, a list
    deterministic   no prediction was drawn by a coin
    tracked         what the comparators saw (comparators/tracker.py); None if there were none
    loss            what the predictions cost; mistakes, where a mistake costs 1
    members         the certificates of each learner of a team
    repeated        some rows were played more than once: the stream was gone through again
    log_loss, brier the sums of -ln P(y) and of (1 - P(y))^2; None for a learner without probabilities
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
    members: tuple[tuple[Certificate, ...], ...] = ()
    fixed: bool = True
    repeated: bool = False
    log_loss: float | None = None
    brier: float | None = None


Theorem = Callable[[Run[Any]], "Certificate | None"]
"""Evaluates a bound on a run; None where it has nothing to say."""


def signs(batch: Batch) -> NDArray[np.int8]:
    """The labels of a batch, -1 and +1, as kernels take them; or an error that says what a label is, and where."""
    y = batch.y
    if y.ndim == 1 and y.dtype.kind in "iuf":
        good = np.abs(y) == 1
        if good.all():
            return y if y.dtype == np.int8 else y.astype(np.int8)
        t = int(np.argmin(good))
        raise InputError(f"a label must be -1 or +1: got {y[t]} at round {batch.first + t}.")
    found = np.empty(len(y), dtype=np.int8)
    for t, value in enumerate(list(y)):
        try:
            found[t] = check_label(value, None)
        except InputError as error:
            raise InputError(f"round {batch.first + t}: {error}") from None
    return found


def check_label(y: Any, labels: int | None) -> Label:
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
