"""AdaHedge; its contracts are in test_exponential_weights.py too."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.types import Batch
from novikoff.experts.ada_hedge import AdaHedge
from samples import INDICES, POINTS

SAMPLES = {
    "ada-hedge": [
        ("ada-hedge:[thresholds:n=20]", *INDICES),
        ("ada-hedge:[rectangles:m=8,dim=2],seed=3", *POINTS),
    ],
}
"""Samples for tests/test_every_learner.py."""

TABLE = np.array([(0.0, 1.0, 0.5), (1.0, 0.0, 0.5), (0.0, 1.0, 1.0), (0.0, 0.0, 1.0)])


def test_the_golden_table():
    learner = AdaHedge(3, loss="table", play="mean")
    gaps = []
    for row in TABLE:
        learner.play_one(None, row)
        gaps.append(learner.facts().last_gap)
    facts = learner.facts()
    assert gaps == pytest.approx([0.5, 0.140333548, 0.205415508, 0.070752556], abs=1e-9)
    assert facts.gaps == pytest.approx(0.916501612, abs=1e-9)
    assert facts.mixed - facts.best_loss == pytest.approx(1.150864002, abs=1e-9)
    assert 2 * facts.gaps - facts.last_gap == pytest.approx(1.762250668, abs=1e-9)


def test_leaders_share_while_mixing_has_cost_nothing():
    learner = AdaHedge(4, loss="table", play="mean")
    assert learner.weights.tolist() == [0.25] * 4
    learner.play_one(None, [0.5, 0.5, 0.5, 0.5])
    assert learner.facts().gaps == 0.0
    assert learner.weights.tolist() == [0.25] * 4
    learner.play_one(None, [0.0, 0.0, 0.3, 1.0])
    facts = learner.facts()
    assert facts.last_gap == pytest.approx(0.325)  # m is that of the leaders, 0
    assert facts.eta == 0.0


def slow(table):
    """The rule as it is written down; (sum of h, Delta)."""
    lost, delta, mixed = np.zeros(table.shape[1]), 0.0, 0.0
    for row in table:
        if delta == 0.0:
            w = (lost == lost.min()).astype(float)
        else:
            eta = math.log(len(row)) / delta
            w = np.exp(-eta * (lost - lost.min()))
        w /= w.sum()
        h = float(w @ row)
        if delta == 0.0:
            m = (lost + row).min() - lost.min()
        else:
            m = -np.log(w @ np.exp(-eta * row)) / eta
        mixed, delta, lost = mixed + h, delta + max(0.0, h - m), lost + row
    return mixed, delta


@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(1, 60))
def test_it_is_the_rule_as_written_and_keeps_its_bounds(seed, experts, rounds):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 5, (rounds, experts)) / 4.0
    learner = AdaHedge(experts, loss="table", play="mean")
    learner.learn_many(Batch(None, table, 1))
    facts = learner.facts()
    assert (facts.mixed, facts.gaps) == pytest.approx(slow(table), abs=1e-9)
    regret = facts.mixed - table.sum(axis=0).min()
    assert regret <= 2 * facts.gaps - facts.last_gap + 1e-9
    assert 2 * facts.gaps <= math.sqrt(rounds * math.log(experts)) + 4 / 3 * math.log(experts) + 2 + 1e-9


def test_a_leader_that_is_never_beaten_costs_a_constant():
    rng = np.random.default_rng(0)
    for rounds in (100, 10_000):
        table = np.column_stack([np.zeros(rounds), 0.5 + 0.5 * rng.random((rounds, 4))])
        learner = AdaHedge(5, loss="table")
        learner.learn_many(Batch(None, table, 1))
        assert learner.facts().gaps < 3.0


@pytest.mark.parametrize("scale", [2.0**-30, 2.0**-500, 2.0**-1000])
def test_the_scale_of_the_losses_does_not_matter(scale):
    table = np.random.default_rng(3).integers(0, 9, (100, 4)) / 8.0
    one, two = (AdaHedge(4, loss="table", play="mean") for _ in range(2))
    one.learn_many(Batch(None, table, 1))
    two.learn_many(Batch(None, table * scale, 1))
    if scale > 1e-290:  # below, the rate would be more than is a number
        assert two.facts().mixed / scale == pytest.approx(one.facts().mixed, rel=1e-9)
        assert two.weights == pytest.approx(one.weights, abs=1e-9)
    else:
        assert math.isfinite(two.facts().mixed)
        assert two.weights.sum() == pytest.approx(1.0)
