"""EXP4: an expert for each arm is EXP3-IX; advice as arms or as chances; learners that look at x."""

import math

import numpy as np
import pytest

import novikoff as nk
from novikoff.errors import InputError
from novikoff.testing import check_learner

ROUNDS, EXPERTS, ARMS = 200, 5, 3


def advised(seed=0):
    """Experts of whom the third is mostly right; losses of 0 and 1."""
    rng = np.random.default_rng(seed)
    right = rng.integers(0, ARMS, ROUNDS)
    losses = (rng.random((ROUNDS, ARMS)) < 0.6).astype(float)
    losses[np.arange(ROUNDS), right] = 0.0
    says = rng.integers(0, ARMS, (ROUNDS, EXPERTS))
    says[:, 2] = np.where(rng.random(ROUNDS) < 0.9, right, says[:, 2])
    return says, losses


def contexts(rounds=1000, seed=0):
    """Which of two arms is right is a linear function of x."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, 3))
    losses = np.ones((rounds, 2))
    losses[np.arange(rounds), (x[:, 0] + 0.5 * x[:, 1] > 0.0).astype(int)] = 0.0
    return nk.Contexts(x, losses)


def test_an_expert_for_each_arm_is_exp3_ix():
    losses = np.random.default_rng(0).random((ROUNDS, ARMS))
    each = nk.Contexts(np.tile(np.arange(ARMS), (ROUNDS, 1)), losses, advice=True)
    same = nk.play(nk.Exp4(ARMS, experts=ARMS, seed=4), each, record=True)
    other = nk.play(nk.Exp3IX(ARMS, seed=4), nk.Losses(losses), record=True)
    assert same.said().tolist() == other.said().tolist()
    assert same.learner._estimates == pytest.approx(other.learner._estimates)


def test_advice_may_be_arms_or_chances():
    says, losses = advised()
    one, two = (nk.Exp4(ARMS, experts=EXPERTS, seed=2) for _ in range(2))
    for x, y in zip(says, losses, strict=True):
        chances = np.eye(ARMS)[x]
        assert one.predict_one(x) == two.predict_one(chances)
        one.learn_one(x, y)
        two.learn_one(chances, y)
    assert one.state()["estimates"].tolist() == two.state()["estimates"].tolist()
    assert one.weights()[2] == max(one.weights())


def test_many_experts_are_played_in_parts(monkeypatch):
    says, losses = advised()
    whole = nk.play(nk.Exp4(ARMS, experts=EXPERTS), nk.Contexts(says, losses, True))
    monkeypatch.setattr("novikoff.learners.exp4.CELLS", 100)
    parts = nk.play(nk.Exp4(ARMS, experts=EXPERTS), nk.Contexts(says, losses, True))
    assert parts.loss == whole.loss
    assert parts.learner.facts() == whole.learner.facts()


def test_it_follows_a_learner_that_looks_at_x():
    learner = nk.make("exp4:arms=2,learners=[constant,[perceptron:bias=1]]", "learner")
    ledger = nk.play(learner, contexts())
    assert ledger.loss < 200 < 400 < learner.totals[0]
    assert learner.totals[1] == min(learner.totals)
    found = {one.theorem: one for one in ledger.certify()}
    assert found["observable_regret"].status == "valid"
    assert found["observable_regret"].observed == ledger.loss - min(learner.totals)


def test_every_contract_is_kept():
    says, losses = advised()
    bad = [[0, 1], [0, 1, 2, 3, 9], [0, 1, 2, 0, 0.5], np.full((EXPERTS, ARMS), 0.5), None, "a"]
    check_learner(
        lambda: nk.Exp4(ARMS, experts=EXPERTS, horizon=ROUNDS), nk.Contexts(says, losses, True), refused=bad,
        outcomes=[math.nan, 1.5, [0.5], "a", None],
    )  # fmt: skip


def test_every_contract_is_kept_with_learners():
    make = lambda: nk.make("exp4:arms=2,learners=[constant,[rbp:budget=20,kernel=linear]],seed=3", "learner")
    check_learner(make, contexts(200), refused=[None, "a", [1.0, math.nan, 2.0]], outcomes=[math.nan, 1.5, "a"])


@pytest.mark.parametrize("given", [{}, {"experts": 3, "learners": [nk.Constant()]}, {"experts": 0},
                                   {"learners": [nk.ThresholdHalving(5), "perceptron"]},
                                   {"arms": 3, "learners": [nk.Constant()]}])  # fmt: skip
def test_wrong_experts_are_refused(given):
    with pytest.raises(InputError):
        nk.Exp4(**{"arms": 2, **given})


def test_no_learner_may_be_there_twice():
    learner = nk.Constant()
    with pytest.raises(InputError, match="twice"):
        nk.Exp4(2, learners=[learner, learner])
