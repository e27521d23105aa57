"""The best hypothesis of a run, by its errors on the examples after it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainccinv
from scipy.stats import binom

import cases
from novikoff.online_to_batch.risk import candidate_limit, chernoff, clopper_pearson, kl_limit
from novikoff.online_to_batch.theorems.best_risk import FACTOR, best_risk, explicit, limit
from novikoff.online_to_batch.theorems.risk_facts import BestFacts

CASES = {
    "best_risk": cases.of_risk(lambda n, m, horizon: BestFacts(n, 0.05, 5, 0, m, n, m, horizon=horizon)),
}
"""Cases for tests/test_every_theorem.py."""

FACTS = BestFacts(rounds=1000, delta=0.05, candidates=50, first=100, errors=0, trials=900, mistakes=20)


def test_certificate_text():
    certificate = best_risk(FACTS)
    assert certificate.bound == pytest.approx(0.0109435539, abs=1e-10)
    assert certificate.bound >= clopper_pearson(0, 900, 5e-5)
    assert (certificate.kind, certificate.quantity, certificate.observed) == ("P", "risk", 0.0)
    assert certificate.status == "conditional"
    assert [a.standing for a in certificate.assumptions] == ["trusted", "trusted", "checked"]
    assert certificate.quantities["when"] == "n fixed in advance"
    assert certificate.quantities["explicit"] == explicit(20, 1000, 0.05)


def test_a_run_of_no_fixed_length_pays_for_it():
    certificate = best_risk(dataclasses.replace(FACTS, horizon=False))
    assert certificate.bound == candidate_limit(0, 900, 100, 0.05)
    assert certificate.bound == pytest.approx(math.log(101 * 102 * 2 / 0.05) / 900)
    assert certificate.quantities["when"] == "for all n at once"
    assert "explicit" not in certificate.quantities
    assert certificate.bound > best_risk(FACTS).bound


def test_errors_on_some_of_the_later_examples_are_not_enough():
    certificate = best_risk(dataclasses.replace(FACTS, trials=800))
    assert certificate.status == "void"
    assert "assumption failed: its errors are counted on all later examples" in certificate.reason


def test_void_and_vacuous_cases():
    refuted = dataclasses.replace(FACTS, independence="refuted", evidence=4321.0)
    assert "from 1 to 4,321" in best_risk(refuted).reason
    last = dataclasses.replace(FACTS, first=999, trials=1, errors=1)
    assert (best_risk(last).status, best_risk(last).bound) == ("vacuous", 1.0)
    assert best_risk(dataclasses.replace(FACTS, rounds=0, first=0, trials=0)).status == "void"
    assert limit(0, 0, 1000, 1000, 0.05) == 1.0
    assert limit(0, 10**12, 0, 10**12, 5e-324) == 1.0  # a level that is no float says nothing


def test_the_explicit_bound_has_the_constants_of_its_theorem():
    assert pytest.approx(8.92284, abs=5e-6) == FACTOR
    rbar = kl_limit(20, 10**6, 0.05 / 3)
    b = math.log(3 * 10**6 / 0.05)
    assert explicit(20, 10**6, 0.05) == pytest.approx((math.sqrt(rbar) + 8.92284 * math.sqrt(b / 1e6)) ** 2, rel=1e-6)
    assert explicit(20, 100, 0.05) == 1.0


@given(st.integers(1, 10**6), st.floats(0, 1), st.floats(1e-3, 40))
def test_the_step_of_the_proof_on_square_roots(n, r, b):
    """If K is at most Bernstein's Nr + B/3 + sqrt(B^2/9 + 2NrB), then sqrt(W) <= sqrt(r) + k sqrt(B/N)."""
    k = n * r + b / 3 + math.sqrt(b * b / 9 + 2 * n * r * b)
    w = (k + b + math.sqrt(b * b + 2 * b * k)) / n
    assert math.sqrt(w) <= (math.sqrt(r) + FACTOR / 4 * math.sqrt(b / n)) * (1 + 1e-12)


def runs_of(rng, runs, rounds, noise):
    """Perceptrons on Gaussian examples: the risk of each hypothesis, its errors on all later examples, and mistakes."""
    x = rng.standard_normal((runs, rounds, 2))
    y = np.where((x[:, :, 0] >= 0) ^ (rng.random((runs, rounds)) < noise), 1, -1)
    weights, w = np.zeros((runs, rounds, 2)), np.zeros((runs, 2))
    for t in range(rounds):
        weights[:, t] = w
        wrong = np.where((w * x[:, t]).sum(1) >= 0, 1, -1) != y[:, t]
        w = w + np.where(wrong, y[:, t], 0)[:, None] * x[:, t]
    length = np.hypot(weights[..., 0], weights[..., 1])
    angle = np.arccos(np.clip(weights[..., 0] / np.maximum(length, 1e-300), -1, 1)) / np.pi
    risks = np.where(length == 0, 0.5, noise + (1 - 2 * noise) * angle)
    wrong = np.where(weights @ x.transpose(0, 2, 1) >= 0, 1, -1) != y[:, None, :]
    errors = (wrong & (np.arange(rounds) >= np.arange(rounds)[:, None])).sum(2)
    mistakes = wrong[:, np.arange(rounds), np.arange(rounds)].sum(1)
    return risks, errors, mistakes


def kept(errors, delta, horizon):
    """Of each run the t of the smallest limit, and that limit."""
    n = errors.shape[1]
    trials = n - np.arange(n)
    if horizon:
        rough = np.where(errors == trials, 1.0, betainccinv(errors + 1.0, np.maximum(trials - errors, 1), delta / n))
    else:
        level = np.log((np.arange(n) + 1.0) * (np.arange(n) + 2) * (errors + 1) * (errors + 2) / delta)
        rough = (errors + level + np.sqrt(level**2 + 2 * errors * level)) / trials
    best = rough.argmin(1)
    return best, [limit(int(errors[i, t]), n - int(t), int(t), n, delta, horizon) for i, t in enumerate(best)]


def check_coverage(seed, runs, rounds, noise):
    rng = np.random.default_rng(seed)
    parts = [runs_of(rng, min(runs, 200), rounds, noise) for _ in range(max(runs // 200, 1))]
    risks, errors, mistakes = (np.concatenate(part) for part in zip(*parts, strict=True))
    for delta in (0.05, 0.2):
        for horizon in (True, False):
            best, limits = kept(errors, delta, horizon)
            failed = np.count_nonzero(risks[np.arange(len(best)), best] > np.array(limits))
            assert failed <= binom.ppf(0.999, len(best), delta)
            if horizon:
                promised = [explicit(int(m), rounds, delta) for m in mistakes]
                assert np.count_nonzero(np.array(limits) > np.array(promised)) <= binom.ppf(0.999, len(best), delta)
    return risks, errors, best


def test_it_fails_in_no_more_runs_than_delta():
    risks, errors, best = check_coverage(1, 200, 150, 0.1)
    chosen = risks[np.arange(len(best)), best]
    assert chosen.mean() < risks[:, -1].mean()  # better than the last
    assert chosen.mean() < risks.mean()  # and than a random one
    rate = errors / (150 - np.arange(150))
    luckiest = rate.argmin(1)
    unlucky = np.count_nonzero(risks[np.arange(200), luckiest] > rate.min(1))
    assert unlucky > 180  # the smallest rate of errors itself would be no limit


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_it_fails_in_no_more_of_many_runs_than_delta(noise):
    check_coverage(2, 2000, 300, noise)


def test_keeping_the_luckiest_of_many_fails_nearly_as_often_as_delta_allows():
    """n hypotheses that have nothing to do with each other, each of risk r: the union bound is then hardly loose."""
    rng = np.random.default_rng(3)
    n, delta, r = 200, 0.2, 0.3
    failed = sum(kept(rng.binomial(n - np.arange(n), r)[None, :], delta, True)[1][0] < r for _ in range(200))
    assert 0.25 * delta * 200 <= failed <= binom.ppf(0.999, 200, delta)


def test_typical_figures():
    """n = 1000, 5% noise, a Perceptron in the plane: the best is certified below 0.1, the last is no good."""
    risks, errors, _ = runs_of(np.random.default_rng(4), 30, 1000, 0.05)
    best, limits = kept(errors, 0.05, True)
    chosen = risks[np.arange(30), best]
    assert np.median(chosen) == pytest.approx(0.055, abs=0.01)
    assert np.median(limits) == pytest.approx(0.087, abs=0.012)
    assert np.median(risks.mean(1)) == pytest.approx(0.146, abs=0.05)


def test_the_chernoff_form_is_never_smaller():
    for errors in (0, 3, 40):
        assert chernoff(errors, 500, math.log(1000 / 0.05)) >= limit(errors, 500, 500, 1000, 0.05)
