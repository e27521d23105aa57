"""Thompson sampling: the law of its samples, its probabilities, and its contracts."""

import math

import numpy as np
import pytest
from scipy import stats

import novikoff as nk
from novikoff.bandits import _loops
from novikoff.bandits.thompson import least_of_betas
from novikoff.testing import check_learner
from samples import LOSSES

SAMPLES = {"thompson": [("thompson:arms=4", *LOSSES)]}
"""Samples for tests/test_every_learner.py."""


def test_probabilities_of_two_arms_have_a_closed_form():
    # P(X < Y), X uniform, Y = Beta(2, 1) with density 2y: the integral of 2 y^2, 2/3
    assert least_of_betas(np.array([1.0, 2.0]), np.array([1.0, 1.0])) == pytest.approx([2 / 3, 1 / 3], abs=1e-12)
    assert least_of_betas(np.ones(5), np.ones(5)) == pytest.approx(np.full(5, 0.2), abs=1e-12)


@pytest.mark.parametrize(
    ("ones", "zeros"), [([3, 50, 2], [4, 60, 9]), ([900, 1000], [1000, 1000]), ([1, 90], [30, 10])]
)
def test_probabilities_are_those_of_samples(ones, zeros):
    samples = np.random.default_rng(0).beta(ones, zeros, (200_000, len(ones)))
    shares = np.bincount(samples.argmin(axis=1), minlength=len(ones)) / len(samples)
    found = least_of_betas(np.array(ones, float), np.array(zeros, float))
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    assert found == pytest.approx(shares, abs=0.005)


@pytest.mark.parametrize(("plays", "ones"), [([0, 0], [0, 0]), ([5, 9], [1, 4]), ([2000, 40], [900, 16])])
def test_the_arm_is_drawn_with_its_probability(plays, ones):
    plays, ones, n = np.array(plays, float), np.array(ones, float), 40_000
    arms = [_loops.stochastic.thompson_arm(plays, ones, np.uint64(seed * 7919), 3) for seed in range(n)]
    p = least_of_betas(1 + ones, 1 + plays - ones)[0]
    count = n - sum(arms)
    assert stats.binomtest(count, n, p).pvalue > 1e-4


def test_losses_between_0_and_1_count_as_ones_with_their_mean():
    learner = nk.Thompson(1, seed=3)
    nk.play(learner, nk.Losses(np.full((10_000, 1), 0.3)))
    assert stats.binomtest(int(learner.state()["ones"][0]), 10_000, 0.3).pvalue > 1e-4


def test_seeds_differ_and_predictions_repeat():
    rows = np.random.default_rng(0).random((300, 3))
    games = [nk.play(nk.Thompson(3, seed=seed), nk.Losses(rows), record=True).recorded().tolist() for seed in (0, 1, 0)]
    assert games[0] == games[2] != games[1]


def test_every_contract_is_kept():
    rows = np.random.default_rng(2).random((200, 4))
    bad = [[0.5] * 3, [0.5, 0.5, 0.5, 1.5], math.nan, -0.1, None, "a"]
    check_learner(lambda: nk.Thompson(4, seed=5), nk.Losses(rows), refused=[0, "a"], outcomes=bad)
