"""Exponential weights with falling rates, played by a few lines of longdoubles."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from novikoff.certificates.anytime_regret import anytime_regret
from novikoff.certificates.experts_facts import ExpertsFacts
from novikoff.certificates.mixability_gaps import mixability_gaps
from novikoff.types import Run

GOLDEN = np.array([[0, 1, 0.5], [1, 0, 0.5], [0, 1, 1], [0, 0, 1]])


def play(table, rates=None, prior=None, top=1.0, weights=None):
    """The run with the rate of each round; by default 2 sqrt(ln N / t)."""
    table = np.asarray(table, dtype=np.longdouble)
    rounds, experts = table.shape
    prior = np.full(experts, 1 / experts) if prior is None else np.asarray(prior, dtype=float)
    rates = 2 * np.sqrt(math.log(experts) / np.arange(1, rounds + 1)) if rates is None else np.asarray(rates)
    lost, mixed, gaps, gap = np.zeros(experts, dtype=np.longdouble), np.longdouble(0), np.longdouble(0), 0.0
    for row, eta in zip(table, rates, strict=True):
        w = prior * np.exp(-eta * (lost - lost.min()) / top) if weights is None else weights(lost, eta)
        w /= w.sum()
        mixed += row @ w
        gap = row @ w + (top / eta * np.log(w @ np.exp(-eta * row / top)) if experts > 1 else -row[0])
        gaps += gap
        lost += row
    costs = lost - top * np.log(prior) / rates[-1] if experts > 1 else lost
    i = int(np.argmin(costs))
    facts = ExpertsFacts(
        "anytime", rounds, experts, "table", "draw", top, top, float(rates[-1]), rates=math.fsum(rates),
        gaps=float(gaps), last_gap=float(gap), mixed=float(mixed), best=int(np.argmin(lost)),
        best_loss=float(lost.min()), comparator=i, comparator_loss=float(lost[i]), price=-math.log(prior[i]),
        uniform=len(set(prior)) == 1, rounding=1e-12,
    )  # fmt: skip
    start = dataclasses.replace(facts, rounds=0, rates=0.0, mixed=0.0, best_loss=0.0, comparator_loss=0.0)
    return Run(start, facts, rounds, 0, float(mixed), (0, 0), adaptive=False, deterministic=False)


tables = st.tuples(st.integers(1, 25), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(0, 1))
)


@given(tables, st.sampled_from([1.0, 0.125, 13.8]))
def test_with_the_usual_rates_the_regret_is_at_most_the_root_of_T_ln_N(table, top):
    rounds, experts = table.shape
    certificate = anytime_regret(play(table * top, top=top))
    assert certificate.observed <= certificate.bound
    assert certificate.bound <= top * math.sqrt(rounds * math.log(experts)) + 1e-6
    assert certificate.quantities["default_rate"] == pytest.approx(top * math.sqrt(rounds * math.log(experts)))


@given(tables, st.data())
def test_the_theorem_holds_with_any_falling_rates_and_any_prior(table, data):
    rounds, experts = table.shape
    rates = sorted(data.draw(st.lists(st.floats(0.01, 30), min_size=rounds, max_size=rounds)), reverse=True)
    parts = data.draw(st.lists(st.integers(1, 1000), min_size=experts, max_size=experts))
    run = play(table, rates, np.array(parts) / sum(parts))
    for theorem in (anytime_regret, mixability_gaps):
        certificate = theorem(run)
        assert certificate.status in ("valid", "vacuous")
        assert certificate.observed <= certificate.bound
    assert mixability_gaps(run).bound <= anytime_regret(run).bound + 1e-8


def test_golden_values():
    run = play(GOLDEN)
    assert run.expected == pytest.approx(2.099580546, abs=1e-9)
    certificate = anytime_regret(run)
    rates = [2 * math.sqrt(math.log(3) / t) for t in (1, 2, 3, 4)]
    assert certificate.bound == pytest.approx(math.log(3) / rates[-1] + sum(rates) / 8, abs=1e-8)
    assert certificate.quantities["default_rate"] == pytest.approx(2.096294148, abs=1e-9)
    assert mixability_gaps(run).bound == pytest.approx(1.531869920, abs=1e-8)


def test_two_experts_come_near_the_bound():
    rounds, lead = 200_000, 3_000
    turns = np.tile([[0.0, 1.0], [1.0, 0.0]], (rounds // 2, 1))
    run = play(np.concatenate([turns, np.tile([[0.0, 1.0]], (lead, 1))]))
    certificate = anytime_regret(run)
    assert 0.97 * certificate.bound < certificate.observed <= certificate.bound
    assert certificate.bound <= certificate.quantities["default_rate"]
    assert mixability_gaps(run).observed > 0.98 * mixability_gaps(run).bound


def test_weights_that_forget_are_violated():
    table = np.concatenate([np.tile([[1.0, 0.0]], (200, 1)), np.tile([[0.0, 1.0]], (100, 1))])
    run = play(table, weights=lambda lost, eta: np.exp(eta * (lost - lost.max())))
    assert anytime_regret(run).status == "violated"


def test_a_rate_that_rises_is_void():
    certificate = anytime_regret(play(GOLDEN, [0.1, 0.2, 0.3, 0.4]))
    assert (certificate.status, certificate.reason) == ("void", "assumption failed: the rate never rose")


def test_a_learner_that_had_played_before_is_void():
    run = play(GOLDEN)
    warm = dataclasses.replace(run, before=dataclasses.replace(run.before, rounds=3), rounds=1)
    assert anytime_regret(warm).reason.startswith("warm start")


def test_one_expert_has_no_regret():
    certificate = anytime_regret(play(np.full((10, 1), 0.5)))
    assert (certificate.status, certificate.observed) == ("valid", 0.0)
    assert certificate.bound < 2e-9


def test_other_rules_have_theorems_of_their_own():
    run = play(GOLDEN)
    assert anytime_regret(dataclasses.replace(run, after=dataclasses.replace(run.after, rule="fixed"))) is None
