"""Regret of explore-then-commit: golden values, equality, and its mean over simulated games."""

import itertools
import math

import numpy as np
import pytest

import cases
import novikoff as nk
from novikoff.bandits.theorems.explore_then_commit_regret import with_gaps, without_gaps
from stochastic_cases import of_independent_losses


def explored_only():
    """T = mK: the regret is the sum of m gap."""
    run = cases.run_of(nk.ExploreThenCommit(3, each=20), nk.Losses(np.tile([[0.5, 0.75, 1.0]], (60, 1))))
    return cases.changed(run, source="means", means=(0.5, 0.75, 1.0))


CASES = {
    "explore_then_commit_regret": of_independent_losses(lambda arms: nk.ExploreThenCommit(arms, each=50), explored_only)
}
"""Cases for tests/test_every_theorem.py."""


def test_golden_values():
    # m = 100, gap 0.2, T = 1000, K = 2: 20 + 800 * 0.2 * exp(-4) = 22.9305
    assert with_gaps([0.0, 0.2], 1000, 100) == pytest.approx(22.930502, abs=1e-5)
    # 100 + 800 sqrt(ln 2 / 200) = 147.0964
    assert without_gaps(2, 1000, 100) == pytest.approx(147.0964, abs=1e-4)
    assert without_gaps(1, 1000, 100) == 0.0


def expected_pseudo_regret(means, each, rounds):
    """Exactly: over all outcomes of the exploration."""
    total = 0.0
    for counts in itertools.product(range(each + 1), repeat=len(means)):
        chance = math.prod(
            math.comb(each, k) * p**k * (1 - p) ** (each - k) for k, p in zip(counts, means, strict=True)
        )
        total += chance * (means[counts.index(min(counts))] - min(means))
    return each * sum(p - min(means) for p in means) + (rounds - each * len(means)) * total


@pytest.mark.parametrize("means", [(0.5, 0.4), (0.1, 0.9), (0.5, 0.45, 0.5), (0.3, 0.6, 0.9), (0.02, 0.0), (1.0, 0.9)])
def test_exact_expectation_is_at_most_both_bounds(means):
    gaps = [mean - min(means) for mean in means]
    for each in (1, 2, 5, 12):
        exact = expected_pseudo_regret(means, each, 200)
        assert exact <= with_gaps(gaps, 200, each) * (1 + 1e-12)
        assert exact <= without_gaps(len(means), 200, each) * (1 + 1e-12)


def test_bounds_have_power():
    """Both fail on some distribution if much less is promised."""
    assert expected_pseudo_regret((1.0, 0.5), 1, 200) > 0.5 * with_gaps([0.5, 0.0], 200, 1)
    assert expected_pseudo_regret((1.0, 0.4), 1, 200) > 0.4 * without_gaps(2, 200, 1)


@pytest.mark.slow
@pytest.mark.parametrize("means", ["[0.2,0.5]", "[0.1,0.4,0.4,0.9]", "[0.5,0.55,0.6]"])
def test_mean_over_a_thousand_games(means):
    stream = f"bandit-losses:means={means},rounds=5000"
    (found,) = nk.simulate_bandits("explore-then-commit:horizon=5000", stream, games=1000).learners
    assert found.verdict.status in ("valid", "vacuous")
    assert found.pseudo_regret.mean - 3 * found.pseudo_regret.standard_error <= found.verdict.bound
