"""Coin flips: every learner's expected regret is E|S_T|/2, exactly."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.adversaries.coin_flip import CoinFlip
from novikoff.adversaries.theorems.coin_flip_regret import LARGEST_EXACT, half_mean_distance
from novikoff.finite.classes.matrix import cube
from novikoff.finite.constant import Constant
from novikoff.numerics.coins import coin

CASES = {
    "coin_flip_regret": dataclasses.replace(
        cases.of_adversary(CoinFlip, nk.Constant, 20),
        tight=None,
        broken=None,
        void=(
            (lambda: dataclasses.replace(cases.run_of(nk.Constant(), CoinFlip(), 9, True), adaptive=False), "the coin"),
        ),
    ),
}
"""Cases for tests/test_every_theorem.py."""


def never(x):
    raise AssertionError("this adversary needs no probe")


def lower(ledger):
    (certificate,) = [c for c in ledger.certify() if c.side == "lower"]
    return certificate


def exact_regret(learner, rounds):
    """The mean of M - m over all 2^T label sequences, for a learner that draws nothing."""
    total = 0
    for labels in itertools.product([-1, 1], repeat=rounds):
        ledger = nk.play(learner(), [(0, y) for y in labels])
        total += ledger.mistakes - min(labels.count(1), labels.count(-1))
    return Fraction(total, 2**rounds)


@pytest.mark.parametrize("rounds", range(1, 9))
@pytest.mark.parametrize(
    "learner",
    [Constant, lambda: Constant(-1), lambda: nk.Halving(cube(1)), lambda: nk.Consistent(cube(1))],
    ids=["plus", "minus", "halving", "consistent"],
)
def test_the_mean_over_all_label_sequences_is_the_formula(learner, rounds):
    assert exact_regret(learner, rounds) == Fraction(half_mean_distance(rounds))


@pytest.mark.parametrize("rounds", range(15))
def test_the_formula_is_the_mean_distance_of_the_walk(rounds):
    total = sum(math.comb(rounds, heads) * abs(2 * heads - rounds) for heads in range(rounds + 1))
    assert Fraction(half_mean_distance(rounds)) == Fraction(total, 2 ** (rounds + 1))


@pytest.mark.parametrize(("rounds", "value"), [(100, 3.979462), (1000, 12.612509)])
def test_golden_values(rounds, value):
    assert half_mean_distance(rounds) == pytest.approx(value, abs=1e-6)
    assert half_mean_distance(rounds - 1) == half_mean_distance(rounds)


@pytest.mark.parametrize("rounds", [50, 99, 1000, 9999, LARGEST_EXACT, LARGEST_EXACT + 1, 15_001, 30_000])
def test_the_bound_is_rounded_downwards_and_within_2e_12(rounds):
    k = (rounds + 1) // 2
    exact = Fraction(k * math.comb(2 * k, k), 4**k)
    bound = Fraction(half_mean_distance(rounds))
    assert bound <= exact
    assert bound >= exact * (1 - Fraction(2, 10**12))


@pytest.mark.parametrize("rounds", [10**6, 10**9 - 1, 10**9, 10**12])
def test_a_billion_rounds_are_close_to_the_asymptotic_formula_from_below(rounds):
    k = (rounds + 1) // 2
    limit = math.sqrt(k / math.pi)
    assert half_mean_distance(rounds) < limit
    assert half_mean_distance(rounds) == pytest.approx(limit, rel=1 / (7 * k) + 2e-12)


@given(st.integers(0, 40_000))
def test_bound_never_decreases_over_rounds(rounds):
    assert half_mean_distance(rounds) <= half_mean_distance(rounds + 1) * (1 + 1e-11)


@given(st.integers(-(2**63), 2**64), st.lists(st.sampled_from([-1, 1]), max_size=40))
def test_the_labels_are_the_coins_of_the_seed_for_any_predictions(seed, said):
    adversary = CoinFlip(seed)
    answers = []
    for prediction in said:
        assert adversary.ask(never) == 0
        answers.append(adversary.answer({prediction: 1.0}))
    assert answers == [1 if coin(seed, "coin-flip", t) >> 63 else -1 for t in range(len(said))]
    label, mistakes = adversary.witness()
    assert mistakes == min(answers.count(1), answers.count(-1)) == answers.count(-label)


def test_the_coins_are_fair_and_differ_by_seed():
    rounds, sums = 400, []
    for seed in range(50):
        adversary = CoinFlip(seed)
        sums.append(sum(adversary.answer({}) for _ in range(rounds)))
    assert abs(sum(sums)) <= 4 * math.sqrt(50 * rounds)
    assert len(set(sums)) > 10


@pytest.mark.parametrize(
    "learner",
    [lambda seed: Constant(1), lambda seed: nk.Halving(cube(1)), lambda seed: nk.Consistent(cube(1), True, seed)],
    ids=["constant", "halving", "random"],
)
def test_the_mean_regret_over_seeds_is_within_four_standard_errors(learner):
    rounds, seeds, observed = 100, 100, []
    for seed in range(seeds):
        player = learner(seed)
        certificate = lower(nk.play(player, CoinFlip(seed, player.domain), rounds=rounds))
        assert certificate.bound == half_mean_distance(rounds)
        assert (certificate.kind, certificate.status, certificate.quantity) == ("E", "valid", "regret")
        observed.append(certificate.observed)
    mean = sum(observed) / seeds
    error = math.sqrt(sum((value - mean) ** 2 for value in observed) / (seeds - 1) / seeds)
    assert error > 0.0
    assert abs(mean - half_mean_distance(rounds)) <= 4 * error


def test_one_run_below_the_bound_contradicts_nothing():
    ledgers = [nk.play(Constant(1), CoinFlip(seed), rounds=100) for seed in range(30)]
    lucky = [lower(ledger) for ledger in ledgers if lower(ledger).observed < lower(ledger).bound]
    assert lucky
    assert all(certificate.status == "valid" for certificate in lucky)


def test_a_learner_that_draws_is_charged_its_chances():
    learner = nk.Consistent(cube(1), random=True, seed=3)
    adversary = CoinFlip(5, learner.domain)
    ledger = nk.play(learner, adversary, rounds=101)
    certificate = lower(ledger)
    assert certificate.observed == ledger.expected - adversary.witness()[1]
    assert certificate.quantities["realised_mistakes"] == ledger.mistakes
    assert certificate.quantities["witness"] == f"always {adversary.witness()[0]:+d}"


def test_a_stream_that_was_fixed_in_advance_is_no_coin_game():
    adversary = CoinFlip(0)
    run = nk.Run(adversary.facts(), adversary.facts(), 10, 4, 4.0, (5, 5), adaptive=False, deterministic=True)
    assert CoinFlip.promises[0](run).status == "void"


def test_no_rounds_have_no_regret():
    assert half_mean_distance(0) == 0.0
    assert lower(nk.play(Constant(1), CoinFlip(0), rounds=0)).status == "vacuous"
