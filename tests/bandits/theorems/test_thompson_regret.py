"""Thompson sampling's regret: golden values, and its mean over games whose means are draws of the prior."""

import numpy as np
import pytest

import cases
import novikoff as nk
from novikoff.bandits.theorems.thompson_regret import in_advance
from stochastic_cases import of_independent_losses

GIVEN = (
    lambda: cases.changed(
        cases.run_of(nk.Thompson(2), nk.Losses(np.tile([[0.0, 1.0]], (300, 1)))), source="means", means=(0.0, 1.0)
    ),
    "draws of the uniform prior",
)
CASES = {"thompson_regret": of_independent_losses(nk.Thompson, None, GIVEN)}
"""Cases for tests/test_every_theorem.py."""


def test_golden_values():
    # sqrt(10 * 10,000 * ln 10 / 2) = sqrt(115,129.2546)
    assert in_advance(10, 10_000) == pytest.approx(339.3070, abs=1e-4)
    assert in_advance(1, 10_000) == 0.0


def test_mean_over_draws_of_the_prior_keeps_the_bound():
    (found,) = nk.simulate_bandits("thompson", "bandit-losses:arms=3,means=uniform,rounds=300", games=60).learners
    assert found.verdict.status == "valid"
    assert found.verdict.bound == pytest.approx(in_advance(3, 300))


@pytest.mark.slow
@pytest.mark.parametrize(("arms", "rounds"), [(2, 50), (5, 2000), (10, 5000)])
def test_mean_over_a_thousand_games(arms, rounds):
    stream = f"bandit-losses:arms={arms},means=uniform,rounds={rounds}"
    (found,) = nk.simulate_bandits("thompson", stream, games=1000).learners
    assert found.pseudo_regret.mean + 3 * found.pseudo_regret.standard_error <= found.verdict.bound
