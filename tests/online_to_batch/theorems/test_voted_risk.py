"""The vote of all hypotheses errs at most twice as often as a random one of them."""

from __future__ import annotations

import numpy as np
import pytest

import cases
from novikoff.online_to_batch.theorems.ensemble_risk import ensemble_risk
from novikoff.online_to_batch.theorems.ensemble_risk_fixed import ensemble_risk_fixed
from novikoff.online_to_batch.theorems.risk_facts import EnsembleFacts
from novikoff.online_to_batch.theorems.voted_risk import voted_risk

CASES = {
    "voted_risk": cases.of_risk(),
}
"""Cases for tests/test_every_theorem.py."""


def test_it_is_twice_the_limit_of_the_ensemble():
    fixed = EnsembleFacts(rounds=1000, mistakes=10)
    assert voted_risk(fixed).bound == 2 * ensemble_risk_fixed(fixed).bound
    assert voted_risk(fixed).quantities["when"] == "n fixed in advance"
    live = EnsembleFacts(rounds=1000, mistakes=10, horizon=False)
    assert voted_risk(live).bound == 2 * ensemble_risk(live).bound
    assert voted_risk(live).quantities["when"] == "for all n at once"
    assert voted_risk(live).status == voted_risk(fixed).status == "conditional"
    assert (voted_risk(fixed).kind, voted_risk(fixed).quantity, voted_risk(fixed).observed) == ("P", "risk", 0.01)


def test_twice_is_reached():
    """Two hypotheses, wrong on one half each: on every example half of the votes are wrong, and ties may go wrong."""
    x = np.arange(100)
    wrong = np.array([x < 50, x >= 50])
    vote_errs = wrong.mean(0) >= 0.5
    assert vote_errs.mean() == 2 * wrong.mean()


@pytest.mark.parametrize("labels", [2, 3, 5])
def test_the_vote_errs_at_most_twice_as_often_with_any_number_of_labels(labels):
    rng = np.random.default_rng(labels)
    for _ in range(300):
        n, points = int(rng.integers(1, 8)), 40
        truth = rng.integers(0, labels, points)
        right = rng.random((n, points)) < rng.random()
        said = np.where(right, truth, rng.integers(0, labels, (n, points)))
        votes = (said[:, :, None] == np.arange(labels)).sum(0)
        best = np.where(votes == votes.max(1, keepdims=True), rng.random(votes.shape), -1).argmax(1)
        assert np.mean(best != truth) <= 2 * np.mean(said != truth)


def perceptrons(rng, rounds, noise):
    """Every weight vector of a run, and its mistakes."""
    w, each, mistakes = np.zeros(2), [], 0
    for _ in range(rounds):
        each.append(w)
        x = rng.standard_normal(2)
        y = 1 if (x[0] >= 0) != (rng.random() < noise) else -1
        if (1 if w @ x >= 0 else -1) != y:
            w, mistakes = w + y * x, mistakes + 1
    return np.array(each), mistakes


def test_the_voted_perceptron_keeps_it():
    rng = np.random.default_rng(1)
    broken = 0
    x = rng.standard_normal((2000, 2))
    y = np.where((x[:, 0] >= 0) ^ (rng.random(2000) < 0.05), 1, -1)
    for _ in range(40):
        weights, mistakes = perceptrons(rng, 400, 0.05)
        vote = np.where(np.where(weights @ x.T >= 0, 1, -1).sum(0) >= 0, 1, -1)
        certificate = voted_risk(EnsembleFacts(rounds=400, mistakes=mistakes))
        broken += np.mean(vote != y) > certificate.bound + 0.015
        assert certificate.bound < 1
    assert broken <= 5
