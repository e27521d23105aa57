"""The limit on the recall of a threshold."""

from __future__ import annotations

import pytest

import cases
from novikoff.online_to_batch.risk import poisson_least, poisson_limit
from novikoff.online_to_batch.theorems.risk_facts import ThresholdFacts
from novikoff.online_to_batch.theorems.threshold_recall import threshold_recall


def facts(n, m, horizon):
    """m false positives among n examples, half of the others true positives."""
    return ThresholdFacts(n, (n - m) // 2, m, 0, thresholds=10)


CASES = {
    "threshold_recall": cases.of_risk(facts),
}
"""Cases for tests/test_every_theorem.py."""


def test_golden_limit_of_recall():
    found = threshold_recall(ThresholdFacts(1000, 400, 30, 10, thresholds=100))
    least, most = poisson_least(400, 0.05 / 300), poisson_limit(10, 0.05 / 300)
    assert found.observed == 400 / 410
    assert found.bound == pytest.approx(least / (least + most), rel=1e-12)
    assert found.bound <= least / (least + most) < found.observed
