"""Brier score with many labels: golden values, an exact best in hindsight, the projection, and who cheats."""

import dataclasses

import numpy as np
import pytest

import cases
import novikoff as nk
from novikoff import numerics
from novikoff.convex.theorems.vaw_regret import vaw_regret
from novikoff.core.errors import InputError
from novikoff.core.types import Batch, StepResult
from novikoff.linear._loops import second_order_layout as at

THREE = [(tuple(3.0 * np.eye(3)[j]), j) for j in range(3)]


def multiclass_vaw(stream):
    """Vovk-Azoury-Warmuth with three labels."""
    return cases.run_of(nk.MulticlassVAW(scale_free=False, bias=0.0, labels=3), stream)


def scored_more(run, paid=500.0, **more):
    """The Brier score was so much more, and the learner says that its books have so much more."""
    books = {name: getattr(run.after, name) + value for name, value in more.items()}
    return dataclasses.replace(cases.changed(run, **books), brier=run.brier + paid)


def vaw(pairs, **changes):
    """Vovk-Azoury-Warmuth on numbers."""
    x, y = map(np.array, zip(*pairs, strict=True))
    return cases.changed(cases.run_of(nk.VAW(scale_free=False, bias=0.0), nk.RegressionArrays(x, y)), **changes)


class Overpaying(nk.VAW):
    """Broken: it says 3 more than it should, and pays for it; the credit of its books makes up for that.

    Where the credit is what it should be, no square being negative, who pays more than is promised contradicts its own
    books and is void: the theorem is an equality.
    """

    def _learn(self, rows, y):
        played, totals = super()._learn(rows, y), self.matrix.totals
        said = played.predictions + 3.0
        losses = (said - y) ** 2
        more = (losses - played.losses).sum()
        totals[[at.LOSS, at.UNCLIPPED]] += more
        totals[at.LINEAR_SIZE] -= more
        return StepResult(said, losses, losses)


CASES = {
    "multiclass_vaw_regret": cases.Case(
        cases.MANY_VECTORS,
        multiclass_vaw,
        THREE * 50,
        lambda: multiclass_vaw([(x, 1) for x, _ in cases.orthogonal(9, 1)]),
        lambda: scored_more(multiclass_vaw(THREE * 50), loss=500.0, unprojected=500.0, credit=-500.0),
        (
            (lambda: scored_more(multiclass_vaw(THREE * 50), loss=500.0), "projecting did not increase the loss"),
            (lambda: scored_more(multiclass_vaw(THREE * 50), loss=500.0, unprojected=500.0), "its sums"),
            (lambda: dataclasses.replace(multiclass_vaw(THREE), rounds=1), "exactly the recorded rounds"),
            (lambda: scored_more(multiclass_vaw(THREE), novelty=1.0, paid=0.0), "agrees with the ledger's"),
            (
                lambda: scored_more(multiclass_vaw(THREE), most=1.0, chi=-1.0, paid=0.0),
                "best loss in hindsight is known",
            ),
            (lambda: cases.warm(lambda: nk.MulticlassVAW(labels=3), THREE, THREE), "started untrained"),
        ),
    ),
    "vaw_regret": cases.Case(
        cases.TARGETS,
        vaw,
        [((1.0,), 1.0)] * 90,
        lambda: vaw(cases.orthogonal(9, 1)),
        lambda: cases.run_of(Overpaying(bias=0.0), cases.ones(90)),
        (
            (
                lambda: dataclasses.replace(vaw([((1.0,), 1.0)] * 90, loss=500.0), loss=500.0),
                "clipping did not increase",
            ),
            (
                lambda: dataclasses.replace(vaw([((1.0,), 1.0)] * 90, loss=500.0, unclipped=500.0), loss=500.0),
                "its sums",
            ),
            (lambda: dataclasses.replace(vaw(cases.orthogonal(9)), rounds=1), "exactly the recorded rounds"),
            (lambda: vaw(cases.orthogonal(9), loss=1.0), "agrees with the ledger's"),
            (lambda: cases.warm(nk.VAW, cases.ones(4), cases.ones(4)), "started untrained"),
        ),
    ),
}
"""Cases for tests/test_every_theorem.py."""

X = np.array([(1, 0), (0, 1), (1, 1), (-1, 0), (0, -1), (2, 1)], dtype=float)
Y = np.array([1, 2, 0, 2, 1, 0])


def game(learner, x, y, size=10**9):
    """The ledger of the game, in batches of that size."""
    found = nk.Game(learner)
    for start in range(0, len(y), size):
        found.learn_batch(Batch(x[start : start + size], y[start : start + size], start + 1))
    return found.ledger


def late(rounds=200, labels=4, width=3, seed=0):
    """Noise, and a label more every tenth of the rounds; of scales that grow."""
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.integers(0, labels, rounds), 10 * np.arange(rounds) // rounds)
    order = {}
    y = np.array([order.setdefault(label, len(order)) for label in y.tolist()])
    return rng.normal(size=(rounds, width)) * (1 + np.arange(rounds)[:, None] / 20) + y[:, None], y


def test_golden_values():
    learner = nk.MulticlassVAW(scale_free=False, bias=0.0, labels=3)
    ledger = game(learner, X, Y)
    facts, (found,) = learner.facts(), ledger.certify()
    assert abs(ledger.brier - 3.382025268) < 1e-8
    assert abs(facts.most - 1.892473118) < 1e-8
    assert abs(facts.chi - 1.703681981) < 1e-8
    assert abs(found.bound - (1.892473118 + 1.703681981)) < 1e-8
    assert facts.novelty == 0.0


@pytest.mark.parametrize("announced", [None, 4])
@pytest.mark.parametrize("scale_free", [True, False])
def test_the_best_in_hindsight_is_that_of_least_squares(announced, scale_free):
    x, y = late()
    learner = nk.MulticlassVAW(ridge=0.5, scale_free=scale_free, bias=0.0, labels=announced)
    (found,) = game(learner, x, y, 7).certify()
    known = np.full(len(y), 4) if announced else np.maximum.accumulate(y) + 1
    shares = np.where(np.arange(4) < known[:, None], 1.0 / known[:, None], 0.0)
    root = np.sqrt(0.5) * np.diag(np.abs(x).max(axis=0) if scale_free else np.ones(3))
    rows, targets = np.vstack([x, root]), np.vstack([np.eye(4)[y] - shares, np.zeros((3, 4))])
    weights, *_ = np.linalg.lstsq(rows, targets, rcond=None)
    assert found.quantities["best_in_hindsight"] == pytest.approx(((rows @ weights - targets) ** 2).sum(), rel=1e-9)
    assert np.allclose(learner.weights, weights.T, atol=1e-9)
    assert found.status in ("valid", "vacuous")


def test_a_label_that_comes_late_costs_the_same_as_one_announced_just_before():
    x, y = late()
    learner = nk.MulticlassVAW(ridge=2.0, scale_free=False, bias=0.0)
    learner.learn_many(Batch(x, y, 1))
    metric, sums, lost = 2.0 * np.eye(3), np.zeros((4, 3)), 0.0
    for t, (row, label) in enumerate(zip(x, y.tolist(), strict=True)):
        k = int(y[: t + 1].max()) + 1
        metric += np.outer(row, row)
        share = numerics.simplex.nearest(1.0 / k + (sums[:k] @ np.linalg.solve(metric, row))[None])[0]
        lost += ((share - np.eye(k)[label]) ** 2).sum()
        sums[:k] += np.outer(np.eye(k)[label] - 1.0 / k, row)
    facts = learner.facts()
    assert facts.loss == pytest.approx(lost, rel=1e-9)
    assert facts.novelty > 0.0


def test_the_projection_is_the_nearest_distribution():
    rng = np.random.default_rng(0)
    for _ in range(300):
        s = rng.normal(size=int(rng.integers(1, 9))) * 10.0 ** rng.uniform(-3, 3)
        p = numerics.simplex.nearest(s[None])[0]
        assert abs(p.sum() - 1.0) < 1e-12
        assert (p >= 0.0).all()
        away = s - p  # what no distribution has more of than p
        assert away.max() <= away @ p + 1e-9 * (1.0 + np.abs(s).max())
    assert numerics.simplex.nearest(np.array([[1e300, 0.0], [-np.inf, 3.0]])).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_bound_is_an_equality_with_credit_and_shed_loss():
    x, y = late(400, 6)
    for announced in (None, 6):
        facts = game(nk.MulticlassVAW(labels=announced), x, y).learner.facts()
        assert facts.shed > 0.0
        assert facts.unprojected == pytest.approx(facts.most + facts.chi - facts.credit - facts.shed, rel=1e-9)
        assert facts.loss < facts.unprojected


def test_bound_is_from_the_upper_limit_on_the_best_loss():
    run = vaw([((1.0,), 1.0)] * 90)
    plain, above = (vaw_regret(cases.changed(run, most=run.after.most + more)).bound for more in (0.0, 1e-5))
    assert above - plain == pytest.approx(1e-5, rel=1e-3)


class Lucky(nk.MulticlassVAW):
    """Broken: it says that it paid half."""

    def _judged(self, *args):
        confidences, briers = super()._judged(*args)
        return confidences, briers / 2.0


class Forgetful(nk.MulticlassVAW):
    """Broken: it forgets a label."""

    def _learn(self, rows, y):
        played = super()._learn(rows, y)
        self._moments[0] = 0.0
        return played


def test_cheating_learner_is_void():
    x, y = late()
    for kind, why in {Lucky: "agrees with the ledger's", Forgetful: "its sums agree"}.items():
        (found,) = game(kind(labels=4), x, y, 10).certify()
        assert found.status == "void", kind
        assert why in found.reason


def test_labels_are_not_numbers():
    with pytest.raises(InputError, match="probabilities must be true"):
        nk.MulticlassVAW(probabilities=False)
