"""Predictions of a finished game: frames, files, dicts and arrays, in the user's labels."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import novikoff as nk
from mixed_rows import apart, as_csv, mixed
from novikoff.cli.main import main
from novikoff.core.errors import InputError, MismatchError


@pytest.fixture(scope="module")
def ledger():
    return nk.play("logistic", pd.DataFrame(mixed()), label="outcome")


@pytest.fixture(scope="module")
def new():
    return mixed(40, seed=5)


def test_frames_dicts_files_and_single_rows_get_the_same_predictions(ledger, new, tmp_path):
    (tmp_path / "new.csv").write_bytes(as_csv(new))
    frame = pd.DataFrame(new)
    expected = ledger.predict_proba(frame)
    assert ledger.classes == ["no", "yes"]
    assert expected.shape == (40, 2)
    assert 0.0 < expected.min() < expected.max() < 1.0
    rows = [apart(row)[0] for row in new]
    others = [frame.drop(columns="outcome"), frame[frame.columns[::-1]], new, rows, str(tmp_path / "new.csv")]
    for one in others:
        assert (ledger.predict_proba(one) == expected).all()
    assert [ledger.predict_proba(row)["yes"] for row in rows] == expected[:, 1].tolist()
    labels = ["yes" if p >= 0.5 else "no" for p in expected[:, 1]]
    assert ledger.predict(frame).tolist() == labels == [ledger.predict(row) for row in rows]


def test_game_over_dicts_predicts_as_one_over_a_frame(ledger, new):
    dicts = nk.play("logistic", mixed(), label="outcome")
    assert (dicts.predict_proba(new) == ledger.predict_proba(new)).all()
    driven = nk.Game("logistic", labels=("no", "yes"))
    for x, y in map(apart, mixed()):
        driven.learn_one(x, y)
    rows = [apart(row)[0] for row in new]
    assert (driven.ledger.predict_proba(rows) == ledger.predict_proba(rows)).all()


def test_number_missing_only_in_new_rows_is_the_mean_in_all_forms():
    rows = [{**row, "age": row["age"] or 50.0} for row in mixed(60)]
    whole, dicts = (nk.play("logistic", one, label="outcome") for one in (pd.DataFrame(rows), rows))
    driven = nk.Game("logistic", labels=("no", "yes"))
    for x, y in map(apart, rows):
        driven.learn_one(x, y)
    gap = {**apart(rows[0])[0], "age": None}
    with pytest.warns(UserWarning, match="1 row of rows without a number in age"):
        found = [one.predict_proba([gap])[0, 1] for one in (whole, dicts, driven.ledger)]
    assert found[0] == found[1] == found[2]
    filled = {**gap, "age": whole.encoding.means["age"]}
    assert whole.predict_proba(filled)["yes"] == found[0]


def test_absent_and_new_columns_are_refused_or_imputed(ledger, new):
    frame = pd.DataFrame(new).drop(columns="age").assign(height=1.8)
    with pytest.raises(MismatchError, match='no "age" and a new "height".*missing_columns="impute"'):
        ledger.predict(frame)
    with pytest.warns(UserWarning, match='lack "age".*include "height"'):
        found = ledger.predict_proba(frame, missing_columns="impute")
    gaps = pd.DataFrame(new).assign(age=None)
    with pytest.warns(UserWarning, match="40 rows of frame without a value in age: 100 %"):
        assert (found == ledger.predict_proba(gaps)).all()
    with pytest.raises(InputError, match="missing_columns must be refuse or impute: got 'imputes'. Did you mean \"imp"):
        ledger.predict(frame, missing_columns="imputes")


def test_categories_spelled_differently_are_reported(ledger, new):
    rows = [{**row, "city": str(row["city"]).upper()} for row in new]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ledger.predict(rows)
    notes = " ".join(str(one.message) for one in caught)
    assert "with a category of city that was not in training" in notes
    assert "% of the rows: check the column" in notes
    assert "count as two categories" in notes


def test_usual_rows_are_predicted_without_warnings(ledger, new):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ledger.predict(new)


def test_model_that_repeats_the_previous_label_is_reported():
    rows = [({"x": float(k % 5), "c": "a"}, "no" if k // 40 % 2 else "yes") for k in range(400)]
    ledger = nk.play("auto", rows)
    with pytest.warns(UserWarning, match="hardly better than repeating the previous label"):
        ledger.predict([rows[0][0]])


def test_many_labels_and_numbers():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(120, 3))
    y = np.where(X[:, 0] > 0.5, "high", np.where(X[:, 0] < -0.5, "low", "middle"))
    many = nk.play("logistic", (X, y))
    found = many.predict_proba(X[:7])
    assert found.shape == (7, 3)
    assert np.allclose(found.sum(axis=1), 1.0)
    assert [many.classes[k] for k in found.argmax(axis=1)] == many.predict(X[:7]).tolist()
    assert isinstance(many.predict(X[0].tolist()), str)
    numbers = nk.play("auto-regression", (X, X[:, 0]))
    assert numbers.predict(X[:5]).dtype == np.float64
    assert isinstance(numbers.predict(X[0]), float)
    with pytest.raises(InputError, match="a regressor has no classes"):
        numbers.predict_proba(X)


def test_prediction_sets_are_in_the_users_labels(new):
    ledger = nk.play("conformal:[logistic]", pd.DataFrame(mixed()), label="outcome")
    found = ledger.predict_set(new)
    assert len(found) == len(new)
    assert {label for one in found for label in one} <= {"no", "yes"}
    assert ledger.predict_set(apart(new[0])[0]) == found[0]


def test_why_takes_frames_and_lists(ledger, new):
    one = ledger.why(apart(new[0])[0])
    assert ledger.why(pd.DataFrame(new[:1])) == one
    assert ledger.why(pd.DataFrame(new[:3]))[0] == one == ledger.why(new[:1])[0]


def test_batch_of_another_encoding_is_refused(ledger, new):
    batch = next(nk.Frame(pd.DataFrame(new), label="outcome").batches())
    with pytest.raises(MismatchError, match="encoded like the training rows"):
        ledger.predict(batch)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (3, "rows must be examples like those of training: got a value of type int"),
        ([[1.0, 2.0]], "columns of training, by name: got an array"),
        ({"hight": 1}, 'a new "hight"|columns of training'),
        ({"age": "old"}, 'a numeric column must contain numbers: column "age" has "old"'),
        ({"age": [1, 2]}, '"age" is a value of type list'),
    ],
)
def test_rows_that_do_not_fit_are_refused(ledger, rows, sentence):
    with pytest.raises((InputError, MismatchError), match=sentence):
        ledger.predict(rows)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"customer": f"c{k}", **row} for k, row in enumerate(mixed())]
    (tmp_path / "train.csv").write_bytes(as_csv(rows))
    fresh = [{"customer": f"n{k}", **apart(row)[0]} for k, row in enumerate(mixed(30, seed=5))]
    (tmp_path / "new.csv").write_bytes(as_csv(fresh))
    assert main(["run", "logistic", "train.csv", "--drop", "customer", "--save", "m.nk", "-q"]) == 0
    return fresh


PREDICT = ["predict", "m.nk", "new.csv", "--no-label", "--id", "customer", "--probabilities"]


def test_predict_writes_ids_and_probabilities_in_every_format(files, capsys, tmp_path):
    capsys.readouterr()
    assert main(PREDICT) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "customer,prediction,probability_no,probability_yes"
    for suffix in ("csv", "tsv", "jsonl", "parquet"):
        assert main([*PREDICT, "-o", f"p.{suffix}"]) == 0
    lines = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    frames = [pd.read_csv("p.csv"), pd.read_csv("p.tsv", sep="\t"), pd.read_parquet("p.parquet"), pd.DataFrame(lines)]
    for frame in frames:
        assert frame.columns.tolist() == printed[0].split(",")
        assert frame["customer"].tolist() == [row["customer"] for row in files]
        assert frame["probability_yes"].tolist() == frames[0]["probability_yes"].tolist()
    ledger = nk.load("m.nk")
    expected = ledger.predict_proba([{k: v for k, v in row.items() if k != "customer"} for row in files])
    assert np.allclose(frames[0]["probability_yes"], expected[:, 1], rtol=0, atol=1e-15)


def test_predict_imputes_absent_columns_on_request(files, capsys, tmp_path):
    (tmp_path / "less.csv").write_bytes(as_csv([{k: v for k, v in row.items() if k != "age"} for row in files]))
    command = ["predict", "m.nk", "less.csv", "--no-label", "--id", "customer"]
    assert main(command) == 2
    assert "--missing-columns impute" in capsys.readouterr().err
    assert main([*command, "--missing-columns", "impute"]) == 0
    assert 'lack "age"' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["-o", "p.xlsx"], "--output must end in .csv"),
        (["-o", "nowhere/p.csv"], "nowhere does not exist"),
        (["-o", "train.csv"], "train.csv"),
        (["--why"], "--why cannot be combined"),
    ],
)
def test_predict_refuses_files_that_it_cannot_write(files, capsys, more, sentence):
    assert main([*PREDICT, *more]) == 2
    assert sentence in capsys.readouterr().err


def test_failed_predict_leaves_no_file(files, capsys, tmp_path):
    text = (tmp_path / "new.csv").read_text().splitlines()
    text[20] = "n19,old,Rome,true,2024-01-01,3.0"
    (tmp_path / "new.csv").write_text("\n".join(text) + "\n")
    assert main([*PREDICT, "-o", "p.csv"]) == 2
    assert "old" in capsys.readouterr().err
    assert not list(tmp_path.glob("p.csv*"))


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    """A game whose positive label is the smaller of two, and a later file that has further labels, and gaps."""
    folder = tmp_path_factory.mktemp("chosen")
    rows = [f"{k},{k % 7},{(k * k) % 11},{'bad' if k % 7 + (k * 29) % 13 > 8 else 'good'}" for k in range(400)]
    (folder / "first.csv").write_text("\n".join(["id,a,b,label", *rows[:300]]) + "\n")
    later = [line.replace("good", "other") if k % 3 else line for k, line in enumerate(rows[300:])]
    later = [line.rpartition(",")[0] + "," if k % 10 == 4 else line for k, line in enumerate(later)]
    (folder / "later.csv").write_text("\n".join(["id,a,b,label", *later]) + "\n")
    (folder / "blank.csv").write_text(
        "\n".join(["id,a,b,label", *(line.rpartition(",")[0] + "," for line in later)]) + "\n"
    )
    arguments = ["logistic", str(folder / "first.csv"), "--positive", "bad", "--drop", "id", "--costs", "FP=1,FN=3"]
    assert main(["run", *arguments, "--save", str(folder / "m.nk"), "-q"]) == 0
    return folder


def test_chosen_positive_label_is_remembered(chosen, capsys):
    model, later = str(chosen / "m.nk"), str(chosen / "later.csv")
    capsys.readouterr()
    assert main(["predict", model, later, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["predict", model, later, "--json", "--positive", "bad"]) == 0
    assert json.loads(capsys.readouterr().out) == found
    bad = [line.endswith("bad") for line in (chosen / "later.csv").read_text().split()[1:]]
    known = [not line.endswith(",") for line in (chosen / "later.csv").read_text().split()[1:]]
    wrong = sum((one == "bad") != y for one, y, k in zip(found["predictions"], bad, known, strict=True) if k)
    assert (found["rows"], found["labelled"], found["mistakes"]) == (100, 90, wrong)
    ledger = nk.load(model)
    nk.play(ledger.learner, later, ledger=ledger)
    assert main(["run", later, "--resume", model, "--save", str(chosen / "n.nk"), "-q", "--json"]) == 0
    resumed = json.loads(capsys.readouterr().out)
    assert (resumed["rounds"], resumed["mistakes"]) == (ledger.rounds, ledger.mistakes)
    assert ledger.rounds == 390


def test_rows_without_labels_are_predicted(chosen, capsys):
    model, later = str(chosen / "m.nk"), str(chosen / "later.csv")
    expected = nk.load(model).predict(later).tolist()
    for name in ("later.csv", "blank.csv"):
        assert main(["predict", model, str(chosen / name), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["predictions"] == expected
        assert ("mistakes" in found) == (name == "later.csv")
    assert main(["predict", model, later]) == 0
    assert "10 rows of " in (error := capsys.readouterr().err)
    assert "mistakes in 90 rows with a label" in error


def test_threshold_of_one_prediction(chosen, capsys):
    model, later = str(chosen / "m.nk"), str(chosen / "later.csv")
    ledger = nk.load(model)
    own = ledger.threshold.value
    found = {}
    for given in (0.05, 0.6):
        assert main(["predict", model, later, "--json", "--threshold", str(given)]) == 0
        found[given] = json.loads(capsys.readouterr().out)
        nk.choose_threshold(ledger, threshold=given)
        assert found[given]["predictions"] == ledger.predict(later).tolist()
        assert found[given]["threshold"] == ledger.threshold.value
    assert found[0.05]["recall"] > found[0.6]["recall"]
    labels = [line.rpartition(",")[2] for line in (chosen / "later.csv").read_text().split()[1:]]
    pairs = [(y, one) for y, one in zip(labels, found[0.6]["predictions"], strict=True) if y]
    hit = sum(y == one == "bad" for y, one in pairs)
    assert found[0.6]["precision"] == hit / sum(one == "bad" for _, one in pairs)
    assert found[0.6]["recall"] == hit / sum(y == "bad" for y, _ in pairs)
    limits = {one["theorem"]: one["bound"] for one in found[0.6]["limits"]}
    assert 0.0 < limits["threshold_precision"] < found[0.6]["precision"]
    assert nk.load(model).threshold.value == own
    assert main(["predict", model, later, "--threshold", "7"]) == 2
    assert "must be from 0 to 1: got 7" in capsys.readouterr().err


def test_unknown_id_column_is_named(chosen, capsys):
    assert main(["predict", str(chosen / "m.nk"), str(chosen / "later.csv"), "--id", "nr"]) == 2
    assert "the id column must be one of id, a, b, label: 'nr' is not a column" in capsys.readouterr().err


@pytest.mark.parametrize("column", ["age", "size", "colour", "since"])
def test_column_that_is_missing_far_more_often_is_reported(column, tmp_path):
    rows = [
        {"size": k % 9 * 1.5, "age": None if k % 10 == 3 else k % 50, "colour": None if k % 20 == 4 else "rgb"[k % 3],
         "since": f"2024-01-{k % 28 + 1:02d}", "y": "ny"[k % 3 > 1]}
        for k in range(200)
    ]  # fmt: skip
    for names in (["size", "age"], ["size", "age", "colour", "since"]):  # dense, sparse
        if column not in names:
            continue
        frame = pd.DataFrame(rows)[[*names, "y"]]
        ledger = nk.play("logistic", frame, label="y")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ledger.predict(frame)
        with pytest.warns(UserWarning, match=f"{column}.* in training.*heck the column"):
            ledger.predict(frame.assign(**{column: [None if k % 2 else one for k, one in enumerate(frame[column])]}))
        nk.save(ledger, tmp_path / "m.nk")
        assert (
            nk.load(tmp_path / "m.nk").encoding.missed
            == ledger.encoding.missed
            == {name: frame[name].isna().mean() for name in names}
        )


def test_texts_that_mean_missing_do_so_in_single_rows(tmp_path):
    rows = [f"{-999 if k % 5 == 0 else k * 17 % 40},{'gone' if k % 7 == 0 else 'pqr'[k % 3]},{'ny'[k * 17 % 40 > 20]}"
            for k in range(200)]  # fmt: skip
    (tmp_path / "rows.csv").write_text("\n".join(["age,city,y", *rows]) + "\n")
    ledger = nk.play("logistic", nk.read(tmp_path / "rows.csv", missing=["-999", "gone"]))
    expected = ledger.predict_proba({"age": None, "city": None})
    for age, city in ((-999, "gone"), ("-999", "GONE "), (-999.0, None), (None, "gone")):
        row = {"age": age, "city": city}
        assert ledger.predict_proba(row) == ledger.predict_proba(pd.DataFrame([row]).iloc[0]) == expected
        assert ledger.predict_proba([row])[0, 1] == expected["y"]
