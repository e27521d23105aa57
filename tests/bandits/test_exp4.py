"""EXP4: an expert for each arm is EXP3-IX; advice as arms or as chances; learners that look at x."""

import math

import numpy as np
import pytest

import novikoff as nk
from helpers import first_of
from novikoff.bandits._loops import bandit_layout
from novikoff.core.errors import InputError
from novikoff.testing import check_certificate, check_learner

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
    return nk.ContextualLosses(x, losses)


SAMPLES = {
    "exp4": [
        ("exp4:arms=3,experts=5", lambda noise, seed: nk.ContextualLosses(*advised(seed), True), [None, "a"]),
        ("exp4:arms=2,learners=[constant,[rbp:budget=20]]", lambda noise, seed: contexts(60, seed), [None, "a"]),
    ]
}
"""Samples for tests/test_every_learner.py."""


def test_an_expert_for_each_arm_is_exp3_ix():
    losses = np.random.default_rng(0).random((ROUNDS, ARMS))
    each = nk.ContextualLosses(np.tile(np.arange(ARMS), (ROUNDS, 1)), losses, advice=True)
    same = nk.play(nk.Exp4(ARMS, experts=ARMS, seed=4), each, record=True)
    other = nk.play(nk.Exp3IX(ARMS, seed=4), nk.Losses(losses), record=True)
    assert same.recorded().tolist() == other.recorded().tolist()
    assert same.learner.state()["estimates"] == pytest.approx(other.learner.state()["estimates"])


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
    whole = nk.play(nk.Exp4(ARMS, experts=EXPERTS), nk.ContextualLosses(says, losses, True))
    monkeypatch.setattr("novikoff.bandits.exp4.CELLS", 100)
    parts = nk.play(nk.Exp4(ARMS, experts=EXPERTS), nk.ContextualLosses(says, losses, True))
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


def three_arms(rounds=600, seed=0):
    """The right one of three arms is the largest of three linear functions of x."""
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=(rounds, 5)), rng.normal(size=(5, 3))
    losses = np.ones((rounds, 3))
    losses[np.arange(rounds), (x @ w).argmax(axis=1)] = 0.0
    return nk.ContextualLosses(x, losses)


@pytest.mark.parametrize("seed", first_of(3))
def test_exploration_finds_arms_that_no_learner_predicts_at_first(seed):
    made = lambda **more: nk.Exp4(3, learners=[nk.MulticlassLogistic(labels=3)], seed=seed, **more)
    ledger = nk.play(made(), three_arms(2000, seed))
    assert ledger.loss < 500 < 1000 < nk.play(made(explore=0.0), three_arms(2000, seed)).loss
    assert all(one.status in ("valid", "conditional") for one in ledger.certify())


def test_every_arm_has_a_known_chance_of_being_drawn():
    learner = nk.Exp4(3, learners=[nk.MulticlassPerceptron(labels=3)])
    for t in range(1, 9):
        explored = 0.5 * t ** (-1.0 / 3.0)
        chances = learner.chances(np.ones(4))
        assert sum(chances.values()) == pytest.approx(1.0)
        assert min(chances.values()) == pytest.approx(explored / 3)
        assert max(chances.values()) == pytest.approx(1.0 - explored + explored / 3)
        learner.learn_one(np.ones(4), np.ones(3))
    assert nk.Exp4(3, experts=2).chances([0, 0]) == {0: 1.0}
    assert nk.Exp4(4, experts=2, explore=0.2).chances([0, 0])[1] == pytest.approx(0.05)


class Counting(nk.MulticlassPerceptron):
    """Counts what it is taught."""

    taught = 0

    def learn_one(self, x, y):
        self.taught += 1
        super().learn_one(x, y)


def test_a_rare_arm_is_taught_as_often_as_its_chance_is_small():
    taught = []
    for seed in range(300):
        one = Counting(labels=3)
        learner = nk.Exp4(3, learners=[one], explore=0.3, seed=seed)
        learner.learn_one(np.ones(2), np.zeros(3))
        arm = learner.predict_one(np.ones(2))
        taught.append(one.taught)
        assert arm in (0, 1, 2)
    assert set(taught) <= {1, 2, 10}  # 1 / 0.8, rounded by a coin, and 1 / 0.1
    assert np.mean(taught) == pytest.approx(3.0, abs=0.6)  # one lesson for each arm


@pytest.mark.parametrize("explore", [None, 0.0, 0.1, 0.9])
def test_the_bounds_hold_on_arbitrary_losses_with_exploration(explore):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        says, losses = rng.integers(0, ARMS, (ROUNDS, EXPERTS)), rng.random((ROUNDS, ARMS)) ** (1 + 3 * (seed % 2))
        learner = nk.Exp4(ARMS, experts=EXPERTS, explore=explore, horizon=ROUNDS if seed % 3 else None, seed=seed)
        for one in nk.play(learner, nk.ContextualLosses(says, losses, True)).certify():
            check_certificate(one)
            assert one.observed <= one.bound


def test_spent_sum_matches_the_pathwise_theorem():
    says, losses = advised()
    learner, spent, least = nk.Exp4(ARMS, experts=EXPERTS, explore=0.25, eta=0.3), 0.0, np.zeros(EXPERTS)
    for x, y in zip(says, losses, strict=True):
        advice = learner.weights() @ np.eye(ARMS)[x]
        chances = 0.75 * advice + 0.25 / ARMS
        assert learner.chances(x) == pytest.approx(dict(enumerate(chances)))
        arm = learner.predict_one(x)
        estimate = y[arm] / (chances[arm] + 0.15)
        least += (x == arm) * estimate
        spent += (0.15 * advice[arm] / chances[arm] + 0.15 + max(chances[arm] - advice[arm], 0.0)) * estimate
        learner.learn_one(x, y)
    facts = learner.facts()
    assert (facts.spent, facts.least) == (pytest.approx(spent), pytest.approx(least.min()))
    share = 0.15 / 0.75 + 0.15 + 0.25 / ARMS
    assert (facts.rates, facts.worst) == (pytest.approx(ROUNDS * share), pytest.approx(share / 0.3))


def test_books_that_leave_exploration_out_break_the_pathwise_bound():
    rounds = 3000
    ledger = nk.play(nk.Exp4(2, experts=2, explore=0.1, eta=0.3), nk.ContextualLosses(np.tile([0, 1], (rounds, 1)),
                     np.tile([0.0, 1.0], (rounds, 1)), True))  # fmt: skip
    learner = ledger.learner
    learner._numbers[bandit_layout.SPENT] = 0.0
    assert next(one for one in ledger.certify() if one.theorem == "ix_pathwise").status == "violated"


def test_every_contract_is_kept():
    says, losses = advised()
    bad = [[0, 1], [0, 1, 2, 3, 9], [0, 1, 2, 0, 0.5], np.full((EXPERTS, ARMS), 0.5), None, "a"]
    check_learner(
        lambda: nk.Exp4(ARMS, experts=EXPERTS, horizon=ROUNDS), nk.ContextualLosses(says, losses, True), refused=bad,
        outcomes=[math.nan, 1.5, [0.5], "a", None],
    )  # fmt: skip


def test_every_contract_is_kept_with_learners():
    make = lambda: nk.make("exp4:arms=2,learners=[constant,[rbp:budget=20,kernel=linear]],seed=3", "learner")
    check_learner(make, contexts(200), refused=[None, "a", [1.0, math.nan, 2.0]], outcomes=[math.nan, 1.5, "a"])


@pytest.mark.parametrize("given", [{}, {"experts": 3, "learners": [nk.Constant()]}, {"experts": 0},
                                   {"learners": [nk.ThresholdHalving(5), "perceptron"]},
                                   {"arms": 3, "learners": [nk.Constant()]}, {"experts": 2, "explore": 1.0},
                                   {"experts": 2, "explore": -0.1}])  # fmt: skip
def test_wrong_experts_are_refused(given):
    with pytest.raises(InputError):
        nk.Exp4(**{"arms": 2, **given})


def test_no_learner_may_be_there_twice():
    learner = nk.Constant()
    with pytest.raises(InputError, match="number 2 is repeated"):
        nk.Exp4(2, learners=[learner, learner])
