"""Fitting comparators: near the best there is, the same each time, and safe on what cannot be fitted."""

import numpy as np
import pytest

from novikoff.comparators import fit as module
from novikoff.comparators.fit import fit
from novikoff.types import Sparse


def rows_of(x):
    where, features = np.nonzero(x)
    lengths = np.bincount(where, minlength=len(x))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)
    return Sparse(indptr, features.astype(np.uint32), np.asarray(x)[where, features].astype(float), np.shape(x)[1])


def test_the_last_direction_has_the_widest_margin():
    """u* = (1/2, 1/4) is the shortest u with y<u,x> >= 1 on these four rows."""
    x = np.array([[2.0, 1.0], [-1.0, -2.0], [1.0, 3.0], [-2.0, 0.0]])
    u, own = fit(rows_of(x), np.array([1, -1, 1, -1], np.int8))
    assert u[:, -1] == pytest.approx([0.5, 0.25], abs=1e-6)
    assert not own.any()


def test_the_bias_is_fitted_too():
    x = np.array([[1.0], [3.0]])
    u, own = fit(rows_of(x), np.array([-1, 1], np.int8), bias=2.0)
    assert u[0, -1] == pytest.approx(1.0, abs=1e-5)
    assert own[-1] == pytest.approx(-1.0, abs=1e-5)


def test_unit_rows_are_fitted_as_unit_rows():
    x = np.array([[10.0, 0.0], [0.0, 0.1]])
    u, _ = fit(rows_of(x), np.array([1, -1], np.int8), normalize=True)
    assert u[:, -1] == pytest.approx([1.0, -1.0], abs=1e-6)


def test_each_cost_is_near_the_best_value_of_its_objective():
    from sklearn.svm import LinearSVC

    coins = np.random.default_rng(3)
    x = coins.normal(size=(300, 5))
    y = np.where(x[:, 0] + coins.normal(size=300) > 0, 1, -1).astype(np.int8)
    u, _ = fit(rows_of(x), y)
    for k, cost in enumerate(module.COSTS[:2]):
        c = cost / np.mean(np.sum(x * x, axis=1))
        objective = lambda w, c=c: w @ w / 2 + c * np.sum(np.maximum(0, 1 - y * (x @ w)))
        best = LinearSVC(C=c, loss="hinge", fit_intercept=False, tol=1e-8, max_iter=10**6).fit(x, y).coef_[0]
        assert objective(u[:, k]) <= objective(best) * 1.001


def test_the_same_rows_give_the_same_directions():
    coins = np.random.default_rng(1)
    x, y = rows_of(coins.normal(size=(200, 6))), coins.choice(np.array([-1, 1], np.int8), 200)
    first, second = fit(x, y, 1.0), fit(x, y, 1.0)
    assert first[0].tobytes() == second[0].tobytes()
    assert first[1].tobytes() == second[1].tobytes()


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf, 1e308, 1e-320])
def test_rows_that_cannot_be_fitted_are_left_out(value):
    x = np.array([[1.0, 0.0], [value, value], [0.0, 1.0]])
    u, _ = fit(rows_of(x), np.array([1, 1, -1], np.int8))
    assert np.all(np.isfinite(u))
    u, own = fit(rows_of(np.full((3, 2), value)), np.array([1, 1, -1], np.int8))
    assert not u.any()
    assert not own.any()


def test_no_rows_give_no_direction():
    u, own = fit(rows_of(np.zeros((0, 3))), np.zeros(0, np.int8))
    assert u.shape == (3, len(module.COSTS))
    assert not u.any()
    assert not own.any()
