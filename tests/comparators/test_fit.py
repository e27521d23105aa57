"""Fitting comparators: near the best there is, the same each time, and safe on what cannot be fitted."""

import numpy as np
import pytest

from helpers import sparse
from novikoff.comparators import fit as module
from novikoff.comparators.fit import fit


def test_the_last_direction_has_the_widest_margin():
    """u* = (1/2, 1/4) is the shortest u with y<u,x> >= 1 on these four rows."""
    x = np.array([[2.0, 1.0], [-1.0, -2.0], [1.0, 3.0], [-2.0, 0.0]])
    found = fit(sparse(x), np.array([1, -1, 1, -1], np.int8))
    assert found.directions[:, -1] == pytest.approx([0.5, 0.25], abs=1e-6)
    assert not found.bias_weights.any()


def test_bias_is_fitted():
    x = np.array([[1.0], [3.0]])
    found = fit(sparse(x), np.array([-1, 1], np.int8), bias=2.0)
    assert found.directions[0, -1] == pytest.approx(1.0, abs=1e-5)
    assert found.bias_weights[-1] == pytest.approx(-1.0, abs=1e-5)


def test_unit_rows_are_fitted_as_unit_rows():
    x = np.array([[10.0, 0.0], [0.0, 0.1]])
    found = fit(sparse(x), np.array([1, -1], np.int8), normalize=True)
    assert found.directions[:, -1] == pytest.approx([1.0, -1.0], abs=1e-6)


def noisy(rows=300, width=5, seed=3, spread=0.0):
    coins = np.random.default_rng(seed)
    x = coins.normal(size=(rows, width)) * np.exp(spread * coins.normal(size=(rows, 1)))
    return x, np.where(x[:, 0] + coins.normal(size=rows) > 0, 1, -1).astype(np.int8)


def test_the_first_direction_is_near_the_best_value_of_its_objective():
    from sklearn.svm import LinearSVC

    x, y = noisy()
    u = fit(sparse(x), y).directions[:, 0]
    c = module.COST / np.mean(np.sum(x * x, axis=1))
    best = LinearSVC(C=c, loss="hinge", fit_intercept=False, tol=1e-8, max_iter=10**6).fit(x, y).coef_[0]

    def objective(w):
        return w @ w / 2 + c * np.sum(np.maximum(0, 1 - y * (x @ w)))

    assert objective(u) <= objective(best) * 1.001


@pytest.mark.parametrize("spread", [0.0, 1.0])
@pytest.mark.parametrize("bias", [0.0, 1.0])
def test_the_second_direction_and_its_kappa_are_near_the_least_mistake_bound_there_is(spread, bias):
    from scipy.optimize import minimize

    x, y = noisy(spread=spread)
    found = fit(sparse(x), y, bias)
    whole = np.column_stack([x, np.full(len(x), bias)])
    z, squares = whole * y[:, None], np.sum(whole * whole, axis=1)

    def bound(u, kappa):
        return np.sum(np.maximum(0.0, 1.0 + kappa * squares - z @ u)) + u @ u / (4.0 * kappa)

    def smooth(place):
        """The bound with rounded corners, by u and the logarithm of kappa, and its derivatives."""
        u, kappa = place[:-1], np.exp(place[-1])
        losses = (1.0 + kappa * squares - z @ u) / 1e-3
        active = 1.0 / (1.0 + np.exp(-np.clip(losses, -500.0, 500.0)))
        value = 1e-3 * np.sum(np.logaddexp(0.0, losses)) + u @ u / (4.0 * kappa)
        slope = kappa * (active @ squares) - u @ u / (4.0 * kappa)
        return value, np.append(u / (2.0 * kappa) - active @ z, slope)

    starts = [np.append(np.zeros(6), np.log(k / np.mean(squares))) for k in (0.01, 0.3)]
    best = min(minimize(smooth, start, jac=True, method="L-BFGS-B").fun for start in starts)
    u = np.append(found.directions[:, 1], found.bias_weights[1])
    assert bound(u, found.kappa) <= best * 1.01


def test_the_same_rows_give_the_same_directions():
    coins = np.random.default_rng(1)
    x, y = sparse(coins.normal(size=(200, 6))), coins.choice(np.array([-1, 1], np.int8), 200)
    first, second = fit(x, y, 1.0), fit(x, y, 1.0)
    assert first.directions.tobytes() == second.directions.tobytes()
    assert first.bias_weights.tobytes() == second.bias_weights.tobytes()
    assert first.kappa == second.kappa


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf, 1e308, 1e-320])
def test_rows_that_cannot_be_fitted_are_left_out(value):
    x = np.array([[1.0, 0.0], [value, value], [0.0, 1.0]])
    found = fit(sparse(x), np.array([1, 1, -1], np.int8))
    assert np.all(np.isfinite(found.directions))
    assert found.directions.any()
    found = fit(sparse(np.full((3, 2), value)), np.array([1, 1, -1], np.int8))
    assert not found.directions.any()
    assert not found.bias_weights.any()


def test_no_rows_give_no_direction():
    found = fit(sparse(np.zeros((0, 3))), np.zeros(0, np.int8))
    assert found.directions.shape == (3, 3)
    assert not found.directions.any()
    assert not found.bias_weights.any()
