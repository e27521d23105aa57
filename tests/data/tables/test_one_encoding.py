"""One encoding for all: formats that spell alike, files of `convert`, rows of pandas, labels at prediction."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import novikoff as nk
from helpers import bits
from novikoff.cli.main import main
from novikoff.core.errors import MismatchError, SourceError
from novikoff.data.convert import convert

ROWS = 60


@pytest.fixture
def frame():
    draw = np.random.default_rng(3)
    frame = pd.DataFrame({"age": draw.normal(40, 9, ROWS), "colour": draw.choice(["red", "blue"], ROWS)})
    frame["bought"] = np.where((frame.age > 40) ^ (draw.random(ROWS) < 0.1), "yes", "no")
    frame.loc[::7, "age"] = np.nan
    return frame


def features(stream):
    list(stream.batches())
    return stream.encoding.features


def test_a_category_is_spelled_alike_in_every_format(tmp_path):
    frame = pd.DataFrame({"z": [1.0, 2.5, 1.0, 1e20], "b": [True, False, True, True], "y": [0, 1, 0, 1]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    (tmp_path / "t.jsonl").write_text("\n".join(json.dumps(row) for row in frame.to_dict("records")))
    kinds = {"category": ["z", "b"]}
    wanted = ("z=1", "b=true", "z=2.5", "b=false", "z=1e+20")
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        assert features(nk.read(tmp_path / name, **kinds)) == wanted, name
    assert features(nk.Frame(frame, **kinds)) == wanted
    mixed = nk.CSV(io.BytesIO(b"c,y\nTRUE,0\ntrue,1\nunknown,0\nTrue,1\n"), category="c")
    assert features(mixed) == ("c=true", "c=unknown")


def test_a_converted_table_keeps_its_encoding(frame, tmp_path):
    assert convert(nk.Frame(frame), tmp_path / "t.arrow") == ROWS
    table, converted = nk.play("perceptron", nk.Frame(frame)), nk.play("perceptron", nk.read(tmp_path / "t.arrow"))
    assert converted.encoding.state() == table.encoding.state()
    assert converted.curve == table.curve
    both = [
        nk.play(one.learner, nk.Frame(frame[["bought", "colour", "age"]]), ledger=one) for one in (table, converted)
    ]
    assert both[0].curve == both[1].curve
    again = nk.play(table.learner, nk.read(tmp_path / "t.arrow"), ledger=table)
    assert again.rounds == 3 * ROWS


def test_a_converted_table_of_another_encoding_is_refused(frame, tmp_path):
    convert(nk.Frame(frame[::-1]), tmp_path / "t.arrow")
    ledger = nk.play("perceptron", nk.Frame(frame))
    with pytest.raises(MismatchError, match="converted from another one"):
        nk.play(ledger.learner, nk.read(tmp_path / "t.arrow"), ledger=ledger)


def test_a_table_that_grows_wider_is_converted_as_wide_as_it_becomes(tmp_path):
    frame = pd.DataFrame({"a": np.arange(1_200) % 7, "y": np.arange(1_200) % 2}).astype({"a": float})
    frame.loc[1_150, "a"] = np.nan
    content = frame.to_csv(index=False).encode()
    (tmp_path / "t.csv").write_bytes(content)
    convert(nk.read(tmp_path / "t.csv"), tmp_path / "t.arrow")
    stream = nk.read(tmp_path / "t.arrow")
    assert stream.features == ("a", "a is missing")
    x = np.concatenate([batch.x for batch in stream.batches()])
    assert x.shape == (1_200, 2)
    assert np.flatnonzero(x[:, 1]).tolist() == [1_150]

    class Once(io.BytesIO):
        def seekable(self):
            return False

    with pytest.raises(SourceError, match="Save it as a file first"):
        convert(nk.CSV(Once(content)), tmp_path / "u.arrow")


def test_a_row_of_pandas_is_read_by_the_encoding(frame):
    ledger = nk.play("perceptron", nk.Frame(frame))
    game = nk.Game(ledger.learner, ledger=ledger)
    (batch,) = nk.Frame(frame).batches()
    said = [ledger.labels[int(y > 0)] for y in ledger.learner.predict_many(batch)]
    assert [game.predict_one(row) for _, row in frame.iterrows()] == said
    assert [game.predict_one(row) for _, row in frame[["colour", "age"]].iterrows()] == said
    assert game.predict_one(pd.Series({"age": 30.0, "colour": "violet"})) in ("no", "yes")
    assert "colour=violet" not in ledger.encoding.features
    with pytest.raises(MismatchError, match='has no "age" and a new "size"'):
        game.predict_one(pd.Series({"size": 30.0, "colour": "red"}))
    game.learn_one(pd.Series({"age": None, "colour": "violet"}), "yes")
    assert "colour=violet" in ledger.encoding.features


def test_rows_of_pandas_and_a_frame_are_the_same_game(frame):
    whole = nk.play("perceptron", nk.Frame(frame))
    begun = nk.play("perceptron", nk.Frame(frame), rounds=20)
    game = nk.Game(begun.learner, ledger=begun)
    for _, row in frame[20:].iterrows():
        game.learn_one(row, row["bought"])
    assert begun.mistakes == whole.mistakes
    assert bits(begun.learner.state()) == bits(whole.learner.state())


def test_objects_of_json_are_rows_of_the_table(frame):
    whole = nk.play("perceptron", nk.Frame(frame))
    begun = nk.play("perceptron", nk.Frame(frame), rounds=20)
    game = nk.Game(begun.learner, ledger=begun)
    for _, row in frame[20:].iterrows():
        given = {
            name: value for name, value in row.to_dict().items() if not pd.isna(value)
        }  # what is missing is left out
        asked = game.predict_one(given)
        assert game.learn_one(given, row["bought"]) == asked
    assert begun.mistakes == whole.mistakes
    assert bits(begun.learner.state()) == bits(whole.learner.state())
    with pytest.raises(MismatchError, match='a new "size"'):
        game.predict_one({"size": 30.0, "colour": "red"})


def test_a_kept_classifier_reads_a_row_of_pandas(frame):
    kept = nk.finalize(nk.play("perceptron", nk.Frame(frame), candidates=5), "last")
    assert kept.predict_one(frame.iloc[3]) in ("no", "yes")


def test_a_file_with_one_of_the_labels_is_predicted(frame, tmp_path, capsys):
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame[frame.bought == "no"].to_csv(tmp_path / "no.csv", index=False)
    frame[frame.bought == "no"].assign(bought="maybe").to_csv(tmp_path / "maybe.csv", index=False)
    model = str(tmp_path / "m.nk")
    assert main(["run", "perceptron", str(tmp_path / "t.csv"), "--save", model]) == 0
    capsys.readouterr()
    assert main(["predict", model, str(tmp_path / "no.csv")]) == 0
    told = capsys.readouterr()
    assert {*told.out.split()} <= {"no", "yes"}
    assert f"mistakes in {(frame.bought == 'no').sum()} rows" in told.err
    assert main(["predict", model, str(tmp_path / "maybe.csv")]) == 2
    assert 'only "maybe"' in capsys.readouterr().err


def test_columns_ignored_in_training_are_ignored_in_later_tables(frame, tmp_path, capsys):
    frame.insert(0, "id", [f"C{k}" for k in range(ROWS)])
    for name, columns in (("a", ["id", "age", "colour", "bought"]), ("b", ["bought", "id", "colour", "age"])):
        frame[columns].to_csv(tmp_path / f"{name}.csv", index=False)
    model, first, other = (str(tmp_path / name) for name in ("m.nk", "a.csv", "b.csv"))
    main(["run", "perceptron", first, "--drop", "id", "--save", model, "-q"])
    capsys.readouterr()
    assert main(["predict", model, first, "--drop", "id"]) == 0
    asked = capsys.readouterr().out
    for source in (first, other):
        assert main(["predict", model, source]) == 0
        assert capsys.readouterr().out == asked
    ledger = nk.load(model)
    assert nk.play(ledger.learner, nk.read(other), ledger=ledger).rounds == 2 * ROWS
    with pytest.raises(MismatchError, match='has a new "id"'):
        nk.play(ledger.learner, nk.read(first, columns=["id", "age", "colour"]), ledger=ledger)


def test_missing_label_column_is_not_replaced_by_the_last_column(frame, tmp_path, capsys):
    frame.insert(0, "id", [f"C{k}" for k in range(ROWS)])
    for drop in ([], ["--drop", "id"]):
        frame.to_csv(tmp_path / "a.csv", index=False)
        frame[["age", "colour", "id"]].to_csv(tmp_path / "new.csv", index=False)
        model, new = str(tmp_path / "m.nk"), str(tmp_path / "new.csv")
        main(["run", "perceptron", str(tmp_path / "a.csv"), *drop, "--save", model, "-q", "--force"])
        capsys.readouterr()
        assert main(["predict", model, new]) == 2
        assert 'the labels must be in column "bought"' in (error := capsys.readouterr().err)
        assert "--no-label if there are none" in error
        assert main(["predict", model, new, "--no-label"]) == 0
        assert len(capsys.readouterr().out.split()) == ROWS
