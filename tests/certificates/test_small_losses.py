"""Expected loss with a fixed rate, Randomized Weighted Majority included."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from novikoff.certificates.experts_facts import ExpertsFacts
from novikoff.certificates.small_losses import small_losses
from novikoff.types import Run


def play(table, eta, prior=None, top=1.0, unit=None, sign=-1.0):
    """Weights proportional to prior * exp(-eta L / unit)."""
    table, unit = np.asarray(table, dtype=np.longdouble), unit or top
    rounds, experts = table.shape
    prior = np.full(experts, 1 / experts) if prior is None else np.asarray(prior, dtype=float)
    lost, mixed = np.zeros(experts, dtype=np.longdouble), np.longdouble(0)
    for row in table:
        power = sign * eta * lost / unit
        w = prior * np.exp(power - power.max())
        mixed += row @ (w / w.sum())
        lost += row
    i = int(np.argmin(lost - unit * np.log(prior) / eta))
    facts = ExpertsFacts(
        "fixed", rounds, experts, "table", "draw", top, unit, eta, rates=eta * rounds, gaps=0.0, last_gap=0.0,
        mixed=float(mixed), best=int(np.argmin(lost)), best_loss=float(lost.min()), comparator=i,
        comparator_loss=float(lost[i]), price=-math.log(prior[i]), uniform=len(set(prior)) == 1, rounding=1e-12,
    )  # fmt: skip
    start = dataclasses.replace(facts, rounds=0, mixed=0.0, best_loss=0.0, comparator_loss=0.0)
    return Run(start, facts, rounds, 0, float(mixed), (0, 0), adaptive=False, deterministic=False)


tables = st.tuples(st.integers(1, 25), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0])))
)


@given(tables, st.floats(1e-3, 50), st.sampled_from([(1.0, 1.0), (0.125, 0.125), (13.8, 13.8), (13.8, 1.0)]), st.data())
def test_the_theorem_holds_on_any_table_prior_and_unit(table, eta, scales, data):
    top, unit = scales
    parts = data.draw(st.lists(st.integers(1, 1000), min_size=table.shape[1], max_size=table.shape[1]))
    prior = np.array(parts) / sum(parts)
    certificate = small_losses(play(table * top, eta, prior, top, unit))
    assert certificate.status in ("valid", "vacuous")
    assert certificate.observed <= certificate.bound
    rate = eta / unit
    all_of_them = (rate * table.sum(axis=0) * top - np.log(prior)) * top / -math.expm1(-rate * top)
    if len(prior) > 1:
        assert certificate.bound == pytest.approx(min(all_of_them), rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("best", [0, 3, 10])
def test_for_beta_one_half_it_is_the_bound_of_randomized_weighted_majority(best):
    table = np.ones((50, 8))
    table[best:, 5] = 0.0
    certificate = small_losses(play(table, math.log(2)))
    assert certificate.bound == pytest.approx(2 * math.log(2) * best + 2 * math.log(8), abs=1e-8)
    assert certificate.bound == pytest.approx(1.3863 * best + 2 * math.log(8), abs=1e-3)
    assert (certificate.kind, certificate.quantity) == ("D", "expected loss")


def test_with_an_expert_that_never_loses_and_a_large_rate_it_is_nearly_met():
    """Each round half of the experts that never lost lose: h is 1/2, while ln 2 is promised for it; and of N - 1 of
    the survivors 1/k each, when they lose one by one: the harmonic sum, within 0.58 of ln N."""
    experts = 400
    table = np.tril(np.ones((experts - 1, experts)))
    certificate = small_losses(play(table, 200.0))
    assert certificate.bound == pytest.approx(math.log(experts), abs=1e-6)
    assert certificate.observed == pytest.approx(sum(1 / k for k in range(2, experts + 1)), abs=1e-9)
    assert certificate.observed > 0.92 * certificate.bound


def test_one_expert_meets_it_with_equality():
    certificate = small_losses(play(np.full((10, 1), 0.25), 0.5))
    assert certificate.observed == 2.5 <= certificate.bound < 2.5 + 1e-8


def test_weights_that_prefer_losers_are_violated():
    assert small_losses(play(np.tile([[0.0, 1.0]], (100, 1)), 0.5, sign=+1.0)).status == "violated"


def test_conservative_updates_are_not_covered():
    """The weights change in rounds only where the drawn expert errs: here never, and expert 0 pays for it."""
    run = play(np.tile([[1.0, 0.0]], (100, 1)), 0.5)
    unmoved = dataclasses.replace(run, expected=50.0)
    assert small_losses(unmoved).status == "violated"


def test_what_cannot_be_judged_is_void():
    run = play(np.eye(3), 0.5)
    warm = dataclasses.replace(run, before=dataclasses.replace(run.before, rounds=2), rounds=1)
    assert small_losses(warm).reason.startswith("warm start")
    assert small_losses(changed(run, rates=9.0)).status == "void"
    assert small_losses(changed(run, price=math.inf)).status == "void"
    assert small_losses(changed(run, eta=0.0, rates=0.0)).status == "void"
    assert small_losses(changed(run, loss="zero-one", play="mean")).status == "void"
    assert small_losses(changed(run, rule="anytime")) is None


def changed(run, **values):
    return dataclasses.replace(run, after=dataclasses.replace(run.after, **values))
