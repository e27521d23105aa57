"""Mistakes with many labels: golden values, new labels, and learners that are broken on purpose."""

import dataclasses

import numpy as np
import pytest

import cases
import novikoff as nk
from novikoff import numerics
from novikoff.comparators import _loops as comparators_loops
from novikoff.comparators.multiclass_tracker import MulticlassTracker
from novikoff.core.types import Batch, StepResult
from novikoff.linear._loops import multiclass_layout as at

CASES = {
    "multiclass_mistakes": cases.of_multiclass(
        nk.MulticlassPerceptron,
        lambda run: dataclasses.replace(cases.changed(run, mistakes=140, updates=140), mistakes=140),
        lambda: cases.run_of(nk.MulticlassPerceptron(labels=2), [(x, 1) for x, _ in cases.orthogonal(12)]),
    ),
}
"""Cases for tests/test_every_theorem.py."""

X = np.array([(1, 0), (0, 1), (1, 1), (-1, 0), (0, -1), (2, 1)], dtype=float)
Y = np.array([1, 2, 0, 2, 1, 0])
U = np.array([(1, 1), (0, -1), (-1, 0)], dtype=float)


def hinge(x, y, u, known=None):
    """Of one round, the plain way."""
    scores = u @ x
    others = [scores[j] for j in range(len(u) if known is None else known) if j != y]
    return max(0.0, 1.0 - scores[y] + max(others, default=-np.inf))


def rows(x):
    return numerics.nonzeros.of_dense(np.asarray(x, dtype=float), 0.0)[0]


def test_the_rule_on_an_example_by_hand():
    learner = nk.MulticlassPerceptron(labels=3)
    played = learner.learn_many(Batch(X, Y, 1))
    assert played.predictions.tolist() == [0, 0, 1, 0, 1, 0]
    assert learner.weights.tolist() == [[1.0, 0.0], [0.0, -1.0], [-1.0, 1.0]]
    assert learner.facts().gained == 10.0
    d = sum(hinge(x, y, U) for x, y in zip(X, Y, strict=True))
    assert d == 4.0
    assert abs(d + np.sqrt((U * U).sum() * learner.facts().gained) - 10.324555320) < 1e-8


def test_the_rule_of_second_order_on_the_same_example():
    learner = nk.MulticlassSecondOrderPerceptron(scale_free=False, bias=0.0, labels=3)
    played = learner.learn_many(Batch(X, Y, 1))
    facts, metric = learner.facts(), learner.matrix.full()
    assert (played.predictions != Y).sum() == facts.mistakes == 4
    assert abs(facts.gained - 4.157894737) < 1e-8
    square = sum(metric.square(np.append(0.0, u)) for u in U)
    assert abs(4.0 + np.sqrt(square * facts.gained) - 14.789858786) < 1e-8
    assert facts.least <= facts.gained


@pytest.mark.parametrize("scale_free", [True, False])
@pytest.mark.parametrize("announced", [None, 4])
def test_second_order_matches_dense_matrices(announced, scale_free):
    rng = np.random.default_rng(3)
    x, y = (
        rng.normal(size=(150, 3)) * np.linspace(1, 9, 150)[:, None],
        np.minimum(np.arange(150), rng.integers(0, 4, 150)),
    )
    y[:4] = np.arange(4)
    learner = nk.MulticlassSecondOrderPerceptron(0.5, scale_free, bias=0.0, labels=announced)
    said = learner.learn_many(Batch(x, y, 1)).predictions
    squares, sums, most, known = np.zeros((3, 3)), np.zeros((4, 3)), np.zeros(3), announced or 1
    for t, (row, label) in enumerate(zip(x, y.tolist(), strict=True)):
        most = np.maximum(most, np.abs(row)) if scale_free else np.ones(3)
        scores = sums @ np.linalg.solve(0.5 * np.diag(most**2) + squares + np.outer(row, row), row)
        assert said[t] == np.argmax(scores[:known])
        known = max(known, label + 1)
        best = int(np.argmax(scores[:known]))
        if best != label:
            squares += np.outer(row, row)
            sums[label] += row
            sums[best] -= row
    weights = np.linalg.solve(0.5 * np.diag(most**2) + squares, sums.T).T
    assert np.allclose(learner.weights, weights, atol=1e-9)


def test_second_order_meets_its_bound_on_orthogonal_examples():
    learner = nk.MulticlassSecondOrderPerceptron(ridge=0.5, bias=0.0, labels=2)
    (found,) = nk.play(learner, [(tuple(row), 1) for row in np.eye(12)]).certify()
    assert (found.observed, found.bound) == (12, 12)


def test_second_order_ignores_features_beyond_its_matrix():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    x = np.hstack([6.0 * np.eye(3)[y], rng.normal(size=(60, 297))])
    learner = nk.MulticlassSecondOrderPerceptron(labels=3)
    game = nk.Game(learner)
    game.learn_batch(Batch(x, y, 1))
    (found,) = game.ledger.certify()
    assert (learner.size, found.status) == (256, "valid")
    assert learner.weights.any(axis=0).sum() == 255  # the constant has the first row


def test_losses_of_comparators_match_a_naive_sum():
    rng = np.random.default_rng(1)
    x, y, u = rng.normal(size=(40, 3)), np.minimum(rng.integers(0, 4, 40), np.arange(40)), rng.normal(size=(4, 3))
    known = np.maximum.accumulate(y + 1)
    for is_hinge in (True, False):
        sums, told = (
            np.zeros((comparators_loops.multiclass_losses.SUMS, 1)),
            np.zeros(comparators_loops.multiclass_losses.SCORE_SUMS),
        )
        places = np.ascontiguousarray(np.vstack([np.zeros((1, 4)), u.T]))[None]
        comparators_loops.multiclass_losses.see(places, *rows(x), y, np.zeros((40, 4)), 0, is_hinge, sums, told)
        wanted = 0.0
        for t in range(40):
            s = (u @ x[t])[: known[t]]
            wanted += hinge(x[t], y[t], u, known[t]) if is_hinge else np.log(np.exp(s).sum()) - s[y[t]]
        assert abs(sums[comparators_loops.multiclass_losses.LOST, 0] - wanted) < 1e-9
        assert 0.0 < sums[comparators_loops.multiclass_losses.DOUBT, 0] < 1e-10


def test_new_label_that_would_have_been_predicted_is_counted_separately():
    learner = nk.MulticlassPerceptron()
    ledger = nk.Game(learner).ledger
    game = nk.Game(learner, ledger)
    for x, y in (([1.0, 0.0], 0), ([0.0, 1.0], 1), ([1.0, 0.0], 0), ([-1.0, -1.0], 2)):
        game.learn_one(np.array(x), y)
    # round 2: all weights are 0, 0 would have been said; round 4: both scores are negative or 0
    assert learner.facts().mistakes + learner.facts().novelty == ledger.mistakes
    (found,) = ledger.certify()
    assert found.status == "vacuous" or found.bound >= ledger.mistakes


def test_the_fit_comes_near_the_least_bound():
    ledger = nk.play(nk.MulticlassPerceptron(labels=2), [(tuple(row), 1) for row in np.eye(12)])
    (found,) = ledger.certify()
    assert (found.observed, found.bound) == (12, 12)


def test_bound_after_the_kept_rows_holds():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(400, 4)), rng.integers(0, 3, 400)
    x[:, :3] += 6.0 * np.eye(3)[y]
    y[:3] = [0, 1, 2]
    bounds = []
    for keep in (10**9, 10_000):
        learner = nk.MulticlassPerceptron(bias=1.0, labels=3)
        learner.tracker = lambda keep=keep: MulticlassTracker("hinge", 1.0, 3, keep=keep)
        game = nk.Game(learner)
        game.learn_batch(Batch(x, y, 1))
        (found,) = game.ledger.certify()
        assert found.status == "valid"
        bounds.append(found.bound)
    assert game.ledger.tracker.state()["kept"] is None
    assert bounds[0] <= bounds[1] < 200


class Careless(nk.MulticlassPerceptron):
    """Broken: it forgets half of what it added, and says nothing."""

    def _learn(self, rows, y):
        played = super()._learn(rows, y)
        self._weights *= 0.5
        return played


class Silent(nk.MulticlassPerceptron):
    """Broken: it says another label than that of its scores, and counts what they say."""

    def _learn(self, rows, y):
        played = super()._learn(rows, y)
        said = (played.predictions + 1) % self.labels
        wrong = (said != y).astype(float)
        return StepResult(said, wrong, wrong, scores=played.scores)


class Stubborn(nk.MulticlassPerceptron):
    """Broken: it says another label than that of its scores at times, and counts the mistake without learning."""

    def _learn(self, rows, y):
        played = super()._learn(rows, y)
        said, right = played.predictions.copy(), np.flatnonzero(played.predictions == y)[::4]
        said[right] = (said[right] + 1) % self.labels
        self._totals[at.MISTAKES] += len(right)
        wrong = (said != y).astype(float)
        return StepResult(said, wrong, wrong, scores=played.scores)


class Forgetful(nk.MulticlassSecondOrderPerceptron):
    """Broken: it forgets half of what it added."""

    def _learn(self, rows, y):
        played = super()._learn(rows, y)
        self._moments *= 0.5
        return played


class Shrinking(nk.MulticlassSecondOrderPerceptron):
    """Broken: its metric shrinks."""

    def _learn(self, rows, y):
        played = super()._learn(rows, y)
        self.matrix.sums *= 0.01
        self.matrix.held[0] *= 0.1
        return played


def test_cheating_learner_is_void():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(90, 3)), rng.integers(0, 3, 90)
    sums, counted = "its sums agree", "agrees with the ledger's"
    whys = {Careless: sums, Silent: counted, Stubborn: "loss agrees with its scores", Forgetful: sums}
    whys[Shrinking] = "its metric never shrank"
    for kind, why in whys.items():
        (found,) = nk.play(kind(labels=3), [(tuple(a), int(b)) for a, b in zip(x, y, strict=True)]).certify()
        assert found.status == "void"
        assert why in found.reason
