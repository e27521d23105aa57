"""Advice and Losses in memory: what experts say and what came of it, or what each of them lost.

Advice   X of shape (rounds, experts), one prediction of each; y the outcomes. NaN: the expert is silent that round.
Losses   one array of shape (rounds, experts).
Ranges are the learner's matter: it knows the loss.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.core import encode
from novikoff.core.errors import SourceError
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Position
from novikoff.data.arrays import in_batches
from novikoff.data.matched import names_of
from novikoff.data.pairs import HELD, arrays_of, is_plain

CELLS_PER_BATCH = 2**20
"""Numbers in a batch, about."""


class Advice(Stream):
    """Predictions X, a column for each expert, and outcomes y.

    `experts` names the columns: by default as a data frame does, else e0, e1, ...
    """

    rereadable = True

    def __init__(
        self, X: ArrayLike, y: ArrayLike, experts: Sequence[str] | None = None, name: str = "advice"
    ) -> None:  # fmt: skip
        self.name = name
        self._x, self._y = numbers(X, 2, "X", name), numbers(y, 1, "y", name)
        if len(self._x) != len(self._y):
            raise SourceError(f"X and y must be of one length: got {len(self._x):,} and {len(self._y):,} rounds.")
        self.domain, self.rows = Domain("advice", self._x.shape[1]), len(self._y)
        self.features = names_of(X) if experts is None else tuple(experts)
        self.experts = _names(self.features, self._x.shape[1])

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        return in_batches(self._x, self._y, start, at_once(self._x), "owned")


class Losses(Stream):
    """A loss of each expert in each round. `experts` names the columns, as for advice."""

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
    """Any iterable of (advice, outcome), or of losses; it may be endless, and is played round by round."""

    def __init__(self, rounds: Iterable[Any], losses: bool = False, name: str = "rounds") -> None:
        self.name, self._losses = name, losses
        self._rounds = rounds
        self.rereadable, self.fixed = iter(rounds) is not rounds, type(rounds) in HELD
        self.domain = Domain("losses" if losses else "advice")

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        done = start["row"] if start else 0
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


def advice(environment: Any, losses: bool) -> Stream:
    """A stream of advice, or of losses, from arrays or from an iterable."""
    if losses and hasattr(environment, "__array__"):
        return Losses(environment)
    if not losses and (both := arrays_of(environment)) is not None and np.ndim(both[1]) == 1:
        return Advice(*both)
    if not isinstance(environment, Iterable):
        what = "an array (rounds, experts)" if losses else "arrays (X, y)"
        raise SourceError(f"experts need a stream or {what}: got {type(environment).__name__}.")
    return Rounds(environment, losses)


def numbers(values: Any, ndim: int, what: str, name: str) -> NDArray[np.float64]:
    """What was given as doubles, of so many dimensions."""
    try:
        array = encode.doubles(values)
    except (TypeError, ValueError, OverflowError):
        raise SourceError(f"{what} must be numbers: {name} has others, or rows of different lengths.") from None
    if array.ndim != ndim or array.size == 0:
        raise SourceError(f"{what} must have {ndim} dimension{'s'[: ndim - 1]} and not be empty: got {array.shape}.")
    return array


def _names(experts: Sequence[str] | None, width: int) -> tuple[str, ...]:
    names = tuple(experts) if experts is not None else tuple(f"e{i}" for i in range(width))
    if len(names) != width:
        raise SourceError(f"experts must name every column: got {len(names)} names for {width}.")
    return names


def at_once(table: NDArray[np.float64]) -> int:
    """How many rows make a batch."""
    return max(CELLS_PER_BATCH // int(table.shape[1]), 1)
