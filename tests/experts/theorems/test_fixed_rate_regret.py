"""Exponential weights with a fixed rate, played by fifteen lines of longdoubles."""

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
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.experts.theorems.fixed_rate_regret import fixed_rate_regret

CASES = {
    "fixed_rate_regret": cases.of_experts(
        cases.weights(),
        lambda: cases.run_of(cases.weights(eta=0.01)(2), nk.Losses(cases.lead(20_000, 1_200))),
        "rate was constant",
        {"rates": 9.0},
    ),
}
"""Cases for tests/test_every_theorem.py."""

GOLDEN = np.array([[0, 1, 0.5], [1, 0, 0.5], [0, 1, 1], [0, 0, 1]])


tables = st.tuples(st.integers(1, 25), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(0, 1))
)


@given(tables, st.floats(0.01, 20), st.sampled_from([1.0, 0.125, 13.8]))
def test_the_theorem_holds_on_any_table_in_any_range(weigh, table, eta, top):
    certificate = fixed_rate_regret(weigh(table * top, eta, top=top))
    assert certificate.status in ("valid", "vacuous")
    assert certificate.observed <= certificate.bound
    rounds, experts = table.shape
    assert certificate.bound == pytest.approx(
        top * (math.log(experts) / eta + eta * rounds / 8) * (experts > 1), abs=1e-6
    )


@given(tables, st.floats(0.01, 20), st.data())
def test_the_theorem_holds_against_the_comparator_that_the_prior_favours(weigh, table, eta, data):
    parts = data.draw(st.lists(st.integers(1, 1000), min_size=table.shape[1], max_size=table.shape[1]))
    prior = np.array(parts) / sum(parts)
    certificate = fixed_rate_regret(weigh(table, eta, prior))
    lost = table.sum(axis=0)
    least = min(lost - np.log(prior) / eta) + eta * len(table) / 8 - lost.min()
    assert certificate.observed <= certificate.bound
    if len(prior) > 1:
        assert certificate.bound == pytest.approx(least, abs=1e-6)


def test_golden_values(weigh):
    run = weigh(GOLDEN, 0.5)
    certificate = fixed_rate_regret(run)
    assert run.expected == pytest.approx(2.023212155, abs=1e-9)
    assert certificate.observed == pytest.approx(1.023212155, abs=1e-9)
    assert certificate.bound == pytest.approx(2.447224577, abs=2e-9)
    assert certificate.quantity == "expected regret"
    assert (certificate.kind, certificate.side) == ("D", "upper")
    assert certificate.trivial == 3.0  # of 4 rounds, less what the best expert lost


def test_the_right_rate_keeps_the_bound_that_the_rate_without_a_square_root_breaks(weigh):
    rounds = 1000
    table = np.tile([[0.0, 1.0]], (rounds, 1))
    right = fixed_rate_regret(weigh(table, math.sqrt(8 * math.log(2) / rounds)))
    assert right.observed == pytest.approx(9.559795, abs=1e-6)
    assert right.bound == pytest.approx(18.616487, abs=1e-6) == pytest.approx(right.quantities["tuned"], abs=1e-6)
    wrong = fixed_rate_regret(weigh(table, 8 * math.log(2) / rounds))
    assert wrong.observed == pytest.approx(124.545100, abs=1e-6)
    assert wrong.bound == pytest.approx(125 + math.log(2), abs=1e-6)
    assert wrong.observed > math.sqrt(rounds * math.log(2)) > right.bound


def test_facts_that_claim_the_right_rate_of_a_learner_with_the_wrong_one_are_violated(weigh):
    table = np.tile([[0.0, 1.0]], (1000, 1))
    run = weigh(
        table, math.sqrt(8 * math.log(2) / 1000), weights=lambda lost, _: np.exp(-8 * math.log(2) / 1000 * lost)
    )
    assert fixed_rate_regret(run).status == "violated"


def test_one_expert_has_no_regret_and_needs_no_rate(weigh):
    run = weigh(np.full((10, 1), 0.3), 0.5)
    run = dataclasses.replace(run, after=dataclasses.replace(run.after, eta=0.0, rates=0.0))
    certificate = fixed_rate_regret(run)
    assert certificate.status == "valid"
    assert abs(certificate.observed) < 1e-12
    assert 0.0 < certificate.bound < 2e-9


def test_no_rounds_are_vacuous(weigh):
    run = weigh(np.zeros((1, 2)), 0.5)
    assert fixed_rate_regret(dataclasses.replace(run, after=run.before, rounds=0, expected=0.0)).status == "vacuous"


def changed(run, **values):
    return dataclasses.replace(run, after=dataclasses.replace(run.after, **values))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"price": math.inf}, "not finite"),
        ({"best_loss": math.nan}, "not finite"),
        ({"rounding": math.inf}, "not finite"),
        ({"eta": 0.0, "rates": 0.0}, "rate must be positive"),
        ({"eta": math.inf, "rates": math.inf}, "not finite"),
        ({"top": 0.0}, "no range"),
        ({"rounds": 5}, "every round"),
        ({"play": "mean", "loss": "zero-one"}, "convex"),
        ({"eta": 5e-324, "rates": 2e-323}, "not finite"),
    ],
)
def test_invalid_runs_are_void(weigh, values, words):
    certificate = fixed_rate_regret(changed(weigh(GOLDEN, 0.5), **values))
    assert certificate.status == "void"
    assert certificate.bound is None
    assert words in certificate.reason


def test_other_rules_have_their_own_theorems(weigh):
    assert fixed_rate_regret(changed(weigh(GOLDEN, 0.5), rule="anytime")) is None


def test_rounding_is_added_to_the_bound(weigh):
    plain, rough = (fixed_rate_regret(weigh(GOLDEN, 0.5, rounding=r)).bound for r in (0.0, 0.25))
    assert rough == pytest.approx(plain + 0.25)


def test_facts_that_came_from_a_file_have_tuples_again(weigh):
    assert ExpertsFacts(**dataclasses.asdict(weigh(GOLDEN, 0.5).after)).path_losses == ()
    assert changed(weigh(GOLDEN, 0.5), path_losses=[1.0, 0.5]).after.path_losses == (1.0, 0.5)
