"""UCB1: the rule on an example computed by hand, and its contracts."""

import math

import numpy as np
import pytest

import novikoff as nk
from novikoff.testing import check_learner
from samples import LOSSES

SAMPLES = {"ucb1": [("ucb1:arms=4", *LOSSES)]}
"""Samples for tests/test_every_learner.py."""


def test_the_rule_on_an_example_computed_by_hand():
    learner = nk.UCB1(3)
    played = [learner.play_one(None, [0.5, 0.0, 1.0]).predictions for _ in range(4)]
    # after one play each: limits 0.5 - c, 0 - c, 1 - c with c = sqrt(2 ln 3); arm 1 is least
    assert played == [0, 1, 2, 1]
    # after 4 rounds: arm 0 at 0.5 - sqrt(2 ln 4) = -1.165, arm 1 at -sqrt(ln 4) = -1.177
    assert learner.predict_one() == 1
    learner.play_one(None, [0.5, 0.0, 1.0])
    # after 5: arm 0 at 0.5 - sqrt(2 ln 5) = -1.294, arm 1 at -sqrt(2 ln 5 / 3) = -1.036
    assert learner.predict_one() == 0
    assert learner.plays == [1, 3, 1]
    assert learner.means == [0.5, 0.0, 1.0]


def naive(rows):
    """Plays by the definition, in Python."""
    plays, sums, played = np.zeros(rows.shape[1]), np.zeros(rows.shape[1]), []
    for t, row in enumerate(rows):
        if (plays == 0).any():
            arm = int(np.argmin(plays > 0))
        else:
            arm = int(np.argmin(sums / plays - np.sqrt(2 * math.log(t) / plays)))
        played.append(arm)
        plays[arm] += 1
        sums[arm] += row[arm]
    return played


@pytest.mark.parametrize("seed", range(5))
def test_plays_equal_those_of_the_definition(seed):
    rows = np.random.default_rng(seed).random((500, 4))
    assert nk.play(nk.UCB1(4), nk.Losses(rows), record=True).recorded().tolist() == naive(rows)


def test_losses_of_unplayed_arms_change_nothing():
    rng = np.random.default_rng(1)
    rows, others = rng.random((2, 400, 5))
    played = nk.play(nk.UCB1(5), nk.Losses(rows), record=True).recorded()
    others[np.arange(400), played] = rows[np.arange(400), played]
    assert nk.play(nk.UCB1(5), nk.Losses(others), record=True).recorded().tolist() == played.tolist()


def test_every_contract_is_kept():
    rows = np.random.default_rng(2).random((200, 4))
    bad = [[0.5] * 3, [0.5, 0.5, 0.5, 1.5], math.nan, -0.1, None, "a"]
    check_learner(lambda: nk.UCB1(4), nk.Losses(rows), refused=[0, "a"], outcomes=bad)
