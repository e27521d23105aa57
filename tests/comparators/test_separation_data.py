"""Margin bounds on real data, compared with an independent solver of the hard-margin problem.

The mushroom data are not part of the project: NOVIKOFF_MUSHROOM may name its file in svmlight format.
"""

import os

import numpy as np
import pytest
from scipy.optimize import nnls

import novikoff as nk

datasets = pytest.importorskip("sklearn.datasets")


def least_bound(x, y, bias):
    """Return the least R^2 ||u||^2 with y<u,x~> >= 1, by least distance programming; infinite if there is no u."""
    z = (np.column_stack([x, np.full(len(x), bias)]) if bias else x) * y[:, None]
    z = z / np.max(np.linalg.norm(z, axis=1))
    system, right = np.vstack([z.T, np.ones(len(z))]), np.append(np.zeros(z.shape[1]), 1.0)
    weights, _ = nnls(system, right, maxiter=100_000)
    rest = right - system @ weights
    if rest[-1] < 1e-13:
        return np.inf
    u = -rest[:-1] / rest[-1]
    return float(u @ u / min(np.min(z @ u), 1.0) ** 2) if np.min(z @ u) > 0.5 else np.inf


def standardized(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def wine(label):
    data = datasets.load_wine()
    return standardized(data.data), np.where(data.target == label, 1, -1)


def breast_cancer():
    data = datasets.load_breast_cancer()
    return standardized(data.data), np.where(data.target == 1, 1, -1)


def digits():
    data = datasets.load_digits()
    return data.data, np.where(data.target == 0, 1, -1)


def mushroom():
    path = os.environ.get("NOVIKOFF_MUSHROOM", "")
    if not os.path.exists(path):
        pytest.skip("NOVIKOFF_MUSHROOM names no file")
    x, y = datasets.load_svmlight_file(path)
    return x.toarray(), np.where(y > 0.5, 1, -1)


def margin(learner, x, y, hindsight=False):
    ledger = nk.play(learner, nk.Arrays(x, y), hindsight=hindsight)
    (found,) = (one for one in ledger.certify() if one.theorem.endswith("_margin"))
    return found


SETS = {
    "wine 0": lambda: wine(0),
    "wine 1": lambda: wine(1),
    "wine 2": lambda: wine(2),
    "breast cancer": breast_cancer,
    "digits": digits,
    "mushroom": mushroom,
}


@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize("name", SETS)
def test_bounds_are_those_of_the_widest_margin(name, bias):
    x, y = SETS[name]()
    best = least_bound(x, y, bias)
    for hindsight in (False, True):
        found = margin(nk.Perceptron(bias=bias), x, y, hindsight)
        if best == np.inf:
            assert found.reason.startswith("nothing separates the labels with a positive margin: ")
        else:
            assert found.status in ("valid", "vacuous")
            assert best * (1.0 - 1e-6) - 1 <= found.bound <= 1.001 * best
    ellipsoid = margin(nk.Ellipsoid(width=x.shape[1], bias=bias), x, y)
    if bias:
        assert (ellipsoid.bound is None) == (best == np.inf)


def test_kernel_bound_on_breast_cancer():
    x, y = breast_cancer()
    learner = nk.KernelPerceptron(kernel="rbf", gamma=2.0)
    signed = learner.similarity.matrix(x, x) * np.outer(y, y)
    factor = np.linalg.cholesky(signed)  # rows of the feature space in coordinates
    best = least_bound(factor, np.ones(len(y)), 0.0)
    for hindsight in (False, True):
        found = margin(nk.KernelPerceptron(kernel="rbf", gamma=2.0), x, y, hindsight)
        assert best - 1 <= found.bound <= 1.001 * best
