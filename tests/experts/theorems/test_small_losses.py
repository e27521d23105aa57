"""Expected loss with a fixed rate, Randomized Weighted Majority included."""

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
from novikoff.experts.theorems.small_losses import small_losses

CASES = {
    "small_losses": cases.of_experts(
        cases.weights(),
        lambda: cases.run_of(cases.weights(eta=200.0)(400), nk.Losses(np.tril(np.ones((399, 400))))),
        "rate was constant",
        {"rates": 9.0},
    ),
}
"""Cases for tests/test_every_theorem.py."""

tables = st.tuples(st.integers(1, 25), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0])))
)


@given(tables, st.floats(1e-3, 50), st.sampled_from([(1.0, 1.0), (0.125, 0.125), (13.8, 13.8), (13.8, 1.0)]), st.data())
def test_the_theorem_holds_on_any_table_prior_and_unit(weigh, table, eta, scales, data):
    top, unit = scales
    parts = data.draw(st.lists(st.integers(1, 1000), min_size=table.shape[1], max_size=table.shape[1]))
    prior = np.array(parts) / sum(parts)
    certificate = small_losses(weigh(table * top, eta, prior, top, unit))
    assert certificate.status in ("valid", "vacuous")
    assert certificate.observed <= certificate.bound
    rate = eta / unit
    all_of_them = (rate * table.sum(axis=0) * top - np.log(prior)) * top / -math.expm1(-rate * top)
    if len(prior) > 1:
        assert certificate.bound == pytest.approx(min(all_of_them), rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("best", [0, 3, 10])
def test_for_beta_one_half_it_is_the_bound_of_randomized_weighted_majority(weigh, best):
    table = np.ones((50, 8))
    table[best:, 5] = 0.0
    certificate = small_losses(weigh(table, math.log(2)))
    assert certificate.bound == pytest.approx(2 * math.log(2) * best + 2 * math.log(8), abs=1e-8)
    assert certificate.bound == pytest.approx(1.3863 * best + 2 * math.log(8), abs=1e-3)
    assert (certificate.kind, certificate.quantity) == ("D", "expected loss")


def test_invalid_runs_are_void(weigh):
    run = weigh(np.eye(3), 0.5)
    assert small_losses(changed(run, price=math.inf)).status == "void"
    assert small_losses(changed(run, eta=0.0, rates=0.0)).status == "void"
    assert small_losses(changed(run, loss="zero-one", play="mean")).status == "void"
    assert small_losses(changed(run, rule="anytime")) is None


def changed(run, **values):
    return dataclasses.replace(run, after=dataclasses.replace(run.after, **values))
