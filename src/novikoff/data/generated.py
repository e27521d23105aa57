"""Streams from a generator: a target u of length 1 is planted, and every row keeps its distance from its plane.

Rows
    x has length 1. Take a random direction g and its label, the sign of <u, g>; if it is nearer to the plane than the
    margin, push it out: keep the part across u, and make the part along u as large as the margin. So
        y <u, x>  >=  margin
    for every row, rounding included (a push goes 1e-12 too far), and many rows are at the margin.
    Dense rows have all features, u_i = +-1/sqrt(width), and any margin below 1 can be had.
Sparse rows
    The features are cut into `nonzeros` runs, each run longer than those before by the same factor (at least one
    feature), and a row has one feature of each run: none is repeated, and feature i is there with a chance near 1/i,
    as words in a text are. A run of s features has weight 1/nonzeros in u: u_i = +-1/sqrt(nonzeros s). So the part of
    u that a row sees has the same length in every row, sqrt(mean of 1/s), and that is the largest margin to be had.
Same seed, same stream
    Row t depends on the arguments other than rounds, never on how many rows there are or where reading began. Numbers
    are made of the raw bits of PCG64, which numpy keeps the same for ever: the sum of four uniform ones is near enough
    to normal.
    Nothing is kept but the target and a block of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novikoff.core.encode import LARGEST_INDEX
from novikoff.core.errors import SourceError
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Domain, Labels, Position, Sparse, count_at

ROWS_PER_BLOCK = 4096
NUMBERS_PER_BLOCK = 2**18
"""At most so many rows, and about so many numbers, are made at once."""

TARGET, ROWS, NOISE = 0, 1, 2
"""What bits are for: each purpose has its own."""

PUSHED = 1e-12
"""How much further than the margin a row is pushed; rounding is a thousandth of it."""

LARGEST_SHARE = 1.0 - 1e-9
"""Of the largest margin that a row can have, the most that may be asked for."""

BESIDE = 1e-7
"""Of a direction's length: if less is across the target, that may be rounding, and is not made longer."""

PARTS = 10
"""`Drifting` turns about a tenth of the target at a time."""


class Separable(Stream):
    """Rows that the planted `target` separates: y <target, x> >= margin, and x has length 1.

    nonzeros   so many features in a row, the others zero; None for all of them
    """

    rereadable = True
    rows: int

    def __init__(
        self, rounds: int = 10_000, width: int = 20, margin: float = 0.1, seed: int = 0, nonzeros: int | None = None
    ) -> None:
        self._plan = plan(width, margin, seed, nonzeros)
        self.rows = integer("rounds", rounds, 1)
        self.target = self._plan.target()
        self.domain, self.labels = Domain("vector", self._plan.width), Labels()
        self.name = f"separable:rounds={self.rows},{self._plan}"

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        return blocks(self._plan, self.rows, start, self._block)

    def _block(self, number: int) -> Rows:
        return self._plan.block(number)


class Noisy(Separable):
    """The rows of `Separable`, each label flipped with chance `noise`."""

    def __init__(
        self, rounds: int = 10_000, width: int = 20, margin: float = 0.1, seed: int = 0, nonzeros: int | None = None,
        noise: float = 0.1,
    ) -> None:  # fmt: skip
        if not 0.0 <= noise <= 1.0:
            raise SourceError(f"noise must be a chance from 0 to 1: got {noise}.")
        super().__init__(rounds, width, margin, seed, nonzeros)
        self.noise = float(noise)
        self.name = f"noisy:rounds={self.rows},{self._plan},noise={self.noise}"

    def _block(self, number: int) -> Rows:
        indices, values, y = super()._block(number)
        coins = (bits(self._plan.seed, NOISE, number, len(y)) >> np.uint64(11)) * 2.0**-53
        return indices, values, np.where(coins < self.noise, -y, y)


class Drifting(Separable):
    """The rows of a target that turns after each `every` rounds: a tenth of its signs flip, the next tenth in turn.

    After ten turns (with fewer features, `width` turns) it has become its opposite, after twice as many itself again.
    `target` is that of the first round, `target_at(t)` that of round t; a row keeps the margin to its own.
    """

    def __init__(
        self, rounds: int = 10_000, width: int = 20, margin: float = 0.1, seed: int = 0, nonzeros: int | None = None,
        every: int = 1000,
    ) -> None:  # fmt: skip
        super().__init__(rounds, width, margin, seed, nonzeros)
        self.every = integer("every", every, 1)
        self.name = f"drifting:rounds={self.rows},{self._plan},every={self.every}"

    def target_at(self, t: int) -> NDArray[np.float64]:
        """The target of round t = 1, 2, ..."""
        row = integer("t", t, 1) - 1
        turned = self._turned(np.array([row]), np.arange(len(self.target))[None, :])
        return np.asarray(self.target * turned[0])

    def _block(self, number: int) -> Rows:
        return self._plan.block(number, self._turned)

    def _turned(self, rows: NDArray[np.int64], indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """-1 where the sign of a feature has been flipped an odd number of times, else 1; rows from 0."""
        parts = min(PARTS, self._plan.width)
        turns = (rows // self.every)[:, None] + (parts - 1 - indices % parts)
        return 1 - 2 * (turns // parts % 2)


Rows = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int8]]
"""The features of each row, their values, and the labels."""

Turned = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]
"""From rows and the features of each, 1 or -1 for each feature."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How rows are made: `runs` are where the runs of features begin (and end), `signs` those of the target."""

    width: int
    margin: float
    seed: int
    nonzeros: int | None
    runs: NDArray[np.int64]
    signs: NDArray[np.int64]

    def __str__(self) -> str:
        sparse = f",nonzeros={self.nonzeros}" if self.nonzeros is not None else ""
        return f"width={self.width},margin={self.margin},seed={self.seed}{sparse}"

    @property
    def per_block(self) -> int:
        """How many rows there are in a block."""
        return max(1, min(ROWS_PER_BLOCK, NUMBERS_PER_BLOCK // (len(self.runs) - 1)))

    def heights(self) -> NDArray[np.float64]:
        """|u_i| for a feature of each run."""
        lengths = np.diff(self.runs)
        return 1.0 / np.sqrt(float(len(lengths)) * lengths)

    def target(self) -> NDArray[np.float64]:
        """The planted u."""
        return np.repeat(self.heights(), np.diff(self.runs)) * self.signs

    def block(self, number: int, turned: Turned | None = None) -> Rows:
        """Block number 0, 1, ... of rows."""
        count, features = self.per_block, len(self.runs) - 1
        raw = bits(self.seed, ROWS, number, 2 * count * features if self.nonzeros is not None else count * features)
        indices = self.runs[None, :-1]
        if self.nonzeros is not None:
            steps = (raw[count * features :] >> np.uint64(32)).reshape(count, features)
            indices = indices + (steps * np.diff(self.runs).astype(np.uint64) >> np.uint64(32)).astype(np.int64)
        heights = self.heights()
        longest = math.sqrt(float(np.sum(heights * heights)))
        signs = self.signs[indices]
        if turned is not None:
            signs = signs * turned(np.arange(number * count, (number + 1) * count), indices)
        unit = signs * (heights / longest)
        values, y = pushed(nearly_normal(raw[: count * features]).reshape(count, features), unit, self.margin / longest)
        return np.broadcast_to(indices, values.shape), values, y


def plan(width: int, margin: float, seed: int, nonzeros: int | None) -> Plan:
    """The plan, its numbers checked."""
    width = integer("width", width, 2, LARGEST_INDEX + 1)
    seed = integer("seed", seed, 0)
    features = width if nonzeros is None else integer("nonzeros", nonzeros, 1, width)
    ranks = np.arange(features + 1)
    runs = np.floor(float(width) ** (ranks / features)).astype(np.int64)
    runs[0], runs[-1] = 0, width
    runs = ranks + np.maximum.accumulate(runs - ranks)  # at least one feature in each
    check_margin(margin, math.sqrt(float(np.mean(1.0 / np.diff(runs)))) * LARGEST_SHARE)
    signs = 1 - 2 * (bits(seed, TARGET, 0, width) >> np.uint64(63)).astype(np.int64)
    return Plan(width, float(margin), seed, None if nonzeros is None else features, runs, signs)


def pushed(
    directions: NDArray[np.float64], unit: NDArray[np.float64], least: float
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Rows of length 1 and their labels: y <unit, x> >= least."""
    directions = directions / np.sqrt((directions * directions).sum(axis=1))[:, None]
    along = (directions * unit).sum(axis=1)
    y = np.where(along >= 0.0, np.int8(1), np.int8(-1))
    across = directions - along[:, None] * unit
    across /= np.maximum(np.sqrt((across * across).sum(axis=1)), BESIDE)[:, None]
    far = np.minimum(1.0, np.maximum(np.abs(along), least + PUSHED))
    return (y * far)[:, None] * unit + np.sqrt(1.0 - far * far)[:, None] * across, y


def blocks(plan: Plan, rows: int, start: Position | None, make: Callable[[int], Rows]) -> Iterator[Batch]:
    """A batch for each block, the first and last cut where the stream begins and ends."""
    first = count_at(start)
    while first < rows:
        number, skip = divmod(first, plan.per_block)
        stop = min((number + 1) * plan.per_block, rows)
        some = slice(skip, skip + stop - first)
        indices, values, y = make(number)
        indices, values, y = indices[some], values[some], y[some]
        x: NDArray[np.float64] | Sparse = values
        if plan.nonzeros is not None:
            ends = np.arange(len(y) + 1, dtype=np.uint64) * np.uint64(plan.nonzeros)
            x = Sparse(ends, indices.astype(np.uint32).ravel(), values.ravel(), plan.width, checked=True)
        yield Batch(x, y, first + 1, {"row": stop})
        first = stop


def bits(seed: int, purpose: int, block: int, count: int) -> NDArray[np.uint64]:
    """`count` words of 64 random bits, a function of seed, purpose and block."""
    words = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(purpose, block))).random_raw(count)
    return np.asarray(words, dtype=np.uint64)


def nearly_normal(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The sum of the four quarters of each word, about 0: an odd whole number, so never 0."""
    pairs = (words & np.uint64(0x0000FFFF0000FFFF)) + (words >> np.uint64(16) & np.uint64(0x0000FFFF0000FFFF))
    sums = (pairs & np.uint64(0xFFFFFFFF)) + (pairs >> np.uint64(32))
    return 2.0 * sums - float(4 * 0xFFFF - 1)


def integer(what: str, value: int, low: int, high: int = 2**62) -> int:
    """The value as an int, or an error that says what it must be."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and low <= value <= high:
        return int(value)
    raise SourceError(f"{what} must be a whole number from {low} to {high:,}: got {value!r}.")


def check_margin(margin: float, most: float) -> None:
    """An error if rows cannot have that margin; the one it names is rounded down."""
    if not 0.0 < margin <= most:
        raise SourceError(
            f"the margin must be above 0 and at most {most * (1.0 - 1e-9):.10g} for rows of this shape: got {margin}. "
            "Ask for a smaller one, a smaller width or more non-zeros."
        )
