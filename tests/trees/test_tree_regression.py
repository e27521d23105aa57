"""The regression tree."""

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import InputError
from samples import NUMBERS

SAMPLES = {"tree-regression": [("tree-regression:threshold=1", *NUMBERS)]}


def steps(rounds=2000, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, 3))
    return x, np.where(x[:, 0] > 0, 10.0, -5.0) + rng.normal(size=rounds)


def test_a_step_is_learned():
    x, y = steps()
    ledger = nk.play(nk.TreeRegression(), nk.RegressionArrays(x, y))
    assert ledger.rmse < 2.0
    assert ledger.learner.pruning().column == 0
    assert ledger.learner.predict_one([-2.0, 0.0, 0.0]) == pytest.approx(-5.0, abs=0.5)
    assert ledger.learner.predict_one([2.0, 0.0, 0.0]) == pytest.approx(10.0, abs=0.5)


def test_units_of_the_outcome_do_not_matter():
    x, y = steps()
    one = nk.play(nk.TreeRegression(), nk.RegressionArrays(x, y))
    other = nk.play(nk.TreeRegression(), nk.RegressionArrays(x, y * 2.0**40))
    assert other.loss == one.loss * 2.0**80


def test_the_first_prediction_is_the_middle():
    assert nk.TreeRegression(middle=3.0).predict_one([1.0]) == 3.0
    with pytest.raises(InputError, match="middle"):
        nk.TreeRegression(middle=float("inf"))


def test_outcomes_beyond_the_range_are_refused():
    with pytest.raises(InputError, match="y must be a number"):
        nk.TreeRegression().play_one([1.0], 2.0**501)
