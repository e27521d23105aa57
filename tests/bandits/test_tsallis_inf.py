"""Tsallis-INF: the rule on a worked example, and chances that add up to 1 whatever the estimates are."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from helpers import drawing
from novikoff.bandits import _loops as bandits_loops
from novikoff.testing import check_learner
from samples import LOSSES

SAMPLES = {"tsallis-inf": [("tsallis-inf:arms=4", *LOSSES)]}
"""Samples for tests/test_every_learner.py."""

ARMS, LOSSES = [0, 1, 0, 2], [1.0, 0.0, 0.5, 1.0]


def test_the_rule_on_the_worked_example():
    learner = drawing(lambda seed: nk.TsallisINF(3, seed=seed), ARMS, LOSSES)
    wanted = {1: [0.077431856, 0.461284072, 0.461284072], 3: [0.032703004, 0.483648498, 0.483648498]}
    for t, loss in enumerate(LOSSES):
        if t in wanted:
            assert [learner.chances()[i] for i in range(3)] == pytest.approx(wanted[t], abs=1e-9)
        learner.learn_one(None, loss)
    assert learner.state()["estimates"] == pytest.approx([8.183674941, 0.0, 2.067617297])


@given(st.lists(st.floats(0.0, 1e9), min_size=1, max_size=40), st.integers(1, 10**9))
def test_chances_add_up_to_1_and_are_the_least_of_the_potential(estimates, t):
    rate, chances = 1.0 / math.sqrt(t), np.empty(len(estimates))
    bandits_loops.bandits.spread(np.array(estimates), rate, chances)
    assert abs(math.fsum(chances) - 1.0) <= 1e-14 * len(chances)
    shifts = np.array(estimates) - 1.0 / (rate * np.sqrt(chances))  # one x for all arms
    assert np.ptp(shifts) <= 1e-9 * (1.0 + max(estimates) + 1.0 / rate)


def test_the_sum_of_its_chances_is_watched_for_a_long_time():
    ledger = nk.play(nk.TsallisINF(10), nk.synthetic.bandit_losses(gap=0.3, rounds=50_000))
    assert 0.0 < ledger.learner.facts().off < 1e-13


def test_every_contract_is_kept():
    rows = np.random.default_rng(2).random((200, 4))
    bad = [[0.5] * 3, [0.5, 0.5, 0.5, 1.5], math.nan, -0.1, None, "a"]
    check_learner(lambda: nk.TsallisINF(4, seed=5), nk.Losses(rows), refused=[0, "a"], outcomes=bad)
