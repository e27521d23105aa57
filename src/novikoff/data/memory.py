"""Sources in memory other than labelled arrays: pairs, regression targets, expert advice, losses, contexts.

Pairs               any iterable of (x, y), played one by one; it may be endless, and x may be any object
RegressionArrays    arrays or sparse matrices with finite real outcomes y; the learner checks their range
Advice              X of shape (rounds, experts), one prediction per expert; y the outcomes. NaN: the expert abstains
Losses              one array of shape (rounds, experts); the learner knows the loss and checks the range
ContextualLosses    one row of X per round: an example, or with `advice` the arm chosen by each expert
                    (bandits/exp4.py); one column of losses per arm. Without contexts: `nk.Losses`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.core import encode
from novikoff.core.errors import InputError, MismatchError, SourceError, named, shown
from novikoff.core.labels import Numbering, one_label
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Example, Labels, Outcome, Position, check_label, count_at
from novikoff.data.arrays import Arrays, SparseMatrix, in_batches, is_sparse
from novikoff.data.column_names import names_of

LOOKED_AT = 1000
"""Number of first pairs from which labels are recognised."""
NOT_PAIRS = (str, bytes, Mapping, np.ndarray, Stream)
"""Iterables that are not of pairs."""
HELD = (list, tuple, np.ndarray)
"""Types whose iteration runs no user code; subclasses are excluded."""
PLAIN: frozenset[type] = frozenset((int, float, complex, bool, str, bytes, type(None), Fraction, Decimal))


def is_plain(value: Any) -> bool:
    """Return whether the value is a number, text, or a list, tuple, dict or array of these: no user code."""
    kind = type(value)
    if kind in PLAIN or (isinstance(value, np.generic) and kind.__module__ == "numpy"):
        return True
    if kind is np.ndarray:
        return not value.dtype.hasobject or all(map(is_plain, value.reshape(-1).tolist()))
    if kind is dict:
        return is_plain([*value]) and is_plain([*value.values()])
    return kind in HELD and (PLAIN.issuperset(map(type, value)) or all(map(is_plain, value)))


def arrays_of(environment: object) -> tuple[Any, Any] | None:
    """Return (X, y) if the environment is such a pair; None for two pairs ((x, y), (x, y)) or anything else."""
    if isinstance(environment, tuple) and len(environment) == 2 and isinstance(environment[1], Sized):
        x, y = environment
        return None if isinstance(x, tuple) and isinstance(y, tuple) else (x, y)
    return None


def _described(pair: object) -> str:
    """Return a one-line description of an item that is not a pair."""
    text = shown(pair)
    return named(pair) if "\n" in text else text


class Pairs(Stream):
    """Stream over any iterable of pairs (x, y), played one by one.

    A list can be read again; a generator continues where it stopped. `fixed` is true for a list, tuple or array of
    plain values: any other object may compute its pairs on demand.

    Args:
        pairs: Iterable of (x, y); may be endless.
        domain: Domain of x; by default any object.
        labels: Values for -1 and +1; by default y is -1 or +1.
        multiclass: Number of labels 0 .. k-1, or True for labels of any type, numbered in order of first appearance;
            None for two labels.
        name: Name of the source in messages.
        recognise: Whether to take the labels of pairs (dict, label) from the first of them, if neither `labels` nor
            `multiclass` is given: two values, or more.

    Example:
        >>> import novikoff as nk
        >>> stream = nk.Pairs([([1.0, 0.0], "ham"), ([0.0, 1.0], "spam")], labels=nk.Labels("ham", "spam"))
        >>> [int(batch.y[0]) for batch in stream.batches()]
        [-1, 1]
    """

    def __init__(
        self,
        pairs: Iterable[tuple[Example, Outcome]],
        domain: Domain | None = None,
        labels: Labels | None = None,
        multiclass: int | None = None,
        name: str = "pairs",
        recognise: bool = False,
    ) -> None:
        given: object = labels
        if given is not None and not isinstance(given, Labels):
            two = given if isinstance(given, (list, tuple)) and len(given) == 2 else ("ham", "spam")
            do = f"Pass nk.Labels({two[0]!r}, {two[1]!r}), or multiclass=True for more than two."
            raise SourceError("labels must be Labels, the values for -1 and +1", f"got {shown(given)}", do)
        if labels is not None and multiclass is not None:
            raise SourceError(
                f"labels are either binary or multiclass: got {labels} and multiclass={multiclass}. Pass one of them."
            )
        try:
            self.rereadable = iter(pairs) is not pairs
        except TypeError:
            raise SourceError(f"pairs must be an iterable of (x, y): got {type(pairs).__name__}.") from None
        self.fixed = type(pairs) in HELD
        self._only_ones = False
        if recognise and labels is None and multiclass is None:
            pairs = pairs if self.rereadable else _Peeked(pairs)
            first = first_labels(pairs)
            labels, self.several = _labels_of(first)
            self._only_ones = bool(first) and all(type(y) is int and y == 1 for y in first)
        self._pairs = pairs
        self._many = multiclass
        self.name = name
        self.domain = domain or Domain("any")
        self.labels = labels or (Labels() if multiclass is None else None)
        self._set_numbering(multiclass is True)

    def _set_numbering(self, multiclass: bool) -> None:
        self.multiclass, self._numbering = multiclass, Numbering()
        self.label_values = self._numbering.values if multiclass else None

    def show_many(self) -> None:
        self.labels = None
        self._set_numbering(True)

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        t = skipped = count_at(start)
        if self.multiclass:
            self._set_numbering(True)
        for t, pair in enumerate(islice(self._pairs, skipped, None), start=skipped + 1):
            try:
                x, y = pair
            except (TypeError, ValueError):
                must = "each item must be a pair (x, y)"
                raise SourceError(must, f"is {_described(pair)}", item=t, source=self.name) from None
            self.fixed = self.fixed and is_plain(pair)
            yield Batch([x], self._outcome(y, t), t, {"row": t})
        if t == 0:
            left = "" if self.rereadable else " left. Pass a list to read it again"
            raise SourceError(f"a source must not be empty: {self.name} has no items{left}.")

    def _outcome(self, y: object, t: int) -> NDArray[Any]:
        """Return the label of item t as an array of length 1."""
        try:
            if self.multiclass:
                return np.array([self._numbering.encode(one_label(y))])
            if self._only_ones and type(y) is int and y != 1:  # the first labels were 1: the other one is 0 or -1
                self.labels, self._only_ones = Labels(0, 1) if y == 0 else self.labels, False
            labels = self.labels or Labels()
            label = check_label(y, self._many) if labels == Labels() else labels.encode(y)
            return np.array([label], dtype=np.int8 if self._many is None else np.int32)
        except InputError as error:
            raise SourceError(*error.args, item=t, source=self.name) from None
        except ValueError:  # an array has no truth value
            raise SourceError("a label must be one value", f"has {y!r}", item=t, source=self.name) from None


class _Peeked(Iterator[Any]):
    """An iterator whose first item can be looked at."""

    def __init__(self, items: Iterable[Any]) -> None:
        rest = iter(items)
        self.first = list(islice(rest, 1))
        self._all = chain(self.first, rest)

    def __next__(self) -> object:
        return next(self._all)


def first_labels(environment: object) -> list[Any]:
    """Return the labels of the first pairs (dict, label) of an iterable; empty for anything else.

    The first thousand of a list, or of a data set that starts again; the first one of an iterator that allows it.
    """
    first: list[Any] = []
    if isinstance(environment, _Peeked):
        first = environment.first
    elif isinstance(environment, Iterable) and not isinstance(environment, NOT_PAIRS):
        again = iter(environment) is not environment and not hasattr(environment, "__array__")
        first = list(islice(environment, LOOKED_AT)) if again else []
    pairs = [one for one in first if isinstance(one, (tuple, list)) and len(one) == 2 and isinstance(one[0], Mapping)]
    if len(pairs) < len(first):
        return []
    return [y.item() if isinstance(y, np.generic) else y for _, y in pairs]


def _labels_of(first: Sequence[Any]) -> tuple[Labels | None, bool]:
    """Return the two labels that the first ones belong to, None for -1 and +1; and whether there are more than two."""
    kinds = {type(y) for y in first}
    if kinds == {bool}:
        return Labels(False, True), False
    if not kinds or not (kinds <= {int} or kinds == {str}) or {*first} <= {-1, 1}:
        return None, False
    distinct = sorted({*first})
    if kinds == {int} and distinct in ([0], [0, 1]):
        return Labels(0, 1), False
    return (Labels(*distinct), False) if len(distinct) == 2 else (None, True)


class RegressionArrays(Stream):
    """Stream over the rows of X with real outcomes y, for regression.

    Args:
        X: Numbers of shape (rows,) or (rows, width), or a scipy.sparse matrix.
        y: Finite outcomes of shape (rows,).
        name: Name of the source in messages.
        features: Column names; by default those of a data frame, if X is one.

    Example:
        >>> import novikoff as nk
        >>> stream = nk.RegressionArrays([[1.0], [2.0]], [0.5, 1.5])
        >>> next(stream.batches()).y
        array([0.5, 1.5])
    """

    rereadable = True
    outcomes = "numbers"

    def __init__(
        self, X: ArrayLike, y: ArrayLike, name: str = "targets", features: Sequence[str] | None = None
    ) -> None:  # fmt: skip
        self.name = name
        self._y = _outcomes(y, name)
        unused = np.ones(len(self._y), dtype=np.int8)  # dummy labels, which `Arrays` requires
        if is_sparse(X):
            self._rows: SparseMatrix | Arrays = SparseMatrix(X, unused, name=name)
        else:
            named = names_of(X) if features is None else features
            self._rows = Arrays(_columns(X, name), unused, name=name, features=named)
            self.features = self._rows.features
        self.domain, self.rows = self._rows.domain, len(self._y)
        self.scaled_by_default = self._rows.scaled_by_default

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        for batch in self._rows.batches(start):
            first = batch.first - 1
            yield replace(batch, y=self._y[first : first + len(batch)])


class TargetPairs(Pairs):
    """Stream over any iterable of (x, y) with real outcomes y; a list can be read again."""

    outcomes = "numbers"

    def __init__(self, pairs: Iterable[tuple[Example, float]]) -> None:
        super().__init__(pairs)
        self.labels = None

    def _outcome(self, y: object, t: int) -> NDArray[np.float64]:
        return _outcomes(np.array([y]), f"item {t} of {self.name}")


def targets(environment: object) -> Stream:
    """Return a stream with real outcomes from arrays or an iterable of pairs."""
    if (both := arrays_of(environment)) is not None:
        return RegressionArrays(*both)
    if isinstance(environment, Iterable):
        return TargetPairs(environment)
    raise MismatchError(f"expected a stream, arrays (X, y) or an iterable of (x, y): got {type(environment).__name__}.")


def _columns(X: ArrayLike, name: str) -> NDArray[np.generic]:
    """Return X as float64 of shape (rows, width); `Arrays` makes the remaining checks."""
    try:
        examples = np.asarray(X)
    except ValueError:
        raise SourceError(
            f"X must be an array: {name} has rows of different lengths. Make them equally long."
        ) from None
    if examples.dtype.kind in "iub":
        examples = examples.astype(np.float64)
    return examples[:, np.newaxis] if examples.ndim == 1 else examples


def _outcomes(y: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        given = np.asarray(y)
    except ValueError:
        raise SourceError(f"outcomes must be numbers: {name} has several numbers per row.") from None
    if given.dtype.kind not in "iufb":
        raise SourceError(f"outcomes must be numbers: {name} has {given.dtype}. Labels are for a classifier.")
    if given.ndim != 1:
        raise SourceError(f"y must have one dimension: got shape {given.shape}.")
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf, rejected below
        reals = np.ascontiguousarray(given, dtype=np.float64)
    finite = np.isfinite(reals)
    if not finite.all():
        row = int(np.argmin(finite))
        raise SourceError(f"outcomes must be finite: row {row + 1} of {name} has {reals[row]}. Clean or drop the row.")
    return reals


CELLS_PER_BATCH = 2**20
"""Approximate number of cells per batch."""


class Advice(Stream):
    """Stream of expert predictions with outcomes.

    Args:
        X: Predictions of shape (rounds, experts); NaN where an expert abstains.
        y: Outcomes of shape (rounds,).
        experts: Names of the experts; by default the columns of a data frame, otherwise e0, e1, ...
        name: Name of the source in messages.
    """

    rereadable = True

    def __init__(
        self, X: ArrayLike, y: ArrayLike, experts: Sequence[str] | None = None, name: str = "advice"
    ) -> None:  # fmt: skip
        self.name = name
        self._x, self._y = numbers(X, 2, "X", name), numbers(y, 1, "y", name)
        if len(self._x) != len(self._y):
            raise SourceError(f"X and y must have one length: got {len(self._x):,} and {len(self._y):,} rounds.")
        self.domain, self.rows = Domain("advice", self._x.shape[1]), len(self._y)
        self.features = names_of(X) if experts is None else tuple(experts)
        self.experts = _names(self.features, self._x.shape[1])

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        return in_batches(self._x, self._y, start, at_once(self._x), "owned")


class Losses(Stream):
    """Stream of the losses of all experts, one row per round.

    Args:
        table: Losses of shape (rounds, experts).
        experts: Names of the experts; by default the columns of a data frame, otherwise e0, e1, ...
        name: Name of the source in messages.
    """

    rereadable = True

    def __init__(self, table: ArrayLike, experts: Sequence[str] | None = None, name: str = "losses") -> None:
        self.name = name
        self._table = numbers(table, 2, "a table of losses", name)
        self.domain, self.rows = Domain("losses", self._table.shape[1]), len(self._table)
        self.features = names_of(table) if experts is None else tuple(experts)
        self.experts = _names(self.features, self._table.shape[1])

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        return in_batches(None, self._table, start, at_once(self._table), "owned")


class Rounds(Stream):
    """Stream over any iterable of (advice, outcome), or of loss rows, played round by round; it may be endless."""

    def __init__(self, rounds: Iterable[Any], losses: bool = False, name: str = "rounds") -> None:
        self.name, self._losses = name, losses
        self._rounds = rounds
        self.rereadable, self.fixed = iter(rounds) is not rounds, type(rounds) in HELD
        self.domain = Domain("losses" if losses else "advice")

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        done = count_at(start)
        t = 0
        for t, item in enumerate(self._rounds, start=1):
            if t <= done and self.rereadable:
                continue
            where = f"round {t} of {self.name}"
            self.fixed = self.fixed and is_plain(item)
            if self._losses:
                yield Batch(None, numbers(item, 1, "losses", where)[np.newaxis], t, {"row": t})
                continue
            try:
                advice, outcome = item
            except (TypeError, ValueError):
                raise SourceError(f"each round must be a pair (advice, outcome): {where} is {item!r}.") from None
            x, y = numbers(advice, 1, "advice", where), numbers([outcome], 1, "an outcome", where)
            yield Batch(x[np.newaxis], y, t, {"row": t})
        if t == 0:
            raise SourceError(f"a source must not be empty: {self.name} has no rounds.")


def advice(environment: object, losses: bool) -> Stream:
    """Return a stream of advice or of losses from arrays or an iterable."""
    if losses and hasattr(environment, "__array__"):
        return Losses(environment)
    if not losses and (both := arrays_of(environment)) is not None and np.ndim(both[1]) == 1:
        return Advice(*both)
    if not isinstance(environment, Iterable):
        what = "an array (rounds, experts)" if losses else "arrays (X, y)"
        raise SourceError(f"expected a stream or {what}: got {type(environment).__name__}.")
    return Rounds(environment, losses)


def numbers(values: object, ndim: int, what: str, name: str) -> NDArray[np.float64]:
    """Return the values as a non-empty float64 array with `ndim` dimensions."""
    try:
        array = encode.doubles(values)
    except (TypeError, ValueError, OverflowError):
        raise SourceError(f"{what} must be numbers: {name} has other values, or rows of different lengths.") from None
    if array.ndim != ndim or array.size == 0:
        raise SourceError(f"{what} must have {ndim} dimension{'s'[: ndim - 1]} and not be empty: got {array.shape}.")
    return array


def _names(experts: Sequence[str] | None, width: int) -> tuple[str, ...]:
    names = tuple(experts) if experts is not None else tuple(f"e{i}" for i in range(width))
    if len(names) != width:
        raise SourceError(f"experts must name every column: got {len(names)} names for {width}.")
    return names


def at_once(table: NDArray[np.float64]) -> int:
    """Return the number of rows per batch."""
    return max(CELLS_PER_BATCH // int(table.shape[1]), 1)


class ContextualLosses(Stream):
    """Stream of contexts with the losses of all arms, one row per round.

    Args:
        X: Contexts of shape (rounds, width), or with `advice` the arm chosen by each expert.
        losses: Losses of shape (rounds, arms).
        advice: Whether X holds the experts' arms.
        name: Name of the source in messages.
    """

    rereadable = True

    def __init__(self, X: ArrayLike, losses: ArrayLike, advice: bool = False, name: str = "contexts") -> None:
        self.name = name
        self._x, self._y = numbers(X, 2, "X", name), numbers(losses, 2, "a table of losses", name)
        if len(self._x) != len(self._y):
            raise SourceError(
                f"X and the losses must have one length: got {len(self._x):,} and {len(self._y):,} rounds."
            )
        self.domain, self.rows = Domain("advice" if advice else "vector", self._x.shape[1]), len(self._y)
        self.outcomes = "labels" if advice else "numbers"

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        return in_batches(self._x, self._y, start, at_once(self._y), "owned")
