"""Fixed Share in a few lines of longdoubles, against every path there is."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import cases
import novikoff as nk
from novikoff.core.types import Run
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.experts.theorems.fixed_share_regret import fixed_share_regret, path_price

CASES = {
    "fixed_share_regret": cases.of_experts(
        lambda experts: nk.FixedShare(experts, switches=1, horizon=30, loss="table", play="draw"),
        lambda: cases.run_of(
            nk.FixedShare(10, switches=1, horizon=100, alpha=1e-9, eta=20.0, loss="table", play="draw"),
            nk.Losses(1.0 - np.repeat(np.eye(10)[:2], 50, axis=0)),
        ),
        "rate must be positive",
        {"eta": 0.0},
    ),
}
"""Cases for tests/test_every_theorem.py."""

GOLDEN = np.array([[0, 1, 0.5], [1, 0, 0.5], [0, 1, 1], [0, 0, 1]])


def least_losses(table, switches):
    """The least loss of a path with at most k switches, for k = 0 .. switches."""
    d = np.repeat(table[:1], switches + 1, axis=0)
    for row in table[1:]:
        d[1:] = np.minimum(d[1:], d[:-1].min(axis=1)[:, np.newaxis])
        d += row
    return d.min(axis=1)


def paths(table, most, price):
    """For k = 0 .. most: the least of loss + the prices of its segments' experts, over all paths with <= k switches."""
    rounds, experts = table.shape
    least = [math.inf] * (most + 1)
    for path in itertools.product(range(experts), repeat=rounds):
        changes = [t for t in range(1, rounds) if path[t] != path[t - 1]]
        cost = (
            math.fsum(table[t, i] for t, i in enumerate(path)) + price[path[0]] + sum(price[path[t]] for t in changes)
        )
        for k in range(len(changes), most + 1):
            least[k] = min(least[k], cost)
    return tuple(least)


def play(table, eta, alpha, switches, prior=None, top=1.0, share=True, brute=True):
    rows = np.asarray(table, dtype=np.longdouble)
    rounds, experts = rows.shape
    prior = np.full(experts, 1 / experts) if prior is None else np.asarray(prior, dtype=float)
    w, mixed, gaps, seen = prior.astype(np.longdouble), np.longdouble(0), np.longdouble(0), []
    for row in rows:
        seen.append(w)
        mixed += row @ w
        v = w * np.exp(-eta * row / top)
        gaps += row @ w + top / eta * np.log(v.sum())
        v /= v.sum()
        w = (1 - alpha) * v + alpha * prior if share else v
    lost, most = rows.sum(axis=0), min(switches, rounds - 1)
    price = -np.log(prior) * top / eta
    if brute:
        losses, costs = paths(table, most, np.zeros(experts)), paths(table, most, price)
    else:  # all prices are the same
        losses = tuple(least_losses(table, most).tolist())
        costs = tuple(float(loss + (k + 1) * price[0]) for k, loss in enumerate(losses))
    facts = ExpertsFacts(
        "share", rounds, experts, "table", "draw", top, top, eta, rates=eta * rounds, gaps=float(gaps), last_gap=0.0,
        mixed=float(mixed), best=int(np.argmin(lost)), best_loss=float(lost.min()), comparator=0,
        comparator_loss=float(lost[0]), price=-math.log(prior[0]), uniform=len(set(prior)) == 1, rounding=1e-12,
        horizon=rounds, switches=switches, alpha=alpha, path_losses=losses, path_costs=costs,
    )  # fmt: skip
    start = dataclasses.replace(facts, rounds=0, mixed=0.0, best_loss=0.0, comparator_loss=0.0)
    return Run(start, facts, rounds, 0, float(mixed), (0, 0), adaptive=False, deterministic=False), seen


tables = st.tuples(st.integers(1, 5), st.integers(1, 3)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0])))
)


@given(tables, st.floats(0.05, 20), st.floats(0, 1), st.integers(0, 5), st.sampled_from([1.0, 7.0]), st.data())
def test_the_theorem_holds_on_any_table_with_any_share_and_prior(table, eta, alpha, switches, top, data):
    parts = data.draw(st.lists(st.integers(1, 100), min_size=table.shape[1], max_size=table.shape[1]))
    run, _ = play(table * top, eta, alpha, switches, np.array(parts) / sum(parts), top)
    certificate = fixed_share_regret(run)
    if certificate.status == "void":
        assert alpha == 1.0
        assert not run.after.uniform or switches < len(table) - 1
        assert certificate.reason == "the bound is not finite"
    else:
        assert certificate.observed <= certificate.bound
        if table.shape[1] > 1:
            assert certificate.bound <= certificate.quantities["a_priori"] + 1e-8


def test_golden_values():
    run, seen = play(GOLDEN, 0.5, 1 / 3, 1)
    assert seen[1].astype(float) == pytest.approx([0.390597079, 0.280627920, 0.328775002], abs=1e-9)
    assert seen[3].astype(float) == pytest.approx([0.398805039, 0.306458902, 0.294736059], abs=1e-9)
    assert run.expected == pytest.approx(2.034444577, abs=1e-9)
    assert run.after.path_losses == (1.0, 1.0)
    price = 2 * math.log(3) + path_price(1, 4, 1 / 3)
    assert price == pytest.approx(4.106767082, abs=1e-9)
    certificate = fixed_share_regret(run)
    assert certificate.observed == pytest.approx(1.034444577, abs=1e-9)
    # no switch is better than one here: the bound against at most one switch is that of the path without
    pathwise = price / 0.5 + run.after.gaps
    assert pathwise == pytest.approx(8.401641778, abs=1e-8)
    assert price / 0.5 + run.after.variation == pytest.approx(8.463534164, abs=1e-9)
    assert certificate.bound == pytest.approx((math.log(3) + 3 * math.log(1.5)) / 0.5 + run.after.gaps, abs=1e-8)
    assert certificate.bound < pathwise
    assert certificate.quantities["paid_switches"] == 0
    assert math.sqrt(4 * price / 2) == pytest.approx(2.865926406, abs=1e-9) == math.sqrt(8 * price / 4)


def test_fixed_share_follows_changing_leader_and_counts_switches():
    rounds, switches, experts = 4000, 3, 4
    table = np.ones((rounds, experts))
    for k in range(4):
        table[k * 1000 : (k + 1) * 1000, k] = 0.0
    alpha = switches / (rounds - 1)
    price = (switches + 1) * math.log(experts) + path_price(switches, rounds, alpha)
    run, _ = play(table, math.sqrt(8 * price / rounds), alpha, switches, brute=False)
    certificate = fixed_share_regret(run)
    assert certificate.status == "valid"
    assert certificate.quantities["path_loss"] == 0.0
    assert certificate.quantities["paid_switches"] == 3
    assert certificate.quantities["a_priori"] == pytest.approx(math.sqrt(rounds * price / 2), rel=1e-9)
    quick = fixed_share_regret(play(table, 50.0, alpha, switches, brute=False)[0])
    assert quick.observed > 0.995 * quick.bound  # with a large rate all that is lost is a path's price and the gaps


def test_exponential_weights_that_do_not_share_are_violated():
    table = np.ones((4000, 2))
    table[:2000, 0] = table[2000:, 1] = 0.0
    alpha = 1 / 3999
    price = 2 * math.log(2) + path_price(1, 4000, alpha)
    eta = math.sqrt(8 * price / 4000)
    assert fixed_share_regret(play(table, eta, alpha, 1, brute=False)[0]).status == "valid"
    assert fixed_share_regret(play(table, eta, alpha, 1, share=False, brute=False)[0]).status == "violated"


def test_without_switches_it_is_the_bound_of_a_fixed_rate():
    run, _ = play(GOLDEN, 0.5, 0.0, 0)
    assert fixed_share_regret(run).bound == pytest.approx(2.383751497, abs=1e-8)
    assert fixed_share_regret(run).quantities["a_priori"] == pytest.approx(2.447224577, abs=1e-8)


def test_a_share_above_one_half_does_not_make_switches_cheap():
    """With alpha near 1 a path that stays is dear: the bound must not take the price of switches it does not make."""
    assert path_price(0, 5, 0.99) > path_price(4, 5, 0.99) + 18
    certificate = fixed_share_regret(play(np.zeros((5, 2)), 1.0, 0.99, 4, prior=[0.4, 0.6])[0])
    assert certificate.bound >= -math.log(0.6) + path_price(0, 5, 0.99)


@pytest.mark.parametrize("alpha", [0.75, 1.0])
def test_a_path_may_draw_its_own_expert_again(alpha):
    """All priors equal: to draw in every round costs T ln N, and with alpha = 1 the weights are always equal."""
    run, _ = play(np.tile([[0.0, 1.0]], (6, 1)), 1.0, alpha, 5)
    certificate = fixed_share_regret(run)
    drawn = 6 * math.log(2) + path_price(5, 6, alpha)
    assert certificate.observed <= certificate.bound
    assert certificate.bound == pytest.approx(
        min(drawn, math.log(2) + path_price(0, 6, alpha)) + run.after.gaps, abs=1e-8
    )
    assert fixed_share_regret(play(np.zeros((6, 2)), 1.0, 1.0, 4)[0]).status == "void"  # a stay has no chance then


@pytest.mark.parametrize(
    ("values", "price"),
    [((0, 1, 0.0), 0.0), ((0, 9, 0.0), 0.0), ((1, 9, 0.0), math.inf), ((8, 9, 1.0), 0.0), ((7, 9, 1.0), math.inf)],
)
def test_zero_times_infinity_is_zero(values, price):
    assert path_price(*values) == price


def test_invalid_runs_are_void():
    run, _ = play(GOLDEN, 0.5, 1 / 3, 1)
    for values in ({"path_costs": ()}, {"path_losses": ()}, {"eta": 0.0}, {"gaps": math.nan}, {"top": 0.0}):
        assert fixed_share_regret(changed(run, **values)).status == "void", values
    assert fixed_share_regret(changed(run, rule="fixed")) is None


def changed(run, **values):
    return dataclasses.replace(run, after=dataclasses.replace(run.after, **values))
