"""Kernels: the values are those of plain sums, whatever their neighbours, and the error is as told."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import sparse
from novikoff.core.errors import InputError, ModelFileError
from novikoff.core.types import Sparse
from novikoff.kernel.kernels import Kernel
from twins import exp_twin

KERNELS = [
    Kernel.of("linear"),
    Kernel.of("linear", normalized=True, bias=2.0),
    Kernel.of("polynomial", degree=3, constant=0.5),
    Kernel.of("polynomial", degree=2, constant=1.0, normalized=True),
    Kernel.of("rbf", gamma=0.3),
    Kernel.of("rbf", gamma=2.0, bias=0.5),
]
every = pytest.mark.parametrize("similarity", KERNELS, ids=str)


def plain(similarity, z, x, distances=True):
    """K(z,x) in plain Python: sums from the first feature to the last."""

    def dot(a, b):
        total = 0.0
        for i, j in zip(a, b, strict=True):
            total += i * j
        return total

    def power(base):
        value = base
        for _ in range(similarity.degree - 1):
            value *= base
        return value

    if similarity.kind == "rbf":
        if distances:
            square = 0.0
            for i, j in zip(x, z, strict=True):
                square = float(Fraction(i - j) ** 2 + Fraction(square))  # rounded once
        else:
            square = max((dot(x, x) + dot(z, z)) - 2.0 * dot(x, z), 0.0)
        value = exp_twin(-(similarity.gamma * square))
    else:
        value = power(similarity.constant + dot(x, z))
        if similarity.normalized:
            length = math.sqrt(power(similarity.constant + dot(x, x)))
            length *= math.sqrt(power(similarity.constant + dot(z, z)))
            value = value / length if length > 0.0 else 0.0
    return value + similarity.bias * similarity.bias


def some_rows(seed, count, width, zeros=0.4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, width)) * (rng.random((count, width)) > zeros)


@every
@given(seed=st.integers(0, 10**6), down=st.integers(1, 40), across=st.integers(1, 20), width=st.integers(1, 9))
def test_every_value_is_the_plain_sum_to_the_bit(similarity, seed, down, across, width):
    Z, X = some_rows(seed, down, width), some_rows(seed + 1, across, width)
    wanted = [[plain(similarity, z, x) for x in X.tolist()] for z in Z.tolist()]
    assert similarity.matrix(Z, X).tolist() == wanted
    wanted = [[plain(similarity, z, x, distances=False) for x in X.tolist()] for z in Z.tolist()]
    assert similarity.matrix(sparse(Z), sparse(X)).tolist() == wanted
    assert similarity.matrix(sparse(Z), X).tolist() == wanted


@every
def test_a_value_does_not_depend_on_its_neighbours(similarity):
    Z, X = some_rows(1, 37, 6), some_rows(2, 5, 6)
    whole = similarity.matrix(Z, X)
    assert np.array_equal(similarity.matrix(X, Z), whole.T)
    for i, j in ((0, 0), (16, 2), (36, 4)):
        assert similarity.matrix(Z[i : i + 1], X[j : j + 1]) == whole[i, j]
    assert similarity.matrix(Z[:0], X).shape == (0, 5)


@every
def test_rows_too_wide_to_be_kept_by_feature_give_the_same_bits(similarity, monkeypatch):
    Z, X = sparse(some_rows(3, 20, 30, zeros=0.8)), sparse(some_rows(4, 7, 30, zeros=0.8))
    usual = similarity.matrix(Z, X)
    monkeypatch.setattr("novikoff.kernel._loops.cache.LARGEST_POINTS", 0)
    assert np.array_equal(similarity.matrix(Z, X), usual)


@every
def test_the_order_of_sparse_features_and_zeros_among_them_change_nothing(similarity):
    tidy = Sparse(np.array([0, 2], np.uint64), np.array([1, 4], np.uint32), np.array([0.3, -0.7]), 6)
    messy = Sparse(np.array([0, 3], np.uint64), np.array([4, 2, 1], np.uint32), np.array([-0.7, 0.0, 0.3]), 6)
    X = sparse(some_rows(5, 9, 6))
    assert np.array_equal(similarity.matrix(tidy, X), similarity.matrix(messy, X))
    assert messy.indices.tolist() == [4, 2, 1]


@every
def test_self_product_matches_the_diagonal(similarity):
    X = np.vstack([some_rows(6, 20, 5), np.zeros(5)])
    assert np.allclose(similarity.self_product(X), np.diag(similarity.matrix(X, X)), rtol=1e-15)
    assert np.array_equal(similarity.self_product(sparse(X)), similarity.self_product(X))
    if similarity.limit is not None:
        assert np.max(similarity.self_product(X)) == similarity.limit


@every
def test_a_function_that_computes_the_same_gives_the_same(similarity):
    inner = Kernel(similarity.kind, similarity.gamma, similarity.degree, similarity.constant)
    self_product = Kernel.of(
        lambda z, x: plain(inner, z.tolist(), x.tolist()), normalized=similarity.normalized, bias=similarity.bias
    )
    Z, X = some_rows(7, 6, 4), some_rows(8, 3, 4)
    assert np.allclose(self_product.matrix(Z, X), similarity.matrix(Z, X), rtol=1e-14)
    assert np.allclose(self_product.self_product(Z), similarity.self_product(Z), rtol=1e-14)
    if similarity.kind != "rbf":
        assert np.allclose(
            self_product.matrix(sparse(Z), sparse(X)), similarity.matrix(sparse(Z), sparse(X)), rtol=1e-14
        )


def exact(similarity, z, x):
    """K(z,x) to 60 digits."""
    with localcontext() as context:
        context.prec = 60

        def dot(a, b):
            return sum((Fraction(i) * Fraction(j) for i, j in zip(a, b, strict=True)), Fraction(0))

        if similarity.kind == "rbf":
            square = sum(((Fraction(i) - Fraction(j)) ** 2 for i, j in zip(x, z, strict=True)), Fraction(0))
            exponent = -Fraction(similarity.gamma) * square
            value = Decimal(exponent.numerator) / Decimal(exponent.denominator)
            return Fraction(value.exp()) + Fraction(similarity.bias) ** 2
        constant = Fraction(similarity.constant)
        value = (constant + dot(x, z)) ** similarity.degree
        if similarity.normalized:
            square = ((constant + dot(x, x)) * (constant + dot(z, z))) ** similarity.degree
            if square == 0:
                return Fraction(similarity.bias) ** 2
            value /= Fraction((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())
        return value + Fraction(similarity.bias) ** 2


@every
@given(seed=st.integers(0, 10**6), size=st.sampled_from([0.01, 1.0, 30.0]), near=st.booleans())
def test_kernel_error_is_within_its_bound(similarity, seed, size, near):
    x = some_rows(seed, 1, 8)[0] * size
    z = x * (1.0 + 1e-9) if near else some_rows(seed + 1, 1, 8)[0] * size
    wanted = exact(similarity, z.tolist(), x.tolist())
    square = 1.001 * max(x @ x, z @ z)
    arrays = similarity.matrix(z[None], x[None])[0, 0]
    rows = similarity.matrix(sparse(z[None]), sparse(x[None]))[0, 0]
    own_x, own_z = similarity.self_product(x[None])[0], similarity.self_product(z[None])[0]
    assert abs(Fraction(arrays) - wanted) <= Fraction(similarity.relative_error(8) * math.sqrt(own_x * own_z))
    assert abs(Fraction(rows) - wanted) <= Fraction(similarity.error(8, square))


def test_error_bound_of_distant_sparse_rows_is_at_most_one():
    assert Kernel.of("rbf", gamma=1.0).error(10, 1e30) <= 1.0 + 1e-9


@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel": "quadratic"},
        {"kernel": None},
        {"kernel": "rbf", "gamma": 0.0},
        {"kernel": "rbf", "gamma": math.nan},
        {"kernel": "rbf", "gamma": math.inf},
        {"kernel": "polynomial", "degree": 0},
        {"kernel": "polynomial", "degree": 1.5},
        {"kernel": "polynomial", "degree": 1000},
        {"kernel": "polynomial", "constant": -1.0},
        {"kernel": "polynomial", "constant": math.nan},
        {"kernel": "linear", "bias": math.inf},
        {"kernel": "linear", "bias": 1e200},
    ],
)
def test_invalid_kernels_are_refused(arguments):
    with pytest.raises(InputError):
        Kernel.of(**arguments)


def test_arrays_of_different_widths_are_refused():
    with pytest.raises(InputError):
        Kernel.of("linear").matrix(np.ones((2, 3)), np.ones((2, 4)))


def test_a_function_that_is_not_finite_is_refused():
    with pytest.raises(InputError, match="finite"):
        Kernel.of(lambda z, x: math.nan).matrix(np.ones((1, 1)), np.ones((1, 1)))


@every
def test_saved_and_restored_it_is_the_same(similarity):
    assert Kernel.restore(similarity.state()) == similarity
    arguments = similarity.arguments()
    assert Kernel.of(normalized=arguments.pop("normalize_kernel"), **arguments) == similarity


def test_a_function_cannot_be_saved_and_an_unknown_kind_not_restored():
    with pytest.raises(ModelFileError, match="plain data"):
        Kernel.of(lambda z, x: 1.0).state()
    with pytest.raises(ModelFileError):
        Kernel.restore({**KERNELS[0].state(), "kind": "own"})
