"""Dicts as rows of a table: the same features and predictions as frames and files, from the first row on."""

import json
import math
import random

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import novikoff as nk
from mixed_rows import apart, as_csv, mixed
from novikoff.core.errors import InputError, SourceError
from novikoff.data.tables.records import first_encoding, is_record


def played(spec, source, **options):
    ledger = nk.play(spec, source, record=True, **options)
    return ledger.recorded().tolist(), ledger.log_loss


def driven(spec, rows, **options):
    game = nk.Game(spec, labels=("no", "yes"), **options)
    found = []
    for x, y in map(apart, rows):
        before = game.predict_one(x)
        found.append(game.learn_one(x, y))
        assert before == found[-1]
    return [1 if one == "yes" else -1 for one in found], game.ledger.log_loss


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("spec", ["auto", "logistic", "perceptron"])
def test_dicts_frames_csv_json_and_arrow_give_the_same_predictions(tmp_path, spec, text):
    rows = mixed(160, text=text)
    (tmp_path / "rows.csv").write_bytes(as_csv(rows))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = pa.Table.from_pylist(rows)
    with pa.OSFile(str(tmp_path / "rows.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    expected = played(spec, tmp_path / "rows.csv")
    assert expected[0].count(1) > 20
    assert expected[0].count(-1) > 20
    others = {
        "json lines": played(spec, tmp_path / "rows.jsonl"),
        "arrow file": played(spec, tmp_path / "rows.arrow"),
        "arrow": played(spec, table, label="outcome"),
        "pandas": played(spec, pd.DataFrame(rows), label="outcome"),
        "dicts": played(spec, rows, label="outcome"),
        "generator": played(spec, (row for row in rows), label="outcome"),
        "pairs": played(spec, [apart(row) for row in rows]),
        "rows and labels": played(spec, ([apart(row)[0] for row in rows], [row["outcome"] for row in rows])),
        "game": driven(spec, rows),
        "game with a schema": driven(spec, rows, schema=nk.Frame(table)),
    }
    for name, found in others.items():
        assert found == expected, name


def test_probability_of_a_new_category_is_the_one_that_is_scored():
    rng = random.Random(4)
    game = nk.Game("auto", labels=("no", "yes"))
    for t in range(250):
        town = rng.choice("abcdefgh") if t < 150 or rng.random() < 0.7 else f"new {t}"
        row, before = {"x": rng.gauss(0, 1), "town": town}, game.ledger.log_loss
        label = "yes" if (row["x"] > 0) != (town in "abc") else "no"
        forecast = game.ledger.predict_proba(row) if t > 150 else None
        game.learn_one(row, label)
        if forecast is not None:
            assert game.ledger.log_loss - before == pytest.approx(-math.log(forecast[label]), abs=1e-9)


@pytest.mark.parametrize("spec", ["auto", "perceptron"])
def test_river_rows_give_the_same_predictions(spec):
    river = pytest.importorskip("novikoff.integrations.river")
    rows = mixed()
    model = river.NovikoffClassifier(spec, labels=("no", "yes"))
    for x, y in map(apart, rows):
        assert model.predict_one(x) in ("no", "yes")
        model.learn_one(x, y)
    ledger = nk.play(spec, rows, label="outcome")
    assert (model.ledger.mistakes, model.ledger.log_loss) == (ledger.mistakes, ledger.log_loss)


def test_one_row_is_encoded_as_in_a_piece():
    rows = mixed(120)
    frame = nk.Frame(pd.DataFrame(rows), label="outcome")
    batch = next(frame.batches())
    encoding = first_encoding(apart(rows[0])[0])
    for row, (places, values) in zip(rows, batch.x.rows(), strict=True):
        x, _ = apart(row)
        found = encoding.row(x)
        assert found[0].tolist() == places.tolist()
        assert found[1].tolist() == values.tolist()
    assert list(encoding.places) == list(frame.encoding.places)


@pytest.mark.parametrize("spec", ["auto", "logistic"])
def test_columns_that_appear_later_are_added_in_play_and_in_a_game(spec):
    rows = []
    for k, row in enumerate(mixed(1100)):
        x, y = apart(row)
        x |= {"extra": float(k % 7)} if k > 1020 else {}
        x |= {"colour": "red" if k % 2 else "blue"} if k > 1050 else {}
        rows.append((x, y))
    ledger = nk.play(spec, rows, record=True)
    assert [column.name for column in ledger.encoding.columns][-2:] == ["extra", "colour"]
    assert ledger.encoding.open
    assert "colour=red" in ledger.encoding.places
    game = nk.Game(spec, labels=("no", "yes"))
    found = [1 if game.learn_one(x, y) == "yes" else -1 for x, y in rows]
    assert found == ledger.recorded().tolist()
    assert game.ledger.log_loss == ledger.log_loss
    assert game.ledger.encoding.places == ledger.encoding.places


def test_rejected_rows_leave_the_encoding_unchanged():
    game = nk.Game("logistic", labels=("no", "yes"))
    game.learn_one({"age": 31, "city": "Rome"}, "no")
    known = game.ledger.encoding.state()
    with pytest.raises(InputError, match="labels must be 'no' or 'yes'"):
        game.learn_one({"age": 32, "city": "Oslo", "new": "a"}, "maybe")
    with pytest.raises(InputError, match='a numeric column must contain numbers: column "age" has "old"'):
        game.learn_one({"city": "Oslo", "new": "b", "age": "old"}, "yes")
    assert game.ledger.encoding.state() == known
    assert game.ledger.rounds == 1


def test_a_first_row_that_is_rejected_begins_nothing():
    game = nk.Game("logistic", labels=("no", "yes"))
    with pytest.raises(InputError, match="labels must be"):
        game.learn_one({"age": 31, "city": "Rome"}, "maybe")
    assert game.ledger.encoding is None
    game.learn_one({"height": 1.8, "city": "Oslo"}, "no")
    assert [column.name for column in game.ledger.encoding.columns] == ["height", "city"]


def test_saved_game_continues_with_its_columns(tmp_path):
    rows = [apart(row) for row in mixed(60)]
    game, whole = nk.Game("auto", labels=("no", "yes")), nk.Game("auto", labels=("no", "yes"))
    for x, y in rows[:30]:
        game.learn_one(x, y)
    nk.save(game.ledger, tmp_path / "game.nk")
    ledger = nk.load(tmp_path / "game.nk")
    again = nk.Game(ledger.learner, ledger)
    for x, y in rows[30:]:
        again.learn_one({**x, "later": "yes"}, y)
    for k, (x, y) in enumerate(rows):
        whole.learn_one({**x, **({"later": "yes"} if k >= 30 else {})}, y)
    assert again.ledger.log_loss == whole.ledger.log_loss
    assert again.ledger.encoding.state() == whole.ledger.encoding.state()


def test_schema_gives_the_kinds_that_the_first_row_does_not_show():
    rows = [{"age": None, "zip": "10115", "label": "a"}, {"age": 31, "zip": "00100", "label": "b"}] * 10
    game = nk.Game("logistic", labels=("a", "b"), schema={"age": "number", "zip": "category"})
    for x, y in (apart(row, "label") for row in rows):
        game.learn_one(x, y)
    kinds = {column.name: column.kind for column in game.ledger.encoding.columns}
    assert kinds == {"age": "number", "zip": "category"}
    stream = nk.Frame(pd.DataFrame(rows), category="zip")
    assert game.ledger.log_loss == nk.play("logistic", stream).log_loss


def test_column_without_values_gets_its_kind_from_the_first_one():
    game = nk.Game("logistic", labels=("no", "yes"))
    for x, y in [({"age": None, "city": "Rome"}, "no"), ({"age": 31, "city": None}, "yes"), ({"age": 5}, "no")]:
        game.learn_one(x, y)
    assert [column.kind for column in game.ledger.encoding.columns] == ["number", "category"]
    assert list(game.ledger.encoding.places) == ["age is missing", "city=Rome", "age", "city is missing"]


@pytest.mark.parametrize(
    ("labels", "task"),
    [([True, False], "binary"), ([-1, 1], "binary"), ([1, -1], "binary"), ([0, 1], "binary"), ([1, 0], "binary"),
     (["ham", "spam"], "multiclass"), ([2, 3, 5], "multiclass"), ([2.5, 3.5], "regression")],
)  # fmt: skip
def test_first_label_decides_the_task_of_a_spec(labels, task):
    game = nk.Game("auto")
    assert game.predict_one({"city": "Rome"}) is None
    for k in range(12):
        game.learn_one({"city": "Rome" if k % 2 else "Oslo", "n": k}, labels[k % len(labels)])
    assert game.ledger.player.task == task
    prediction = game.predict_one({"city": "Rome", "n": 3})
    assert prediction in labels if task != "regression" else isinstance(prediction, float)


def test_labels_of_a_game_with_ids_must_be_declared():
    game = nk.Game("auto")
    with pytest.raises(InputError, match="labels must be declared in a game with ids"):
        game.predict_one({"city": "Rome"}, id="a")
    game = nk.Game("auto", labels=("no", "yes"))
    assert game.predict_one({"city": "Rome", "day": "2024-01-01"}, id="a") in ("no", "yes")
    assert game.predict_one({"city": "Oslo", "day": None}, id="b") in ("no", "yes")
    game.learn_one("b", "yes")
    game.learn_one("a", "no")
    assert game.ledger.rounds == 2


def test_dicts_of_numbers_stay_sparse_rows_and_take_text_later():
    rows = [({"free": 1, "call": 1}, 1), ({"see": 1, "you": 1}, -1)] * 3
    assert nk.play("ftrl", rows).encoding is None
    game = nk.Game("ftrl")
    for x, y in rows:
        game.learn_one(x, y)
    game.learn_one({"free": 1, "from": "bob", "age": None}, 1)
    features = game.ledger.player.features.names
    assert list(features) == ["free", "call", "see", "you", "from=bob", "age is missing"]


def test_numbers_are_a_table_if_the_dicts_contain_the_label():
    rows = [{"a": float(k), "b": 2.0 * (k % 3), "y": "no" if k % 3 else "yes"} for k in range(30)]
    dicts, frame = (nk.play("perceptron", one, label="y", record=True) for one in (rows, pd.DataFrame(rows)))
    assert dicts.recorded().tolist() == frame.recorded().tolist()
    assert dicts.spec == frame.spec


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ([], "no items"),
        ([({"a": "x"}, "yes"), ({"a": "y"},)], "row 2 of rows is a value of type tuple"),
        ([({"a": "x"}, "yes"), (3, "no")], "row 2 of rows is 3"),
        ([({"a": "x"}, "yes"), ({"a": ["y"]}, "no")], '"a" is a value of type list'),
    ],
)
def test_bad_rows_are_errors_with_their_place(source, sentence):
    with pytest.raises(SourceError, match=sentence):
        nk.play("logistic", source)


def test_record_is_a_dict_with_a_value_that_is_not_a_number():
    assert not is_record({"a": 1, "b": np.float32(2.0), "c": True})
    assert is_record({"a": 1, "b": None})
    assert is_record({"a": float("nan")})
    assert is_record({"a": "x"})
    assert not is_record({})
    assert not is_record({1: "x"})
    assert not is_record([1, 2])


def test_hedge_takes_specs():
    team = nk.Hedge(["perceptron", "logistic"], horizon=20)
    assert team.names == ["perceptron", "logistic"]
    pairs = [([1.0, 0.0], -1), ([0.0, 1.0], 1)] * 10
    other = nk.Hedge([nk.Perceptron(), nk.Logistic()], horizon=20)
    assert nk.play(team, pairs).mistakes == nk.play(other, pairs).mistakes
