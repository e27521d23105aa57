"""Sleeping experts in a few lines of longdoubles, and what is promised to each of them."""

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
from novikoff.core.types import Run
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.experts.theorems.sleeping_regret import sleeping_regret


def sleeping(experts):
    return nk.SleepingExperts(experts, loss="table", play="draw")


CASES = {
    "sleeping_regret": dataclasses.replace(
        cases.of_experts(sleeping, None, "not finite", {"sleeper_gaps": np.inf}),
        broken=lambda: cases.changed(cases.run_of(sleeping(2), nk.Losses(cases.lead(2, 60))), sleeper_regret=50.0),
    ),
}
"""Cases for tests/test_every_theorem.py."""

NAN = math.nan
GOLDEN = np.array([[0, 1, 0.5], [1, NAN, 0.5], [NAN, 1, 1], [0, 0, NAN]])


def play(table, rate, prior=None, top=1.0, learns=True):
    """The run of the expert with the least room, what all of them have, and h, R; NaN is asleep."""
    table = np.asarray(table, dtype=np.longdouble)
    rounds, experts = table.shape
    prior = np.full(experts, 1 / experts) if prior is None else np.asarray(prior, dtype=float)
    zeros = lambda: np.zeros(experts, dtype=np.longdouble)
    R, regret, gaps, rates, awake, eta, hs = zeros(), zeros(), zeros(), zeros(), zeros(), 0.0, []
    for t, row in enumerate(table):
        on = ~np.isnan(row)
        if not on.any():
            continue
        eta, losses = rate(t + 1), row[on] / top
        p = prior[on] * np.exp(eta * (R[on] - R[on].max()))
        p /= p.sum()
        h, m = p @ losses, -np.log(p @ np.exp(-eta * losses)) / eta
        R[on] += (m - losses) * learns
        regret[on] += (h - losses) * top
        gaps[on] += (h - m) * top
        rates[on] += eta
        awake[on] += 1
        hs.append(float(h))
    price = -np.log(prior)
    room = np.where(awake > 0, price * top / eta + gaps - regret if eta else 0.0, np.inf)
    i = int(np.argmin(room)) if eta else -1
    facts = ExpertsFacts(
        "sleeping", rounds, experts, "table", "draw", top, top, eta, rates=float(rates.max()), gaps=float(gaps.max()),
        last_gap=0.0, mixed=math.fsum(hs) * top, best=0, best_loss=0.0, comparator=0, comparator_loss=0.0, price=0.0,
        uniform=len(set(prior)) == 1, rounding=1e-12, sleeper=i, sleeper_regret=float(regret[i]),
        sleeper_gaps=float(gaps[i]), sleeper_rates=float(rates[i]), sleeper_price=float(price[i]),
        sleeper_rounds=int(awake[i]),
    )  # fmt: skip
    start = dataclasses.replace(facts, rounds=0, mixed=0.0)
    run = Run(start, facts, rounds, 0, facts.mixed, (0, 0), adaptive=False, deterministic=False)
    return run, hs, R.astype(float), regret.astype(float)


tables = st.tuples(st.integers(1, 25), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.one_of(st.floats(0, 1), st.just(NAN)))
)


@given(tables, st.floats(0.01, 20), st.booleans(), st.sampled_from([1.0, 4.0]), st.data())
def test_theorem_holds_for_any_sleep_pattern_and_prior(table, eta, falling, top, data):
    parts = data.draw(st.lists(st.integers(1, 1000), min_size=table.shape[1], max_size=table.shape[1]))
    rate = (lambda t: eta / math.sqrt(t)) if falling else (lambda t: eta)
    run, *_ = play(table * top, rate, np.array(parts) / sum(parts), top)
    certificate = sleeping_regret(run)
    assert certificate.status in ("valid", "vacuous")
    assert certificate.observed <= certificate.bound <= certificate.quantities["a_priori"] + 1e-8
    assert certificate.quantity == "expected regret while awake"


@given(tables)
def test_with_the_usual_rates_the_bound_in_advance_is_the_root_of_T_ln_N(table):
    rounds, experts = table.shape
    if experts == 1:
        return
    certificate = sleeping_regret(play(table, lambda t: 2 * math.sqrt(math.log(experts) / t))[0])
    assert certificate.quantities["a_priori"] <= math.sqrt(rounds * math.log(experts)) + 1e-9


@given(tables, st.floats(0.01, 5))
def test_prior_below_one_leaves_room_for_new_experts(table, eta):
    experts = table.shape[1]
    for i in range(experts):
        table[: 2 * i, i] = NAN
    run, *_ = play(table, lambda t: eta, [1 / ((i + 1) * (i + 2)) for i in range(experts)])
    certificate = sleeping_regret(run)
    assert certificate.observed <= certificate.bound


def test_golden_values():
    run, hs, R, regrets = play(GOLDEN, lambda t: 0.5)
    assert hs == pytest.approx([0.5, 0.781088250, 1.0, 0.0], abs=1e-9)
    assert list(R) == pytest.approx([0.224132887, -0.541451591, 0.224132887], abs=1e-9)
    assert np.mean(np.exp(R / 2)) == pytest.approx(1.0, abs=1e-12)
    assert regrets == pytest.approx([0.281088250, -0.5, 0.281088250], abs=1e-9)
    certificate = sleeping_regret(run)
    assert certificate.observed == pytest.approx(0.281088250, abs=1e-9)
    assert certificate.bound == pytest.approx(2 * math.log(3) + 0.281088250 - 0.224132887, abs=1e-8)
    assert certificate.trivial == 3.0


def test_it_is_nearly_met_by_an_expert_that_has_outrun_the_others():
    table = np.tile([[0.0, 1.0], [NAN, 0.5]], (100, 1))
    certificate = sleeping_regret(play(table, lambda t: 0.5)[0])
    assert certificate.quantities["expert"] == 0
    assert certificate.quantities["awake"] == 100
    assert certificate.observed <= certificate.bound <= certificate.observed + 1e-6


def test_a_learner_that_does_not_learn_is_violated():
    table = np.tile([[0.0, 1.0]], (200, 1))
    assert sleeping_regret(play(table, lambda t: 0.5)[0]).status == "valid"
    assert sleeping_regret(play(table, lambda t: 0.5, learns=False)[0]).status == "violated"


def test_no_certificate_if_all_experts_sleep():
    certificate = sleeping_regret(play(np.full((4, 2), NAN), lambda t: 0.5)[0])
    assert (certificate.status, certificate.trivial) == ("vacuous", 0.0)


def test_invalid_runs_are_void():
    run, *_ = play(GOLDEN, lambda t: 0.5)
    for values in ({"sleeper_price": math.inf}, {"sleeper_gaps": math.nan}, {"eta": 0.0}, {"top": math.inf}):
        assert sleeping_regret(changed(run, **values)).status == "void", values
    assert sleeping_regret(changed(run, rule="fixed")) is None


def changed(run, **values):
    return dataclasses.replace(run, after=dataclasses.replace(run.after, **values))
