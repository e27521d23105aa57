"""The sums that the self-check rests on: signs that look random, and totals that keep what rounding loses."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.kernels import margins


def test_signs_are_a_fixed_function_of_the_feature_and_look_random():
    signs = margins.signs(100_000)
    assert set(signs.tolist()) == {-1.0, 1.0}
    assert signs[:16].tolist() == [margins.sign(i) for i in range(16)]
    np.testing.assert_array_equal(margins.signs(500), signs[:500])
    assert abs(signs.sum()) < 2000
    for step in (1, 2, 3, 64, 1000):
        assert abs(signs[step:] @ signs[:-step]) < 2000


@given(st.lists(st.floats(-1e15, 1e15) | st.sampled_from([1e300, -1e300, 1e-300, 1.0]), max_size=50))
def test_a_sum_keeps_what_rounding_loses(numbers):
    pair = np.zeros(2)
    for number in numbers:
        margins.add(pair, number)
    exact = sum(map(Fraction, numbers), Fraction(0))
    sizes = sum((abs(Fraction(number)) for number in numbers), Fraction(0))
    assert abs(sum(map(Fraction, pair.tolist())) - exact) <= Fraction(len(numbers) ** 2, 2**105) * sizes


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("bias", [0.0, 0.5])
@pytest.mark.parametrize("width", [1, 7, 8, 30])
def test_dense_and_sparse_rows_are_probed_alike(width, bias, normalize):
    coins = np.random.default_rng(width)
    x = coins.normal(size=(40, width))
    y, wrong = coins.choice(np.array([-1, 1], np.int8), 40), coins.random(40) < 0.5
    indptr = np.arange(0, 40 * width + 1, width, dtype=np.uint64)
    indices = np.tile(np.arange(width, dtype=np.uint32), 40)
    signs = margins.signs(width)
    rows = x / np.linalg.norm(x, axis=1)[:, None] if normalize else x
    exact = math.fsum((y * (rows @ signs + bias) * wrong).tolist())
    one, two = np.zeros(2), np.zeros(2)
    margins.probe_dense(x, y, wrong, bias, normalize, signs, one)
    margins.probe_sparse(indptr, indices, x.reshape(-1), y, wrong, bias, normalize, two)
    assert one.sum() == pytest.approx(exact, abs=1e-12)
    assert two.sum() == pytest.approx(exact, abs=1e-12)
