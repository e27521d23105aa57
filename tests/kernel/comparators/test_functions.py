"""Comparators in the space of a kernel, against exact sums; the trap of a negative square; the fit behind them."""

import decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import sparse
from novikoff.comparators.tally import Tally
from novikoff.kernel.comparators import fit
from novikoff.kernel.comparators.functions import KernelScorer
from novikoff.kernel.kernels import Kernel

LINEAR = Kernel.of("linear")
CUBE = Kernel.of("polynomial", degree=3, constant=0.5)
RBF = Kernel.of("rbf", gamma=0.7)
EXACT = [LINEAR, CUBE, RBF, Kernel.of("linear", bias=0.3)]
CONTEXT = decimal.Context(prec=80)


def value(similarity, z, x):
    """K(z,x) with 70 figures and more."""
    z, x = [Fraction(float(v)) for v in z], [Fraction(float(v)) for v in x]
    bias2 = Fraction(similarity.bias * similarity.bias)
    if similarity.kind == "rbf":
        power = Fraction(similarity.gamma) * sum((a - b) ** 2 for a, b in zip(z, x, strict=True))
        return Fraction(CONTEXT.exp(-CONTEXT.divide(decimal.Decimal(power.numerator), power.denominator))) + bias2
    dot = sum((a * b for a, b in zip(z, x, strict=True)), Fraction(0))
    return (Fraction(similarity.constant) + dot) ** similarity.degree + bias2


def spread(rows, width):
    table = np.zeros((len(rows), width))
    for row, (places, numbers) in zip(table, rows.rows(), strict=True):
        row[places] = numbers
    return table


def close_to(told, exact, close, rows):
    """Not below the exact one, and not far above."""
    assert told >= exact
    assert float(told) <= float(exact) * (1 + close) + close * rows


def check(scorer, similarity, x, y, wrong, close=1e-9):
    """Every number of every comparator is on the safe side of the exact one, and close to it; how many there are."""
    points = scorer.points if isinstance(scorer.points, np.ndarray) else spread(scorer.points, x.shape[1])
    gram = [[value(similarity, a, b) for b in points] for a in points]
    values = [[value(similarity, z, row) for z in points] for row in x]
    own = [value(similarity, row, row) for row in x]
    betas = [[Fraction(b) for b in beta] for beta in scorer.betas.tolist()]
    squares = [sum(a * b * gram[i][j] for i, a in enumerate(beta) for j, b in enumerate(beta)) for beta in betas]
    margins = [
        [int(label) * sum(b * k for b, k in zip(beta, row, strict=True)) for row, label in zip(values, y, strict=True)]
        for beta in betas
    ]

    def losses(u, kappa=Fraction(0)):
        scale = Fraction(u.scale)
        return [max(Fraction(0), 1 + kappa * k - m / scale) for m, k in zip(margins[u.direction - 1], own, strict=True)]

    assert scorer.square() >= max(own)
    every = scorer.comparators()
    assert (every[0].square, every[0].hinge, every[0].squared_hinge) == (0, len(y), len(y))
    for u in (*every[1:], *scorer.penalized(), *scorer.over_mistakes()):
        assert u.square >= squares[u.direction - 1] / Fraction(u.scale) ** 2
    for u in every[1:]:
        close_to(u.hinge, sum(losses(u)), close, len(y))
        assert u.squared_hinge >= sum(loss * loss for loss in losses(u))
    for u in scorer.penalized():
        close_to(u.loss, sum(losses(u, u.kappa)), close, len(y))
    for u in scorer.over_mistakes():
        close_to(u.loss, sum(loss for loss, mistake in zip(losses(u), wrong, strict=True) if mistake), close, len(y))
    over = sum((k for k, mistake in zip(own, wrong, strict=True) if mistake), Fraction(0))
    close_to(scorer.tally.mistakes_square(), over, close, 1)
    return len(every) - 1, len(scorer.penalized()), len(scorer.over_mistakes())


def example_stream(rows, width=4, seed=0):
    coins = np.random.default_rng(seed)
    x = coins.normal(size=(rows, width))
    x[coins.random((rows, width)) < 0.3] = 0.0
    y = np.where((x[:, 0] ** 2 + x[:, 1]) + 0.2 * coins.normal(size=rows) > 0.7, 1, -1).astype(np.int8)
    return x, y, coins.random(rows) < 0.4


@pytest.mark.parametrize("form", [np.array, sparse])
@pytest.mark.parametrize("similarity", EXACT)
def test_every_number_is_on_the_safe_side_of_the_exact_one(similarity, form):
    x, y, wrong = example_stream(24)
    scorer = KernelScorer.fitted(similarity, form(x[:9]), y[:9])
    scorer.see(form(x), y, wrong)
    assert scorer.invalid_reason == ""
    comparators, penalized, over_mistakes = check(scorer, similarity, x, y, wrong)
    assert comparators > 20
    assert penalized > 20
    assert over_mistakes > 20


def placed(similarity, points, betas, top, penalties=()):
    return KernelScorer(similarity, np.array(points), np.array(betas), Tally(len(betas), top, penalties))


@given(
    st.sampled_from([LINEAR, CUBE]),
    st.lists(st.sampled_from([0.1, 0.2, 0.3, -0.3, 0.7, 1e8, -1e8, 1e-170, 1.0]), min_size=6, max_size=6),
    st.lists(st.sampled_from([1.0, -1.0, 3.0, -3.0, 1e8, -1e8, 0.1]), min_size=3, max_size=3),
    st.sampled_from([2.0**-400, 1e-20, 1.0, 2.0**400]),
)
def test_sums_that_cancel_are_on_the_safe_side(similarity, numbers, beta, kappa):
    x = np.array(numbers).reshape(3, 2)
    y, wrong = np.array([1, -1, 1], np.int8), np.array([True, True, False])
    scorer = placed(similarity, x, [beta], 4, [(0, kappa)])
    scorer.see(x, y, wrong)
    if scorer.invalid_reason == "":
        check(scorer, similarity, x, y, wrong, close=1e300)


def test_a_square_that_rounds_to_nothing_would_give_a_false_certificate():
    """f = 7 K(0.3, .) - 3 K(0.7, .) is not 0, for 0.3 and 0.7 are rounded; its square, as computed, is negative."""
    points, beta = [0.3, 0.7], [7.0, -3.0]
    exact = sum((Fraction(b) * Fraction(z) for b, z in zip(beta, points, strict=True)), Fraction(0))
    rows = [(z * points[0]) * beta[0] + (z * points[1]) * beta[1] for z in points]
    computed = beta[0] * rows[0] + beta[1] * rows[1]
    margin = beta[0] * points[0] + beta[1] * points[1]  # of x = -1, labelled -1: a mistake, as 0 says +1
    assert exact > 0
    assert computed < 0 < margin
    assert 1 * max(0.0, computed) / margin**2 < 1  # R^2 ||f||^2 / margin^2 is below the one mistake
    scorer = placed(LINEAR, np.array(points)[:, None], [beta], 1, [(0, 2.0**-60)])
    scorer.see(np.array([[-1.0]]), np.array([-1], np.int8), np.array([True]))
    assert scorer.norms2[0] >= exact**2
    assert all(scorer.square() * u.square >= 1 for u in scorer.comparators() if u.hinge == 0)
    assert all(u.bound() >= 1 for u in scorer.penalized())


def test_the_error_of_the_kernel_itself_is_accounted_for():
    """f = K(z, .) - K(z', .), z' = z (1 + 3e-8): adding up 3,000 equal numbers drifts by more than the rest covers."""
    points = np.full((2, 3000), 0.3)
    points[1] *= 1 + 3e-8
    scorer = placed(LINEAR, points, [[1.0, -1.0]], 1)
    assert scorer.norms2[0] >= 3000 * (Fraction(points[0, 0]) - Fraction(points[1, 0])) ** 2


def test_clamping_gives_false_certificates_and_rounding_allowances_give_none():
    """Random f whose terms cancel: the mistake bound R^2 ||f||^2 / margin^2 of one mistake must be at least 1."""
    coins, false = np.random.default_rng(1), 0
    for _ in range(150):
        z = coins.normal(size=(6, 2))
        # beta in the null space of z, but for rounding: f is as good as 0
        beta = np.linalg.svd(z.T)[2][-1] * coins.uniform(0.5, 2.0)
        x, y = coins.normal(size=(1, 2)), np.array([-1], np.int8)
        margin = -float(beta @ LINEAR.matrix(z, x)[:, 0])
        clamped = max(0.0, float(beta @ (LINEAR.matrix(z, z) @ beta)))
        false += margin > 0 and float(x[0] @ x[0]) * clamped / margin**2 < 1
        scorer = placed(LINEAR, z, beta[None], 3, [(0, 1e-12)])
        scorer.see(x, y, np.array([True]))
        bounds = [scorer.square() * u.square for u in scorer.comparators() if u.direction and u.hinge == 0]
        assert all(bound >= 1 for bound in (*bounds, *(u.bound() for u in scorer.penalized())))
    assert false > 0


def test_sums_beyond_the_doubles_are_left_out():
    """f(x) is 1e160, as after terms that cancelled: the squares of distances are above 1e308."""
    scorer = placed(LINEAR, [[1e135]], [[1e-110]], 1)
    x, y = np.array([[1e135], [1e-3]]), np.array([-1, 1], np.int8)
    scorer.see(x, y, np.array([True, False]))
    assert scorer.invalid_reason == ""
    assert [u.direction for u in scorer.comparators()] == [0]


def test_the_bound_of_orthogonal_examples_is_the_number_of_their_mistakes():
    x, y = np.eye(7), np.full(7, -1, np.int8)
    scorer = KernelScorer.fitted(LINEAR, x, y)
    scorer.see(x, y, np.ones(7, np.bool_))
    assert 7 <= min(u.bound() for u in scorer.penalized()) <= 7 + Fraction(1, 10**9)


@pytest.mark.parametrize("similarity", [RBF, CUBE, LINEAR])
@pytest.mark.parametrize("noise", [0.0, 0.15])
def test_the_fit_is_as_good_as_a_long_descent_by_coordinates(similarity, noise):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(120, 3))
    y = np.where((x[:, 0] * x[:, 1] > 0.0) ^ (rng.random(120) < noise), 1, -1).astype(np.int8)
    gram = similarity.matrix(x, x)
    signed = gram / np.mean(gram.diagonal()) * np.outer(y, y)
    betas, kappa = fit.fit(gram, y)
    targets = 1.0 + kappa * signed.diagonal()
    problems = [(cost, np.ones(120)) for cost in fit.COSTS[:-1]] + [(2.0 * kappa, targets)]
    for beta, (cost, target) in zip([*betas[:-2], betas[-1]], problems, strict=True):
        alpha, slow = beta * y, np.zeros(120)
        for _ in range(300):
            for t in range(120):
                slow[t] = min(max(slow[t] + (target[t] - signed[t] @ slow) / signed[t, t], 0.0), cost)
        assert np.all((alpha >= 0.0) & (alpha <= cost))
        assert dual(signed, alpha, target) >= 0.999 * dual(signed, slow, target)


def dual(signed, alpha, target):
    """What the fit makes large."""
    return target @ alpha - 0.5 * alpha @ signed @ alpha


def test_the_kappa_of_the_fit_is_near_the_best():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 3)) * np.exp(rng.normal(size=(150, 1)))
    y = np.where(x[:, 0] + rng.normal(size=150) > 0, 1, -1).astype(np.int8)
    gram = LINEAR.matrix(x, x)
    unit = gram / np.mean(gram.diagonal())
    betas, kappa = fit.fit(gram, y)

    def bound(beta, kappa):
        losses = np.maximum(1.0 + kappa * unit.diagonal() - y * (unit @ beta), 0.0)
        return losses.sum() + beta @ unit @ beta / (4.0 * kappa)

    found = bound(betas[-1], kappa)
    for other in kappa * np.geomspace(0.1, 10.0, 15):
        problem = fit._Problem(unit * np.outer(y, y), unit.diagonal(), np.ones(150, np.bool_), 1e-9)
        problem.solve(2.0 * other, 1.0 + other * unit.diagonal())
        assert found <= bound(problem.alpha * y, other) * 1.01
