"""Evaluation of programs on one x: all of them, 64 at a time, or a list of them, one by one.

All: bit p of `words` is the value of the program at position p. The programs of each length begin at a new word, and
the unused bits between two lengths stay 0. A row of `plan` is a block of finite/classes/program_code.py:
    kind, position, first word of the rows' programs, their number, first word of the columns' programs, their number.
A row of an `and` block is a copy of the columns' block or zeros; a row of an `or` block is ones or a copy.

One by one: a program is compiled to tokens in postfix order, each token kind + 8 (i + 2^30 j), and run on a stack of
bits in one word. A program of n leaves needs n bits of stack; 64 leaves would take a program of 317 bits, above the
limit of 256.

Words and shift amounts are all uint64, because numba converts int64 with uint64 to float.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined

END, NOT, AND, OR, FEATURE, PAIR, CONSTANT = 0, 1, 2, 3, 4, 5, 6  # as in finite/classes/program_code.py
FIELD = 30  # number of bits of a token for i

ZERO = np.uint64(0)
ONE = np.uint64(1)
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
WORD = np.uint64(64)
# Masks of the population count: sums of 1 bit in pairs, of pairs in fours, of fours in eights, and of the last byte.
PAIRS = np.uint64(0x5555555555555555)
FOURS = np.uint64(0x3333333333333333)
EIGHTS = np.uint64(0x0F0F0F0F0F0F0F0F)
COUNT = np.uint64(0x7F)


@inlined
def ones(word: np.uint64) -> np.uint64:
    """Return the number of 1 bits of the word, without a product, which would overflow in plain Python."""
    word = word - ((word >> ONE) & PAIRS)
    word = (word & FOURS) + ((word >> np.uint64(2)) & FOURS)
    word = (word + (word >> np.uint64(4))) & EIGHTS
    word = word + (word >> np.uint64(8))
    word = word + (word >> np.uint64(16))
    word = word + (word >> np.uint64(32))
    return word & COUNT


@inlined
def append(words: NDArray[np.uint64], at: int, source: int, count: int, flip: np.uint64) -> None:
    """Copy bits to a position whose bits are still 0.

    Args:
        words: (words,) bits, changed.
        at: Bit position to copy to; any bit of a word.
        source: Word to copy from, at its first bit.
        count: Number of bits.
        flip: All ones to invert the bits, else 0.
    """
    shift = np.uint64(at & 63)
    to = at >> 6
    whole = count >> 6
    rest = count & 63
    if shift == ZERO:
        for k in range(whole):
            words[to + k] = words[source + k] ^ flip
    else:
        back = WORD - shift
        carry = words[to]
        for k in range(whole):
            word = words[source + k] ^ flip
            words[to + k] = carry | (word << shift)
            carry = word >> back
        if whole:
            words[to + whole] = carry
    if rest:
        word = (words[source + whole] ^ flip) & (FULL >> np.uint64(64 - rest))
        words[to + whole] |= word << shift
        if (at & 63) + rest > 64:
            words[to + whole + 1] = word >> (WORD - shift)


@inlined
def fill(words: NDArray[np.uint64], at: int, count: int) -> None:
    """Set `count` bits of words (words,) from position `at` on."""
    end = at + count
    first = at >> 6
    last = (end - 1) >> 6
    head = FULL << np.uint64(at & 63)
    tail = FULL >> np.uint64(63 - ((end - 1) & 63))
    if first == last:
        words[first] |= head & tail
    else:
        words[first] |= head
        for k in range(first + 1, last):
            words[k] = FULL
        words[last] |= tail


@inlined
def put(words: NDArray[np.uint64], at: int, value: bool) -> None:
    """Set the bit of words (words,) at a position that is still 0, if `value`."""
    if value:
        words[at >> 6] |= ONE << np.uint64(at & 63)


@compiled
def evaluate(
    plan: NDArray[np.int64], x: NDArray[np.float64], constants: NDArray[np.float64], words: NDArray[np.uint64]
) -> None:
    """Write the values of all programs.

    Args:
        plan: (blocks, 6) blocks as above, by increasing length: operands come before the programs that use them.
        x: (features,) example.
        constants: (constants,) constants of the language.
        words: (words,) output: one bit per program; must be 0 before.
    """
    width = len(x)
    for b in range(len(plan)):
        kind = plan[b, 0]
        at = plan[b, 1]
        rows = plan[b, 2]
        row_count = plan[b, 3]
        columns = plan[b, 4]
        column_count = plan[b, 5]
        if kind in (AND, OR):
            for k in range(row_count):
                row = (words[rows + (k >> 6)] >> np.uint64(k & 63)) & ONE == ONE
                if row == (kind == AND):
                    append(words, at, columns, column_count, ZERO)
                elif row:
                    fill(words, at, column_count)
                at += column_count
        elif kind == NOT:
            append(words, at, columns, column_count, FULL)
        elif kind == FEATURE:
            for i in range(width):
                put(words, at + i, x[i] != 0.0)
        elif kind == PAIR:
            for i in range(width):
                for j in range(width):
                    if i != j:
                        put(words, at, x[i] < x[j])
                        at += 1
        else:
            for i in range(width):
                for c in range(len(constants)):
                    put(words, at, x[i] < constants[c])
                    at += 1


@compiled
def count_both(
    words: NDArray[np.uint64], alive: NDArray[np.uint64], starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> None:
    """Count, for each program length, the survivors whose value is true.

    Args:
        words: (words,) values of the programs.
        alive: (words,) survivors.
        starts: (lengths + 1,) the programs of length L are in words starts[L] .. starts[L+1]-1.
        counts: (lengths,) output.
    """
    for length in range(len(counts)):
        total = ZERO
        for k in range(starts[length], starts[length + 1]):
            total += ones(words[k] & alive[k])
        counts[length] = np.int64(total)


@compiled
def keep(alive: NDArray[np.uint64], words: NDArray[np.uint64], flip: np.uint64) -> None:
    """Keep the survivors with one value.

    Args:
        alive: (words,) survivors, changed.
        words: (words,) values of the programs.
        flip: 0 to keep the true ones, all ones to keep the false ones.
    """
    for k in range(len(alive)):
        alive[k] &= words[k] ^ flip


@compiled
def positions(alive: NDArray[np.uint64], out: NDArray[np.int64]) -> int:
    """Write the positions of the first 1 bits of alive (words,) to out, until it is full; return their number."""
    found = 0
    for k in range(len(alive)):
        word = alive[k]
        while word != ZERO:
            if found == len(out):
                return found
            low = word & ~(word - ONE)  # the lowest 1 bit
            out[found] = np.int64(64) * k + np.int64(ones(low - ONE))
            found += 1
            word ^= low
    return found


@compiled
def compile_programs(
    blocks: NDArray[np.int64], members: NDArray[np.int64], width: int, constant_count: int,
    starts: NDArray[np.int64], tokens: NDArray[np.int64], stack: NDArray[np.int64],
) -> int:  # fmt: skip
    """Write the tokens of some programs, each followed by END, and return the number of tokens.

    Args:
        blocks: (blocks, 5) first number, kind, first number of the rows' programs and of the columns' programs, number
            of columns.
        members: (programs,) numbers of the programs.
        width: Number of features.
        constant_count: Number of constants.
        starts: (programs,) output: index of the first token of each program.
        tokens: Output, long enough for all.
        stack: Scratch, at least twice as long as a program has bits.
    """
    at = 0
    for k in range(len(members)):
        starts[k] = at
        stack[0] = members[k]
        top = 1
        while top:
            top -= 1
            index = stack[top]
            if index < 0:  # an operator: its operands are written already
                tokens[at] = -index
                at += 1
                continue
            low = 0
            high = len(blocks)
            while high - low > 1:  # binary search for the block of this program
                middle = (low + high) >> 1
                if blocks[middle, 0] <= index:
                    low = middle
                else:
                    high = middle
            kind = blocks[low, 1]
            rank = index - blocks[low, 0]
            if kind == FEATURE:
                tokens[at] = kind + 8 * rank
                at += 1
            elif kind == PAIR:
                i = rank // (width - 1)
                j = rank % (width - 1)
                if j >= i:  # pairs skip j = i
                    j += 1
                tokens[at] = kind + 8 * (i + (j << FIELD))
                at += 1
            elif kind == CONSTANT:
                tokens[at] = kind + 8 * (rank // constant_count + ((rank % constant_count) << FIELD))
                at += 1
            else:
                stack[top] = -kind  # comes out after its operands
                stack[top + 1] = blocks[low, 3] + rank % blocks[low, 4]
                top += 2
                if kind != NOT:
                    stack[top] = blocks[low, 2] + rank // blocks[low, 4]
                    top += 1
        tokens[at] = END
        at += 1
    return at


@compiled
def run(
    starts: NDArray[np.int64], tokens: NDArray[np.int64], x: NDArray[np.float64], constants: NDArray[np.float64],
    values: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Write the value of each compiled program.

    Args:
        starts: (programs,) output of `compile_programs`.
        tokens: Output of `compile_programs`.
        x: (features,) example.
        constants: (constants,) constants of the language.
        values: (programs,) output.
    """
    for k in range(len(starts)):
        at = starts[k]
        stack = ZERO  # the top is the lowest bit
        token = tokens[at]
        while token != END:
            kind = token & 7
            i = (token >> 3) & ((1 << FIELD) - 1)
            j = token >> (3 + FIELD)
            if kind == NOT:
                stack ^= ONE
            elif kind == AND:
                stack = (stack >> ONE) & (stack | (FULL << ONE))
            elif kind == OR:
                stack = (stack >> ONE) | (stack & ONE)
            else:
                if kind == FEATURE:
                    value = x[i] != 0.0
                elif kind == PAIR:
                    value = x[i] < x[j]
                else:
                    value = x[i] < constants[j]
                stack = (stack << ONE) | np.uint64(value)
            at += 1
            token = tokens[at]
        values[k] = stack == ONE
