"""Generated streams with a planted unit vector u as target, and a margin that every row keeps.

Rows
    x has norm 1. Draw a random direction g; its label is the sign of <u, g>. If it is closer to the plane than the
    margin, push it out: keep the part across u, and raise the part along u to the margin. So
        y <u, x>  >=  margin
    for every row, rounding included (a push goes 1e-12 too far), and many rows are at the margin.
    Dense rows have all features, u_i = +-1/sqrt(width), and allow every margin below 1.
Sparse rows
    The features are split into `nonzeros` runs, each longer than the previous one by the same factor (at least one
    feature), and a row has one feature of each run: none is repeated, and feature i is present with probability near
    1/i, like words in a text. A run of s features has weight 1/nonzeros in u: u_i = +-1/sqrt(nonzeros s). So the part
    of u that a row sees has the same norm in every row, sqrt(mean of 1/s), which is the largest possible margin.
Reproducibility
    Row t depends on the arguments other than `rounds`, not on the number of rows or the start position. Numbers come
    from the raw bits of PCG64, which numpy keeps stable; the sum of four uniform numbers is close enough to normal.
    Only the target and one block of rows are in memory.
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
"""Maximum number of rows per block."""
NUMBERS_PER_BLOCK = 2**18
"""Approximate number of values per block."""

TARGET, ROWS, NOISE = 0, 1, 2
"""Purposes of random bits; each has its own sequence."""

PUSHED = 1e-12
"""Excess of a push over the margin, a thousand times the rounding error."""

LARGEST_SHARE = 1.0 - 1e-9
"""Largest allowed margin, as a fraction of the largest possible one."""

LEAST_ACROSS = 1e-7
"""Smallest component across the target, relative to the norm, that is rescaled: a smaller one may be rounding error."""

PARTS = 10
"""Number of parts of the target; `Drifting` flips one at a time."""


class Separable(Stream):
    """Stream that the planted `target` separates: y <target, x> >= margin and ||x|| = 1.

    Args:
        rounds: Number of rows.
        width: Number of features.
        margin: Margin of the target.
        seed: Seed of the rows and the target.
        nonzeros: Nonzero features per row; None for all.
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
    """Rows of `Separable` with each label flipped with probability `noise`.

    Args:
        rounds: Number of rows.
        width: Number of features.
        margin: Margin of the target before the flips.
        seed: Seed of the rows, the target and the flips.
        nonzeros: Nonzero features per row; None for all.
        noise: Probability of a flip.
    """

    def __init__(
        self, rounds: int = 10_000, width: int = 20, margin: float = 0.1, seed: int = 0, nonzeros: int | None = None,
        noise: float = 0.1,
    ) -> None:  # fmt: skip
        if not 0.0 <= noise <= 1.0:
            raise SourceError(f"noise must be a probability from 0 to 1: got {noise}.")
        super().__init__(rounds, width, margin, seed, nonzeros)
        self.noise = float(noise)
        self.name = f"noisy:rounds={self.rows},{self._plan},noise={self.noise}"

    def _block(self, number: int) -> Rows:
        indices, values, y = super()._block(number)
        coins = (bits(self._plan.seed, NOISE, number, len(y)) >> np.uint64(11)) * 2.0**-53
        return indices, values, np.where(coins < self.noise, -y, y)


class Drifting(Separable):
    """Rows of `Separable` for a target that changes every `every` rounds: a tenth of its signs flip, in turn.

    After ten changes (`width` changes if there are fewer features) the target is the opposite of the first one, after
    twice as many it is the first one again. `target` is the target of the first round, `target_at(t)` that of round t;
    a row keeps the margin to its current target.

    Args:
        rounds: Number of rows.
        width: Number of features.
        margin: Margin of the current target.
        seed: Seed of the rows and the target.
        nonzeros: Nonzero features per row; None for all.
        every: Rounds between changes.
    """

    def __init__(
        self, rounds: int = 10_000, width: int = 20, margin: float = 0.1, seed: int = 0, nonzeros: int | None = None,
        every: int = 1000,
    ) -> None:  # fmt: skip
        super().__init__(rounds, width, margin, seed, nonzeros)
        self.every = integer("every", every, 1)
        self.name = f"drifting:rounds={self.rows},{self._plan},every={self.every}"

    def target_at(self, t: int) -> NDArray[np.float64]:
        """Return the target of round t = 1, 2, ..."""
        row = integer("t", t, 1) - 1
        turned = self._turned(np.array([row]), np.arange(len(self.target))[None, :])
        return np.asarray(self.target * turned[0])

    def _block(self, number: int) -> Rows:
        return self._plan.block(number, self._turned)

    def _turned(self, rows: NDArray[np.int64], indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return -1 where the sign of a feature is flipped in that row, otherwise 1; rows count from 0."""
        parts = min(PARTS, self._plan.width)
        turns = (rows // self.every)[:, None] + (parts - 1 - indices % parts)
        return 1 - 2 * (turns // parts % 2)


Rows = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int8]]
"""Feature indices (rows, features), their values, and the labels (rows,)."""

Turned = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]
"""Function of row numbers (rows,) and feature indices that returns the sign of each feature, 1 or -1."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Recipe for the rows of a stream.

    Attributes:
        width: Number of features.
        margin: Margin of the target.
        seed: Seed of the random bits.
        nonzeros: Nonzero features per row; None for dense rows.
        runs: (runs + 1,) start of each run of features, and the end of the last.
        signs: (width,) signs of the target.
    """

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
        """Number of rows per block."""
        return max(1, min(ROWS_PER_BLOCK, NUMBERS_PER_BLOCK // (len(self.runs) - 1)))

    def heights(self) -> NDArray[np.float64]:
        """Return |u_i| for a feature of each run."""
        lengths = np.diff(self.runs)
        return 1.0 / np.sqrt(float(len(lengths)) * lengths)

    def target(self) -> NDArray[np.float64]:
        """Return the planted u."""
        return np.repeat(self.heights(), np.diff(self.runs)) * self.signs

    def block(self, number: int, turned: Turned | None = None) -> Rows:
        """Return the rows of block `number` = 0, 1, ..."""
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
    """Return the plan for these arguments after checking them."""
    width = integer("width", width, 2, LARGEST_INDEX + 1)
    seed = integer("seed", seed, 0)
    features = width if nonzeros is None else integer("nonzeros", nonzeros, 1, width)
    ranks = np.arange(features + 1)
    runs = np.floor(float(width) ** (ranks / features)).astype(np.int64)
    runs[0], runs[-1] = 0, width
    runs = ranks + np.maximum.accumulate(runs - ranks)  # at least one feature per run
    check_margin(margin, math.sqrt(float(np.mean(1.0 / np.diff(runs)))) * LARGEST_SHARE)
    signs = 1 - 2 * (bits(seed, TARGET, 0, width) >> np.uint64(63)).astype(np.int64)
    return Plan(width, float(margin), seed, None if nonzeros is None else features, runs, signs)


def pushed(
    directions: NDArray[np.float64], unit: NDArray[np.float64], least: float
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return rows of norm 1 with y <unit, x> >= least, and their labels y.

    Args:
        directions: (rows, features) random directions.
        unit: (rows, features) or (1, features) target of each row, of norm 1.
        least: Margin.
    """
    directions = directions / np.sqrt((directions * directions).sum(axis=1))[:, None]
    along = (directions * unit).sum(axis=1)
    y = np.where(along >= 0.0, np.int8(1), np.int8(-1))
    across = directions - along[:, None] * unit
    across /= np.maximum(np.sqrt((across * across).sum(axis=1)), LEAST_ACROSS)[:, None]
    far = np.minimum(1.0, np.maximum(np.abs(along), least + PUSHED))
    return (y * far)[:, None] * unit + np.sqrt(1.0 - far * far)[:, None] * across, y


def blocks(plan: Plan, rows: int, start: Position | None, make: Callable[[int], Rows]) -> Iterator[Batch]:
    """Yield one batch per block, the first and the last cut to the range of the stream."""
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
    """Return `count` words of 64 random bits, a function of seed, purpose and block."""
    words = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(purpose, block))).random_raw(count)
    return np.asarray(words, dtype=np.uint64)


def nearly_normal(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the centred sum of the four 16-bit parts of each word: an odd integer, so never 0."""
    pairs = (words & np.uint64(0x0000FFFF0000FFFF)) + (words >> np.uint64(16) & np.uint64(0x0000FFFF0000FFFF))
    sums = (pairs & np.uint64(0xFFFFFFFF)) + (pairs >> np.uint64(32))
    return 2.0 * sums - float(4 * 0xFFFF - 1)


def integer(what: str, value: int, low: int, high: int = 2**62) -> int:
    """Return the value as an int; raise SourceError unless it is a whole number from `low` to `high`."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and low <= value <= high:
        return int(value)
    raise SourceError(f"{what} must be an integer from {low} to {high:,}: got {value!r}.")


def check_margin(margin: float, most: float) -> None:
    """Raise SourceError if rows cannot have that margin; the limit in the message is rounded down."""
    if not 0.0 < margin <= most:
        raise SourceError(
            f"the margin must be above 0 and at most {most * (1.0 - 1e-9):.10g} for rows of this shape: got {margin}. "
            "Use a smaller margin, a smaller width or more non-zeros."
        )
