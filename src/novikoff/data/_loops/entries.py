"""Entries `index:value` of svmlight text, found 64 bytes at a time and read four at a time.

Algorithm
    `places` compares 64 bytes at once with the separators and lists their positions: colons, blanks (line ends
    included), and the number of each before every line end. Then no entry depends on the one before it: `four` reads
    the digits that end at a colon and those that end at a blank, four entries in parallel in one vector.
    It reads -D.FFFFFFFF (one digit, a point, one to eight) or up to eight digits, with or without a minus sign;
    D * 10^f + F is below 2^31 and 10^f is exact, so one division gives the nearest double.
    Anything else marks its lane as wrong, and the caller reads that line by the slow path.
In LLVM
    numba does not vectorise such code, so it is built here with LLVM vectors, which work on any machine; `Lanes` gives
    a vector Python's operators.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.decimals import EIGHT, ONE, REAL_POWERS, TOPS, U64, ZERO, trailing_zeros

PADDING = 80
"""Number of readable bytes that must follow the text."""
WIDE = 4
"""Number of entries read at a time; arrays need room for as many more."""
SAFE = 16
"""First position with enough readable bytes before it; lines that start earlier take the slow path."""

BLOCK = 64
"""Number of bytes compared at a time."""
COLON, BLANK, TAB, NEWLINE, RETURN, POINT, MINUS = 58, 32, 9, 10, 13, 46, 45
NOUGHTS, NO_DIGIT = 0x3030303030303030, 0x7676767676767676
"""Eight characters "0", and the summand that carries a byte above 9 into its top bit (numerics/decimals.py)."""
LAST = U64(BLOCK)


class Lanes:
    """An LLVM vector with Python's operators, each of which generates an instruction."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def _same(self, other: Any) -> Any:
        if isinstance(other, Lanes):
            return other.value
        return ir.Constant(self.value.type, [other] * self.value.type.count)

    def _with(self, operation: str, other: Any) -> Lanes:
        return Lanes(self.builder, getattr(self.builder, operation)(self.value, self._same(other)))

    def __add__(self, other: Any) -> Lanes:
        return self._with("add", other)

    def __sub__(self, other: Any) -> Lanes:
        return self._with("sub", other)

    def __mul__(self, other: Any) -> Lanes:
        return self._with("mul", other)

    def __and__(self, other: Any) -> Lanes:
        return self._with("and_", other)

    def __or__(self, other: Any) -> Lanes:
        return self._with("or_", other)

    def __xor__(self, other: Any) -> Lanes:
        return self._with("xor", other)

    def __lshift__(self, other: Any) -> Lanes:
        return self._with("shl", other)

    def __rshift__(self, other: Any) -> Lanes:
        return self._with("lshr", other)

    def equals(self, other: Any) -> Lanes:
        """Return a vector of truth values, lane by lane."""
        return Lanes(self.builder, self.builder.icmp_unsigned("==", self.value, self._same(other)))

    def choose(self, yes: Any, no: Lanes) -> Lanes:
        """Return `yes` in lanes that are true, otherwise `no`."""
        return Lanes(self.builder, self.builder.select(self.value, no._same(yes), no.value))

    def cast(self, how: str, kind: Any, count: int = WIDE) -> Lanes:
        """Return the vector converted to this type."""
        return Lanes(self.builder, getattr(self.builder, how)(self.value, ir.VectorType(kind, count)))


# LLVM types
BYTE, SHORT, INT, WORD, DOUBLE = ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.DoubleType()


def _data(context: Any, builder: Any, signature: Any, arguments: Any, place: int) -> Any:
    """Return the data pointer of array argument number `place`."""
    return context.make_array(signature.args[place])(context, builder, arguments[place]).data


def _unaligned(builder: Any, data: Any, place: Any, kind: Any) -> Any:
    """Load a value of this type from an unaligned position."""
    loaded = builder.load(builder.bitcast(builder.gep(data, [place]), kind.as_pointer()))
    loaded.align = 1
    return loaded


def _store(builder: Any, value: Any, data: Any, place: Any) -> None:
    """Store a value at an unaligned position."""
    builder.store(value, builder.bitcast(builder.gep(data, [place]), value.type.as_pointer())).align = 1


def _finder(*wanted: int) -> Any:
    """Return a function for the mask of the 64 bytes from `at` on that are among `wanted`, as the bits of a word."""

    def typed(typing_context: Any, text: Any, at: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data = _data(context, builder, signature, arguments, 0)
            block = Lanes(builder, _unaligned(builder, data, arguments[1], ir.VectorType(BYTE, BLOCK)))
            bits = block.equals(wanted[0])
            for byte in wanted[1:]:
                bits = bits | block.equals(byte)
            return builder.bitcast(bits.value, WORD)

        return types.uint64(text, types.uint64), build

    return intrinsic(typed)


_colons = _finder(COLON)
_blanks = _finder(BLANK, TAB, NEWLINE)
_newlines = _finder(NEWLINE)
_returns = _finder(RETURN)


@intrinsic
def _count(typing_context: Any, word: Any) -> Any:
    """Return the number of one bits."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


_ones: Any = _count


@inlined
def _listed(bits: np.uint64, at: np.uint64, out: NDArray[np.uint32], count: np.uint64) -> np.uint64:
    """Append the positions of the one bits to `out`, and return the new count.

    Eight are always written, whether present or not, to avoid mispredicted branches.
    """
    more = _ones(bits)
    for k in range(EIGHT):
        out[count + k] = at + trailing_zeros(bits)
        bits &= bits - ONE
    for k in range(EIGHT, more):
        out[count + k] = at + trailing_zeros(bits)
        bits &= bits - ONE
    return count + more


@compiled
def places(
    text: NDArray[np.uint8], end: np.uint64, colons: NDArray[np.uint32], blanks: NDArray[np.uint32],
    line_colons: NDArray[np.uint32], line_blanks: NDArray[np.uint32],
) -> tuple[np.uint64, np.uint64]:  # fmt: skip
    """List the separators; return the number of lines and of colons.

    A blank is a space, a tab, a line end, or the carriage return before it.

    Args:
        text: (end + PADDING,) bytes.
        end: Number of bytes to read.
        colons: (colons,) out: positions of colons.
        blanks: (blanks,) out: positions of blanks.
        line_colons: (lines,) out: number of colons before the end of each line.
        line_blanks: (lines,) out: number of blanks before the end of each line, which is the index of that end in
            `blanks`.
    """
    at = colon = blank = line = ZERO
    while at < end:
        inside = ~ZERO if end - at >= LAST else (ONE << (end - at)) - ONE
        ends = _newlines(text, at) & inside
        some_colons = _colons(text, at) & inside
        some_blanks = (_blanks(text, at) & inside) | (_returns(text, at) & (ends >> ONE))
        while ends != ZERO:
            before = (ends & (ZERO - ends)) - ONE
            line_colons[line] = colon + _ones(some_colons & before)
            line_blanks[line] = blank + _ones(some_blanks & before)
            line = line + ONE
            ends &= ends - ONE
        colon = _listed(some_colons, at, colons, colon)
        blank = _listed(some_blanks, at, blanks, blank)
        at = at + LAST
    for k in range(U64(WIDE + 1)):  # padding: a vector load reads beyond the last separator
        colons[colon + k] = SAFE
        blanks[blank + k] = SAFE
    return line, colon


def _joined(word: Lanes) -> Lanes:
    """Return the number written by the eight digits 0 .. 9 in each word."""
    pairs = word.cast("bitcast", SHORT, 4 * WIDE)
    pairs = (pairs * 10 + (pairs >> 8)) & 0xFF
    fours = (pairs * 100).cast("bitcast", WORD) + (pairs.cast("bitcast", WORD) >> 16) & 0x0000FFFF0000FFFF
    return (fours & 0xFFFFFFFF) * 10000 + (fours >> 32)


class Four:
    """Generator of code that reads four numbers of a text in parallel; the text is argument 0."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.builder, self.arguments = builder, arguments
        self._given = context, builder, signature, arguments

    def array(self, place: int) -> Any:
        """Return the data pointer of an array argument."""
        return _data(*self._given, place)

    def vector(self, values: list[Any], kind: Any) -> Any:
        """Return the values as a vector."""
        made = ir.Constant(ir.VectorType(kind, WIDE), ir.Undefined)
        for k, value in enumerate(values):
            made = self.builder.insert_element(made, value, INT(k))
        return made

    def constant(self, value: int) -> Lanes:
        """Return the same word in all lanes."""
        return Lanes(self.builder, ir.Constant(ir.VectorType(WORD, WIDE), [value] * WIDE))

    def listed(self, places: int, first: Any) -> Lanes:
        """Return four positions from argument `places`, starting at index `first`."""
        loaded = _unaligned(self.builder, self.array(places), first, ir.VectorType(INT, WIDE))
        return Lanes(self.builder, loaded).cast("zext", WORD)

    def words(self, places: int, first: Any, offset: int) -> Lanes:
        """Return eight bytes of text at `offset` from each of those positions."""
        builder, data = self.builder, self.array(places)
        starts = [builder.load(builder.gep(data, [builder.add(first, WORD(k))])) for k in range(WIDE)]
        starts = [builder.add(builder.zext(start, WORD), WORD(offset)) for start in starts]
        return Lanes(builder, self.vector([_unaligned(builder, self.array(0), start, WORD) for start in starts], WORD))

    def ending(self, word: Lanes, count: Lanes) -> Lanes:
        """Return the last `count` bytes as digits 0 .. 9, with zeros before them."""
        shift = (self.constant(64) - (count << 3)) & 63
        return ((word ^ NOUGHTS) >> shift) << shift

    def numbers(self, head: Lanes, tail: Lanes, length: Lanes, powers: int) -> tuple[Lanes, Lanes, Lanes]:
        """Return the numbers as the bits of doubles, their flaws, and their digit counts.

        Flaws are top bits of bytes, set if a lane is not a number. Digits are counted after the point, or all if there
        is no point.

        Args:
            head: First eight bytes of each number.
            tail: Last eight bytes of each number.
            length: Length of each number in bytes.
            powers: Index of the argument with the powers of ten.
        """
        # A number is [-]D.F or [-]F with up to eight digits F: `whole` is D, `word` has the digits of F, and the value
        # is (D 10^f + F) / 10^f, or F without a point.
        builder, constant = self.builder, self.constant
        sign = (head & 0xFF).equals(MINUS).choose(1, constant(0))
        head = head >> (sign << 3)
        point = (head & 0xFF00).equals(POINT << 8)
        whole = point.choose((head & 0xFF) ^ 48, constant(0))
        count = length - sign - point.choose(2, constant(0))
        word = self.ending(tail, count)
        flaws = (word + NO_DIGIT) | word | (whole + 0x76) | whole
        slots = count & 15
        scale = [builder.gep(self.array(powers), [builder.extract_element(slots.value, INT(k))]) for k in range(WIDE)]
        power = self.vector([builder.load(slot) for slot in scale], DOUBLE)
        value = builder.fadd(builder.fmul(self.real(whole), power), self.real(_joined(word)))
        one = ir.Constant(power.type, [1.0] * WIDE)
        value = Lanes(builder, builder.fdiv(value, builder.select(point.value, power, one))).cast("bitcast", WORD)
        return value | (sign << 63), flaws, count

    def real(self, word: Lanes) -> Any:
        """Return words below 2^52 as doubles."""
        shifted = (word | 0x4330000000000000).cast("bitcast", DOUBLE)
        return self.builder.fsub(shifted.value, ir.Constant(shifted.value.type, [2.0**52] * WIDE))

    def mark(self, flaws: Lanes, few: Lanes, left: Any, wrong: int) -> None:
        """Add the flaws to argument `wrong`, and a flaw if `few` is not in 0 .. 7; lanes from `left` on have none."""
        flaws = flaws | (few & (2**64 - 8)).equals(0).choose(0, self.constant(2**64 - 1))
        lanes = ir.Constant(ir.VectorType(WORD, WIDE), list(range(WIDE)))
        inside = self.builder.icmp_unsigned("<", lanes, self.vector([left] * WIDE, WORD))
        flaws = Lanes(self.builder, inside).choose(flaws, self.constant(0))
        known = _unaligned(self.builder, self.array(wrong), WORD(0), flaws.value.type)
        _store(self.builder, self.builder.or_(known, flaws.value), self.array(wrong), WORD(0))


@intrinsic
def _four(
    typing_context: Any, text: Any, colons: Any, blanks: Any, colon: Any, blank: Any, left: Any, powers: Any,
    indices: Any, values: Any, at: Any, wrong: Any,
) -> Any:  # fmt: skip
    """Read the entries of four colons, the first of which starts after blanks[blank].

    Writes indices and values from `at` on. An invalid entry sets top bits of bytes in its lane of `wrong`; lanes from
    `left` on, after the line's last entry, set none.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        four = Four(context, builder, signature, arguments)
        _, _, _, first, blank_before, left, _, _, _, at, _ = arguments
        blank_behind = builder.add(blank_before, WORD(1))
        here, before, behind = four.listed(1, first), four.listed(2, blank_before), four.listed(2, blank_behind)
        digits = here - before - 1
        word = four.ending(four.words(1, first, -8), digits)
        value, flaws, count = four.numbers(
            four.words(1, first, 1), four.words(2, blank_behind, -8), behind - here - 1, powers=6
        )
        _store(builder, value.value, four.array(8), at)
        _store(builder, _joined(word).cast("trunc", INT).value, four.array(7), at)
        four.mark((word + NO_DIGIT) | word | flaws, (digits - 1) | (count - 1), left, wrong=10)
        return context.get_dummy_value()

    word = types.uint64
    return types.void(text, colons, blanks, word, word, word, powers, indices, values, word, wrong), build


four: Any = _four


@inlined
def regular(
    text: NDArray[np.uint8], colons: NDArray[np.uint32], blanks: NDArray[np.uint32], colon: np.uint64,
    last_colon: np.uint64, blank: np.uint64, last_blank: np.uint64, indices: NDArray[np.uint32],
    values: NDArray[np.float64], at: np.uint64, wrong: NDArray[np.uint64],
) -> bool:  # fmt: skip
    """Read the entries of one line; return False if the line needs the slow path.

    Args:
        text: Bytes.
        colons: (colons,) positions of colons.
        blanks: (blanks,) positions of blanks.
        colon: Index of the line's first colon.
        last_colon: Index after the line's last colon.
        blank: Index of the blank after the label.
        last_blank: Index of the line end in `blanks`.
        indices: (entries,) out: feature indices.
        values: (entries,) out: values.
        at: First entry to write.
        wrong: (WIDE,) buffer for the error flags of four entries.
    """
    # Each entry has one colon and ends at one blank. One blank more is allowed: the carriage return of the line end.
    count = last_colon - colon
    spare = last_blank - blank - count
    if count == ZERO or spare > ONE or (spare == ONE and blanks[last_blank - ONE] != blanks[last_blank] - ONE):
        return False
    wrong[:] = ZERO
    for k in range(ZERO, count, U64(WIDE)):
        four(text, colons, blanks, colon + k, blank + k, count - k, REAL_POWERS, indices, values, at + k, wrong)
    return ((wrong[0] | wrong[1] | wrong[2] | wrong[3]) & TOPS) == ZERO


@inlined
def rising(indices: NDArray[np.uint32], first: np.uint64, last: np.uint64) -> bool:
    """Return whether indices[first:last] are strictly increasing."""
    falls = False
    for k in range(first + ONE, last):
        falls |= indices[k] <= indices[k - ONE]
    return not falls
