"""Exponential weights with falling rates, played by a few lines of longdoubles."""

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
from novikoff.experts.theorems.anytime_regret import anytime_regret
from novikoff.experts.theorems.mixability_gaps import mixability_gaps

CASES = {
    "anytime_regret": cases.of_experts(
        cases.weights("anytime"),
        lambda: cases.run_of(cases.weights("anytime")(2), nk.Losses(cases.lead(100_000, 3_000))),
        "never increased",
        {"rates": 0.1},
    ),
}
"""Cases for tests/test_every_theorem.py."""

GOLDEN = np.array([[0, 1, 0.5], [1, 0, 0.5], [0, 1, 1], [0, 0, 1]])


def usual(rounds, experts):
    return 2 * np.sqrt(math.log(experts) / np.arange(1, rounds + 1))


tables = st.tuples(st.integers(1, 25), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(0, 1))
)


@given(tables, st.sampled_from([1.0, 0.125, 13.8]))
def test_with_the_usual_rates_the_regret_is_at_most_the_root_of_T_ln_N(weigh, table, top):
    rounds, experts = table.shape
    certificate = anytime_regret(weigh(table * top, usual(rounds, experts), top=top, rule="anytime"))
    assert certificate.observed <= certificate.bound
    assert certificate.bound <= top * math.sqrt(rounds * math.log(experts)) + 1e-6
    assert certificate.quantities["default_rate"] == pytest.approx(top * math.sqrt(rounds * math.log(experts)))


@given(tables, st.data())
def test_the_theorem_holds_with_any_falling_rates_and_any_prior(weigh, table, data):
    rounds, experts = table.shape
    rates = sorted(data.draw(st.lists(st.floats(0.01, 30), min_size=rounds, max_size=rounds)), reverse=True)
    parts = data.draw(st.lists(st.integers(1, 1000), min_size=experts, max_size=experts))
    run = weigh(table, rates, np.array(parts) / sum(parts), rule="anytime")
    for theorem in (anytime_regret, mixability_gaps):
        certificate = theorem(run)
        assert certificate.status in ("valid", "vacuous")
        assert certificate.observed <= certificate.bound
    assert mixability_gaps(run).bound <= anytime_regret(run).bound + 1e-8


def test_golden_values(weigh):
    run = weigh(GOLDEN, usual(4, 3), rule="anytime")
    assert run.expected == pytest.approx(2.099580546, abs=1e-9)
    certificate = anytime_regret(run)
    rates = [2 * math.sqrt(math.log(3) / t) for t in (1, 2, 3, 4)]
    assert certificate.bound == pytest.approx(math.log(3) / rates[-1] + sum(rates) / 8, abs=1e-8)
    assert certificate.quantities["default_rate"] == pytest.approx(2.096294148, abs=1e-9)
    assert mixability_gaps(run).bound == pytest.approx(1.531869920, abs=1e-8)


def test_golden_value_where_the_comparator_is_not_the_best_expert(weigh):
    """The prior of the best expert is so small that the bound is less against the other, which loses 1/2 more."""
    run = weigh(np.array([[0.5, 0.5], [0, 0.5], [0, 0], [0, 0]]), [1.0] * 4, np.array([0.001, 0.999]), rule="anytime")
    assert anytime_regret(run).bound == pytest.approx(0.5 + math.log(1 / 0.999) + 4 / 8, abs=1e-8)


def test_other_rules_have_their_own_theorems(weigh):
    run = weigh(GOLDEN, usual(4, 3), rule="anytime")
    assert anytime_regret(dataclasses.replace(run, after=dataclasses.replace(run.after, rule="fixed"))) is None
