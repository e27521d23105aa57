"""Explore-then-commit: the rule, the tuning of its exploration, and its contracts."""

import math

import numpy as np
import pytest

import novikoff as nk
from novikoff.bandits.theorems.explore_then_commit_regret import tuned, without_gaps
from novikoff.core.errors import InputError
from novikoff.testing import check_learner
from samples import LOSSES

SAMPLES = {
    "explore-then-commit": [
        ("explore-then-commit:arms=4,each=5", *LOSSES),
        ("explore-then-commit:arms=4,horizon=60", *LOSSES),
    ]
}
"""Samples for tests/test_every_learner.py."""


def test_the_arms_are_played_in_turn_and_then_the_best_for_ever():
    rows = np.array([[0.5, 1.0, 0.0], [1.0, 0.5, 1.0], [1.0, 1.0, 1.0]] * 2 + [[1.0, 1.0, 0.0]] * 4)
    # explored: arm 0 loses 0.5 twice, arm 1 also 0.5 twice, arm 2 loses 1 twice; the first of equals, even if it loses
    played = nk.play(nk.ExploreThenCommit(3, each=2), nk.Losses(rows), record=True).recorded()
    assert played.tolist() == [0, 1, 2, 0, 1, 2, 0, 0, 0, 0]


def test_the_exploration_is_tuned_to_the_horizon():
    for arms, rounds in ((2, 1000), (10, 100_000), (5, 7), (3, 2)):
        best = min(range(1, max(rounds // arms, 1) + 1), key=lambda m: without_gaps(arms, rounds, m))
        assert tuned(arms, rounds) == best
    assert nk.ExploreThenCommit(10, horizon=100_000).facts().each == tuned(10, 100_000) == 336


@pytest.mark.parametrize("given", [{"each": 0}, {"each": 1.5}, {"horizon": 0}, {"each": 5, "horizon": 5}])
def test_wrong_arguments_are_refused(given):
    with pytest.raises(InputError):
        nk.ExploreThenCommit(3, **given)


def test_every_contract_is_kept():
    rows = np.random.default_rng(2).random((200, 4))
    bad = [[0.5] * 3, [0.5, 0.5, 0.5, 1.5], math.nan, -0.1, None, "a"]
    check_learner(lambda: nk.ExploreThenCommit(4, each=7), nk.Losses(rows), refused=[0, "a"], outcomes=bad)
