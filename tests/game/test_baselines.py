"""Baselines count what those would have paid who learn nothing: the same however rounds come, saved or not."""

import dataclasses
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.core.errors import ModelFileError
from novikoff.game.baselines import MOST, Baselines, Confusion
from novikoff.game.ledger import Ledger
from novikoff.reports import plain

SIGNS = st.lists(st.tuples(st.sampled_from([-1, 1]), st.sampled_from([-1, 1])), min_size=1, max_size=60)


def ledger_of(said, y, learner=None):
    ledger = Ledger(learner or nk.ThresholdHalving(1))
    ledger.write_batch(np.array(said, dtype=np.int8), np.array(y, dtype=np.int8))
    return ledger


def test_a_table_counted_by_hand():
    said, y = [1, 1, 1, -1, -1, 1], [1, -1, 1, 1, -1, 1]
    ledger = ledger_of(said, y)
    assert ledger.confusion == Confusion([-1, 1], [[1, 1], [1, 3]])
    assert ledger.best_constant == (1, 2)
    assert ledger.last_label == 4  # +1 is said first, and is right; then 4 of 5 labels are not the last one
    assert (ledger.precision, ledger.recall, ledger.f1) == (3 / 4, 3 / 4, 3 / 4)


def test_rates_without_counts_are_none():
    ledger = ledger_of([-1, -1], [-1, 1])
    assert (ledger.precision, ledger.recall, ledger.f1) == (None, 0.0, 0.0)
    assert ledger_of([-1], [-1]).f1 is None
    assert Ledger(nk.ThresholdHalving(1)).best_constant is None
    assert Ledger(nk.ThresholdHalving(1)).confusion is None


@given(SIGNS, st.integers(1, 7))
def test_rows_and_batches_match_the_definition(rounds, size):
    said, y = (np.array(side, dtype=np.int8) for side in zip(*rounds, strict=True))
    one, many, general = Ledger(nk.ThresholdHalving(1)), Ledger(nk.ThresholdHalving(1)), Baselines()
    for p, label in rounds:
        one.write(p, label)
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        many.write_batch(said[part], y[part])
        general.count(said[part], y[part].astype(float))
    assert one.baselines == many.baselines == general
    assert one.best_constant.costs == min(np.count_nonzero(y != 1), np.count_nonzero(y != -1))
    assert one.last_label == np.count_nonzero(y != np.concatenate([[1], y[:-1]]))
    table = [[np.count_nonzero((y == label) & (said == other)) for other in (-1, 1)] for label in (-1, 1)]
    assert one.confusion.table == table


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.integers(1, 9), st.sampled_from([0.0, 1e8]))
def test_the_loss_of_the_mean_is_that_of_the_best_constant(y, size, far):
    y = np.array(y) + far
    found = Baselines()
    for start in range(0, len(y), size):
        found.sum(y[start : start + size])
    assert found.mean().says == pytest.approx(y.mean(), rel=1e-12)
    assert found.mean().costs == pytest.approx(((y - y.mean()) ** 2).sum(), rel=1e-9, abs=1e-9 if not far else 1e-6)
    one = Baselines()
    for value in y:
        one.sum(np.array([value]))
    assert one == found


def test_too_many_labels_disable_the_confusion_table():
    y = np.arange(MOST + 1.0)
    rows, batch = Baselines(), Baselines()
    for value in y:
        rows.count(np.array([0.0]), np.array([value]))
    batch.count(np.zeros(len(y)), y)
    assert rows.counts is None
    assert rows == batch
    assert rows.most_frequent() is None
    assert rows.changes == MOST + 1


def test_learners_of_many_labels_have_a_table_of_them():
    learner = nk.Halving(nk.classes.table([[0, 1, 2, 2], [2, 1, 2, 2]]))
    ledger = nk.play(learner, [(0, 2), (1, 1), (2, 2), (3, 2)])
    assert ledger.confusion.labels == [0, 1, 2]
    assert ledger.confusion.table == [[0, 0, 0], [0, 1, 0], [1, 0, 2]]
    assert ledger.best_constant == (2, 1)
    assert ledger.last_label == 3  # 0, 2, 1, 2 are said
    assert ledger.precision is None


def test_labels_are_the_users():
    x = np.array([[1.0], [2.0], [3.0]])
    ledger = nk.play(nk.Perceptron(), (x, ["spam", "ham", "ham"]), rounds=3)
    assert set(ledger.confusion.labels) == {"ham", "spam"}
    assert ledger.best_constant == ("ham", 1)


def test_members_of_a_team_have_their_own(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 3)), rng.choice([-1, 1], 300)
    team = nk.Hedge([nk.Perceptron(), nk.Perceptron(bias=1.0)])
    ledger = nk.play(team, (x, y))
    for member, alone in zip(ledger.members, (nk.Perceptron(), nk.Perceptron(bias=1.0)), strict=True):
        assert member.baselines == nk.play(alone, (x, y)).baselines
    nk.save(ledger, tmp_path / "team.nk")
    again = nk.load(tmp_path / "team.nk")
    assert [one.baselines for one in again.members] == [one.baselines for one in ledger.members]


def test_a_game_that_is_saved_and_resumed_keeps_counting(tmp_path):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(200, 2)), rng.choice([-1, 1], 200)
    whole = nk.play(nk.Perceptron(), (x, y))
    nk.save(nk.play(nk.Perceptron(), (x[:77], y[:77])), tmp_path / "m.nk")
    part = nk.load(tmp_path / "m.nk")
    nk.play(part.learner, (x[77:], y[77:]), ledger=part)
    assert part.baselines == whole.baselines
    assert part.best_constant == whole.best_constant


def test_numbers_are_saved_and_reported(tmp_path):
    x, y = np.array([[0.1], [0.2], [0.4]]), np.array([0.0, 0.5, 1.0])
    ledger = nk.play(nk.OnlineGradient(), (x, y))
    assert ledger.best_constant == (0.5, 0.5)
    assert ledger.confusion is None
    assert ledger.last_label is None
    nk.save(ledger, tmp_path / "m.nk")
    assert nk.load(tmp_path / "m.nk").baselines == ledger.baselines
    told = plain.game(ledger, [], "online-gradient")
    assert told["baselines"] == {
        "best_constant": {"says": 0.5, "loss": 0.5},
        "last_number": {"mae": 1 / 3, "rmse": pytest.approx((0.5 / 3) ** 0.5)},  # 0, 0.5, 0.5
        "mean_before": {"mae": 1.25 / 3, "rmse": pytest.approx((0.8125 / 3) ** 0.5)},  # 0, 0.5, 0.75
    }
    assert "confusion" not in told


def test_absolute_loss_and_tables_have_no_best_constant():
    ledger = nk.play(nk.OnlineGradient(loss="absolute"), (np.array([[0.1]]), np.array([0.5])))
    assert ledger.best_constant is None
    ledger = nk.play(nk.ExponentialWeights(2, loss="table"), np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert ledger.best_constant is None
    assert plain.game(ledger, [], "exponential-weights")["baselines"] == {}


def test_json_has_baselines_and_the_table():
    ledger = ledger_of([1, -1, -1], [1, 1, -1])
    told = json.loads(json.dumps(plain.game(ledger, [], "x")))
    assert told["baselines"] == {"best_constant": {"says": 1, "mistakes": 1}, "last_label": {"mistakes": 1}}
    rates = {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3)}
    assert told["confusion"] == {"labels": [-1, 1], "table": [[1, 0], [1, 1]], **rates}


@pytest.mark.parametrize(
    "change",
    [
        {"counts": [[-1, 1, 1], [1, 1, 2]]},  # a round too few
        {"counts": [[1, 1, 4]]},  # without the mistakes
        {"counts": [[-1, 7, 1], [1, 1, 3]]},  # a label that is none
        {"counts": [[1, 1, "4"]]},
        {"changes": 5},
        {"changes": -1},
        {"numbers": 1},
        {"last": "1"},
    ],
)
def test_baselines_that_contradict_the_ledger_are_refused(tmp_path, change):
    ledger = nk.play(nk.ThresholdHalving(10), [(1, 1), (6, 1), (7, 1), (5, 1)])
    assert ledger.baselines.counts == {(-1, 1): 1, (1, 1): 3}
    nk.save(ledger, tmp_path / "m.nk")
    with zipfile.ZipFile(tmp_path / "m.nk") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    meta = json.loads(parts["meta.json"])
    meta["ledger"]["baselines"].update(change)
    parts["meta.json"] = json.dumps(meta).encode()
    with zipfile.ZipFile(tmp_path / "m.nk", "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    with pytest.raises(ModelFileError):
        nk.load(tmp_path / "m.nk")


def test_restored_state_equals_saved_state():
    found = Baselines()
    found.count(np.array([0.5, 2.0]), np.array([2.0, 0.5]))
    found.sum(np.array([1.0, 2.5]))
    assert Baselines.restore(json.loads(json.dumps(found.state()))) == found
    assert dataclasses.replace(found, changes=9) != found
