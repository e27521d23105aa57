"""UCB1's regret: golden values, and its mean over simulated games."""

import numpy as np
import pytest

import cases
import novikoff as nk
from novikoff.bandits.theorems.ucb1_regret import with_gaps, without_gaps
from stochastic_cases import of_independent_losses

CASES = {"ucb1_regret": of_independent_losses(nk.UCB1)}
"""Cases for tests/test_every_theorem.py."""


def test_golden_values():
    # two arms, gap 0.5, T = 1000: 8 ln 1000 / 0.5 + (1 + pi^2/3)/2 = 110.5241 + 2.1449
    assert with_gaps([0.0, 0.5], 1000) == pytest.approx(112.6690, abs=1e-4)
    # K = 2, T = 1000: sqrt(32 * 1000 * 6.907755) + 4.289868 = 470.1576 + 4.2899
    assert without_gaps(2, 1000) == pytest.approx(474.4475, abs=1e-4)
    assert without_gaps(1, 1000) == 0.0
    assert with_gaps([0.0, 0.0], 1000) == 0.0


@pytest.mark.parametrize("gap", [0.001, 0.01, 0.1, 0.5, 1.0])
def test_bound_for_all_gaps_is_above_that_of_each_gap(gap):
    for rounds in (10, 1000, 10**6):
        assert with_gaps([0.0] + [gap] * 4, rounds) <= without_gaps(5, rounds)


def test_known_gaps_give_the_smaller_bound_and_check_the_assumption():
    run = cases.run_of(nk.UCB1(2), nk.Losses(np.tile([[0.25, 0.75]], (1000, 1))))
    known = cases.changed(run, source="means", means=(0.25, 0.75))
    found, before = nk.UCB1.promises[0](known), nk.UCB1.promises[0](run)
    assert (before.status, found.status) == ("conditional", "valid")
    assert found.bound == pytest.approx(112.6690, abs=1e-3)
    assert found.observed == before.observed == 0.5 * run.after.plays[1]
    assert (before.quantity, found.quantity) == ("estimated pseudo-regret", "pseudo-regret")


def test_mean_over_games_keeps_the_bound_and_a_broken_learner_does_not(nothing_else_registered):
    @nk.register("in-turn-ucb1")
    class InTurn(nk.UCB1):
        """Broken: it plays the arms in turn."""

        def learn_many(self, batch):
            results = [self.play_one(None, row) for row in batch.y]
            return type(results[0])(*(np.array([one[k] for one in results]) for k in range(3)))

        def play_one(self, x, y):
            arm = self.rounds % self.arms
            self.rounds, self.whole = self.rounds + 1, self.whole + 1
            self._plays[arm] += 1
            self._paid[arm] += y[arm]
            self._totals += y
            self._numbers[0] += y[arm]
            return nk.UCB1(2).play_one(None, [0.0, 0.0])._replace(predictions=arm, losses=y[arm], expected=y[arm])

    stream = "bandit-losses:means=[0.1,0.9],rounds=800"
    found = nk.simulate_bandits(["ucb1", "in-turn-ucb1"], stream, games=40)
    assert [one.verdict.status for one in found.learners] == ["valid", "violated"]
    assert found.learners[1].pseudo_regret.mean == pytest.approx(320.0)


@pytest.mark.slow
@pytest.mark.parametrize("means", ["[0.2,0.5]", "[0.1,0.4,0.4,0.9]", "[0.5,0.55,0.6]", "[0.0,1.0]"])
def test_mean_over_a_thousand_games(means):
    found = nk.simulate_bandits(["ucb1", "tsallis-inf"], f"bandit-losses:means={means},rounds=5000", games=1000)
    for one in found.learners:
        assert one.verdict.status in ("valid", "vacuous")
        assert one.pseudo_regret.mean + 3 * one.pseudo_regret.standard_error <= one.verdict.bound
