"""A bound on a regret says nothing where no larger regret is possible, nor one on a risk that any constant keeps."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import novikoff as nk
from novikoff.core.certificate import Bound, largest_regret, theorem

LEARNERS = {
    "anytime": lambda n, t: nk.ExponentialWeights(n, loss="table"),
    "doubling": lambda n, t: nk.ExponentialWeights(n, loss="table", rate="doubling"),
    "horizon": lambda n, t: nk.ExponentialWeights(n, loss="table", horizon=t),
    "fixed": lambda n, t: nk.ExponentialWeights(n, loss="table", eta=0.3, play="mean"),
    "adaptive": lambda n, t: nk.AdaHedge(n, loss="table"),
    "share": lambda n, t: nk.FixedShare(n, switches=min(1, t - 1), horizon=t, loss="table"),
    "sleeping": lambda n, t: nk.SleepingExperts(n, loss="table"),
}


def regrets(learner, table):
    return [one for one in nk.play(learner, table).certify() if "regret" in one.quantity]


@pytest.mark.parametrize("rule", LEARNERS)
def test_bounds_are_vacuous_if_the_best_expert_loses_nearly_all(rule):
    table = np.ones((100, 2))
    table[7, 0] = 0.5
    found = regrets(LEARNERS[rule](2, 100), table)
    assert found
    for one in found:
        assert one.observed <= 0.5 == one.trivial <= one.bound
        assert one.status == "vacuous"
        assert one.reason == "no better than the trivial bound 0.5: no larger regret is possible"


@pytest.mark.parametrize("rule", LEARNERS)
def test_bound_below_trivial_bound_is_informative(rule):
    table = np.tile([[0.0, 1.0]], (100, 1))
    for one in regrets(LEARNERS[rule](2, 100), table):
        assert one.status == "valid"
        assert one.bound < 100.0 == one.trivial


@given(
    st.sampled_from(sorted(LEARNERS)),
    st.tuples(st.integers(1, 40), st.integers(1, 4)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 1.0]) | st.floats(0, 1))
    ),
    st.booleans(),
)
def test_no_regret_exceeds_it_and_valid_bounds_are_below_it(rule, table, silence):
    rounds, experts = table.shape
    if silence and rule == "sleeping":
        table = np.where(np.arange(rounds)[:, np.newaxis] % 3 == np.arange(experts), math.nan, table)
    learner = LEARNERS[rule](experts, rounds)
    for one in regrets(learner, table):
        expert, facts = one.quantities.get("expert", -1), learner.facts()
        lost = (
            facts.best_loss if rule not in ("share", "sleeping") else one.quantities.get("path_loss", facts.best_loss)
        )
        awake = rounds
        if rule == "sleeping":
            awake, lost = one.quantities["awake"], float(np.nansum(table[:, expert])) if expert >= 0 else 0.0
        assert one.trivial == pytest.approx(awake - lost, abs=1e-9)
        assert one.observed <= one.trivial + 1e-9
        assert one.status == ("vacuous" if one.bound >= one.trivial else "valid")


def test_exceeded_bound_is_violated_even_if_no_larger_regret_was_possible():
    most = largest_regret(10, 1.0, 9.0)
    certificate = theorem("D", "")(lambda run: Bound(1.5, observed=2.0, trivial=most))(None)
    assert most == 1.0
    assert certificate.status == "violated"


def test_regret_of_gradient_descent_is_compared_with_the_best_in_hindsight():
    learner = nk.OnlineGradient(radius=0.01, low=-1.0, high=1.0, bias=1.0, horizon=100)
    games = nk.play(learner, (np.zeros((1, 1)), np.array([-1.0])))
    one = next(one for one in games.certify() if "regret" in one.quantity)
    facts = learner.facts()
    assert one.trivial == facts.top - facts.comparator_loss < one.bound < facts.top
    assert one.status == "vacuous"
    assert one.reason.endswith("no larger regret is possible")


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_risk_above_the_best_constant_is_vacuous(loss):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 10))
    x /= 1.001 * np.linalg.norm(x, axis=1)[:, np.newaxis]
    y = np.clip(150 + 60 * x[:, 0] + 20 * rng.normal(size=300), 0, 400)
    wide = nk.play(nk.OnlineGradient(radius=3000, low=0, high=400, loss=loss), (x, y)).certify()
    worst = 40_000.0 if loss == "squared" else 200.0
    for one in (one for one in wide if one.theorem.startswith("average_risk")):
        assert np.max(np.abs(y - 200.0) ** (2 if loss == "squared" else 1)) <= worst == one.trivial < one.bound
        assert one.status == "vacuous"
        assert (
            one.reason
            == f"no better than the trivial bound {worst:,.0f}: always predicting the middle of the range loses no more"
        )


def test_risk_below_the_best_constant_is_informative():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(20_000, 1))
    ledger = nk.play(nk.OnlineGradient(radius=1.0, low=-1.0, high=1.0), (x, 0.9 * x[:, 0]))
    found = [one for one in ledger.certify() if one.theorem.startswith("average_risk")]
    assert len(found) == 2
    for one in found:
        assert one.bound < one.trivial == 1.0
        assert one.status == "conditional"
