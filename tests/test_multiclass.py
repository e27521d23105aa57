"""Learners of many labels: the contracts for each, labels that come late, and sparse rows as dense ones."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

import novikoff as nk
from helpers import bits
from novikoff.core.errors import InputError
from novikoff.core.registry import MANY
from novikoff.core.types import Batch, Sparse
from novikoff.testing import check_learner

CHOSEN = {
    "perceptron": [nk.MulticlassPerceptron, lambda **k: nk.MulticlassPerceptron(bias=1.0, normalize=True, **k)],
    "ftrl": [nk.MulticlassFTRL, lambda **k: nk.MulticlassFTRL("newton", 0.25, 0.0, **k)],
    "auto": [nk.MulticlassAuto, lambda **k: nk.MulticlassAuto(fast=True, seed=3, bias=0.0, **k)],
    "tree": [
        lambda **k: nk.MulticlassTree(threshold=1.0, **k),
        lambda **k: nk.MulticlassTree(threshold=2.0, rows=60, **k),
    ],
    "forest": [
        lambda **k: nk.MulticlassForest(trees=3, **k),
        lambda **k: nk.MulticlassForest(trees=2, seed=3, rows=60, **k),
    ],
    "vaw": [nk.MulticlassVAW, lambda **k: nk.MulticlassVAW(0.1, scale_free=False, bias=0.0, **k)],
    "second-order-perceptron": [
        nk.MulticlassSecondOrderPerceptron,
        lambda **k: nk.MulticlassSecondOrderPerceptron(0.1, scale_free=False, bias=0.0, **k),
    ],
    "logistic": [nk.MulticlassLogistic, lambda **k: nk.MulticlassLogistic(1.0, 3.0, scale_free=False, bias=0.0, **k)],
    "kernel-perceptron": [
        lambda **k: nk.MulticlassKernelPerceptron(gamma=0.1, **k),
        lambda **k: nk.MulticlassKernelPerceptron("polynomial", degree=3, normalize_kernel=True, bias=1.0, **k),
    ],
}
SAMPLES = {name: CHOSEN.get(name, [entry.load()]) for name, entry in MANY.items()}
"""Makers of every multiclass learner; one that is not listed above is made with its defaults."""
PROBABLE = [
    *SAMPLES["ftrl"],
    *SAMPLES["auto"],
    *SAMPLES["vaw"],
    *SAMPLES["logistic"],
    *SAMPLES["tree"],
    *SAMPLES["forest"],
]
EVERY = [make for makes in SAMPLES.values() for make in makes]
every = pytest.mark.parametrize("make", EVERY)


def stream(rounds=200, labels=4, width=5, seed=0, noise=0.1):
    """Gaussian rows about a centre for each label; labels in the order of their first appearance, the last one late."""
    rng = np.random.default_rng(seed)
    centres, y = rng.normal(size=(labels, width)) * 3, rng.integers(0, labels, rounds)
    y[: 2 * rounds // 3][y[: 2 * rounds // 3] == labels - 1] = 0
    x = np.round(centres[y] + rng.normal(size=(rounds, width)), 2) * (rng.random((rounds, width)) < 0.8)
    y = np.where(rng.random(rounds) < noise, y[rng.permutation(rounds)], y)
    order = {label: k for k, label in enumerate(dict.fromkeys(y.tolist()))}
    return x, np.array([order[label] for label in y.tolist()])


def played(learner, x, y, size=10**9):
    """The game, in batches of that size."""
    game = nk.Game(learner)
    game.ledger.predictions = []
    for start in range(0, len(y), size):
        game.learn_batch(Batch(x[start : start + size], y[start : start + size], start + 1))
    return game.ledger


def told(ledger):
    """All of a game that another must have too."""
    return bits(ledger.learner.state()), ledger.recorded().tolist(), ledger.mistakes, ledger.log_loss, ledger.certify()


def test_first_sample_is_the_learner_of_the_registry():
    for name, makes in SAMPLES.items():
        assert type(makes[0]()) is MANY[name].load()


@every
@pytest.mark.parametrize("announced", [None, 4])
def test_row_by_row_and_in_batches_are_the_same(make, announced):
    x, y = stream()
    whole = told(played(make(labels=announced), x, y))
    size = 1 if announced else 7
    assert told(played(make(labels=announced), x, y, size)) == whole
    game = nk.Game(make(labels=announced))
    game.ledger.predictions = []
    for row, label in zip(x, y.tolist(), strict=True):
        said = game.learner.predict_one(row)
        game.learn_one(row, label)
        assert game.ledger.predictions[-1] == said
    assert told(game.ledger) == whole


@every
def test_sparse_rows_are_as_dense_ones(make):
    if make in (nk.MulticlassLinearMixture, nk.MulticlassAuto):
        return  # which members play depends on that
    x, y = stream()
    dense, sparse = played(make(), x, y), played(make(), Sparse.of_dense(x), y)
    assert dense.recorded().tolist() == sparse.recorded().tolist()
    assert [str(one) for one in dense.certify()] == [str(one) for one in sparse.certify()]


@every
def test_predicting_changes_nothing(make):
    x, y = stream()
    learner = played(make(), x[:50], y[:50]).learner
    before = bits(learner.state())
    said = [learner.predict_one(row) for row in x]
    assert learner.predict_many(Batch(x, y, 1)).tolist() == said
    assert bits(learner.state()) == before


@every
def test_resume_matches_uninterrupted_run_to_the_bit(make, tmp_path):
    x, y = stream()
    whole = told(played(make(), x, y))
    for cut in (1, 60, 199):
        part = played(make(), x[:cut], y[:cut])
        nk.save(part, tmp_path / "left.nk", force=True)
        ledger = nk.load(tmp_path / "left.nk")
        game = nk.Game(ledger.learner, ledger)
        game.learn_batch(Batch(x[cut:], y[cut:], cut + 1))
        assert told(ledger) == whole


@every
def test_labels_that_come_late_are_known_from_then_on(make):
    x, y = stream()
    learner = make()
    assert (learner.labels, learner.predict_one(x[0])) == (0, 0)
    for t, (row, label) in enumerate(zip(x, y.tolist(), strict=True)):
        assert learner.labels == max([0, *(y[:t] + 1)])
        assert 0 <= learner.predict_one(row) < max(learner.labels, 1)
        learner.learn_one(row, label)
    assert learner.counts.tolist() == np.bincount(y).tolist()
    assert 3 in [learner.predict_one(row) for row in x[y == 3]]


@every
def test_invalid_label_is_refused_and_nothing_changes(make):
    x, y = stream(50, 3)
    for announced in (None, 3):
        learner = played(make(labels=announced), x, y).learner
        before = bits(learner.state())
        for bad in (-1, learner.labels + learner.grows, 0.5, "spam", True, None, np.nan):
            with pytest.raises(InputError, match="a label must be an integer from 0 to"):
                learner.learn_one(x[0], bad)
        with pytest.raises(InputError, match="round 2"):
            learner.learn_many(Batch(x[:2], np.array([0, 5]), 1))
        with pytest.raises(InputError):
            learner.learn_many(Batch(x[:2], np.array([0.0, 0.5]), 1))
        with pytest.raises(InputError):
            learner.predict_one([1.0, 2.0])
        assert bits(learner.state()) == before


@every
@pytest.mark.parametrize("seeds", [[0], pytest.param(range(1, 5), marks=pytest.mark.slow)], ids=["once", "again"])
def test_certificates_hold_whether_labels_are_announced_or_come_late(make, seeds):
    for seed in seeds:
        for rounds, labels in ((3, 2), (12, 6), (60, 3), (150, 8)):
            x, y = stream(rounds, labels, seed=seed)
            for announced in (None, max(2, int(y.max()) + 1)):
                for found in played(make(labels=announced), x, y).certify():
                    trusts = (
                        ("conditional",) if found.theorem == "multiclass_linear_mixture_members" else ()
                    )  # a member's own count
                    assert found.status in ("valid", "vacuous", *trusts), (seed, rounds, labels, found)


def reserved(t, k):
    """Return what `auto` reserves for a new label in round t, after k labels, in exact arithmetic."""
    weights = {
        of: Fraction(math.perm(of, k), (of + 2) * (of + 3) * of ** (t - 1)) for of in range(k, 257)
    }  # of: number of labels from which all are drawn
    new = sum(weight * (of - k) / of for of, weight in weights.items()) / sum(weights.values())
    return float(Fraction(3, 4) * (new if t - 1 <= 64 * (k + 1) else 0) + Fraction(1, 4 * t * t))


@pytest.mark.parametrize("make", PROBABLE)
def test_probabilities_are_those_that_are_paid_for(make):
    x, y = stream(80)
    for announced in (None, 4):
        learner, lost, kept, sure = make(labels=announced), 0.0, 1.0, 0.0
        for t, (row, label) in enumerate(zip(x, y.tolist(), strict=True), 1):
            p = learner.probabilities_one(row)
            assert p.shape == (learner.labels,)
            assert learner.predict_one(row) == (int(np.argmax(p)) if len(p) else 0)
            rest = 1.0 / t**2 if announced is None else 0.0
            if make is nk.MulticlassAuto and announced is None and t > 1:
                rest = reserved(t, len(p))
            assert abs(p.sum() + rest - 1.0) < 1e-12
            result = learner.play_one(row, label)
            chance = result.probabilities
            sure += 0.0 if np.isnan(result.confidences) else result.confidences
            if label < len(p):
                assert abs(result.confidences - p.max()) < 1e-12
                off = np.append(p, rest) - np.eye(len(p) + 1)[label]
                assert abs(result.briers - off @ off) < 1e-12
            assert abs(chance - (p[label] if label < len(p) else rest)) < 1e-12
            kept *= 1.0 - rest if t > 1 else 1.0
            lost -= np.log(chance) if chance else -np.inf
        assert kept > (0.05 if make is nk.MulticlassAuto else 0.5)
        whole = played(make(labels=announced), x, y)
        assert whole.log_loss == pytest.approx(lost, abs=1e-9)
        assert whole.calibration.predicted == pytest.approx(sure)
        assert np.array_equal(learner.probabilities_many(Batch(x, y, 1)), [learner.probabilities_one(row) for row in x])


@every
def test_learner_trained_on_other_rounds_is_void(make):
    x, y = stream()
    warm = make()
    warm.learn_one(x[0], 0)
    assert {one.status for one in played(warm, x, y).certify()} <= {"void"}
    ledger = played(make(), x, y)
    ledger.learner.learn_one(x[0], 0)
    assert {one.status for one in ledger.certify()} == {"void"}


@pytest.mark.parametrize("name", [name for name in MANY if name not in ("perceptron", "ftrl", "auto")])
def test_every_contract_is_kept(name):
    x, y = stream(60)
    check_learner(SAMPLES[name][0], (x, y), refused=[[0.0, np.nan], [1.0]])


def test_the_arguments_are_reported():
    assert repr(nk.MulticlassPerceptron(bias=1.0, labels=3)) == "MulticlassPerceptron(bias=1.0, labels=3)"
    with pytest.raises(InputError, match="labels must be an integer from 2"):
        nk.MulticlassPerceptron(labels=1)


def test_facts_are_plain():
    for make in EVERY:
        assert dataclasses.asdict(make().facts())["rounds"] == 0
