"""Rows are encoded once a round, and features that were never seen cost nothing."""

import copy
import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import novikoff as nk
from novikoff.core import encode
from novikoff.core.errors import InputError
from novikoff.core.feature_places import Features
from novikoff.core.types import Sparse

KNOWN = 60_000


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
def test_predicting_some_rows_reads_no_others(spec):
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
def test_comparators_see_a_row_unchanged(spec):
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


EVERY_WAY = [
    "perceptron", "perceptron:bias=1,normalize=true", "ftrl", "logistic", "auto:fast=true", "adagrad", "arow",
    "scaled:[perceptron]", "kernel-perceptron",
]  # fmt: skip


def mappings(numbered, rows=60, features=9, seed=0):
    """Mappings with zeros, some of which lack a feature, have them in another order, or bring a new one."""
    coins = np.random.default_rng(seed)
    keys = list(range(features)) if numbered else [f"f{k}" for k in range(features)]
    for t in range(rows):
        values = np.round(coins.normal(size=features), 1) * (coins.random(features) < 0.7)
        x = dict(zip(keys, values.tolist(), strict=True))
        if t % 7 == 3:
            x = dict(reversed(x.items()))
        if t % 5 == 2:
            del x[keys[t % features]]
        if t % 11 == 8:
            x[features + t if numbered else f"new{t}"] = 0.5
        yield x, 1 if values[0] + values[1] > 0.1 * values[2] else -1


def bits(value):
    """A learner's state to the bit: plain == takes 0.0 and -0.0 for the same."""
    if isinstance(value, dict):
        return {key: bits(one) for key, one in value.items()}
    return [bits(one) for one in value] if isinstance(value, list) else pickle.dumps(value)


@pytest.mark.parametrize("numbered", [False, True])
@pytest.mark.parametrize("spec", EVERY_WAY)
def test_predictions_before_a_label_leave_the_same_bits(spec, numbered):
    """Whatever was predicted last: the same x, a changed one, one in another order, one with other zeros."""
    plain, asked = nk.make(spec, "learner"), nk.make(spec, "learner")
    for t, (x, y) in enumerate(mappings(numbered)):
        said = plain.play_one(x, y)
        given = dict(x)
        if t % 5 == 1:  # changed in place after it was predicted
            first = next(iter(given))
            given[first] += 1.0
            asked.predict_one(given)
            given[first] = x[first]
        elif t % 5 == 3:
            asked.predict_one(dict(reversed(x.items())))
        elif t % 5 == 4:
            asked.predict_one({key: -value if value == 0.0 else value for key, value in x.items()})
        else:
            asked.predict_one(given)
        assert str(asked.play_one(given, y)) == str(said)
    assert bits(asked.state()) == bits(plain.state())


@pytest.mark.parametrize("normalize", [False, True])
def test_many_labels_are_predicted_and_learned_from_the_same_row(normalize):
    plain, asked = (nk.make(f"perceptron:normalize={normalize}".lower(), "learner", multiclass=True) for _ in range(2))
    for t, (x, _) in enumerate(mappings(True)):
        if t:
            assert asked.predict_one(x) == plain.predict_one(dict(x)) == asked.predict_one(x)
        plain.play_one(dict(x), min(t, t % 3))
        asked.play_one(x, min(t, t % 3))
    assert bits(asked.state()) == bits(plain.state())


@pytest.mark.parametrize("kind", ["names", "numbers"])
def test_a_mapping_is_encoded_once_for_its_prediction_and_its_label(kind):
    features = Features()
    x = {"a": 1.0, "b": 0.0} if kind == "names" else {0: 1.0, 1: 0.0}
    features.row(x, learn=True)
    x = {key: value + 1.0 for key, value in x.items()}
    row = features.row(x, learn=False)
    assert features.row(dict(x), learn=True) is row
    x[next(iter(x))] = 7.0
    changed = features.row(x, learn=True)
    assert changed[1].tolist() == [7.0, 1.0]
    assert row[1].tolist() == [2.0, 1.0]
    assert changed[0] is row[0]


@pytest.mark.parametrize("spec", ["perceptron", "ftrl", "logistic"])
def test_keys_are_checked_however_often_they_came(spec):
    learner = nk.make(spec, "learner")
    for _ in range(3):
        learner.play_one({0: 1.0, 1: 2.0}, -1)
    for bad in ({0: 1.0, 1.0: 2.0}, {0: 1.0, -1: 2.0}, {-1: 1.0}, {0: 1.0, "1": 2.0}, {"0": 1.0}, {0: 1.0, 2**28: 2.0}):
        before = bits(learner.state())
        with pytest.raises(InputError):
            learner.predict_one(bad)
        with pytest.raises(InputError):
            learner.play_one(bad, 1)
        assert bits(learner.state()) == before
    for value in (float("nan"), float("inf"), "2", None, [1.0]):
        with pytest.raises(InputError):
            learner.play_one({0: 1.0, 1: value}, 1)


def test_numbered_mappings_are_scored_as_sparse_rows_to_the_bit():
    for spec in ("perceptron:bias=0.3", "perceptron:normalize=true"):
        learner, arrays = nk.make(spec, "learner"), nk.make(spec, "learner")
        for x, y in mappings(True, rows=200):
            pair = np.array(list(x), dtype=np.uint32), np.array(list(x.values()))
            assert learner.score_one(x) == arrays.score_one(pair)
            learner.play_one(x, y)
            arrays.play_one(pair, y)
        assert bits(learner.state()) == bits(arrays.state())


def test_certificates_of_numbered_mappings_are_those_of_sparse_rows():
    games = [nk.Game(nk.make("perceptron", "learner")) for _ in range(2)]
    for x, y in mappings(True, rows=600):
        games[0].learn_one(x, y)
        games[1].learn_one((np.array(list(x), dtype=np.uint32), np.array(list(x.values()))), y)
    told = [[(c.theorem, c.observed, c.bound) for c in game.ledger.certify()] for game in games]
    assert told[0] == told[1]


@pytest.mark.parametrize("spec", [*EVERY_WAY, "online-gradient"])
def test_mappings_are_predicted_from_threads_as_from_one(spec):
    learner = nk.make(spec, "learner")
    rows = list(mappings(False, rows=100))
    for x, y in rows:
        learner.play_one(x, y)
    ask = learner.score_one if learner.has("score_one") else learner.predict_one
    want = [ask(x) for x, _ in rows]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, [x for x, _ in rows] * 10)) == want * 10


class Interrupted(str):
    """A name that lets another thread predict while it is compared, if asked to."""

    __slots__ = ("meanwhile",)
    __hash__ = str.__hash__

    def __eq__(self, other):
        meanwhile, self.meanwhile = getattr(self, "meanwhile", None), None
        if meanwhile is not None:
            meanwhile()
        return str.__eq__(self, other)


@pytest.mark.parametrize("spec", ["online-gradient", "ftrl"])
def test_a_prediction_in_between_does_not_change_the_places_of_a_row(spec):
    learner = nk.make(spec, "learner")
    for x in ({"a": 0.1, "b": 0.4}, {"a": -0.3, "b": 0.2}):
        learner.play_one(x, 1)
    want = learner.predict_one({"a": 0.5, "b": 0.25})
    name = Interrupted("b")
    name.meanwhile = lambda: learner.predict_one({"b": 0.1, "a": 0.2})
    assert learner.predict_one({"a": 0.5, name: 0.25}) == want


def test_pickles_and_copies_of_a_learner_hold_no_row():
    for spec in ("ftrl", "perceptron"):
        learner = nk.make(spec, "learner")
        for _ in range(2):
            learner.play_one({1: 0.123456789, 2: 1.0}, 1)
            learner.predict_one({1: 0.123456789, 2: 1.0})
        assert np.float64(0.123456789).tobytes() not in pickle.dumps(learner.features)
        again = copy.deepcopy(learner)
        assert again.predict_one({1: 1.0}) == learner.predict_one({1: 1.0})
