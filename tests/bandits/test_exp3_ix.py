"""EXP3-IX: the rule on a worked example, and that it looks at the arm it drew and at no other."""

import math

import numpy as np
import pytest

import novikoff as nk
from helpers import drawing
from novikoff.core.errors import InputError
from novikoff.testing import check_learner
from samples import LOSSES

SAMPLES = {"exp3-ix": [("exp3-ix:arms=4", *LOSSES)]}
"""Samples for tests/test_every_learner.py."""

ARMS, LOSSES = [0, 1, 0, 2], [1.0, 0.0, 0.5, 1.0]


def test_the_rule_on_the_worked_example():
    learner = drawing(lambda seed: nk.Exp3IX(3, eta=0.5, seed=seed), ARMS, LOSSES)
    for t, loss in enumerate(LOSSES):
        if t == 3:
            assert [learner.chances()[i] for i in range(3)] == pytest.approx([0.105414158, 0.447292921, 0.447292921])
        learner.learn_one(None, loss)
    assert learner.state()["estimates"] == pytest.approx([2.890633460, 0.0, 1.434117528])


def test_without_implicit_exploration_it_is_exp3():
    learner = drawing(lambda seed: nk.Exp3IX(3, eta=0.5, implicit=False, seed=seed), ARMS, LOSSES)
    estimates = np.zeros(3)
    for arm, loss in zip(ARMS, LOSSES, strict=True):
        weights = np.exp(-0.5 * estimates)
        estimates[arm] += loss / (weights[arm] / weights.sum())
        learner.learn_one(None, loss)
    assert learner.state()["estimates"] == pytest.approx(estimates)


def test_the_rate_falls_or_is_tuned_to_the_horizon():
    anytime, tuned = nk.Exp3IX(4), nk.Exp3IX(4, horizon=100)
    rows = np.random.default_rng(0).random((10, 4))
    for learner in (anytime, tuned):
        nk.play(learner, nk.Losses(rows))
    assert anytime.facts().rates == pytest.approx(sum(math.sqrt(math.log(4) / (4 * t)) for t in range(1, 11)))
    assert tuned.facts().eta == pytest.approx(math.sqrt(2 * math.log(4) / 400))


@pytest.mark.parametrize("spec", ["exp3-ix", "tsallis-inf"])
def test_losses_of_unplayed_arms_change_nothing(spec):
    rng = np.random.default_rng(1)
    rows = rng.random((400, 5))
    one = nk.make(spec, "learner", arms=5, seed=3)
    played = nk.play(one, nk.Losses(rows), record=True).recorded()
    others = rng.random((400, 5))
    others[np.arange(400), played] = rows[np.arange(400), played]
    two, alone = (nk.make(spec, "learner", arms=5, seed=3) for _ in range(2))
    assert nk.play(two, nk.Losses(others), record=True).recorded().tolist() == played.tolist()
    game = nk.Game(alone)
    for t, arm in enumerate(played.tolist()):
        assert game.predict_one(None) == arm
        game.learn_one(None, float(rows[t, arm]))
    assert one.state()["estimates"].tolist() == two.state()["estimates"].tolist() == alone.state()["estimates"].tolist()
    assert one.facts().table
    assert not alone.facts().table
    assert alone.totals == [0.0] * 5
    assert one.totals == pytest.approx(rows.sum(axis=0))


@pytest.mark.parametrize("spec", ["exp3-ix", "tsallis-inf"])
def test_expected_loss_is_the_mean_over_the_draw(spec):
    learner = nk.make(spec, "learner", arms=3)
    rows = np.random.default_rng(1).random((50, 3))
    means = []
    for row in rows:
        chances = learner.chances()
        means.append(sum(p * row[arm] for arm, p in chances.items()))
        assert learner.play_one(None, row).expected == pytest.approx(means[-1])
    assert nk.play(nk.make(spec, "learner", arms=3), nk.Losses(rows)).expected == pytest.approx(sum(means))


@pytest.mark.parametrize("spec", ["exp3-ix:arms=4", "exp3-ix:arms=4,horizon=200,seed=7", "exp3-ix:arms=4,eta=0.3",
                                  "exp3-ix:arms=4,implicit=false", "exp3-ix:arms=4,eta=200"])  # fmt: skip
def test_every_contract_is_kept(spec):
    rows = np.random.default_rng(2).random((200, 4))
    bad = [[0.5] * 3, [0.5, 0.5, 0.5, 1.5], [0.5, 0.5, 0.5, math.nan], math.nan, -0.1, 1.1, None, "a", [[0.5] * 4]]
    check_learner(lambda: nk.make(spec, "learner"), nk.Losses(rows), refused=[0, "a"], outcomes=bad)


@pytest.mark.parametrize("given", [{"eta": 0.0}, {"eta": math.nan}, {"horizon": 0}, {"eta": 1.0, "horizon": 5},
                                   {"seed": 0.5}, {"arms": 0}])  # fmt: skip
def test_wrong_arguments_are_refused(given):
    with pytest.raises(InputError):
        nk.Exp3IX(**{"arms": 3, **given})


def test_one_arm_is_played_for_ever():
    ledger = nk.play(nk.Exp3IX(1), nk.Losses(np.full((20, 1), 0.5)))
    assert ledger.loss == 10.0
    assert ledger.learner.facts().best_loss == 10.0


def test_without_implicit_exploration_no_certificate_is_void():
    ledger = nk.play(nk.Exp3IX(3, horizon=400, implicit=False), np.random.default_rng(0).random((400, 3)))
    found = {certificate.theorem: certificate.status for certificate in ledger.certify()}
    assert "void" not in found.values()
    assert "ix_regret" not in found
    assert found["ix_pathwise"] in ("valid", "vacuous")
