"""The Perceptron's bound where lengths differ: golden values, arbitrary and adversarial streams, beside the root."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.comparators.scale import lengths_scale
from novikoff.comparators.tally import PenalizedComparator
from novikoff.linear.theorems.perceptron_hinge import perceptron_hinge
from novikoff.linear.theorems.perceptron_lengths import perceptron_lengths

CASES = {
    "perceptron_lengths": cases.perceptron_case,
}
"""Cases for tests/test_every_theorem.py."""

labels = st.sampled_from([-1, 1])


def streams(values, most=25, width=3):
    row = st.lists(values, min_size=width, max_size=width)
    return st.lists(st.tuples(row, labels), min_size=1, max_size=most)


def split(stream):
    return [x for x, _ in stream], [y for _, y in stream]


def bound(rows, y, u, kappa):
    """The theorem itself, in doubles."""
    lengths = np.einsum("ij,ij->i", rows, rows)
    return float(np.sum(np.maximum(0.0, 1.0 + kappa * lengths - y * (rows @ u))) + u @ u / (4.0 * kappa))


def root(rows, y, u):
    """The hinge bound of the same u, and the kappa and the multiple of u at which the other bound is that or less."""
    loss = float(np.sum(np.maximum(0.0, 1.0 - y * (rows @ u))))
    square = float(np.max(np.einsum("ij,ij->i", rows, rows)))
    a = math.sqrt(square * (u @ u))
    s = a / (2.0 * math.sqrt(loss + a * a / 4.0))
    return loss + a * a / 2.0 + a * math.sqrt(loss + a * a / 4.0), s / square, 1.0 + s


def mistakes(rows, y):
    weights, count = np.zeros(rows.shape[1]), 0
    for x, label in zip(rows, y, strict=True):
        if (1 if weights @ x >= 0.0 else -1) != label:
            weights, count = weights + label * x, count + 1
    return count


def adversarial(coins, rounds, width):
    """Labels that are the opposite of what the Perceptron says, on examples of very different lengths."""
    weights, rows, y = np.zeros(width), [], []
    for _ in range(rounds):
        x = coins.normal(size=width) * 2.0 ** coins.integers(-6, 7)
        label = -1 if weights @ x >= 0.0 else 1
        if coins.random() < 0.7:
            weights = weights + label * x
        else:
            label = -label
        rows.append(x)
        y.append(label)
    return np.array(rows), np.array(y)


def test_the_theorem_holds_and_is_never_above_the_root_on_three_thousand_streams():
    coins = np.random.default_rng(84)
    for number in range(3000):
        rounds, width = int(coins.integers(1, 60)), int(coins.integers(1, 6))
        if number % 3 == 0:
            rows, y = adversarial(coins, rounds, width)
        else:
            rows = coins.normal(size=(rounds, width)) * 2.0 ** coins.integers(-5, 6, (rounds, 1))
            y = np.where(rows @ coins.normal(size=width) + 0.3 * coins.normal(size=rounds) >= 0.0, 1, -1)
        made = mistakes(rows, y)
        u = coins.normal(size=width) * 2.0 ** coins.integers(-6, 7)
        for kappa in 2.0 ** coins.uniform(-20.0, 8.0, 4):
            assert made <= bound(rows, y, u, kappa) * (1.0 + 1e-9)
        old, kappa, longer = root(rows, y, u)
        assert bound(rows, y, longer * u, kappa) <= old * (1.0 + 1e-9)


@pytest.mark.parametrize("k", [1, 2, 7, 40])
def test_the_golden_value_and_tightness_on_orthogonal_examples(game, k):
    assert bound(np.eye(k), -np.ones(k), np.full(k, -2.0), 1.0) == k
    found = perceptron_lengths(game(np.eye(k), [-1] * k, passes=2))
    assert (found.observed, found.bound, found.status) == (k, k, "vacuous" if k == 0 else "valid")


@given(streams(st.integers(-3, 3)), st.integers(1, 3), st.sampled_from([0.0, 1.0]))
def test_the_certificate_holds_on_arbitrary_integer_streams(game, perceptron, stream, passes, bias):
    run = game(*split(stream), passes, perceptron(bias))
    found = perceptron_lengths(run)
    assert run.mistakes <= found.bound <= run.rounds
    assert found.status in ("valid", "vacuous")


@given(streams(st.floats(-10, 10)), st.lists(st.floats(-9, 9), min_size=3, max_size=3), st.sampled_from([0.0, 0.3]))
def test_the_certificate_holds_from_any_start_on_arbitrary_floats(game, perceptron, stream, first, bias):
    for weights in ({}, dict(enumerate(first))):
        found = perceptron_lengths(game(*split(stream), 1, perceptron(bias, weights=dict(weights))))
        assert found.status in ("valid", "vacuous", "void")
        assert found.status != "void" or "rescale" in found.reason


@given(streams(st.floats(-3, 3), width=2), st.lists(st.floats(-4, 4), min_size=2, max_size=2))
def test_every_comparator_that_was_tracked_obeys_the_theorem(game, perceptron, stream, first):
    """Also with weights at the start, and each of them, not merely the best."""
    run = game(*split(stream), 1, perceptron(weights=dict(enumerate(first))))
    weight = sum((Fraction(value) ** 2 for value in first), Fraction(0))
    for u in run.tracked.penalized:
        assert run.mistakes <= u.bound(weight)


def test_the_bound_is_far_below_the_root_where_a_few_examples_are_long(game):
    coins = np.random.default_rng(3)
    rows = coins.normal(size=(600, 4))
    rows[::50] *= 30.0
    y = np.where(rows @ [1.0, -2.0, 0.5, 1.0] >= 0.0, 1, -1)
    y[7::40] *= -1
    run = game(rows.tolist(), y.tolist())
    found, old = perceptron_lengths(run), perceptron_hinge(run)
    assert run.mistakes <= found.bound < 0.8 * old.bound
    assert found.quantities["kappa"] > 0.0


def test_bound_from_the_mistakes_is_reported_and_holds(game):
    coins = np.random.default_rng(4)
    rows = coins.normal(size=(300, 3))
    y = np.where(rows @ [1.0, 1.0, -1.0] + 0.5 * coins.normal(size=300) >= 0.0, 1, -1)
    found = perceptron_lengths(game(rows.tolist(), y.tolist()))
    assert found.observed <= found.quantities["from_the_mistakes"] <= found.bound


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12), st.floats(0.01, 9), st.integers(1, 3))
def test_the_best_scale_is_the_best_of_a_fine_grid(margins, rest, passes):
    margins = np.array(margins)
    s, least = lengths_scale(margins, rest, passes)
    value = lambda S: (passes * np.sum(np.maximum(0.0, S - margins)) + rest) / S
    assert least <= min([passes * len(margins), *(value(S) for S in np.geomspace(1e-3, 50.0, 200))]) * (1.0 + 1e-9)
    if s > 0.0:
        assert value(1.0 / s) == pytest.approx(least)


def test_the_bound_of_a_comparator_by_hand():
    u = PenalizedComparator(1, 1.0, Fraction(4), Fraction(1, 2), Fraction(10), Fraction(3))
    assert u.bound(Fraction(6)) == 10 - 3 + 3 + 2
    assert u.bound(Fraction(0), Fraction(2)) == 10 - 3 + 4


class Broken(nk.Perceptron):
    """A Perceptron that does something else now and then."""

    how = ""

    def play_one(self, x, y):
        prediction = super().play_one(x, y)
        wrong = prediction != y
        if self.how == "skips half" and wrong and self.updates % 2:
            self._weights[: len(x)] -= y * np.asarray(x)
        if self.how == "always" and not wrong:
            self._weights[: len(x)] += y * np.asarray(x)
        if self.how == "decays":
            self._weights *= 0.999
        if self.how == "forgets a feature":
            self._weights[0] = 0.0
        return prediction


@pytest.mark.parametrize("how", ["skips half", "always", "decays", "forgets a feature"])
def test_a_broken_perceptron_has_no_certificate(how):
    coins = np.random.default_rng(12)
    x = coins.normal(size=(400, 5))
    y = np.where(x[:, 0] + x[:, 1] + 0.3 * coins.normal(size=400) > 0.0, 1, -1)
    honest, broken = nk.Perceptron(), Broken()
    broken.how = how
    for learner in (honest, broken):
        game = nk.Game(learner)
        for row, label in zip(x, y.tolist(), strict=True):
            game.learn_one(row, label)
        found = game.ledger.certify()
        if learner is honest:
            assert {one.status for one in found} <= {"valid", "vacuous", "void"}
            assert any(one.status == "valid" for one in found)
        else:
            assert {one.status for one in found} == {"void"}
            assert all("nothing else changed them" in one.reason for one in found)


def test_a_perceptron_that_starts_elsewhere_has_no_certificate():
    learner = nk.Perceptron()
    x = np.random.default_rng(2).normal(size=(100, 3))
    learner.predict_one(x[0])
    game = nk.Game(learner)
    game.learn_one(x[0], -1)
    learner._weights += 5.0
    for row in x[1:]:
        game.learn_one(row, 1)
    assert {one.status for one in game.ledger.certify()} == {"void"}
