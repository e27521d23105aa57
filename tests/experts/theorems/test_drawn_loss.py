"""What drawn experts lose: with high probability, at all times at once."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.core.types import Run
from novikoff.experts.exponential_weights import ExponentialWeights
from novikoff.experts.theorems.drawn_loss import DELTA, drawn_loss, most_drawn
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.game.play import play

CASES = {
    "drawn_loss": dataclasses.replace(
        cases.of_experts(cases.weights(), None, "not finite", {"top": np.inf}),
        broken=None,
        void=(
            (
                lambda: cases.changed(cases.run_of(cases.weights()(2), nk.Losses(cases.lead(9, 9))), top=np.inf),
                "not finite",
            ),
            (
                lambda: dataclasses.replace(cases.run_of(cases.weights()(2), nk.Losses(cases.lead(9, 9))), rounds=3),
                "every round",
            ),
        ),
    ),
}
"""Cases for tests/test_every_theorem.py."""


def run_of(expected, loss, rounds=1000, top=1.0, before=0, **values):
    facts = ExpertsFacts(
        "fixed", before + rounds, 2, "table", "draw", top, top, 0.5, rates=0.5 * rounds, gaps=0.0, last_gap=0.0,
        mixed=expected, best=0, best_loss=0.0, comparator=0, comparator_loss=0.0, price=math.log(2), uniform=True,
        rounding=1e-12,
    )  # fmt: skip
    facts = dataclasses.replace(facts, **values)
    start = dataclasses.replace(facts, rounds=before, mixed=0.0)
    return Run(start, facts, rounds, 0, expected, (0, 0), adaptive=True, deterministic=False, loss=loss)


@pytest.mark.parametrize(("mean", "bound"), [(20.3, 43.862418), (100.0, 153.668236)])
@pytest.mark.parametrize("top", [1.0, 0.125, 13.8])
def test_golden_values(mean, bound, top):
    assert most_drawn(mean, 0.05) == pytest.approx(bound, abs=1e-6)
    certificate = drawn_loss(run_of(mean * top, 30.0 * top, top=top))
    assert certificate.bound == pytest.approx(bound * top, rel=1e-7)
    assert (certificate.kind, certificate.quantity, certificate.status) == ("P", "loss", "valid")
    assert certificate.quantities["delta"] == DELTA == 0.05


@given(st.integers(1, 10**6), st.floats(1e-6, 0.5))
def test_the_closed_form_is_above_the_chernoff_inverse(k, delta):
    """z ln(z/k) - z + k >= L at the bound z: so the least z with equality is below it."""
    z, level = most_drawn(k, delta), math.log(k * (k + 1) / delta)
    assert z * math.log(z / k) - z + k >= level * (1 - 1e-9)


@given(st.floats(0, 1e9), st.floats(0, 1e-3))
def test_an_error_in_the_mean_is_accounted_for(mean, error):
    plain, rough = most_drawn(mean, 0.05), most_drawn(mean, 0.05, error)
    assert plain <= rough or mean - error <= math.ceil(mean - error) < math.ceil(mean)
    k = max(1, math.ceil(mean - error))
    level = math.log(k * (k + 1) / 0.05)
    x = math.log(most_drawn(k, 0.05) / k)  # any x > 0 proves a bound
    assert ((math.exp(x) - 1) * (mean + error) + level) / x <= rough * (1 + 1e-12)


def test_fraction_of_the_mean_above_an_integer_is_accounted_for():
    assert most_drawn(5.05, 0.05, 0.05) == pytest.approx(most_drawn(5.0, 0.05) * (1 + 0.1 / 5), rel=1e-12)
    assert most_drawn(5.05, 0.05, 0.05) < most_drawn(5.05, 0.05)


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_more_expected_loss_allows_more(one, other):
    small, large = sorted((one, other))
    assert most_drawn(small, 0.05) <= most_drawn(large, 0.05)


@pytest.mark.parametrize("stopped", [True, False], ids=["stopped when worst", "at the end"])
def test_it_fails_in_no_more_runs_than_delta_even_when_they_are_stopped_by_looking(stopped):
    """Losses of chance h_t that depend on what was drawn; every run is stopped where it looks worst."""
    rng = np.random.default_rng(5)
    seeds, rounds = 2000, 300
    limit = [most_drawn(k, 0.05) for k in range(rounds + 1)]
    drawn, mean = np.zeros(seeds), np.zeros(seeds)
    broken = np.zeros(seeds, dtype=bool)
    for _ in range(rounds):
        h = np.where(drawn > mean, 0.9, 0.02)
        drawn += rng.random(seeds) < h
        mean += h
        over = drawn > np.take(limit, np.ceil(mean).astype(int))
        broken = broken | over if stopped else over
    assert np.count_nonzero(broken) <= DELTA * seeds


def test_draws_worse_than_their_probabilities_exceed_the_bound():
    certificate = drawn_loss(run_of(100.0, 160.0))
    assert certificate.observed > certificate.bound
    assert certificate.status == "valid"  # one run contradicts nothing of kind P
    coverage = sum(drawn_loss(run_of(100.0, loss)).bound < loss for loss in (100.0, 120.0, 160.0, 180.0))
    assert coverage == 2


def test_it_is_close_to_the_law_of_the_iterated_logarithm_for_a_long_game():
    mean = 1e6
    assert most_drawn(mean, 0.05) - mean < 8 * math.sqrt(mean)


def test_adaptive_games_and_warm_starts_are_covered():
    certificate = drawn_loss(run_of(20.3, 20.0, before=500))
    assert certificate.status == "valid"
    assert certificate.bound == pytest.approx(43.862418, abs=1e-6)


def test_a_short_game_is_vacuous_and_other_plays_are_not_its_business():
    assert drawn_loss(run_of(2.0, 2.0, rounds=5)).status == "vacuous"
    assert drawn_loss(run_of(2.0, 2.0, play="mean")) is None


def test_invalid_runs_are_void():
    assert drawn_loss(run_of(math.inf, 2.0)).status == "void"
    assert drawn_loss(run_of(math.nan, 2.0)).status == "void"
    assert drawn_loss(run_of(2.0, 2.0, rounding=math.inf)).status == "void"
    assert drawn_loss(run_of(2.0, 2.0, top=0.0)).status == "void"
    assert (
        drawn_loss(
            run_of(
                2.0,
                2.0,
                rounds=100,
                before=0,
            )
        ).status
        == "valid"
    )
    missed = run_of(2.0, 2.0)
    missed = dataclasses.replace(missed, rounds=900)
    assert "every round" in drawn_loss(missed).reason


@pytest.mark.parametrize(("fixed", "adaptive", "status"), [(True, False, "valid"), (False, True, "valid"),
                                                           (False, False, "conditional")])  # fmt: skip
def test_a_stream_that_is_made_as_the_game_goes_is_trusted_not_to_look_at_the_draw(fixed, adaptive, status):
    run = dataclasses.replace(run_of(20.3, 18.0), fixed=fixed, adaptive=adaptive)
    assert drawn_loss(run).status == status


def test_stream_that_reacts_to_the_prediction_is_not_valid():
    learner = ExponentialWeights(2, loss="table", horizon=500)

    def spiteful():
        for _ in range(500):
            drawn = int(learner.predict_one(None))
            yield [float(i == drawn) for i in range(2)]

    found = next(one for one in play(learner, spiteful()).certify() if one.theorem == "drawn_loss")
    assert found.observed > found.bound
    assert found.status == "conditional"
