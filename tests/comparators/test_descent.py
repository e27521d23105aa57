"""Dual coordinate descent with targets that grow with the length: each step is the best one, and it arrives."""

import numpy as np
import pytest
from scipy.optimize import minimize

from novikoff.comparators._loops import descent, dual


def stream(rows=40, width=4, seed=0):
    """z = y x of rows whose lengths differ."""
    coins = np.random.default_rng(seed)
    x = coins.normal(size=(rows, width)) * np.exp(coins.normal(size=(rows, 1)))
    y = np.where(x[:, 0] + coins.normal(size=rows) > 0, 1, -1).astype(np.int8)
    return x, y


class Quick:
    """comparators/_loops/descent.py: sparse rows in doubles, the bias apart."""

    def __init__(self, x, y, bias):
        rows, width = x.shape
        self.rows = (np.arange(0, rows * width + 1, width, dtype=np.uint64),
                     np.tile(np.arange(width, dtype=np.uint32), rows), x.reshape(-1).copy())  # fmt: skip
        self.y, self.bias = y, bias
        self.scale, self.square = np.empty(rows), np.empty(rows)
        descent.lengths(self.rows[0], self.rows[2], bias, False, self.scale, self.square)
        self.alpha, self.weights, self.own = np.zeros(rows), np.zeros(width), np.zeros(1)

    def epoch(self, cost, kappa, order):
        order = np.array(order, dtype=np.int64)
        rows = (self.rows, self.y, self.bias, self.scale, self.square, order)
        descent.epoch(*rows, self.alpha, cost, kappa, self.weights, self.own, 1)

    u = property(lambda self: np.append(self.weights, self.own))


class Thorough:
    """comparators/_loops/dual.py: words of single precision, the bias first; x must be made of such numbers."""

    def __init__(self, x, y, bias):
        rows, width = x.shape
        self.words, self.ends, self.square = (
            np.zeros(2 * rows * (width + 1), np.uint32), np.zeros(rows + 1, np.uint64), np.zeros(rows)
        )  # fmt: skip
        put = dual.put_dense(x, y, bias, False, 1.0, self.words, self.words.view(np.float32), 0, self.ends[1:],
                             self.square)  # fmt: skip
        assert put == rows
        self.alpha, self.weights = np.zeros(rows), np.zeros(width + 1)

    def epoch(self, cost, kappa, order):
        chosen, seen = np.array(order, dtype=np.uint32), np.array([-np.inf, np.inf])
        groups = np.arange(-(-len(chosen) // dual.GROUP), dtype=np.uint32)
        rows = ((self.ends, self.words, self.words.view(np.float32)), self.square, self.alpha)
        dual.epoch(*rows, chosen, groups, 0, self.weights, (cost, 0.0, kappa), np.inf, -np.inf, seen)

    u = property(lambda self: np.append(self.weights[1:], self.weights[0]))


both = pytest.mark.parametrize("kind", [Quick, Thorough])


@both
@pytest.mark.parametrize("bias", [0.0, 0.5])
@pytest.mark.parametrize("kappa", [0.0, 0.02, 0.7])
def test_a_step_moves_one_alpha_to_where_the_dual_is_best(kind, bias, kappa):
    x, y = stream()
    x = x.astype(np.float32).astype(np.float64)
    solver, cost = kind(x, y, bias), 0.3
    z = np.column_stack([x, np.full(len(x), bias)]) * y[:, None]
    square = np.sum(z * z, axis=1)
    target, alpha = 1.0 + kappa * square, np.zeros(len(x))
    for t in np.random.default_rng(1).integers(0, len(x), 300).tolist():
        solver.epoch(cost, kappa, [t])
        alpha[t] = np.clip(alpha[t] + (target[t] - z[t] @ (alpha @ z)) / square[t], 0.0, cost)
        np.testing.assert_allclose(solver.alpha, alpha, atol=1e-9)
        np.testing.assert_allclose(solver.u, alpha @ z, atol=1e-9)
    assert np.any((alpha > 0.0) & (alpha < cost))


@both
@pytest.mark.parametrize("bias", [0.0, 0.5])
@pytest.mark.parametrize("kappa", [0.0, 0.02, 0.7])
def test_the_descent_arrives_at_the_optimum_of_a_general_solver(kind, bias, kappa):
    x, y = stream()
    x = x.astype(np.float32).astype(np.float64)
    solver, cost = kind(x, y, bias), 0.1
    for _ in range(4000):
        solver.epoch(cost, kappa, range(len(x)))
    z = np.column_stack([x, np.full(len(x), bias)]) * y[:, None]
    target = 1.0 + kappa * np.sum(z * z, axis=1)

    def negative_dual(alpha):
        u = alpha @ z
        return 0.5 * u @ u - target @ alpha, z @ u - target

    peer = minimize(negative_dual, np.zeros(len(x)), jac=True, bounds=[(0.0, cost)] * len(x), method="L-BFGS-B",
                    options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000})  # fmt: skip
    assert negative_dual(solver.alpha)[0] <= peer.fun + 1e-6 * abs(peer.fun)
    u = solver.u
    primal = 0.5 * u @ u + cost * np.sum(np.maximum(target - z @ u, 0.0))
    assert primal <= -peer.fun * (1 + 1e-4)


def test_row_lengths_are_those_of_transformed_rows():
    x, y = stream()
    quick = Quick(x, y, 2.0)
    np.testing.assert_allclose(quick.square, np.sum(x * x, axis=1) + 4.0)
    scale, square = np.empty(len(x)), np.empty(len(x))
    descent.lengths(quick.rows[0], quick.rows[2], 2.0, True, scale, square)
    np.testing.assert_allclose(scale, 1.0 / np.linalg.norm(x, axis=1))
    np.testing.assert_allclose(square, 5.0)
