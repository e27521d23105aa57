"""The risk of a random hypothesis of a run: its limits fail in no more runs than promised, also when one looks."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import binom

import cases
from novikoff.online_to_batch.risk import kl_limit, poisson_limit, share
from novikoff.online_to_batch.theorems.ensemble_risk import ensemble_risk
from novikoff.online_to_batch.theorems.risk_facts import EnsembleFacts

CASES = {
    "ensemble_risk": cases.of_risk(),
}
"""Cases for tests/test_every_theorem.py."""


def angle_risk(w, noise):
    """Of the sign of <w, x>, x Gaussian, the label the sign of x_1 flipped with chance `noise`; w = 0 says +1."""
    angle = np.arccos(np.clip(w[:, 0] / np.maximum(np.hypot(w[:, 0], w[:, 1]), 1e-300), -1, 1)) / np.pi
    return np.where((w == 0).all(1), 0.5, noise + (1 - 2 * noise) * angle)


def perceptron(rng, runs, rounds, noise=0.1, start=None):
    """Mistakes and risks, (runs, rounds) each."""
    w = np.zeros((runs, 2)) if start is None else np.tile(np.array(start, dtype=float), (runs, 1))
    mistakes, risks = np.zeros((runs, rounds), dtype=bool), np.zeros((runs, rounds))
    for t in range(rounds):
        risks[:, t] = angle_risk(w, noise)
        x = rng.standard_normal((runs, 2))
        y = np.where((x[:, 0] >= 0) ^ (rng.random(runs) < noise), 1, -1)
        mistakes[:, t] = np.where((w * x).sum(1) >= 0, 1, -1) != y
        w += np.where(mistakes[:, t], y, 0)[:, None] * x
    return mistakes, risks


def warm_perceptron(rng, runs, rounds):
    """It begins with weights that have nothing to do with the examples."""
    return perceptron(rng, runs, rounds, 0.1, start=(-3.0, 1.0))


def budget_perceptron(rng, runs, rounds, noise=0.05, budget=5):
    """On a mistake the example takes a random one of 5 places."""
    slots, count = np.zeros((runs, budget, 2)), np.zeros(runs, dtype=int)
    mistakes, risks = np.zeros((runs, rounds), dtype=bool), np.zeros((runs, rounds))
    for t in range(rounds):
        w = slots.sum(1)
        risks[:, t] = angle_risk(w, noise)
        x = rng.standard_normal((runs, 2))
        y = np.where((x[:, 0] >= 0) ^ (rng.random(runs) < noise), 1, -1)
        mistakes[:, t] = np.where((w * x).sum(1) >= 0, 1, -1) != y
        place = np.where(count < budget, count, rng.integers(0, budget, runs))
        wrong = np.flatnonzero(mistakes[:, t])
        slots[wrong, place[wrong]] = y[wrong, None] * x[wrong]
        count[wrong] = np.minimum(count[wrong] + 1, budget)
    return mistakes, risks


def halving(rng, runs, rounds, thresholds=1000):
    """+1 from threshold k on, x uniform in [0, 1]: the majority is the middle threshold, its risk a distance."""
    low, high = np.zeros(runs, dtype=int), np.full(runs, thresholds)
    target = rng.integers(0, thresholds + 1, runs)
    mistakes, risks = np.zeros((runs, rounds), dtype=bool), np.zeros((runs, rounds))
    for t in range(rounds):
        middle = (low + high) // 2
        risks[:, t] = np.abs(middle - target) / thresholds
        cell = rng.integers(1, thresholds + 1, runs)  # x lies between cell - 1 and cell: thresholds below it say +1
        y = target < cell
        mistakes[:, t] = (middle < cell) != y
        high = np.where(y, np.minimum(high, cell - 1), high)
        low = np.where(y, low, np.maximum(low, cell))
    return mistakes, risks


def spiteful(rng, runs, rounds):
    """It errs more from now on whenever it was lucky so far."""
    mistakes, risks = np.zeros((runs, rounds), dtype=bool), np.zeros((runs, rounds))
    for t in range(rounds):
        behind = mistakes[:, :t].sum(1) < risks[:, :t].sum(1)
        risks[:, t] = np.where(behind, 0.9, 0.02)
        mistakes[:, t] = rng.random(runs) < risks[:, t]
    return mistakes, risks


def failures(mistakes, risks, limit, delta, looking):
    """Runs whose mean risk is above its limit: at the end, or at any time."""
    rounds = mistakes.shape[1]
    made, mean = np.cumsum(mistakes, axis=1), np.cumsum(risks, axis=1) / np.arange(1, rounds + 1)
    failed = np.zeros(len(mistakes), dtype=bool)
    for n in range(1, rounds + 1) if looking else [rounds]:
        values, where = np.unique(made[:, n - 1], return_inverse=True)
        limits = np.array([cached(limit, int(m), n, delta) for m in values])
        failed |= mean[:, n - 1] > limits[where]
    return int(np.count_nonzero(failed))


POISSON: dict = {}


def cached(limit, m, n, delta):
    if limit == "n fixed":
        return kl_limit(m, n, delta)
    if (m, delta) not in POISSON:
        POISSON[m, delta] = poisson_limit(m, delta)
    return POISSON[m, delta] / n


LEARNERS = [perceptron, warm_perceptron, budget_perceptron, halving, spiteful]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.__name__)
def test_limits_fail_in_no_more_runs_than_delta(learner):
    mistakes, risks = learner(np.random.default_rng(1), 300, 150)
    for delta in (0.05, 0.2):
        allowance = binom.ppf(0.999, 300, delta)
        assert failures(mistakes, risks, "n fixed", delta, looking=False) <= allowance
        assert failures(mistakes, risks, "all n", delta, looking=True) <= allowance


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.__name__)
def test_limits_fail_in_no_more_of_many_runs_than_delta(learner):
    mistakes, risks = learner(np.random.default_rng(2), 2000, 600)
    for delta in (0.05, 0.2):
        allowance = binom.ppf(0.999, 2000, delta)
        assert failures(mistakes, risks, "n fixed", delta, looking=False) <= allowance
        assert failures(mistakes, risks, "all n", delta, looking=True) <= allowance


def test_the_rate_of_mistakes_itself_would_fail_in_many_runs():
    """So the tests above can fail."""
    mistakes, risks = perceptron(np.random.default_rng(3), 300, 150)
    assert np.count_nonzero(risks.mean(1) > mistakes.mean(1)) > 90
    last = risks[:, -1] > 1.2 * mistakes.mean(1)  # and of the last hypothesis nothing is promised
    assert np.count_nonzero(last) > 15


def test_the_reference_risks_are_right():
    """Against fresh examples."""
    rng = np.random.default_rng(4)
    w = np.array([[1.0, 2.0]])
    x = rng.standard_normal((200_000, 2))
    y = (x[:, 0] >= 0) ^ (rng.random(len(x)) < 0.1)
    assert np.mean((x @ w[0] >= 0) != y) == pytest.approx(angle_risk(w, 0.1)[0], abs=0.004)
    mistakes, risks = halving(rng, 4000, 6)
    assert mistakes.mean(0) == pytest.approx(risks.mean(0), abs=0.03)
    assert mistakes.sum(1).max() <= math.log2(1001)


def test_certificate_text():
    certificate = ensemble_risk(EnsembleFacts(rounds=1000, mistakes=10))
    assert (certificate.kind, certificate.quantity, certificate.side) == ("P", "mean risk", "upper")
    assert (certificate.observed, certificate.trivial) == (0.01, 1)
    assert certificate.bound == share(poisson_limit(10, 0.05), 1000) == pytest.approx(0.028271075, abs=1e-9)
    assert certificate.status == "conditional"
    assert (
        certificate.reason
        == "not checked: the examples are independent draws from one distribution, new to the learner"
    )
    assert certificate.quantities["when"] == "for all n at once"
    assert certificate.quantities["closed_form"] == pytest.approx(0.03270, abs=5e-6)
    assert str(certificate).startswith(
        "ensemble_risk: conditional: mean risk 0.01 in this run, guaranteed <= 0.0282711"
    )


def test_a_short_run_is_uninformative():
    certificate = ensemble_risk(EnsembleFacts(rounds=3, mistakes=0))
    assert (certificate.status, certificate.bound) == ("vacuous", 1.0)
    assert ensemble_risk(EnsembleFacts(rounds=4, mistakes=0)).status == "conditional"
    assert ensemble_risk(EnsembleFacts(rounds=0, mistakes=0)).status == "void"
    assert ensemble_risk(EnsembleFacts(rounds=50, mistakes=50)).bound == 1.0


def test_it_does_not_ask_when_the_run_was_stopped():
    facts = EnsembleFacts(rounds=1000, mistakes=10)
    assert ensemble_risk(dataclasses.replace(facts, horizon=False)) == ensemble_risk(facts)


def test_drift_makes_it_void_and_the_evidence_is_reported():
    facts = EnsembleFacts(rounds=1000, mistakes=10, independence="refuted", evidence=271.5)
    certificate = ensemble_risk(facts)
    assert (certificate.status, certificate.bound) == ("void", None)
    assert "assumption failed: the examples are independent" in certificate.reason
    assert "wealth grew from 1 to 271.5" in certificate.reason
    assert certificate.quantities["evidence"] == 271.5


def test_it_is_near_the_rate_of_mistakes_in_a_long_run():
    certificate = ensemble_risk(EnsembleFacts(rounds=10**9, mistakes=10**8))
    assert 0 < certificate.bound - 0.1 < 1e-4
