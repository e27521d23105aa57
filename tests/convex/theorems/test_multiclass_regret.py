"""Log loss with many labels: golden values, the root, labels announced in disguise, and learners broken on purpose."""

import numpy as np

import cases
import novikoff as nk
from novikoff import numerics
from novikoff.core.types import Batch
from novikoff.linear._loops import multiclass_layout as at

CASES = {
    "multiclass_regret": cases.of_multiclass(
        nk.MulticlassFTRL,
        cases.paid_more,
        lambda: cases.run_of(
            nk.MulticlassFTRL(rate=0.25, bias=0.0, labels=2), [(x, 1) for x, _ in cases.orthogonal(12, 1)]
        ),
    ),
}
"""Cases for tests/test_every_theorem.py."""

X = np.array([(1, 0), (0, 1), (1, 1), (-1, 0), (0, -1), (2, 1)], dtype=float)
Y = np.array([1, 2, 0, 2, 1, 0])


def test_golden_values():
    learner = nk.MulticlassFTRL(bias=0.0, labels=3)
    played = learner.learn_many(Batch(X, Y, 1))
    wanted = [1 / 3, 1 / 3, 0.227583907, 0.470090499, 0.470090499, 0.514677104]
    assert np.allclose(played.probabilities, wanted, atol=1e-8)
    assert abs(learner.facts().loss - 5.851336524) < 1e-8
    assert abs(learner.facts().gained - 2.151445564) < 1e-8
    assert learner.facts().novelty == 0.0


def test_the_scores_that_are_played_are_the_root():
    rng = np.random.default_rng(0)
    for _ in range(300):
        k = int(rng.integers(1, 12))
        z0, v = rng.normal(size=(1, k)) * 10.0 ** rng.uniform(-3, 2), np.array([10.0 ** rng.uniform(-8, 8)])
        z = np.empty((1, k))
        numerics.softmax.hedge_all(z0, v, k, z)
        p = np.exp(z[0] - z[0].max())
        p /= p.sum()
        far = np.abs(z + v[0] * (p - 1.0 / k) - z0).max()
        assert far <= 1e-7 * (1.0 + np.abs(z0).max() + v[0])
        assert z[0].min() >= z[0].max() - 700.0


def test_two_labels_are_the_binary_learner_at_another_rate():
    """With u_1 = -u_0 = u/2 a softmax of two is the logistic function: gradients g and -g, so twice the rate."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    many = nk.MulticlassFTRL(bias=0.0, rate=0.5, labels=2)
    first = many.learn_many(Batch(x[:1], y[:1], 1)).scores[0]
    two = nk.FTRL(bias=0.0, rate=1.0).learn_many(Batch(x[:1], 2 * y[:1] - 1, 1)).scores
    assert first[1] - first[0] == two[0] == 0.0
    assert (many.weights[0] == -many.weights[1]).all()


def test_late_label_matches_announced_label():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(30, 3)), np.array([0, 1] * 10 + [2, 0, 1, 2, 0, 1, 2, 0, 1, 2])
    late = nk.MulticlassFTRL()
    late.learn_many(Batch(x, y, 1))
    two = nk.MulticlassFTRL(labels=2)
    two.learn_many(Batch(x[1:20], y[1:20], 1))
    alone = nk.MulticlassFTRL()
    alone.learn_many(Batch(x[:20], y[:20], 1))
    assert alone.labels == 2
    facts = late.facts()
    played = late._totals[:, 0]
    assert facts.loss + facts.novelty > facts.loss > 0.0
    assert played[at.NOVELTY] == facts.novelty
    assert facts.novelty < np.log(2.0) + 2.0 * (np.log(2.0) + np.log(21.0))


class Shifted(nk.MulticlassFTRL):
    """Broken: it plays other scores than those it adds up."""

    def _learn(self, rows, y):
        played = super()._learn(rows, y)
        return played._replace(scores=played.scores + np.linspace(0.0, 1.0, played.scores.shape[1]))


class Forgetful(nk.MulticlassFTRL):
    """Broken: its metric shrinks."""

    def _learn(self, rows, y):
        played = super()._learn(rows, y)
        self._curves *= 0.0
        self._scales[:, [0, 3]] *= 1e-3
        return played


class Lucky(nk.MulticlassFTRL):
    """Broken: it says that it gave more to what came."""

    def _learn(self, rows, y):
        played = super()._learn(rows, y)
        return played._replace(probabilities=np.sqrt(played.probabilities))


class Timid(nk.MulticlassFTRL):
    """Broken: it gives less to what came than its scores do, and counts that."""

    def _learn(self, rows, y):
        played = super()._learn(rows, y)
        self._totals[at.LOSS, 0] += 0.01 * len(y)
        return played._replace(probabilities=played.probabilities * np.exp(-0.01))


def test_cheating_learner_is_void():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(90, 3)), rng.integers(0, 3, 90)
    whys = {Shifted: "its sums agree", Forgetful: "never shrank", Lucky: "agrees with the ledger's",
            Timid: "loss agrees with its scores"}  # fmt: skip
    for kind, why in whys.items():
        game = nk.Game(kind(labels=3))
        for start in range(0, 90, 10):
            game.learn_batch(Batch(x[start : start + 10], y[start : start + 10], start + 1))
        (found,) = game.ledger.certify()
        assert found.status == "void", kind
        assert why in found.reason
