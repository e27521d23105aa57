"""Rows of a stream, for the repeated passes of the search for comparators.

Rows are held in memory if they fit in `memory` bytes, at eight bytes per non-zero. Otherwise they are read from the
stream in every pass, in blocks of a quarter of that size; only the alpha of each row is kept.
Rows are z = y x~ times a power of two near 1/R, in single precision (comparators/_loops/dual.py).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.rereading import Reading, read, whole
from novikoff.comparators.rows import BYTES_PER_NONZERO, BYTES_PER_ROW, Rows, numbers
from novikoff.comparators.separation import Chunk, regrouped
from novikoff.core.stream import Stream
from novikoff.core.types import Sparse
from novikoff.numerics.records import SparseRows, astuple

if TYPE_CHECKING:
    from novikoff.comparators._loops.dual import Packed

MEMORY = 256_000_000
"""Default limit of the rows in memory, in bytes."""
BYTES_PER_WORD = 4
"""Bytes per word of a packed row."""
FURTHEST = 500
"""Largest exponent of the power of two; rows that are longer or shorter are rejected later."""

FAR = 2.0**20
"""Ratio of R to the R of the first batch from which the rows are read again, in units that fit R."""


class Scorer(Protocol):
    """Comparators that are evaluated on every row."""

    def see(self, x: Rows, y: NDArray[np.int8], wrong: NDArray[np.bool_]) -> None:
        """Process rows in order."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Packed rows (comparators/_loops/dual.py); `first` is the number of the first row, not counting omitted rows.

    Attributes:
        first: Number of the first row, counted from 0.
        ends: (rows + 1,) start of each row in `words`, and the end of the last.
        words: Alternating places and values of the non-zeros.
        square: (rows,) ||z||^2 of each row; 0 for rows that single precision cannot hold.
    """

    first: int
    ends: NDArray[np.uint64]
    words: NDArray[np.uint32]
    square: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.square)

    def packed(self) -> Packed:
        """Return the rows for compiled loops."""
        from novikoff.comparators._loops import dual

        return astuple(dual.Packed(self.ends, self.words, self.words.view(np.float32)))


class Blocks:
    """Rows of a stream, prepared for many passes.

    Args:
        stream: Rereadable stream.
        bias: Value of the constant feature; 0 for none.
        normalize: Whether each x is divided by its norm.
        rounds: Maximum number of rounds; None for all.
        names: Positions of named features.
        memory: Bytes of rows to hold.

    Attributes:
        rows: Number of rows, without those that are omitted (rereading.py).
        nonzeros: Number of values in these rows; zeros of dense rows count.
        width: Number of features, including the bias, which is the first.
        unit: Power of two that rows are multiplied by.
        square: Approximately the largest ||x~||^2; `longest` is that times unit^2.
        fits: Whether all rows are in memory.
        sample: First rows, in memory; all of them if they fit.
        passes: Number of times the stream was read.
    """

    def __init__(
        self,
        stream: Stream,
        bias: float,
        normalize: bool,
        rounds: int | None = None,
        names: Mapping[str, int] | None = None,
        memory: int = MEMORY,
    ) -> None:
        self._stream, self.bias, self.normalize = stream, bias, normalize
        self._rounds, self._names = rounds, names
        self._block_words = max(memory // BYTES_PER_WORD // 4, 1)
        self.rows = self.width = self.nonzeros = self.passes = 0
        self.unit, self.square, self.fits = 0.0, 0.0, True
        self.reading = Reading()
        self.sample = self._load(memory // BYTES_PER_WORD)
        if self.longest > FAR**2:  # rows after the first batch are much longer than it
            self.unit = _unit(self.square)
            self.rows = self.nonzeros = 0
            self.fits, self.reading = True, Reading()
            self.sample = self._load(memory // BYTES_PER_WORD)

    @property
    def longest(self) -> float:
        """Approximately the largest ||z||^2 in the units of the rows."""
        return self.square * self.unit**2

    def each(self) -> Iterator[Block]:
        """Yield the blocks in order; the arrays of one may be reused for the next."""
        if self.fits:
            yield self.sample
            return
        self.passes += 1
        filling, left = _Filling(0, self._block_words), self.rows
        for x, y in self._read():
            if _width(x) > self.width:
                break  # the stream has changed: the result will be void, but no array may overflow
            x, y = x[:left], y[:left]
            left -= len(y)
            done = 0
            while done < len(y):
                done += filling.take(x[done:], y[done:], self.bias, self.normalize, self.unit)
                if done < len(y):
                    block = filling.block()
                    yield block
                    filling = _Filling(block.first + len(block), self._block_words, block.words)
        if filling.rows:
            yield filling.block()

    def head(self) -> Blocks:
        """Return a copy that has only the rows of `sample`."""
        head = copy.copy(self)
        head.rows, head.fits = len(self.sample), True
        head.nonzeros = int(self.sample.ends[-1]) // 2
        return head

    def margins(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return <u, z> for every row; 0 for rows that have disappeared from the stream."""
        from novikoff.comparators._loops import dual

        out = np.zeros(self.rows)
        for block in self.each():
            dual.margins(block.packed(), u, out[block.first : block.first + len(block)])
        return out

    def squares(self) -> NDArray[np.float64]:
        """Return ||z||^2 of every row; 0 for rows that cannot be held or have disappeared from the stream."""
        out = np.zeros(self.rows)
        for block in self.each():
            out[block.first : block.first + len(block)] = block.square
        return out

    def combined(self, alpha: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the sum of alpha_t z_t, and the alpha that entered it: 0 for rows that cannot be held."""
        from novikoff.comparators._loops import dual

        u, counted = np.zeros(self.width), np.zeros(self.rows)
        for block in self.each():
            here = slice(block.first, block.first + len(block))
            counted[here] = np.where(block.square != 0.0, alpha[here], 0.0)
            dual.combine(block.packed(), counted[here], u)
        return u, counted

    def chunks(self) -> Callable[[], Iterator[Chunk]]:
        """Return a function that yields the rows as they are in the stream; they are held if they fit in memory."""
        held: list[Chunk] | None = None
        room = (
            self.nonzeros * BYTES_PER_NONZERO + self.reading.rows * BYTES_PER_ROW
            <= 4 * self._block_words * BYTES_PER_WORD
        )

        def read() -> Iterator[Chunk]:
            nonlocal held
            if held is not None:
                yield from held
                return
            self.passes += 1
            kept: list[Chunk] = []
            for chunk in regrouped(whole(self._stream, self._rounds, dict(self._names or {}))):
                if room:
                    kept.append(chunk)
                yield chunk
            held = kept if room else None

        return read

    def show(self, *scorers: Scorer) -> Reading:
        """Evaluate the comparators on every row, as it is in the stream, with no row marked as a mistake."""
        reading = Reading()
        for x, y in self._read(reading):
            for scorer in scorers:
                scorer.see(x, y, np.zeros(len(y), np.bool_))
        return reading

    def _read(self, reading: Reading | None = None) -> Iterator[tuple[Rows, NDArray[np.int8]]]:
        return read(self._stream, self.bias, self._rounds, self._names, reading)

    def _load(self, words: int) -> Block:
        """Read the stream once: measure its size and scale, and hold as many rows as there is room for."""
        self.passes += 1
        filling = _Filling(0, words)
        for x, y in self._read(self.reading):
            self.width = max(self.width, _width(x))
            longest = _longest(x, self.bias, self.normalize)
            if self.unit == 0.0 and 0.0 < longest < math.inf:
                self.unit = _unit(longest)
            self.square = max(self.square, longest) if longest < math.inf else self.square
            self.rows += len(y)
            self.nonzeros += len(numbers(x))
            if self.fits:
                done = filling.take(x, y, self.bias, self.normalize, self.unit)
                self.fits = done == len(y)
        self.width, self.unit = max(self.width, 1), self.unit or 1.0
        if not self.fits and filling.rows:
            filling.cut(self._block_words)
        return filling.block()


class _Filling:
    """A block while it is being filled."""

    def __init__(self, first: int, size: int, words: NDArray[np.uint32] | None = None) -> None:
        self._first = first
        self._words = np.empty(size, np.uint32) if words is None else words
        self._at = self.rows = 0
        self._ends = [np.zeros(1, np.uint64)]
        self._square: list[NDArray[np.float64]] = []

    def take(self, x: Rows, y: NDArray[np.int8], bias: float, normalize: bool, unit: float) -> int:
        """Pack rows while there is room; return their number. A row too long for any block is stored as zero."""
        from novikoff.comparators._loops import dual

        ends, square = np.empty(len(y), np.uint64), np.zeros(len(y))
        into = (self._words, self._words.view(np.float32), self._at, ends, square)
        if isinstance(x, Sparse):
            rows = astuple(SparseRows(x.indptr, x.indices, x.values))
            taken = int(dual.put_sparse(rows, y, bias, normalize, unit, *into))
        else:
            taken = int(dual.put_dense(x, y, bias, normalize, unit, *into))
        if taken == 0 and self.rows == 0 and len(y):
            ends[0], square[0], taken = self._at, 0.0, 1
        self._add(ends[:taken], square[:taken])
        return taken

    def _add(self, ends: NDArray[np.uint64], square: NDArray[np.float64]) -> None:
        if len(ends):
            self._ends.append(ends)
            self._square.append(square)
            self._at = int(ends[-1])
            self.rows += len(ends)

    def cut(self, size: int) -> None:
        """Keep only the first rows that fit in `size` words."""
        ends, square = np.concatenate(self._ends), np.concatenate(self._square)
        count = int(np.searchsorted(ends, size, side="right")) - 1
        self._words = self._words[:size].copy()
        self._ends, self._square, self._at, self.rows = [ends[:1]], [], 0, 0
        self._add(ends[1 : count + 1], square[:count])

    def block(self) -> Block:
        square = np.concatenate(self._square) if self._square else np.zeros(0)
        return Block(self._first, np.concatenate(self._ends), self._words, square)


def _unit(square: float) -> float:
    """Return the power of two near 1/R."""
    exponent = math.frexp(math.sqrt(square))[1]
    return math.ldexp(1.0, -min(max(exponent, -FURTHEST), FURTHEST))


def _longest(x: Rows, bias: float, normalize: bool) -> float:
    """Return approximately the largest ||x~||^2."""
    from novikoff.comparators._loops import dual

    if normalize:
        return (1.0 if np.any(numbers(x)) else 0.0) + bias * bias
    if isinstance(x, Sparse):
        return float(dual.longest_sparse(x.indptr, x.values)) + bias * bias
    with np.errstate(over="ignore"):
        reals = np.asarray(x, dtype=np.float64)
        return float(np.max(np.einsum("ij,ij->i", reals, reals), initial=0.0)) + bias * bias


def _width(x: Rows) -> int:
    """Return the number of features, the bias included."""
    return (x.width if isinstance(x, Sparse) else int(x.shape[1])) + 1
