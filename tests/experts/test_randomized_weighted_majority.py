"""Randomized Weighted Majority; its contracts are in test_exponential_weights.py too."""

import math

import numpy as np
import pytest

from novikoff.core.errors import InputError
from novikoff.core.types import Batch
from novikoff.experts.exponential_weights import ExponentialWeights
from novikoff.experts.randomized_weighted_majority import RandomizedWeightedMajority
from novikoff.finite.classes.threshold import Thresholds
from novikoff.game.play import play
from samples import CLASSES, INDICES, MATRIX

SAMPLES = {
    "randomized-weighted-majority": [
        ("randomized-weighted-majority:[thresholds:n=20]", *INDICES),
        (f"randomized-weighted-majority:[{MATRIX}],beta=0.8,prior=[1,2,3,4]", *CLASSES),
    ],
}
"""Samples for tests/test_every_learner.py."""


def test_it_is_exponential_weights_with_the_rate_of_beta():
    x = np.random.default_rng(0).integers(0, 2, (300, 6)).astype(float)
    y = np.random.default_rng(1).integers(0, 2, 300).astype(float)
    one, two = RandomizedWeightedMajority(6, beta=0.7, seed=5), ExponentialWeights(6, eta=-math.log(0.7), seed=5)
    first, second = one.learn_many(Batch(x, y, 1)), two.learn_many(Batch(x, y, 1))
    assert first.predictions.tolist() == second.predictions.tolist()
    assert one.weights.tolist() == two.weights.tolist()
    assert one.facts() == two.facts()


def test_weights_are_powers_of_beta():
    learner = RandomizedWeightedMajority(3, beta=0.5)
    for row, y in (([1, 0, 0], 1), ([1, 1, 0], 0), ([0, 1, 0], 1)):
        learner.learn_one(row, y)
    w = np.array([0.5**2, 0.5**2, 0.5**2])
    assert learner.weights == pytest.approx(w / w.sum())
    learner.learn_one([0, 1, 1], 1)
    w = np.array([0.5**3, 0.5**2, 0.5**2])
    assert learner.weights == pytest.approx(w / w.sum())


@pytest.mark.parametrize("beta", [0.1, 0.5, 0.9])
def test_expected_mistakes_are_below_the_bound_on_streams_that_answer_back(beta):
    """The outcome is what the heavier half does not say, so the expected loss is large in every round."""
    learner = RandomizedWeightedMajority(8, beta=beta)
    x = np.array([(i >> np.arange(8)) & 1 for i in np.random.default_rng(0).integers(0, 256, 400)], dtype=float)
    total, lost = 0.0, np.zeros(8)
    for row in x:
        y = 0.0 if learner.weights @ row >= 0.5 else 1.0
        total += learner.play_one(row, y).expected
        lost += row != y
    bound = (lost.min() * math.log(1 / beta) + math.log(8)) / (1 - beta)
    assert total <= bound * (1 + 1e-12)
    assert total >= 200.0


def test_the_draws_are_fair():
    x, y = np.tile([0.0, 1.0, 1.0], (4000, 1)), np.ones(4000)
    learner = RandomizedWeightedMajority(3, beta=1 - 1e-12, seed=1)
    assert learner.learn_many(Batch(x, y, 1)).losses.mean() == pytest.approx(1 / 3, abs=4 * math.sqrt(2 / 9 / 4000))
    other = RandomizedWeightedMajority(3, beta=1 - 1e-12, seed=2)
    assert (
        other.learn_many(Batch(x, y, 1)).predictions.tolist() != learner.learn_many(Batch(x, y, 1)).predictions.tolist()
    )


def test_a_class_is_followed_and_the_certificate_is_of_its_expected_mistakes():
    x = np.random.default_rng(0).integers(0, 101, 500)
    found = play(RandomizedWeightedMajority(Thresholds(100)), (x, np.where(x >= 40, 1, -1))).certify()
    small = next(one for one in found if one.theorem == "small_losses")
    assert small.status == "valid"
    assert small.bound == pytest.approx(2 * math.log(102), rel=1e-6)


@pytest.mark.parametrize("beta", [0, 1, -0.5, 2, math.nan, "a", True, None])
def test_beta_must_lie_between_0_and_1(beta):
    with pytest.raises(InputError, match="beta must be"):
        RandomizedWeightedMajority(3, beta=beta)


def test_other_losses_are_refused():
    with pytest.raises(InputError, match="zero-one"):
        RandomizedWeightedMajority(3, loss="squared")
    assert RandomizedWeightedMajority(3, loss="table").play_one(None, [0.0, 0.5, 1.0]).expected == pytest.approx(0.5)


def test_it_is_restored_unchanged():
    learner = RandomizedWeightedMajority(3, beta=0.3, prior=[1, 2, 3], seed=7)
    for row, y in (([1, 0, 0], 1), ([1, 1, 0], 0)):
        learner.learn_one(row, y)
    again = RandomizedWeightedMajority.restore(learner.state())
    assert again.beta == 0.3
    assert again.weights.tolist() == learner.weights.tolist()
    assert again.facts() == learner.facts()
    assert [again.play_one([0, 1, 2], 1) for _ in range(20)] == [learner.play_one([0, 1, 2], 1) for _ in range(20)]
