"""Rows are encoded once a round, and features that were never seen cost nothing."""

import tracemalloc

import numpy as np
import pytest

import novikoff as nk
from novikoff import encode
from novikoff.learners.features import Features
from novikoff.types import Sparse

KNOWN = 200_000


def bytes_to(act):
    act()
    tracemalloc.start()
    act()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


@pytest.mark.parametrize(
    "spec", ["perceptron:bias=1", "perceptron:normalize=true", "online-gradient", "ftrl", "auto:fast=true",
             "scaled:[perceptron]", "adagrad"],
)  # fmt: skip
def test_an_unknown_feature_is_looked_up_and_nothing_is_copied(spec):
    named, numbered = nk.make(spec, "learner"), nk.make(spec, "learner")
    places = np.arange(KNOWN, dtype=np.uint32)
    named.learn_one(dict.fromkeys(map(str, places.tolist()), 0.001), -1)
    numbered.learn_one((places, np.full(KNOWN, 0.001)), -1)
    pair = np.array([3, KNOWN + 5], dtype=np.uint32), np.array([1.0, 2.0])
    for act in (
        lambda: named.predict_one({"3": 1.0, "new": 2.0}),
        lambda: numbered.predict_one({3: 1.0, KNOWN + 5: 2.0}),
        lambda: numbered.predict_one(pair),
    ):
        assert bytes_to(act) < KNOWN  # an eighth of what the weights take


@pytest.mark.parametrize(
    "spec", ["perceptron:bias=1", "online-gradient", "ftrl", "auto:fast=true", "scaled:[perceptron]", "adagrad",
             "ellipsoid:width=3", "kernel-perceptron"],
)  # fmt: skip
def test_who_predicts_some_rows_reads_no_others(spec):
    learner, rows = nk.make(spec, "learner"), 30_000
    ends, places = np.arange(rows + 1, dtype=np.uint64) * np.uint64(3), np.tile(np.uint32([0, 1, 2]), rows)
    known = Sparse(ends, places, np.ones(3 * rows), 3, checked=True)
    y = np.ones(rows, dtype=np.int8)
    learner.learn_many(nk.Batch(known[:9], y[:9], 1))
    wider = Sparse(ends, places + np.uint32(2), np.ones(3 * rows), 5, checked=True)
    for x in (known, wider):
        few = nk.Batch(x[7:9], y[:2], 1)
        assert bytes_to(lambda: learner.predict_many(few)) < 50_000  # noqa: B023


def test_a_new_name_is_learned_without_a_copy_of_all():
    learner, more = nk.Perceptron(), iter(range(10))
    learner.learn_one(dict.fromkeys(map(str, range(KNOWN)), 0.001), -1)
    assert bytes_to(lambda: learner.learn_one({"3": 1.0, f"new {next(more)}": 2.0}, 1)) < KNOWN
    assert list(learner.state()["features"]["names"])[-2:] == ["new 0", "new 1"]


@pytest.mark.parametrize("spec", ["perceptron:bias=1", "online-gradient", "ellipsoid:width=3"])
def test_an_unknown_feature_has_weight_zero(spec):
    learner = nk.make(spec, "learner")
    for t, y in enumerate([1, -1, -1, 1, -1]):
        learner.learn_one({t % 3: 0.5, 2: 0.25}, y)
    assert learner.predict_one({1: 0.5, 77: 3.0}) == learner.predict_one({1: 0.5, 5: 3.0})
    before = learner.state()
    assert learner.predict_one({10**6: 1.0}) == learner.predict_one({77: 1.0})
    assert np.array_equal(learner.state()["features"]["count"], before["features"]["count"])


def test_a_row_that_was_checked_is_passed_on():
    features = Features()
    row = features.row({4: 1.0, 2: 0.5}, learn=True)
    assert features.row(row, learn=True) is row
    assert features.count == 5


def test_a_row_is_encoded_once_a_round(monkeypatch):
    counted = []
    mapping = encode.mapping
    monkeypatch.setattr(encode, "mapping", lambda *args: counted.append(1) or mapping(*args))
    for spec in ("ftrl", "scaled:[perceptron]", "rbp:budget=3", "perceptron"):
        game = nk.Game(nk.make(spec, "learner"))
        counted.clear()
        for t in range(9):
            game.learn_one({f"f{t % 4}": 1.0, "all": 0.5}, 1 if t % 2 else -1)
        assert len(counted) <= 9, spec


@pytest.mark.parametrize(
    "spec", ["perceptron:bias=1", "ftrl", "scaled:[perceptron]", "hedge:learners=[[perceptron],[ftrl]]"]
)
def test_comparators_see_a_row_as_it_was(spec):
    """Whoever reuses one dict, and asks in between, has the certificates of fresh ones."""
    coins = np.random.default_rng(0)
    rows = [dict(zip("abcdefg", coins.normal(size=7).tolist(), strict=True)) for _ in range(300)]
    for t in range(0, 300, 7):
        rows[t]["new"] = np.float32(0.5)  # not the quick way
    labels = [1 if x["a"] - x["b"] + 0.3 * x["c"] > 0 else -1 for x in rows]
    fresh, reused, x = nk.Game(nk.make(spec, "learner")), nk.Game(nk.make(spec, "learner")), {}
    for row, y in zip(rows, labels, strict=True):
        fresh.learn_one(row, y)
        reused.predict_one(row)
        x.clear()
        x.update(row)
        reused.learn_one(x, y)
    told = [[str(one) for one in game.ledger.certify()] for game in (fresh, reused)]
    assert told[0] == told[1]
    plain = nk.Game(nk.make(spec, "learner"))
    names = list(dict.fromkeys(name for row in rows for name in row))
    for row, y in zip(rows, labels, strict=True):
        plain.learn_one({names.index(name): value for name, value in row.items()}, y)
    assert [c.observed for c in plain.ledger.certify()] == [c.observed for c in fresh.ledger.certify()]
