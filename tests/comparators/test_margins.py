"""The sums that the self-check rests on: signs that look random, and totals that keep what rounding loses."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.comparators._loops import margins
from novikoff.comparators.linear import LinearScorer, probe
from novikoff.core.types import Sparse
from novikoff.numerics import totals


@given(st.lists(st.floats(-1e15, 1e15) | st.sampled_from([1e300, -1e300, 1e-300, 1.0]), max_size=50))
def test_sum_compensates_rounding(numbers):
    pair = np.zeros(2)
    for number in numbers:
        totals.put(pair, 0, number)
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
    sparse = Sparse(
        np.arange(0, 40 * width + 1, width, dtype=np.uint64), np.tile(np.arange(width, dtype=np.uint32), 40),
        x.reshape(-1), width,
    )  # fmt: skip
    fitted_on = max(width - 2, 1)  # the probe has weights for features it has not seen
    totals = []
    for rows in (x, sparse):
        scorer = LinearScorer.placed([np.ones(fitted_on + 1)], [], 1.0, bias, normalize)
        scorer.see(rows, y, wrong)
        totals.append(scorer.tally.added[margins.DIRECTIONS].sum())
    told = x / np.linalg.norm(x, axis=1)[:, None] if normalize else x
    exact = math.fsum((y * (told @ probe(0, width) + bias) * wrong).tolist())
    assert totals == pytest.approx([exact, exact], abs=1e-12)


def test_weights_of_the_probe_look_random_and_are_not_small():
    weights = LinearScorer.placed([np.ones(100_001)], [], 1.0, 0.0, False).U[:-1, -1]
    assert weights.tolist() == probe(0, 100_000).tolist()
    assert 0.5 <= np.abs(weights).min() < 0.51 < 0.99 < np.abs(weights).max() <= 1.0
    signs = np.sign(weights)
    for step in (1, 2, 3, 64, 1000):
        assert abs(signs[step:] @ signs[:-step]) < 2000
