from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import tries
from novikoff.numerics.decimals import FIVES, PADDING, SMALLEST_POWER, number

LEFT = "left to the caller"


def read(text):
    """The number and the bytes it took, or LEFT. What follows is digits, which must not be taken."""
    data = np.frombuffer(bytearray(text.encode("latin-1") + b"\n" + b"7" * PADDING), dtype=np.uint8)
    value, stop = number(data, np.uint64(0))
    return LEFT if stop == 0 else (value, int(stop))


def same_as_python(text):
    """Is it the very double, -0.0 apart from 0.0? Numbers of up to 19 digits must not be left to the caller."""
    got = read(text)
    digits = text.lower().partition("e")[0].strip("+-").replace(".", "").lstrip("0")
    if got == LEFT:
        return len(digits) > 19 or abs(float(text)) >= 2.0**1022 or len(text.lower().partition("e")[2]) > 7
    return struct.pack("d", got[0]) == struct.pack("d", float(text)) and got[1] == len(text)


@pytest.mark.parametrize(
    "text",
    ["0", "-0", "+1", "1", "5.", ".5", "-.5", "0.0627", "1e-3", "1E3", "1e+3", "6.2699720e-02", "12345678",
     "123456789", "1234567.5", "12345678.5", "123456781234567.8", "0.12345678", "0.123456789",
     "9007199254740992", "9007199254740993", "0.1234567890123456789", "18446744073709551615",
     "9999999999999999999", "00000000000000000000000000000001.5", "0.00000000000000000000000000001", "1e22",
     "1e23", "1e-22", "1e-23", "1e308", "1.7976931348623157e308", "5e-324", "2.4703282292062327e-324",
     "2.4703282292062328e-324", "2.2250738585072014e-308", "2.225073858507201e-308", "1e-400", "0e999",
     "0e-999", "8.98846567431158e307", "4.4501477170144023e-308", "3e-324", "1e0", "1e-0", "7e00003"],
)  # fmt: skip
def test_a_number_is_the_double_that_python_reads(text):
    assert same_as_python(text)


@pytest.mark.parametrize("text", ["", "-", "+", ".", "-.", "e5", ".e5", "1e", "1e+", "1e-x", "nan", "inf", "--1", "+-1",
                                  "1e400", "-1e309", "x", "\xff", " 1", "1e12345678", ":"])  # fmt: skip
def test_nonfinite_numbers_are_left_to_the_caller(text):
    assert read(text) == LEFT


@pytest.mark.parametrize("text", ["1x", "1.5.5", "1e5e5", "1:", "1-", "0x10", "1_0", "1 ", "1#"])
def test_parsed_number_ends_at_the_right_byte(text):
    value, stop = read(text)
    assert value == float(text[:stop])
    assert stop < len(text)


def test_numbers_of_more_than_nineteen_digits_are_left_to_the_caller():
    assert read("12345678901234567890") == LEFT
    assert read("0.12345678901234567890") == LEFT
    assert read("1.00000000000000000001") == LEFT


def test_powers_of_five_have_their_top_bit_set_and_are_near():
    assert FIVES.shape == (651, 2)
    for row, power in zip(FIVES.tolist(), range(SMALLEST_POWER, 309), strict=True):
        word = row[0] << 64 | row[1]
        assert word >> 127 == 1
        numerator, denominator = (5**power, 1) if power >= 0 else (1, 5**-power)
        exact = (numerator << 2000) // denominator
        exact >>= exact.bit_length() - 128
        assert word - exact in ((0,) if power >= 0 else (0, 1))


@settings(max_examples=tries(500))
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_comes_back_from_its_repr(x):
    assert same_as_python(repr(x))


@settings(max_examples=tries(500))
@given(st.integers(0, 2**64 - 1), st.integers(-400, 330))
def test_integers_times_powers_of_ten_are_rounded_once(m, power):
    assert same_as_python(f"{m}e{power}")


@settings(max_examples=tries(500))
@given(st.from_regex(r"[+-]?([0-9]{1,12}\.?[0-9]{0,12}|\.[0-9]{1,20})([eE][+-]?[0-9]{1,3})?", fullmatch=True))
def test_numbers_in_any_form_are_those_of_python(text):
    assert same_as_python(text)


def half_way(rng):
    """Just between two doubles, where the even one is right; exactly, and in as few digits as can be."""
    m, e = 2 * (rng.getrandbits(52) | 2**52) + 1, rng.randint(-4, 10)
    return str(m * 2**e) if e >= 0 else f"{m * 5**-e}e{e}"


def anything(rng):
    kind = rng.randrange(7)
    if kind == 0:
        return repr(struct.unpack("d", struct.pack("Q", rng.getrandbits(64) & ~(1 << 62)))[0])
    if kind == 1:
        return f"{rng.getrandbits(rng.randint(1, 64))}e{rng.randint(-360, 330)}"
    if kind == 2:
        return f"{rng.random() * 10 ** rng.randint(-10, 10):.{rng.randint(1, 19)}g}"
    if kind == 3:
        return f"{rng.random() * 10 ** rng.randint(-6, 6):.{rng.randint(0, 25)}f}"
    if kind == 4:
        return half_way(rng)
    if kind == 5:
        return repr(rng.getrandbits(52) * 5e-324)
    return "0." + "0" * rng.randint(0, 30) + str(rng.getrandbits(rng.randint(1, 62)))


def test_numbers_of_all_sizes_are_those_of_python():
    rng = random.Random(1)
    for text in (anything(rng) for _ in range(20_000)):
        assert same_as_python(text), text


@pytest.mark.slow
def test_a_million_numbers_are_those_of_python():
    rng = random.Random(2)
    for text in (anything(rng) for _ in range(1_000_000)):
        assert same_as_python(text), text
