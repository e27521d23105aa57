"""The limit on the cost of a threshold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import cases
from novikoff.online_to_batch.risk import poisson_least, poisson_limit
from novikoff.online_to_batch.theorems.risk_facts import ThresholdFacts
from novikoff.online_to_batch.theorems.threshold_cost import threshold_cost


def facts(n, m, horizon):
    """m false positives among n examples, half of the others true positives."""
    return ThresholdFacts(n, (n - m) // 2, m, 0, thresholds=10)


CASES = {
    "threshold_cost": cases.of_risk(facts),
}
"""Cases for tests/test_every_theorem.py."""


def test_golden_limits_of_cost():
    found = threshold_cost(ThresholdFacts(1000, 40, 30, 10, cost_fp=1.0, cost_fn=5.0, thresholds=100))
    limit = (poisson_limit(30, 0.05 / 300) + 5 * poisson_limit(10, 0.05 / 300)) / 1000
    assert found.observed == (30 + 5 * 10) / 1000
    assert found.bound == pytest.approx(limit, rel=1e-12)
    assert found.bound >= limit
    assert found.bound == pytest.approx(0.254469, abs=1e-6)
    assert found.quantity == "cost per row over the hypotheses of the run"


def test_limits_of_all_counts_hold_at_all_times_in_all_but_delta_of_the_games():
    """A learner that sees its luck and becomes worse (better) after too few (many) events: an adaptive sequence."""
    rng, runs, rounds, delta = np.random.default_rng(5), 400, 150, 0.1
    low, high = (np.array([limit(m, delta) for m in range(rounds + 1)]) for limit in (poisson_least, poisson_limit))
    for eager in (False, True):
        events, means = np.zeros(runs, dtype=int), np.zeros(runs)
        below, above = np.zeros(runs, dtype=bool), np.zeros(runs, dtype=bool)
        for _ in range(rounds):
            chance = np.where((events < means) == eager, 0.6, 0.05)
            means += chance
            events += rng.random(runs) < chance
            below |= means < low[events]
            above |= means > high[events]
        allowance = binom.ppf(0.999, runs, delta)
        assert below.sum() <= allowance
        assert above.sum() <= allowance


def test_lower_limit_without_its_level_fails_often():
    """Broken on purpose: the observed rate in place of the limit."""
    rng = np.random.default_rng(6)
    events = np.cumsum(rng.random((300, 150)) < 0.2, axis=1)
    assert ((0.2 * np.arange(1, 151) < events).any(axis=1)).mean() > 0.5


def test_fresh_rows_bound_the_model_itself():
    found = threshold_cost(ThresholdFacts(1000, 40, 30, 10, fresh=True))
    assert found.quantity == "cost per row"
    assert "the learner had not learned from the examples" in found.reason


def test_repeated_rows_and_weights_make_limits_void():
    for change in ({"repeated": True}, {"copies": True}):
        found = threshold_cost(ThresholdFacts(1000, 40, 30, 10, **change))
        assert (found.status, found.bound) == ("void", None)
