"""All programs up to a given number of bits in a small total language.

Hypotheses
    The Boolean expressions of Python over x[0] .. x[width-1] that finite/classes/program_code.py defines: x[i],
    x[i] < x[j], x[i] < c for c among `constants`, not, and, or. A prefix-free code gives each its length in bits;
    they are numbered by length, so the first survivor is a shortest one. The label is +1 if the expression is true.
    Programs that always agree are different programs, and each votes.
Prior
    None: each has weight 1.  "length": a program of L bits has weight 2^(bits - L). By Kraft's inequality the total
    weight is at most 2^bits, so Halving makes at most L mistakes if a program of L bits is perfect.
Cost
    While many survive: all programs are run on x, 64 at a time (0.1 ms for two million), with one bit of memory for
    each and another during a vote. Once fewer than 1 in 1,024 survive: only these, one by one (0.05 µs each).
Reference
    [barzdin1972]; [littlestone1988].
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.errors import InputError, ModelFileError, TooLargeError
from novikoff.core.hypotheses import Ballot
from novikoff.core.types import Domain, Example, Label, State
from novikoff.finite.classes.program_code import Block, Code

LARGEST = 2**30
"""Largest number of programs in a class: 128 MB for the survivors, and the same for a vote."""

LISTED_SHARE = 1024
"""Survivors are stored as a list once there are fewer than 1 in this many: the measured break-even point."""

CONSTANTS = (-1, 0, 0.5, 1)
"""Default constants of the language."""

Words = NDArray[np.uint64]
Numbers = NDArray[np.int64]


class Programs:
    """All programs of at most `bits` bits over `width` features.

    Args:
        bits: Largest length of a program.
        width: Number of features.
        constants: Numbers that a feature may be compared with.

    Example:
        >>> import novikoff as nk
        >>> programs = nk.classes.programs(8, 2)
        >>> programs.describe(0)
        'x[0]'
    """

    labels: int | None = None

    def __init__(self, bits: int, width: int, constants: Sequence[int | float] = CONSTANTS) -> None:
        self._code = Code(bits, width, constants)
        self.bits, self.width, self.constants = self._code.bits, self._code.width, self._code.constants
        listed = "" if self.constants == CONSTANTS else f",constants=[{','.join(map(repr, self.constants))}]"
        self.name = f"programs:bits={bits},width={width}{listed}"
        self.domain = Domain("vector", self.width)
        if self.size > LARGEST:
            raise TooLargeError(
                f"a class of programs must have at most {LARGEST:,}: {self.name} has {self.size:,}. "
                "Take fewer bits or fewer features."
            )

    @property
    def size(self) -> int:
        """Exact number of programs."""
        return self._code.size

    def __len__(self) -> int:
        return self.size

    def space(self, prior: object = None) -> ProgramSpace:
        if not (prior is None or (isinstance(prior, str) and prior == "length")):
            shown = repr(prior) if isinstance(prior, str) else type(prior).__name__
            raise InputError(f'a prior of programs must be None or "length" (2^-length): got {shown}.')
        return ProgramSpace(self, by_length=prior is not None)

    def encode(self, x: Example) -> NDArray[np.float64]:
        return encode.vector(x, self.width)

    def labels_of(self, x: NDArray[np.float64], members: Numbers | None) -> NDArray[np.int8]:
        """Return the label that each member gives x; members None means all programs, in order."""
        row = self.encode(x)  # x and members are checked again, because the compiled loops do not check
        if members is None:
            values = All(self._code).everyone(row)
        else:
            numbers = np.asarray(members, dtype=np.int64)
            if len(numbers):
                self._number(int(numbers.min()))
                self._number(int(numbers.max()))
            values = Few(self._code, numbers).run(row)
        return np.where(values, np.int8(1), np.int8(-1))

    def length(self, index: int) -> int:
        """Return the number of bits of program number `index`."""
        return self._code.length(self._number(index))

    def code(self, index: int) -> str:
        """Return the code of program number `index` as a string of 0s and 1s."""
        return self._code.code(self._code.tree(self._number(index)))

    def describe(self, index: int) -> str:
        return self._code.source(self._code.tree(self._number(index)))

    def index_of(self, source: str) -> int:
        """Return the number of a program written in Python; raise InputError if it is not in the class."""
        return self._code.number(self._code.parse(source))

    def _number(self, index: int) -> int:
        if not 0 <= index < self.size:
            raise InputError(f"the number of a program must be from 0 to {self.size - 1:,}: got {index}.")
        return int(index)

    def state(self) -> State:
        return {"class": "programs", "bits": self.bits, "width": self.width, "constants": list(self.constants)}


class ProgramSpace:
    """Surviving programs: one bit per program of the class, or a list when few are left."""

    def __init__(self, programs: Programs, by_length: bool) -> None:
        self._programs = programs
        self._code = programs._code
        bits = programs.bits
        self._weights = [2 ** (bits - length) if by_length else 1 for length in range(bits + 1)]
        self.lightest = min(w for w, count in zip(self._weights, self._code.counts, strict=True) if count)
        self._held: All | Few = All(self._code)

    @property
    def count(self) -> int:
        return sum(self._held.counts)

    @property
    def weight(self) -> int:
        return self._weigh(self._held.counts)

    def _weigh(self, counts: Sequence[int]) -> int:
        """Return the total prior weight, given the number of programs of each length."""
        return sum(weight * count for weight, count in zip(self._weights, counts, strict=True))

    def poll(self, x: Example) -> Ballot:
        choices, positive, first = self._held.vote(self._programs.encode(x))
        plus = self._weigh(positive)
        return Ballot({1: plus, -1: self.weight - plus}, first, choices)

    def keep(self, ballot: Ballot, label: Label) -> None:
        self._held.keep(ballot.choices, label)
        if isinstance(self._held, All) and self.count * LISTED_SHARE < self._code.size:
            self._held = Few(self._code, self._held.members())

    def first(self) -> int:
        return self._held.first()

    def state(self) -> State:
        return self._held.state()

    def load(self, state: State) -> None:
        """Restore the space from its `state`, after checking that it belongs to this class."""
        if state.get("members") is not None:
            self._held = Few(self._code, _members(state["members"], self._code.size))
        else:
            held = All(self._code)
            held.load(state["alive"])
            self._held = held


class All:
    """Survivors as one bit per program of the class; the programs of each length start at a new word."""

    def __init__(self, code: Code) -> None:
        self._code = code
        sizes = [-(-count // 64) for count in code.counts]
        self._starts = [0, *accumulate(sizes)]
        self._word_starts = np.array(self._starts, dtype=np.int64)
        self._constants = np.array(code.constants, dtype=np.float64)
        self._plan = np.array([self._row(block) for block in code.blocks], dtype=np.int64)
        self._alive = self._full()
        self.counts = list(code.counts)
        self._first = self._position(0)

    def _row(self, block: Block) -> tuple[int, ...]:
        """Return the block as a row of the plan of `evaluate`."""
        row, column = self._code.sides(block)
        counts, at = self._code.counts, self._position(block.first)
        return block.kind, at, self._starts[row], counts[row], self._starts[column], counts[column]

    def _full(self) -> Words:
        """Return words with the bit of every program set, and no other."""
        words = np.full(self._starts[-1], ~np.uint64(0))
        for end, count in zip(self._starts[1:], self._code.counts, strict=True):
            if count % 64:
                words[end - 1] >>= np.uint64(64 - count % 64)
        return words

    def _position(self, index: int) -> int:
        """Return the position of the bit of program number `index`."""
        length = self._code.length(index)
        return 64 * self._starts[length] + index - self._code.firsts[length]

    def _values(self, x: NDArray[np.float64]) -> Words:
        from novikoff.finite._loops import programs as kernel

        words = np.zeros(len(self._alive), dtype=np.uint64)
        kernel.evaluate(self._plan, x, self._constants, words)
        return words

    def everyone(self, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return the value of every program of the class, in order."""
        values = np.unpackbits(self._values(x).astype("<u8").view(np.uint8), bitorder="little")
        real = np.unpackbits(self._full().astype("<u8").view(np.uint8), bitorder="little")
        return np.asarray(values[real == 1], dtype=np.bool_)

    def vote(self, x: NDArray[np.float64]) -> tuple[Words, list[int], Label]:
        """Return all values, the number of survivors of each length that vote +1, and the label of the first."""
        from novikoff.finite._loops import programs as kernel

        words = self._values(x)
        positive = np.empty(len(self.counts), dtype=np.int64)
        kernel.count_both(words, self._alive, self._word_starts, positive)
        bit = (int(words[self._first >> 6]) >> (self._first & 63)) & 1
        return words, positive.tolist(), 1 if bit else -1

    def keep(self, choices: Words, label: Label) -> None:
        from novikoff.finite._loops import programs as kernel

        kernel.keep(self._alive, choices, np.uint64(0) if label == 1 else ~np.uint64(0))
        self._recount()

    def _recount(self) -> None:
        from novikoff.finite._loops import programs as kernel

        counts = np.empty(len(self.counts), dtype=np.int64)
        kernel.count_both(self._alive, self._alive, self._word_starts, counts)
        self.counts = counts.tolist()
        first = np.zeros(1, dtype=np.int64)
        kernel.positions(self._alive, first)
        self._first = int(first[0])

    def first(self) -> int:
        length = bisect_right(self._starts, self._first >> 6) - 1
        return self._code.firsts[length] + self._first - 64 * self._starts[length]

    def members(self) -> Numbers:
        """Return the numbers of the survivors."""
        from novikoff.finite._loops import programs as kernel

        found = np.empty(sum(self.counts), dtype=np.int64)
        kernel.positions(self._alive, found)
        lengths = np.searchsorted(self._word_starts, found >> 6, side="right") - 1
        shift = np.array(self._code.firsts[:-1], dtype=np.int64) - 64 * self._word_starts[:-1]
        moved: Numbers = found + shift[lengths]
        return moved

    def state(self) -> State:
        return {"alive": self._alive.copy(), "members": None}

    def load(self, alive: object) -> None:
        """Restore the bits of a `state`."""
        full = self._full()
        words = np.asarray(alive)
        if words.shape != full.shape or words.dtype != full.dtype or not words.any() or (words & ~full).any():
            raise ModelFileError("saved survivors must be programs of their class: the file has others.")
        self._alive = words.copy()
        self._recount()


class Few:
    """Survivors as a list of compiled programs."""

    def __init__(self, code: Code, members: Numbers) -> None:
        from novikoff.finite._loops import programs as kernel

        self._code = code
        self._constants = np.array(code.constants, dtype=np.float64)
        self._members = members
        self._lengths = np.searchsorted(np.array(code.firsts, dtype=np.int64), members, side="right") - 1
        self._starts = np.empty(len(members), dtype=np.int64)
        # A leaf takes at least 2 bits and an operator 3, so a program has at most bits/2 tokens, and END.
        tokens = np.empty(len(members) * (code.bits // 2 + 2), dtype=np.int64)
        stack = np.empty(2 * code.bits, dtype=np.int64)
        blocks = np.array([self._row(block) for block in code.blocks], dtype=np.int64)
        leaves = code.width, len(code.constants)
        used = kernel.compile_programs(blocks, members, *leaves, self._starts, tokens, stack)
        self._tokens = tokens[:used].copy()
        self._recount()

    def _row(self, block: Block) -> tuple[int, ...]:
        """Return the block as a row of the table of `compile_programs`."""
        row, column = self._code.sides(block)
        firsts = self._code.firsts
        return block.first, block.kind, firsts[row], firsts[column], self._code.counts[column]

    def _recount(self) -> None:
        self.counts: list[int] = np.bincount(self._lengths, minlength=self._code.bits + 1).tolist()

    def run(self, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return the value of each program."""
        from novikoff.finite._loops import programs as kernel

        values = np.empty(len(self._members), dtype=np.bool_)
        kernel.run(self._starts, self._tokens, x, self._constants, values)
        return values

    def vote(self, x: NDArray[np.float64]) -> tuple[NDArray[np.bool_], list[int], Label]:
        """Return all values, the number of programs of each length that vote +1, and the label of the first."""
        values = self.run(x)
        positive = np.bincount(self._lengths[values], minlength=self._code.bits + 1)
        return values, positive.tolist(), 1 if values[0] else -1

    def keep(self, choices: NDArray[np.bool_], label: Label) -> None:
        voted = choices if label == 1 else ~choices
        self._members, self._lengths, self._starts = self._members[voted], self._lengths[voted], self._starts[voted]
        self._recount()

    def first(self) -> int:
        return int(self._members[0])

    def state(self) -> State:
        return {"alive": None, "members": self._members.copy()}


def _members(members: object, size: int) -> Numbers:
    """Return the list of a `state`, checked here because the compiled loops do not."""
    numbers = np.asarray(members)
    if numbers.dtype != np.int64 or numbers.ndim != 1 or not len(numbers):
        raise ModelFileError("saved survivors must be a non-empty list of integers: the file has none.")
    # Sorted, so that the first survivor is the shortest program, as `Few.first` assumes.
    if numbers[0] < 0 or numbers[-1] >= size or np.any(numbers[1:] <= numbers[:-1]):
        raise ModelFileError(f"saved survivors must be increasing numbers below {size:,}: the file has others.")
    return numbers.copy()
