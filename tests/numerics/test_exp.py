"""exp: within 2 ulp, the same in a vector, alone, and in plain Python."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.kernel._loops.blocks import exponentials
from novikoff.numerics.exp import LEAST, MOST, exp
from twins import exp_twin

inside = st.floats(LEAST, MOST)


@numba.njit
def alone(x):
    return exp(x)


@numba.njit
def together(values, gamma):
    for block in range(len(values) // 16):
        exponentials(values, np.uint64(block), gamma)


def true(x):
    with localcontext() as context:
        context.prec = 60
        return Fraction(Decimal(x).exp())


@given(inside)
def test_it_is_within_two_units_in_the_last_place(x):
    got = alone(x)
    assert abs(Fraction(got) - true(x)) <= 2 * Fraction(math.ulp(got))


def test_on_a_fine_grid_it_is_nearly_always_the_nearest_double():
    grid = np.linspace(-1.0, 1.0, 2001)
    wrong = sum(abs(Fraction(alone(x)) - true(x)) > Fraction(math.ulp(alone(x))) / 2 for x in grid.tolist())
    assert wrong < 0.15 * len(grid)


@given(st.floats(allow_nan=False))
def test_compiled_and_plain_python_agree_to_the_bit(x):
    assert alone(x) == exp_twin(x)


@given(st.lists(st.floats(0.0, 1e4), min_size=16, max_size=16), st.floats(0.0, 10.0))
def test_a_block_of_sixteen_is_sixteen_times_one(values, gamma):
    block = np.array(values)
    together(block, gamma)
    assert block.tolist() == [exp_twin(-(gamma * value)) for value in values]


@pytest.mark.parametrize(
    ("x", "wanted"),
    [
        (0.0, 1.0),
        (-0.0, 1.0),
        (math.nextafter(LEAST, -math.inf), 0.0),
        (-math.inf, 0.0),
        (math.nextafter(MOST, math.inf), math.inf),
        (math.inf, math.inf),
    ],
)
def test_limits_are_as_documented(x, wanted):
    assert alone(x) == wanted


def test_nan_stays_nan():
    assert math.isnan(alone(math.nan))
    assert math.isnan(exp_twin(math.nan))


@given(st.floats(-700.0, 700.0))
def test_the_whole_powers_of_two_cancel(x):
    assert math.isclose(alone(x) * alone(-x), 1.0, rel_tol=1e-15)
