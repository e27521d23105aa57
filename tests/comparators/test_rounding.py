"""Vectors brought to a given length."""

from fractions import Fraction

import numpy as np
import pytest

from novikoff.comparators.rounding import of_length


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
