"""Sleeping experts; their contracts are in test_exponential_weights.py too."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.errors import InputError, ModelFileError
from novikoff.core.types import Batch
from novikoff.experts.exponential_weights import ExponentialWeights
from novikoff.experts.sleeping_experts import SleepingExperts
from samples import LOSSES

SAMPLES = {"sleeping-experts": [("sleeping-experts:experts=4,loss=table", *LOSSES)]}
"""Samples for tests/test_every_learner.py."""

NAN = math.nan
TABLE = np.array([(0.0, 1.0, 0.5), (1.0, NAN, 0.5), (NAN, 1.0, 1.0), (0.0, 0.0, NAN)])


def test_the_golden_table():
    learner = SleepingExperts(3, eta=0.5, loss="table", play="mean")
    means = [learner.play_one(None, row).expected for row in TABLE]
    assert means == pytest.approx([0.5, 0.781088250, 1.0, 0.0], abs=1e-9)
    state = learner.state()["weights"]
    gained = state["far"] + state["near"]
    assert gained == pytest.approx([0.224132887, -0.541451591, 0.224132887], abs=1e-9)
    assert np.exp(0.5 * gained).mean() == pytest.approx(1.0)
    assert gained + state["gaps"] == pytest.approx([0.281088250, -0.5, 0.281088250], abs=1e-9)
    facts = learner.facts()
    assert (facts.sleeper, facts.sleeper_rounds) == (0, 3)
    assert facts.sleeper_regret == pytest.approx(0.281088250, abs=1e-9)
    assert facts.sleeper_price == pytest.approx(math.log(3))
    assert facts.sleeper_regret <= facts.sleeper_price / 0.5 + facts.sleeper_gaps


@pytest.mark.parametrize("more", [{}, {"eta": 0.3}, {"eta": 900.0}])
def test_with_all_awake_it_is_exponential_weights(more):
    table = np.random.default_rng(0).random((300, 5))
    one, two = SleepingExperts(5, loss="table", **more), ExponentialWeights(5, loss="table", **more)
    first, second = one.learn_many(Batch(None, table, 1)), two.learn_many(Batch(None, table, 1))
    assert first.expected == pytest.approx(second.expected, abs=1e-11)
    assert one.weights == pytest.approx(two.weights, abs=1e-9)
    assert one.facts().gaps == pytest.approx(two.facts().gaps, abs=1e-9)


@given(st.integers(0, 10**6), st.integers(2, 6), st.booleans(), st.booleans())
def test_regret_against_every_expert_is_within_the_bound(seed, experts, fixed, joining):
    rng = np.random.default_rng(seed)
    prior = [1 / (i * (i + 1)) for i in range(1, experts + 1)] if joining else None
    learner = SleepingExperts(experts, eta=0.8 if fixed else None, loss="table", play="mean", prior=prior)
    table = rng.integers(0, 3, (120, experts)) / 2.0
    table[rng.random(table.shape) < 0.5] = NAN
    means = learner.learn_many(Batch(None, table, 1)).expected
    awake = ~np.isnan(table)
    facts = learner.facts()
    prices = np.full(experts, math.log(experts)) if prior is None else -np.log(prior)
    regrets = np.array([np.sum(means[awake[:, i]] - table[awake[:, i], i]) for i in range(experts)])
    state = learner.state()["weights"]
    assert state["awake"].tolist() == awake.sum(axis=0).tolist()
    assert state["far"] + state["near"] + state["gaps"] == pytest.approx(regrets, abs=1e-9)
    rooms = prices / facts.eta + state["gaps"] - regrets
    assert rooms.min() >= -1e-9
    assert facts.sleeper == int(rooms.argmin()) or rooms[facts.sleeper] == pytest.approx(rooms.min())
    assert np.all(state["gaps"] <= state["rates"] / 8 + 1e-12)
    if not fixed and not joining:
        assert np.all(regrets <= math.sqrt(120 * math.log(experts)) + 1e-9)


@pytest.mark.parametrize("loss", ["absolute", "log", "zero-one", "table"])
def test_a_round_in_which_all_sleep_is_skipped(loss):
    learner, other = SleepingExperts(3, loss=loss), SleepingExperts(3, loss=loss)
    first = (None, [0.0, 1.0, 1.0]) if loss == "table" else ([0.0, 1.0, 1.0], 1)
    nobody = (None, [NAN] * 3) if loss == "table" else ([NAN] * 3, 1)
    for one in (learner, other):
        one.play_one(*first)
    got = learner.play_one(*nobody)
    assert (got.losses, got.expected) == (0.0, 0.0)
    assert got.predictions == (-1.0 if loss == "table" else 0.5)
    assert learner.rounds == 2
    assert learner.weights.tolist() == other.weights.tolist()
    if loss != "table":
        assert learner.predict_one([NAN] * 3) == 0.5


def test_sleeping_experts_are_never_followed():
    learner = SleepingExperts(4, eta=0.5, seed=1)
    for t in range(100):
        row = np.arange(4.0)
        row[t % 4] = NAN
        row[(t + 1) % 4] = NAN
        assert set(learner.chances(row)) == {v for v in row.tolist() if v == v}
        got = learner.play_one(row, 2.0)
        assert got.predictions in learner.chances(row)


def test_no_expert_is_ever_awake():
    learner = SleepingExperts(2, loss="table")
    assert learner.facts().sleeper == -1
    learner.play_one(None, [NAN, NAN])
    assert learner.facts().sleeper == -1
    assert learner.facts().mixed == 0.0


def test_a_prior_may_leave_room_for_others():
    learner = SleepingExperts(3, eta=1.0, loss="table", prior=[0.5, 1 / 6, 1 / 12])
    learner.play_one(None, [1.0, 0.0, 0.0])
    facts = learner.facts()
    assert facts.sleeper_price == pytest.approx([math.log(2), math.log(6), math.log(12)][facts.sleeper])
    heavy = SleepingExperts(3, eta=1.0, loss="table", prior=[5, 3, 2])
    assert heavy.weights == pytest.approx([0.5, 0.3, 0.2])


@pytest.mark.parametrize("more", [{"eta": 0}, {"eta": -1}, {"prior": [1, 1]}, {"prior": [1, 0, 1]}, {"play": "mean"}])
def test_arguments_out_of_range_are_refused(more):
    with pytest.raises(InputError, match="must"):
        SleepingExperts(3, **more)


@pytest.mark.parametrize(
    ("name", "value"),
    [("far", np.zeros(2)), ("awake", np.zeros(3)), ("awake", np.full(3, 9)), ("played", 5), ("rounds", -1)],
)
def test_a_damaged_state_is_refused(name, value):
    learner = SleepingExperts(3, loss="table")
    learner.play_one(None, [0.0, 0.5, 1.0])
    state = learner.state()
    state["weights"][name] = value
    with pytest.raises(ModelFileError):
        SleepingExperts.restore(state)
