"""Online convex optimisation with losses of one's own: the rules, the best fixed point against solvers, refusals."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import novikoff as nk
from novikoff.core.errors import InputError


def squared(targets):
    return [lambda w, y=y: (float((w - y) @ (w - y)), 2.0 * (w - y)) for y in np.asarray(targets, float)]


def linear(gradients):
    return [(lambda w, g=g: float(g @ w), lambda w, g=g: g) for g in np.asarray(gradients, float)]


def absolute(x, y):
    return [(lambda w, a=a, b=b: abs(float(a @ w) - b), lambda w, a=a, b=b: np.sign(float(a @ w) - b) * a)
            for a, b in zip(x, y, strict=True)]  # fmt: skip


def test_gradient_steps_on_an_example_computed_by_hand():
    player = nk.OnlineMinimiser(nk.Box(-1.0, 1.0, dim=1), rate=0.25)
    assert player.learn_one(squared([[1.0]])[0]) == 1.0  # gradient -2: step to 0.5
    assert player.point.tolist() == [0.5]
    assert player.learn_one(squared([[3.0]])[0]) == 6.25  # gradient -5: step to 1.75, projected to 1
    assert player.point.tolist() == [1.0]
    (found,) = player.certify([1.0])
    # B = D^2/(2 r) + r (4 + 25)/2 = 8 + 3.625; regret 7.25 - (0 + 4)
    assert found.bound == pytest.approx(11.625, abs=1e-6)
    assert found.observed == pytest.approx(3.25)


def test_ftrl_steps_on_an_example_computed_by_hand():
    player = nk.OnlineMinimiser(nk.Box(-1.0, 1.0, dim=1), method="ftrl", rate=0.25)
    for loss in linear([[2.0], [4.0], [-7.0]]):
        player.learn_one(loss)
    # sums 2, 6, -1: points 0, -0.5, -1 (projected from -1.5), then 0.25
    assert player.points.ravel().tolist() == [0.0, -0.5, -1.0]
    assert player.point.tolist() == [0.25]
    (found,) = player.certify([1.0])
    # B = 8 + min(0.25*4/2, 4) + min(0.25*16/2, 8) + min(0.25*49/2, 14) = 8 + 0.5 + 2 + 6.125
    assert found.bound == pytest.approx(16.625, abs=1e-6)
    assert found.observed == pytest.approx(5.0 - (-1.0))


def test_mirror_descent_is_exponential_weights():
    gradients = np.random.default_rng(0).random((40, 3))
    player = nk.OnlineMinimiser(nk.Simplex(3), method="mirror descent", rate=0.5)
    sums = np.zeros(3)
    for loss, g in zip(linear(gradients), gradients, strict=True):
        weights = np.exp(-0.5 * sums)
        assert player.point == pytest.approx(weights / weights.sum(), abs=1e-12)
        player.learn_one(loss)
        sums += g


def test_scaled_simplex_plays_the_scaled_game():
    gradients = np.random.default_rng(0).normal(size=(30, 3))
    one = nk.minimise_online(linear(2.0 * gradients), nk.Simplex(3), "mirror descent")
    two = nk.minimise_online(linear(gradients), nk.Simplex(3, total=2.0), "mirror descent")
    assert two.points == pytest.approx(2.0 * one.points)
    assert two.certify()[0].bound == pytest.approx(one.certify()[0].bound)


@pytest.mark.parametrize("domain", [nk.Ball(0.7, dim=3), nk.Box(-0.2, 0.3, dim=3), nk.Simplex(3)])
def test_best_point_for_squared_losses_is_the_projected_mean(domain):
    targets = np.random.default_rng(1).normal(size=(200, 3)) + 0.3
    run = nk.minimise_online(squared(targets), domain)
    best = domain.project(targets.mean(axis=0))
    assert run.comparator == pytest.approx(best, abs=1e-5)
    assert run.comparator_loss == pytest.approx(((targets - best) ** 2).sum())
    assert run.comparator_gap <= 1e-6 * run.comparator_loss
    assert run.certify()[0].status == "valid"


@pytest.mark.parametrize("method", ["gradient", "ftrl"])
def test_best_point_for_absolute_losses_is_that_of_a_linear_program(method):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(60, 3))
    y = x @ [0.5, -2.0, 0.1] + rng.normal(size=60)
    run = nk.minimise_online(absolute(x, y), nk.Box(-1.0, 1.0, dim=3), method)
    # minimise the sum of e with -e <= x w - y <= e
    eye = np.eye(60)
    program = linprog(np.r_[np.zeros(3), np.ones(60)], np.block([[x, -eye], [-x, -eye]]), np.r_[y, -y],
                      bounds=[(-1.0, 1.0)] * 3 + [(0.0, None)] * 60)  # fmt: skip
    optimum = program.fun
    assert optimum - 1e-6 <= run.comparator_loss <= optimum * 1.001
    assert run.comparator_loss - run.comparator_gap <= optimum + 1e-6
    (found,) = run.certify()
    assert found.status == "valid"
    assert run.loss - optimum <= found.bound + 1e-6


def test_log_loss_of_a_portfolio_on_the_simplex():
    returns = np.exp(np.random.default_rng(3).normal(0.0, 0.3, (150, 4)))
    losses = [(lambda w, r=r: -math.log(w @ r), lambda w, r=r: -r / (w @ r)) for r in returns]
    for method in ("gradient", "ftrl", "mirror descent"):
        run = nk.minimise_online(losses, nk.Simplex(4), method)
        assert run.comparator_gap < 1e-3
        assert run.comparator_loss <= min(-np.log(returns).sum(axis=0)) + 1e-9  # no worse than the best asset
        assert run.certify()[0].holds


def test_any_projection_is_a_set():
    def halfplane(v):  # the unit disc where the first coordinate is positive
        v = np.array([max(v[0], 0.0), v[1]])
        length = math.hypot(*v)
        return v if length <= 1.0 else v / length

    run = nk.minimise_online(squared([[-1.0, 0.2]] * 50), nk.Projected(halfplane, 2.0, [0.5, 0.0]))
    assert run.comparator == pytest.approx([0.0, 0.2], abs=1e-4)
    assert run.comparator_gap is None
    (found,) = run.certify()
    assert found.status == "conditional"
    assert "projection and diameter" in found.reason


def test_round_that_is_not_convex_is_named():
    losses = squared([[0.5], [0.2], [0.1]])
    losses.insert(2, lambda w: (-float(w[0] ** 2), -2.0 * w))
    (found,) = nk.minimise_online(losses, nk.Box(-1.0, 1.0, dim=1)).certify([-1.0])
    assert found.status == "void"
    assert "the loss of round 3 is not convex" in found.reason


def test_wrong_gradient_is_detected():
    losses = [lambda w: (float(w @ w), -2.0 * w)] * 20
    (found,) = nk.minimise_online(losses, nk.Ball(1.0, dim=2, center=[0.5, 0.5])).certify([0.0, 0.0])
    assert found.status == "void"
    assert "round" in found.reason


def test_comparator_outside_the_set_is_refused_by_the_certificate():
    run = nk.minimise_online(squared([[0.5]] * 5), nk.Box(-1.0, 1.0, dim=1))
    (found,) = run.certify([2.0])
    assert found.status == "void"
    assert "in the set" in found.reason


def test_wrong_projection_or_diameter_is_not_certified():
    for project, diameter in ((lambda v: -np.clip(v, -1.0, 1.0), 2.0), (lambda v: np.clip(v, -1.0, 1.0), 0.5)):
        domain = nk.Projected(project, diameter, [1.0])
        (found,) = nk.minimise_online(linear([[1.0]] * 400), domain).certify([-1.0])
        assert found.status == "void", found
        assert "projection and diameter" in found.reason


def test_steps_one_by_one_equal_the_whole_run():
    losses = squared(np.random.default_rng(4).normal(size=(30, 2)))
    for method in ("gradient", "ftrl"):
        player = nk.OnlineMinimiser(nk.Ball(1.0, dim=2), method)
        paid = [player.learn_one(loss) for loss in losses]
        run = nk.minimise_online(losses, nk.Ball(1.0, dim=2), method)
        assert run.losses.tolist() == paid
        assert run.points.tolist() == player.points.tolist()
        assert player.rounds == 30


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (3, "a function from w"),
        (lambda w: 1.0, "a function from w"),
        (lambda w: (1.0, np.zeros(3)), "must have 2 numbers"),
        (lambda w: (math.nan, np.zeros(2)), "must be finite"),
        (lambda w: (1.0, np.full(2, math.inf)), "must be finite"),
    ],
)
def test_wrong_losses_are_refused_with_their_round(loss, words):
    with pytest.raises(InputError, match=words):
        nk.minimise_online([*squared([[0.0, 1.0]]), loss], nk.Ball(1.0, dim=2))


@pytest.mark.parametrize("given", [{"domain": 3}, {"method": "newton"}, {"method": "mirror descent"}, {"rate": 0.0}])
def test_wrong_arguments_are_refused(given):
    with pytest.raises(InputError):
        nk.OnlineMinimiser(**{"domain": nk.Ball(1.0, dim=2), **given})


def test_no_round_and_a_single_point_are_games_too():
    assert nk.minimise_online([], nk.Ball(1.0, dim=2)).certify()[0].status == "void"
    for domain in (nk.Simplex(1), nk.Box(1.0, 1.0, dim=2)):
        run = nk.minimise_online(squared(np.ones((3, domain.dim))), domain)
        assert run.regret == pytest.approx(0.0)
        assert run.certify()[0].holds
