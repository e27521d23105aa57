"""The risk of a random hypothesis of a run of fixed length."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
from novikoff.online_to_batch.risk import kl_limit
from novikoff.online_to_batch.theorems.ensemble_risk import ensemble_risk
from novikoff.online_to_batch.theorems.ensemble_risk_fixed import ensemble_risk_fixed
from novikoff.online_to_batch.theorems.risk_facts import EnsembleFacts

CASES = {
    "ensemble_risk_fixed": cases.of_risk(horizons=(True,)),
}
"""Cases for tests/test_every_theorem.py."""


def test_certificate_text():
    certificate = ensemble_risk_fixed(EnsembleFacts(rounds=1000, mistakes=10))
    assert certificate.bound == kl_limit(10, 1000, 0.05) == pytest.approx(0.02801, abs=5e-6)
    assert (certificate.kind, certificate.status, certificate.observed) == ("P", "conditional", 0.01)
    assert certificate.quantities["when"] == "n fixed in advance"
    assert [a.standing for a in certificate.assumptions] == ["trusted", "trusted"]


def test_without_mistakes_it_is_reached():
    """A hypothesis of risk p makes no mistake with chance (1-p)^n: at the limit that is delta/2, the share of M = 0."""
    bound = ensemble_risk_fixed(EnsembleFacts(rounds=1000, mistakes=0)).bound
    assert (1 - bound) ** 1000 == pytest.approx(0.05 / 2, rel=1e-9)


@given(st.integers(1, 10**6), st.floats(0, 1), st.floats(1e-9, 0.5))
def test_it_is_never_above_the_limit_for_all_n(n, rate, delta):
    facts = EnsembleFacts(rounds=n, mistakes=math.floor(rate * n), delta=delta)
    assert facts.mistakes / n <= ensemble_risk_fixed(facts).bound <= ensemble_risk(facts).bound <= 1.0


def test_a_run_that_was_stopped_by_looking_is_void():
    certificate = ensemble_risk_fixed(EnsembleFacts(rounds=1000, mistakes=10, horizon=False))
    assert certificate.status == "void"
    assert "assumption failed: the number of examples was fixed in advance" in certificate.reason


def test_at_an_n_chosen_by_looking_it_fails_far_more_often():
    """A hypothesis of risk 0.02, stopped where it looks best."""
    rng = np.random.default_rng(1)
    delta, runs, rounds, risk = 0.2, 200, 2000, 0.02
    made = np.cumsum(rng.random((runs, rounds)) < risk, axis=1)
    failed, at_the_end = np.zeros((2, runs), dtype=bool)
    for n in np.unique(np.geomspace(1, rounds, 60).astype(int)).tolist():
        values, where = np.unique(made[:, n - 1], return_inverse=True)
        at_the_end = np.array([kl_limit(int(m), n, delta) for m in values])[where] < risk
        failed |= at_the_end
    assert np.count_nonzero(at_the_end) <= 0.01 * runs
    assert np.count_nonzero(failed) >= 0.05 * runs


def test_run_of_only_mistakes_is_vacuous():
    assert ensemble_risk_fixed(EnsembleFacts(rounds=7, mistakes=7)).status == "vacuous"
    assert ensemble_risk_fixed(EnsembleFacts(rounds=1, mistakes=0)).bound == pytest.approx(0.975)
