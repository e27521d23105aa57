"""What the contrarian forces on learners that draw nothing, it cannot force on those that draw."""

from __future__ import annotations

import math

import pytest

import novikoff as nk
from novikoff.adversaries.coin_flip import CoinFlip
from novikoff.adversaries.contrarian import Contrarian
from novikoff.adversaries.theorems.coin_flip_regret import half_mean_distance
from novikoff.experts.ada_hedge import AdaHedge
from novikoff.experts.exponential_weights import ExponentialWeights
from novikoff.experts.randomized_weighted_majority import RandomizedWeightedMajority
from novikoff.experts.weighted_majority import WeightedMajority
from novikoff.finite.classes.matrix import Table

CONSTANTS = [[-1], [1]]


def played(learner, rounds, adversary=Contrarian):
    ledger = nk.play(learner, adversary(domain=learner.domain), rounds=rounds)
    return ledger, {certificate.theorem: certificate for certificate in ledger.certify()}


@pytest.mark.parametrize("rounds", [100, 1000])
def test_weighted_majority_has_regret_of_half_the_rounds(rounds):
    ledger, found = played(WeightedMajority(Table(CONSTANTS)), rounds)
    assert ledger.mistakes == rounds
    assert found["contrarian_regret"].status == "valid"
    assert found["contrarian_regret"].observed >= rounds / 2


@pytest.mark.parametrize("rounds", [100, 1000, 4000])
@pytest.mark.parametrize(
    "learner",
    [
        lambda rounds: ExponentialWeights(Table(CONSTANTS), horizon=rounds),
        lambda rounds: ExponentialWeights(Table(CONSTANTS)),
        lambda rounds: ExponentialWeights(Table(CONSTANTS), rate="doubling"),
        lambda rounds: AdaHedge(Table(CONSTANTS)),
    ],
    ids=["horizon", "anytime", "doubling", "ada-hedge"],
)
def test_learners_that_draw_have_regret_of_the_order_of_the_root(learner, rounds):
    ledger, found = played(learner(rounds), rounds)
    fewest = min(ledger.positives, rounds - ledger.positives)
    assert ledger.expected - fewest <= (2 + math.sqrt(2)) * math.sqrt(rounds * math.log(2) / 2)
    assert found["contrarian_regret"].status == "void"
    upper = [certificate for certificate in found.values() if certificate.side == "upper"]
    assert len(upper) >= 2
    assert all(certificate.holds for certificate in upper)
    assert found["drawn_loss"].observed == ledger.mistakes <= found["drawn_loss"].bound


def test_randomized_weighted_majority_pays_little_more_than_the_best():
    ledger, found = played(RandomizedWeightedMajority(Table(CONSTANTS), beta=0.9), 1000)
    certificate = found["small_losses"]
    fewest = min(ledger.positives, 1000 - ledger.positives)
    bound = (fewest * math.log(1 / 0.9) + math.log(2)) / 0.1
    assert certificate.bound == pytest.approx(bound, abs=1e-6)
    assert certificate.observed == ledger.expected <= certificate.bound


def test_coin_flips_cost_every_learner_the_same_on_average():
    rounds, seeds, regrets = 100, 60, []
    for seed in range(seeds):
        learner = ExponentialWeights(Table(CONSTANTS), horizon=rounds, seed=seed)
        _, found = played(learner, rounds, lambda domain, seed=seed: CoinFlip(seed, domain))
        certificate = found["coin_flip_regret"]
        assert certificate.bound == half_mean_distance(rounds) == pytest.approx(3.979462, abs=1e-6)
        regrets.append(certificate.observed)
        assert found["fixed_rate_regret"].bound == pytest.approx(5.8871, abs=1e-4)
        assert found["fixed_rate_regret"].observed == pytest.approx(certificate.observed)
    mean = sum(regrets) / seeds
    error = math.sqrt(sum((value - mean) ** 2 for value in regrets) / (seeds - 1) / seeds)
    assert abs(mean - half_mean_distance(rounds)) <= 4 * error
