"""Fixed Share; its contracts are in test_exponential_weights.py too."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.errors import InputError, ModelFileError
from novikoff.core.types import Batch
from novikoff.data.memory import Advice, Losses
from novikoff.experts.exponential_weights import ExponentialWeights
from novikoff.experts.fixed_share import FixedShare
from novikoff.game.play import play
from samples import CLASSES, INDICES, MATRIX

SAMPLES = {
    "fixed-share": [
        ("fixed-share:[thresholds:n=20],switches=2,horizon=300", *INDICES),
        (f"fixed-share:[{MATRIX}],switches=1,horizon=300,alpha=0.01,eta=0.5", *CLASSES),
    ],
}
"""Samples for tests/test_every_learner.py."""

TABLE = np.array([(0.0, 1.0, 0.5), (1.0, 0.0, 0.5), (0.0, 1.0, 1.0), (0.0, 0.0, 1.0)])


def test_the_golden_table():
    learner = FixedShare(3, 1, 4, eta=0.5, loss="table", play="mean")
    assert learner.alpha == pytest.approx(1 / 3)
    weights = []
    for row in TABLE:
        weights.append(learner.weights)
        learner.play_one(None, row)
    facts = learner.facts()
    assert weights[1] == pytest.approx([0.390597079, 0.280627920, 0.328775002], abs=1e-9)
    assert weights[3] == pytest.approx([0.398805039, 0.306458902, 0.294736059], abs=1e-9)
    assert facts.mixed == pytest.approx(2.034444577, abs=1e-9)
    assert facts.path_losses == (1.0, 1.0)
    price = 2 * math.log(3) + math.log(3) + 2 * math.log(1.5)
    assert price == pytest.approx(4.106767082, abs=1e-9)
    assert price / 0.5 + facts.gaps == pytest.approx(8.401641778, abs=1e-9)
    assert price / 0.5 + 0.5 * 4 / 8 == pytest.approx(8.463534164, abs=1e-9)


def test_the_tuned_rate():
    learner = FixedShare(3, 1, 4, loss="table", play="mean")
    learner.play_one(None, TABLE[0])
    assert learner.facts().eta == pytest.approx(2.865926406, abs=1e-9)
    assert math.sqrt(4 * 4.106767082 / 2) == pytest.approx(2.865926406, abs=1e-8)


def brute(table, switches, entry):
    """The least loss, and the least loss with the entries of its segments, of all paths with at most k switches."""
    rounds, experts = table.shape
    losses, costs = [math.inf] * (switches + 1), [math.inf] * (switches + 1)
    for path in itertools.product(range(experts), repeat=rounds):
        changes = [t for t in range(1, rounds) if path[t] != path[t - 1]]
        loss = sum(table[t, i] for t, i in enumerate(path))
        cost = loss + entry[path[0]] + sum(entry[path[t]] for t in changes)
        for k in range(len(changes), switches + 1):
            losses[k], costs[k] = min(losses[k], loss), min(costs[k], cost)
    return losses, costs


@given(st.integers(0, 10**6), st.integers(2, 3), st.integers(1, 6), st.integers(0, 3), st.booleans())
def test_the_best_paths_are_those_of_all_paths(seed, experts, rounds, switches, prior):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 9, (rounds, experts)) / 8.0
    weights = rng.integers(1, 9, experts) if prior else np.ones(experts)
    learner = FixedShare(experts, switches, 50, eta=0.7, loss="table", play="mean", prior=weights if prior else None)
    learner.learn_many(Batch(None, table, 1))
    facts = learner.facts()
    losses, costs = brute(table, switches, -np.log(weights / weights.sum()) / 0.7)
    assert facts.path_losses == pytest.approx(losses)
    assert facts.path_costs == pytest.approx(costs)
    pi = weights / weights.sum()
    if switches:  # the theorem, for every path
        alpha = learner.alpha
        for path in itertools.product(range(experts), repeat=rounds):
            starts = [0] + [t for t in range(1, rounds) if path[t] != path[t - 1]]
            k = len(starts) - 1
            price = -sum(math.log(pi[path[t]]) for t in starts)
            price += -k * math.log(alpha) - (rounds - 1 - k) * math.log1p(-alpha)
            loss = sum(table[t, i] for t, i in enumerate(path))
            assert facts.mixed <= loss + price / 0.7 + facts.gaps + 1e-9


def test_nothing_shared_is_exponential_weights():
    table = np.random.default_rng(0).random((200, 5))
    one = FixedShare(5, 3, 200, eta=0.4, alpha=0, loss="table")
    two = ExponentialWeights(5, eta=0.4, loss="table")
    first, second = one.learn_many(Batch(None, table, 1)), two.learn_many(Batch(None, table, 1))
    assert first.predictions.tolist() == second.predictions.tolist()
    assert one.weights.tolist() == two.weights.tolist()
    assert one.facts().path_losses[0] == pytest.approx(table.sum(axis=0).min())
    assert one.facts().mixed == two.facts().mixed


def test_it_follows_a_change_that_exponential_weights_does_not():
    table = np.concatenate([np.tile([0.0, 1.0], (500, 1)), np.tile([1.0, 0.0], (500, 1))])
    share, still = FixedShare(2, 1, 1000, loss="table"), ExponentialWeights(2, horizon=1000, loss="table")
    for learner in (share, still):
        learner.learn_many(Batch(None, table, 1))
    assert share.facts().path_losses == (500.0, 0.0)
    assert share.facts().mixed < 50 < 400 < still.facts().mixed


def test_losses_of_paths_do_not_drift():
    learner = FixedShare(2, 1, 10**6, loss="table", play="mean")
    learner.learn_many(Batch(None, np.tile([0.1, 0.3], (100_000, 1)), 1))
    facts = learner.facts()
    assert facts.path_losses[1] == pytest.approx(0.1 * 100_000, abs=facts.rounding)
    assert facts.rounding < 1e-6


@pytest.mark.parametrize("alpha", [1e-100, 1e-12, 0.999])
def test_no_expert_is_ever_lost(alpha):
    learner = FixedShare(3, 2, 1000, eta=500.0, alpha=alpha, loss="table", play="mean")
    learner.learn_many(Batch(None, np.tile([0.0, 1.0, 1.0], (500, 1)), 1))
    assert np.all(learner.weights > 0.0)
    learner.learn_many(Batch(None, np.tile([1.0, 1.0, 0.0], (20, 1)), 1))
    assert learner.weights[2] > 0.9 or alpha > 0.9
    assert np.all(np.isfinite(learner.weights))


@pytest.mark.parametrize(
    "more",
    [{"switches": 10}, {"switches": -1}, {"switches": 1.5}, {"horizon": 0}, {"alpha": 1}, {"alpha": -0.1}, {"eta": 0},
     {"alpha": math.nan}, {"alpha": 1e-200}, {"alpha": "a"}, {"play": "mean"}],
)  # fmt: skip
def test_arguments_out_of_range_are_refused(more):
    with pytest.raises(InputError, match="must be"):
        FixedShare(**{"experts": 3, "switches": 1, "horizon": 10, **more})


@pytest.mark.parametrize(
    ("name", "value"),
    [("weights", np.zeros(3)), ("weights", np.ones(2)), ("paths", np.zeros(3)), ("rounds", -1), ("numbers", None)],
)
def test_a_damaged_state_is_refused(name, value):
    learner = FixedShare(3, 1, 10, loss="table")
    learner.play_one(None, [0.0, 0.5, 1.0])
    state = learner.state()
    state["weights"][name] = value
    with pytest.raises(ModelFileError):
        FixedShare.restore(state)


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 6), st.integers(1, 12), st.sampled_from([None, 0.999]))
def test_the_guarantee_holds_at_every_moment_also_before_there_were_as_many_rounds_as_switches(
    seed, experts, rounds, switches, alpha
):
    table = np.random.default_rng(seed).integers(0, 2, (rounds, experts)).astype(float)
    learner = FixedShare(experts, switches, switches + 2, alpha=alpha, loss="table")
    game = play(learner, Losses(table))
    promised = next(one for one in game.certify() if one.theorem == "fixed_share_regret")
    assert game.expected - brute(table, switches, [0.0] * experts)[0][-1] <= promised.bound
    assert promised.holds
    assert promised.quantities["paid_switches"] < rounds


def test_a_mixture_of_squared_loss_pays_for_the_path_alone_and_not_for_mixing():
    rng = np.random.default_rng(0)
    advice, outcomes = rng.random((300, 4)), rng.random(300)
    game = play(FixedShare(4, 2, 300, loss="squared"), Advice(advice, outcomes))
    promised = next(one for one in game.certify() if one.theorem == "fixed_share_regret")
    prices = 2.0 * (3 * math.log(4) + 2 * math.log(299 / 2) - 297 * math.log1p(-2 / 299))
    assert promised.observed <= promised.bound <= prices
    assert promised.quantities["saved"] > promised.quantities["gaps"] > 0.0  # no more than the mix loss is paid
