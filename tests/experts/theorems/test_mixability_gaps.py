"""Regret by the cost of mixing, for experts that are drawn and for mixtures of their predictions."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import cases
import novikoff as nk
from novikoff.core.types import StepResult
from novikoff.experts.theorems.fixed_rate_regret import fixed_rate_regret
from novikoff.experts.theorems.mixability_gaps import mixability_gaps

CASES = {
    "mixability_gaps": cases.of_experts(
        cases.weights(),
        lambda: cases.run_of(cases.weights()(3), nk.Losses(cases.lead(0, 80, 3))),
        "never increased",
        {"rates": 0.1},
    ),
}
"""Cases for tests/test_every_theorem.py."""

GOLDEN = np.array([[0, 1, 0.5], [1, 0, 0.5], [0, 1, 1], [0, 0, 1]])


tables = st.tuples(st.integers(1, 25), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(0, 1))
)


@given(tables, st.floats(0.01, 20))
def test_the_theorem_holds_on_any_table_and_is_never_worse_than_in_advance(weigh, table, eta):
    run = weigh(table, eta)
    certificate = mixability_gaps(run)
    assert certificate.observed <= certificate.bound <= fixed_rate_regret(run).bound + 1e-8
    assert certificate.quantities["gaps"] >= -1e-12


@given(tables, st.data(), st.floats(0.01, 20), st.sampled_from(["absolute", "squared"]))
def test_theorem_holds_for_the_mixture_and_reports_its_savings(weigh, predictions, data, eta, loss):
    power = 1 if loss == "absolute" else 2
    y = np.array(data.draw(st.lists(st.floats(0, 1), min_size=len(predictions), max_size=len(predictions))))
    losses = np.abs(predictions - y[:, np.newaxis]) ** power
    run = weigh(losses, eta, paid=lambda w, t: abs(w @ predictions[t] - y[t]) ** power, loss=loss)
    certificate = mixability_gaps(run)
    assert certificate.observed <= certificate.bound <= fixed_rate_regret(run).bound + 1e-8
    assert certificate.quantity == "regret"


def test_golden_values(weigh):
    certificate = mixability_gaps(weigh(GOLDEN, 0.5))
    assert certificate.bound == pytest.approx(2.383751497, abs=1e-8)
    assert certificate.observed == pytest.approx(1.023212155, abs=1e-9)
    assert certificate.quantity == "expected regret"


def test_a_mixture_that_beats_every_expert_is_known_to(weigh):
    predictions = np.tile([[0.0, 1.0]], (50, 1))
    y = np.full(50, 0.5)
    run = weigh((predictions - 0.5) ** 2, 0.5, paid=lambda w, t: (w @ predictions[t] - y[t]) ** 2, loss="squared")
    certificate = mixability_gaps(run)
    assert certificate.status == "valid"
    assert certificate.observed == pytest.approx(-12.5)
    assert certificate.bound == pytest.approx(2 * math.log(2) - 12.5, abs=1e-8)


class Otherwise(nk.ExponentialWeights):
    """Moves its weights by the rule, and says something else than their mixture."""

    def play_one(self, x, y):
        said = self.instead(super().play_one(x, y).predictions)
        return StepResult(said, abs(said - y), abs(said - y))

    def learn_many(self, batch):
        return None


class Lying(nk.ExponentialWeights):
    """Draws by its weights, and tells other chances."""

    def chances(self, x):
        return self.told


def forecasts(rounds=400):
    rng = np.random.default_rng(0)
    return rng.uniform(size=(rounds, 3)) * np.array([0.2, 0.6, 1.0]), np.zeros(rounds)


@pytest.mark.parametrize("rate", [{}, {"rate": "doubling"}, {"eta": 0.3}, {"horizon": 400}])
def test_the_opposite_of_the_mixture_is_violated(rate):
    learner = Otherwise(3, loss="absolute", **rate)
    learner.instead = lambda said: 1.0 - said
    found = {one.theorem: one for one in nk.play(learner, forecasts()).certify()}
    assert found["mixability_gaps"].status == "violated"
    assert {one.status for one in found.values()} == {"violated"}


@pytest.mark.parametrize("rate", [{}, {"rate": "doubling"}, {"eta": 0.3}])
def test_a_little_more_than_the_mixture_is_detected_even_where_bound_holds(rate):
    learner = Otherwise(3, loss="absolute", **rate)
    learner.instead = lambda said: said + 0.0001
    void = "assumption failed: the mixture lost no more than the weighted mean of its experts"
    found = nk.play(learner, forecasts()).certify()
    assert all(one.reason == void for one in found if one.status != "violated")
    assert any(one.status == "void" for one in found)


def test_a_little_less_than_the_mixture_is_no_breach():
    learner = Otherwise(3, loss="absolute")
    learner.instead = lambda said: 0.99 * said
    assert {one.status for one in nk.play(learner, forecasts()).certify()} == {"valid"}


@pytest.mark.parametrize("rate", [{}, {"rate": "doubling"}, {"eta": 0.3}])
@pytest.mark.parametrize("told", [{1: 1.0, -1: 1.0}, {1: 0.5, -1: 0.5}, {}])
def test_learner_with_wrong_probabilities_is_detected(told, rate):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 21, 500)
    y = np.where((x >= 7) ^ (rng.uniform(size=500) < 0.3), 1, -1)
    honest, lying = nk.ExponentialWeights(nk.classes.thresholds(20), **rate), Lying(nk.classes.thresholds(20), **rate)
    lying.told = told
    assert {one.status for one in nk.play(honest, (x, y)).certify()} == {"valid"}
    for one in nk.play(lying, (x, y)).certify():
        assert one.status in ("void", "violated")
        assert one.status == "violated" or one.reason == "assumption failed: the expected loss agrees with the weights"


HOSTILE = st.sampled_from([0.0, 1.0, 0.5, 5e-324, 1e-200, 2.0**-53, 1.0 - 2.0**-53])


@st.composite
def honest_games(draw):
    """A learner, and rounds that are hard on its arithmetic."""
    experts, rounds = draw(st.integers(1, 6)), draw(st.integers(1, 70))
    loss = draw(st.sampled_from(["table", "absolute", "squared", "log"]))
    given = {"loss": loss, "play": draw(st.sampled_from(["mean", "draw"])), "seed": draw(st.integers(0, 99))}
    few = np.array(draw(st.lists(HOSTILE | st.floats(0, 1), min_size=7, max_size=7)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x, y = rng.choice(few, size=(rounds, experts)), rng.choice(few, size=rounds)
    y = (y >= 0.5).astype(float) if loss == "log" else y
    weights = 10.0 ** rng.uniform(-140, 0, size=experts)
    prior = draw(st.sampled_from([None, weights / weights.sum()]))
    eta = draw(st.none() | st.floats(1e-8, 1e4))
    rule = draw(st.sampled_from(["fixed", "anytime", "doubling", "ada", "share", "sleeping"]))
    if rule in ("anytime", "doubling"):
        return nk.ExponentialWeights(experts, rate=rule, prior=prior, **given), x, y
    if rule == "ada":
        return nk.AdaHedge(experts, **given), x, y
    if rule == "share":
        switches = draw(st.integers(0, min(2, rounds - 1)))
        return nk.FixedShare(experts, switches=switches, horizon=rounds, eta=eta, prior=prior, **given), x, y
    if rule == "sleeping":
        x = np.where(rng.uniform(size=x.shape) < draw(st.sampled_from([0.0, 0.4, 1.0])), math.nan, x)
        return nk.SleepingExperts(experts, eta=eta, prior=prior, **given), x, y
    return nk.ExponentialWeights(experts, eta=eta, horizon=None if eta else rounds, prior=prior, **given), x, y


@given(honest_games(), st.booleans())
def test_honest_learners_are_never_violated(made, together):
    learner, x, y = made
    game, table = nk.Game(learner), learner.loss == "table"
    if together:
        game.learn_batch(nk.Batch(None, x, 1) if table else nk.Batch(x, y, 1))
    else:
        for row, outcome in zip(x, y.tolist(), strict=True):
            game.learn_one(None if table else row, row if table else outcome)
    for one in game.ledger.certify():
        assert one.status != "violated"
        assert not any(assumption.standing == "refuted" for assumption in one.assumptions)


def test_clipped_log_losses_break_the_bound_of_convex_losses(weigh):
    rounds = 400
    predictions = np.tile([[0.6, 0.0], [0.0, 0.6]], (rounds // 2, 1))  # of the outcome that comes
    losses = np.minimum(1.0, -np.log(np.maximum(predictions, 1e-300)))
    eta = math.sqrt(8 * math.log(2) / rounds)
    run = weigh(losses, eta, paid=lambda w, t: min(1.0, -math.log(max(w @ predictions[t], 1e-300))), loss="log")
    assert run.expected - run.after.best_loss == pytest.approx(97.8, abs=0.1)
    assert fixed_rate_regret(run).status == "violated"  # what a learner that clipped its losses would be told
    assert fixed_rate_regret(run).bound == pytest.approx(11.8, abs=0.1)


def test_nonfinite_values_are_void_and_other_rules_have_their_own_theorems(weigh):
    run = weigh(GOLDEN, 0.5)
    other = dataclasses.replace(run, after=dataclasses.replace(run.after, rule="share"))
    assert mixability_gaps(other) is None
    endless = dataclasses.replace(run, after=dataclasses.replace(run.after, gaps=math.inf))
    assert mixability_gaps(endless).status == "void"
