"""Numbers rounded to the safe side, and vectors brought to a given length."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.comparators.rounding import in_units, length_of, of_length, root


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1.0, 0.3, 1e308])
@pytest.mark.parametrize("count", [1, 3, 1000])
def test_a_vector_is_brought_to_a_length_by_a_power_of_two(size, count):
    vector = np.full(count, size)
    vector[1::2] *= -1.0
    scaled = of_length(vector, 10)
    square = sum(Fraction(value) ** 2 for value in scaled.tolist())
    assert 4**9 <= square <= 4**10
    ratio = Fraction(float(scaled[0])) / Fraction(size)
    assert np.array_equal(scaled, vector / size * scaled[0])
    assert ratio.numerator & (ratio.numerator - 1) == ratio.denominator & (ratio.denominator - 1) == 0


def test_a_zero_vector_stays_as_it_is():
    assert of_length(np.zeros(3), 10).tolist() == [0.0] * 3


weights = st.sampled_from([0.0, 1e-320, 1e-200, 3e-162, 1e-161, 0.1, 1 / 3, 1.0, 1e8, -1e100, 2.0**450]) | st.floats(
    -1e9, 1e9
)


@given(st.lists(weights, max_size=20))
def test_squared_length_is_rounded_up_and_zero_for_zero_only(numbers):
    exact = sum((Fraction(number) ** 2 for number in numbers), Fraction(0))
    told = length_of(np.array(numbers, dtype=np.float64))
    assert exact <= told <= exact * (1 + Fraction(1, 2**49)) + Fraction(21, 2**1074)
    assert (told == 0) == (exact == 0)


@given(st.fractions(0, 10**30) | st.integers(0, 2**1000).map(lambda k: Fraction(k, 2**1900)))
def test_root_is_rounded_up_and_zero_for_zero_only(square):
    found = root(square)
    assert found**2 >= square
    assert max(found - Fraction(3, 2**600), Fraction(0)) ** 2 <= square
    assert (found == 0) == (square == 0)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_in_units_is_exact(number):
    assert Fraction(in_units(number, 1074), 2**1074) == Fraction(number)
