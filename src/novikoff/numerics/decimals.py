"""Decimal numbers in text, parsed to the same double as Python's float.

Digits are read eight at a time: in a little-endian word, xor "00000000" leaves 0 .. 9 in bytes that are digits, so a
carry into the top bit marks the first byte that is not one; then pairs, fours and eights of digits are joined by
multiplication. A decimal m * 10^k is one exact division or multiplication while m < 2^53 and |k| <= 22; otherwise it is
a product with 128 bits of 5^k, which suffices for every m < 2^64 [lemire2021], [mushtak2023].

The text must have PADDING readable bytes after its end, and a non-digit byte there or before.
Every word is uint64: numba converts an int64 and a uint64 to a float.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, type_callable
from numpy.typing import NDArray

from novikoff.numerics.compiled import inlined, inner

PADDING = 16
"""Number of readable bytes that must follow the text."""

U64 = np.uint64
ZERO, ONE, TWO, EIGHT, TEN = U64(0), U64(1), U64(2), U64(8), U64(10)
PLUS, MINUS, POINT, NOUGHT, SMALL, E = U64(43), U64(45), U64(46), U64(48), U64(32), U64(101)
"""Characters "+", "-", ".", "0"; the bit that makes a letter lower-case; "e"."""
EXACT = U64(2**53)
"""Limit below which every integer is a double."""
MOST_DIGITS = U64(19)
"""Maximum number of significant digits: 10^19 < 2^64. Numbers with more are left to the caller."""
NOUGHTS, CARRY, TOPS = U64(0x3030303030303030), U64(0x7676767676767676), U64(0x8080808080808080)
"""Eight characters "0"; the summand that carries a byte above 9 into its top bit; the top bits of eight bytes."""
BYTES_0_4, HUNDREDS, ONES = U64(0x000000FF000000FF), U64(0x000F424000000064), U64(0x0000271000000001)
"""Mask and multipliers that join four pairs of digits: 10^6 and 100, 10^4 and 1, in the upper and lower half."""
WORD32, BITS32 = U64(0xFFFFFFFF), U64(32)
POWERS = np.array([10**k for k in range(9)], dtype=np.uint64)
"""Powers of ten, by which the number is multiplied before up to eight digits are added."""
REAL_POWERS = np.array([float(10**k) for k in range(23)])
"""Powers of ten that are exact doubles."""
SMALLEST_POWER, LARGEST_POWER = -342, 308
"""Powers of ten outside of which every 19-digit number is 0 or infinite as a double."""


def _five(k: int) -> int:
    """Return 5^k as a 128-bit word with its top bit set, rounded down (k >= 0) or up (k < 0), as [lemire2021] needs."""
    if k >= 0:
        return 5**k << 128 >> (5**k).bit_length()
    fives = 5**-k
    bits = (fives - 1).bit_length()
    word = (1 << (bits + 127 if k >= -27 else 2 * bits + 128)) // fives + 1
    return word >> max(word.bit_length() - 128, 0)


# (powers, 2) high and low 64 bits of 5^k, for k from SMALLEST_POWER on
FIVES = np.array([divmod(_five(k), 2**64) for k in range(SMALLEST_POWER, LARGEST_POWER + 1)], dtype=np.uint64)


def trailing_zeros(word: Any) -> Any:
    """Return the number of zero bits below the lowest one bit; 64 if there is none."""
    return U64((int(word) & -int(word)).bit_length() - 1 if word else 64)


def leading_zeros(word: Any) -> Any:
    """Return the number of zero bits above the highest one bit; 64 if there is none."""
    return U64(64 - int(word).bit_length())


def eight(text: Any, at: Any) -> Any:
    """Return eight bytes as a little-endian word."""
    return U64(sum(int(text[at + U64(k)]) << 8 * k for k in range(8)))


@type_callable(trailing_zeros)
@type_callable(leading_zeros)
def _of_word(context: Any) -> Any:
    return lambda word: types.uint64


@type_callable(eight)
def _of_text(context: Any) -> Any:
    return lambda text, at: types.uint64


@lower_builtin(trailing_zeros, types.uint64)
def _trailing_zeros(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))


@lower_builtin(leading_zeros, types.uint64)
def _leading_zeros(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))


@lower_builtin(eight, types.Array, types.uint64)
def _eight(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Generate an unaligned load."""
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    word = builder.load(builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer()))
    word.align = 1
    return word if sys.byteorder == "little" else builder.bswap(word)


@inlined
def digits(word: np.uint64) -> np.uint64:
    """Return how many of the first bytes are digits; the word is xor NOUGHTS."""
    return trailing_zeros(((word + CARRY) | word) & TOPS) >> U64(3)


@inlined
def joined(word: np.uint64, count: np.uint64) -> np.uint64:
    """Return the number that the first `count` bytes spell, 1 to 8 digits; the word is xor NOUGHTS."""
    word = word << ((EIGHT - count) << U64(3))
    word = word * TEN + (word >> EIGHT)
    return ((word & BYTES_0_4) * HUNDREDS + ((word >> U64(16)) & BYTES_0_4) * ONES) >> BITS32


@inlined
def product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the high and low 64 bits of a * b."""
    a1, a0, b1, b0 = a >> BITS32, a & WORD32, b >> BITS32, b & WORD32
    low, middle, other, high = a0 * b0, a1 * b0, a0 * b1, a1 * b1
    carry = ((low >> BITS32) + (middle & WORD32) + (other & WORD32)) >> BITS32
    return high + (middle >> BITS32) + (other >> BITS32) + carry, a * b


@inlined
def scaled(m: np.uint64, power: int) -> float:
    """Return the double nearest to m * 10^power, ties to even; infinity from 2^1023 on."""
    if m == ZERO or power < SMALLEST_POWER:
        return 0.0
    if power > LARGEST_POWER:
        return math.inf
    zeros = leading_zeros(m)
    m = m << zeros
    high, low = product(m, FIVES[power - SMALLEST_POWER, 0])
    if high & U64(0x1FF) == U64(0x1FF):  # the bits that decide the rounding may change: use the low half of 5^k too
        more, _ = product(m, FIVES[power - SMALLEST_POWER, 1])
        low = low + more
        if more > low:
            high = high + ONE
    top = high >> U64(63)
    bits = high >> (top + U64(9))  # 54 bits: a double's 53 and one to round by
    # 217706 / 2^16 is log2 of 10, accurate enough for every power in range.
    exponent: Any = ((217706 * power) >> 16) + 63 + np.int64(top) - np.int64(zeros) + 1023
    if exponent > 2045:
        return math.inf  # overflow, or close to it: the caller parses the text with Python's float
    if exponent <= 0:  # a subnormal double, or 0
        if exponent < -62:
            return 0.0
        bits = bits >> U64(1 - exponent)
        bits = (bits + (bits & ONE)) >> ONE
        return math.ldexp(np.float64(np.int64(bits)), -1074)
    if low <= ONE and -4 <= power <= 23 and bits & U64(3) == ONE and bits << (top + U64(9)) == high:
        bits = bits - ONE  # exactly half way: round to even
    bits = (bits + (bits & ONE)) >> ONE
    return math.ldexp(np.float64(np.int64(bits)), int(exponent - 1075))


@inner
def number(text: NDArray[np.uint8], at: np.uint64) -> tuple[float, np.uint64]:
    """Return the number that starts at `at` and the position of its end, which is `at` if the caller must parse it.

    Args:
        text: (bytes,) text, with PADDING bytes after its end.
        at: Position of the first character.
    """
    start = at
    c = U64(text[at])
    minus = c == MINUS
    if minus or c == PLUS:
        at = at + ONE
    # The most frequent form, one digit and a point, is read without the loop.
    m = U64(text[at]) ^ NOUGHT
    fraction = m < TEN and U64(text[at + ONE]) == POINT
    if fraction:
        at = at + TWO
    else:
        m = ZERO
    bare = not fraction  # no digit so far
    count = U64(m > ZERO)  # number of digits, without leading zeros
    power: Any = 0
    while True:
        word = eight(text, at) ^ NOUGHTS
        n = digits(word)
        if n > ZERO:
            bare = False
            count = count + n if m > ZERO else n - min(n, trailing_zeros(word) >> U64(3))
            m = m * POWERS[n] + joined(word, n)
            at = at + n
            if fraction:
                power -= np.int64(n)
            if n == EIGHT and count <= MOST_DIGITS:
                continue
        if fraction or U64(text[at]) != POINT:
            break
        fraction = True
        at = at + ONE
    if bare or count > MOST_DIGITS:
        return 0.0, start
    if U64(text[at]) | SMALL == E:
        at = at + ONE
        c = U64(text[at])
        if c in (MINUS, PLUS):
            at = at + ONE
        word = eight(text, at) ^ NOUGHTS
        n = digits(word)
        if n in (ZERO, EIGHT):
            return 0.0, start
        e = np.int64(joined(word, n))
        power = power - e if c == MINUS else power + e
        at = at + n
    if m < EXACT and -22 <= power <= 22:
        value: Any = np.float64(np.int64(m))
        value = value * REAL_POWERS[power] if power > 0 else value / REAL_POWERS[-power]
    else:
        value = scaled(m, power)
        if value == math.inf:
            return 0.0, start
    return (-value if minus else value), at
