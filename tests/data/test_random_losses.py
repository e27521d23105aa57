"""Random losses: every learner's expected regret is that of knowing nothing."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.adversaries.theorems.coin_flip_regret import half_mean_distance
from novikoff.core.errors import NovikoffError
from novikoff.data.random_losses import RandomLosses, expected_regret
from novikoff.experts.exponential_weights import ExponentialWeights
from novikoff.numerics.coins import coin


@pytest.mark.parametrize(("rounds", "experts"), [(1, 1), (1, 3), (2, 2), (3, 3), (4, 2), (2, 5)])
def test_the_formula_is_the_mean_over_all_tables(rounds, experts):
    tables = itertools.product([0, 1], repeat=rounds * experts)
    best = [np.reshape(table, (rounds, experts)).sum(axis=0).min() for table in tables]
    assert expected_regret(rounds, experts) == pytest.approx(rounds / 2 - np.mean(best), abs=1e-12)


@pytest.mark.parametrize("rounds", [1, 10, 100, 1000])
def test_two_experts_differ_by_a_walk_of_twice_as_many_steps(rounds):
    assert expected_regret(rounds, 2) == pytest.approx(half_mean_distance(2 * rounds) / 2, rel=1e-9)


def test_no_regret_without_a_choice():
    assert expected_regret(500, 1) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("rounds", [1000, 100_000])
def test_regret_is_within_the_bound_and_approaches_it_with_more_experts(rounds):
    ratios = [expected_regret(rounds, n) / math.sqrt(rounds * math.log(n) / 2) for n in (2, 10, 100, 1000, 10**6)]
    assert ratios == sorted(ratios)
    assert ratios[-1] < 1.0


def test_golden_ratios():
    ratio = lambda rounds, n: expected_regret(rounds, n) / math.sqrt(rounds * math.log(n) / 2)
    assert ratio(20_000, 1000) == pytest.approx(0.872, abs=0.002)
    assert ratio(10**6, 10**6) == pytest.approx(0.925, abs=0.002)
    assert ratio(10**6, 10**300) > 0.98


@given(st.integers(1, 200), st.integers(1, 40), st.integers(-(2**63), 2**64), st.data())
def test_generated_row_does_not_depend_on_where_reading_starts(experts, rounds, seed, data):
    stream = RandomLosses(experts, rounds, seed)
    whole = stream.losses(0, rounds)
    t = data.draw(st.integers(0, rounds - 1))
    words = -(-experts // 64)
    bits = [coin(seed, "random-losses", t * words + i // 64) >> (i % 64) & 1 for i in range(experts)]
    assert whole[t].tolist() == bits
    assert np.array_equal(stream.losses(t, rounds), whole[t:])
    again = np.concatenate([batch.y for batch in stream.batches({"row": t})])
    assert np.array_equal(again, whole[t:])


def test_the_coins_are_fair_and_differ_by_expert_round_and_seed():
    rows = RandomLosses(100, 2000, 1).losses(0, 2000)
    assert abs(rows.mean() - 0.5) < 4 * 0.5 / math.sqrt(rows.size)
    assert np.abs(np.corrcoef(rows.T) - np.eye(100)).max() < 6 / math.sqrt(2000)
    assert np.abs(np.corrcoef(rows[:100]) - np.eye(100)).max() < 0.65
    assert not np.array_equal(rows, RandomLosses(100, 2000, 2).losses(0, 2000))


def test_the_witness_is_the_best_expert():
    stream = RandomLosses(30, 500, 4)
    total = stream.losses(0, 500).sum(axis=0)
    best, loss = stream.witness()
    assert (total.min(), total.argmin()) == (loss, best)


def test_the_mean_regret_of_exponential_weights_over_seeds_is_the_formula():
    rounds, experts, seeds, observed = 200, 8, 60, []
    for seed in range(seeds):
        stream = RandomLosses(experts, rounds, seed)
        learner = ExponentialWeights(experts, horizon=rounds, loss="table", play="draw", seed=seed)
        ledger = nk.play(learner, stream)
        observed.append(ledger.expected - stream.witness()[1])
        found = {certificate.theorem: certificate for certificate in ledger.certify()}
        assert found["fixed_rate_regret"].bound == pytest.approx(math.sqrt(rounds * math.log(experts) / 2), abs=1e-6)
        assert found["fixed_rate_regret"].observed == pytest.approx(observed[-1], abs=1e-9)
        assert all(certificate.holds for certificate in found.values())
    mean = sum(observed) / seeds
    error = math.sqrt(sum((value - mean) ** 2 for value in observed) / (seeds - 1) / seeds)
    assert abs(mean - expected_regret(rounds, experts)) <= 4 * error


@pytest.mark.slow
def test_a_thousand_experts_cost_nearly_the_whole_bound():
    rounds, experts = 20_000, 1000
    ratios = []
    for seed in range(5):
        learner = ExponentialWeights(experts, horizon=rounds, loss="table", play="draw")
        ledger = nk.play(learner, RandomLosses(experts, rounds, seed))
        ratios.append((ledger.expected - ledger.learner.facts().best_loss) / math.sqrt(rounds * math.log(experts) / 2))
        assert not any(certificate.status == "violated" for certificate in ledger.certify())
    assert 0.8 < sum(ratios) / 5 < 0.95


@pytest.mark.parametrize(("experts", "rounds", "seed"), [(0, 5, 0), (3, 0, 0), (1.5, 5, 0), (3, 5, "x")])
def test_non_numbers_are_refused(experts, rounds, seed):
    with pytest.raises(NovikoffError):
        RandomLosses(experts, rounds, seed)
