"""A column of weights: each row is learned as often as it weighs, and the column is no feature."""

import json

import numpy as np
import pytest

import novikoff as nk
from novikoff.cli.main import main
from novikoff.core.errors import SourceError
from novikoff.core.weights import Balance, rounds_of
from novikoff.data.tables import row_weights as weighing


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 2)).round(3)
    return x, np.where(x[:, 0] > 0, "yes", "no"), rng.integers(0, 5, 200)


def written(path, x, y, weights, form="csv"):
    if form == "csv":
        lines = [f"{a},{w},{b},{label}" for (a, b), w, label in zip(x, weights, y, strict=True)]
        path.write_text("a,w,b,label\n" + "\n".join(lines) + "\n")
    else:
        told = [{"a": a, "w": int(w), "b": b, "label": label} for (a, b), w, label in zip(x, weights, y, strict=True)]
        path.write_text("".join(json.dumps(row) + "\n" for row in told))
    return str(path)


def same(one, other):
    assert (one.rounds, one.mistakes, one.curve) == (other.rounds, other.mistakes, other.curve)
    assert one.learner.within.weights.tolist() == other.learner.within.weights.tolist()


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_row_of_weight_k_is_played_k_times(rows, tmp_path, form, monkeypatch):
    x, y, weights = rows
    weighed = nk.read(written(tmp_path / f"w.{form}", x, y, weights, form), weight="w")
    times = np.repeat(np.arange(len(y)), weights)
    plain = nk.read(written(tmp_path / f"p.{form}", x[times], y[times], np.ones(len(times)), form), drop=["w"])
    want = nk.play("perceptron", plain)
    same(nk.play("perceptron", weighed), want)
    assert want.rounds == weights.sum()
    monkeypatch.setattr(weighing, "ROUNDS_TOGETHER", 7)
    same(nk.play("perceptron", nk.read(str(tmp_path / f"w.{form}"), weight="w")), want)


def test_a_weighed_game_resumes_where_it_stopped(rows, tmp_path, capsys):
    x, y, weights = rows
    path = written(tmp_path / "w.csv", x, y, weights)
    whole = nk.play("perceptron", nk.read(path, weight="w"))
    model = str(tmp_path / "m.nk")
    assert main(["run", "perceptron", path, "--weight", "w", "--rounds", "123", "--save", model, "-q"]) == 0
    assert main(["run", "perceptron", path, "--weight", "w", "--resume", model, "--save", model, "-q"]) == 0
    same(nk.load(model), whole)
    capsys.readouterr()
    assert main(["predict", model, path, "--weight", "w", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["predictions"]) == len(y)
    assert main(["columns", path, "--weight", "w"]) == 0
    assert "w: weight (" in capsys.readouterr().out
    assert main(["columns", path, "--weight", "w", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["columns"][1] == {"name": "w", "kind": "weight", "first": str(weights[0])}
    assert [column["name"] for column in told["columns"]] == ["a", "w", "b", "label"]
    assert told["notes"] == ["format: csv"]


@pytest.mark.parametrize(("weight", "was"), [("-1.5", "-1.5"), ("20000", "20000"), ("", "is empty")])
def test_invalid_weights_are_refused(tmp_path, weight, was):
    path = tmp_path / "w.csv"
    path.write_text(f"a,w,label\n1,1,yes\n2,{weight},no\n3,1,yes\n")
    with pytest.raises(SourceError, match=was):
        nk.play("perceptron", nk.read(str(path), weight="w"))


def test_a_format_without_columns_has_no_weights(tmp_path, capsys):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n-1 2:1\n")
    assert main(["run", "perceptron", str(path), "--weight", "w", "-q"]) == 2
    assert "weight" in capsys.readouterr().err


def test_the_weight_is_not_needed_to_predict_and_not_forgotten_on_resume(rows, tmp_path, capsys):
    x, y, weights = rows
    path, model = written(tmp_path / "w.csv", x, y, weights), str(tmp_path / "m.nk")
    without = tmp_path / "new.csv"
    without.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in x))
    assert main(["run", "perceptron", path, "--weight", "w", "--save", model, "-q"]) == 0
    capsys.readouterr()
    said = []
    for source in ([path], [path, "--weight", "w"], [str(without), "--no-label"]):
        assert main(["predict", model, *source, "--json"]) == 0
        said.append(json.loads(capsys.readouterr().out)["predictions"])
    assert said[0] == said[1] == said[2]
    assert main(["run", "perceptron", path, "--resume", model, "--again", "-q"]) == 2
    assert "Pass --weight w, or --drop w to count every row once" in capsys.readouterr().err
    assert main(["run", "perceptron", path, "--resume", model, "--again", "--weight", "w", "-q"]) == 0


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_class_weight_matches_repeated_rows(rows, tmp_path, form):
    x, y, weights = rows
    own = np.where(y == "yes", 3, 1) * weights
    times = np.repeat(np.arange(len(y)), own)
    plain = nk.read(written(tmp_path / f"p.{form}", x[times], y[times], np.ones(len(times)), form), drop=["w"])
    path = written(tmp_path / f"w.{form}", x, y, weights, form)
    same(nk.play("perceptron", nk.read(path, weight="w", label_weights={"yes": 3})), nk.play("perceptron", plain))
    only = nk.play("perceptron", nk.read(path, drop="w", label_weights={"yes": 0, "no": 2}))
    assert (only.rounds, only.positives) == (2 * int((y == "no").sum()), 0)


def test_weights_of_labels_on_the_command_line_and_on_resume(rows, tmp_path, capsys):
    x, y, weights = rows
    path, model = written(tmp_path / "w.csv", x, y, weights), str(tmp_path / "m.nk")
    weighed = ["run", "perceptron", path, "--drop", "w", "--label-weights", "yes=3"]
    assert main([*weighed, "--rounds", "101", "--save", model, "-q"]) == 0
    assert main(["run", "perceptron", path, "--drop", "w", "--resume", model, "-q"]) == 2
    assert "those were yes=3. Pass --label-weights yes=3." in capsys.readouterr().err
    assert main([*weighed, "--resume", model, "--save", model, "-q"]) == 0
    same(nk.load(model), nk.play("perceptron", nk.read(path, drop="w", label_weights={"yes": 3})))
    assert main(["run", "perceptron", path, "--label-weights", "maybe=3"]) == 2
    assert 'not "maybe"' in capsys.readouterr().err
    assert main(["predict", model, path, "--label-weights", "yes=3", "--json"]) == 0


def test_invalid_weights_of_labels_are_refused(rows, tmp_path, capsys):
    path = written(tmp_path / "w.csv", *rows)
    with pytest.raises(SourceError, match=r'a number from 0 to 10,000: that of "yes" is -1.5'):
        nk.read(path, label_weights={"yes": -1.5})
    assert main(["run", "perceptron", path, "--label-weights", "yes=many", "-q"]) == 2
    assert "--label-weights must be LABEL=N" in capsys.readouterr().err
    with pytest.raises(SourceError, match="label weights are for classification"):
        nk.read(path, label="a", outcomes="numbers", label_weights={"1": 2})


def test_weights_of_labels_are_refused_where_a_number_is_to_be_predicted(tmp_path, capsys):
    path = tmp_path / "numbers.csv"
    coins = np.random.default_rng(0)
    path.write_text("a,label\n" + "".join(f"{coins.normal():.3f},{coins.normal():.3f}\n" for _ in range(60)))
    assert main(["run", str(path), "--label-weights", "0.5=5", "-q"]) == 2
    assert "label weights are for classification" in capsys.readouterr().err


def test_balanced_weights_on_the_command_line_and_on_resume(rows, tmp_path, capsys):
    x, y, weights = rows
    path, model = written(tmp_path / "w.csv", x, y, weights / 2), str(tmp_path / "m.nk")
    weighed = ["run", "perceptron", path, "--weight", "w", "--label-weights", "balanced"]
    assert main([*weighed, "--rounds", "101", "--save", model, "-q"]) == 0
    assert main([*weighed[:-2], "--resume", model, "-q"]) == 2
    assert "those were balanced. Pass --label-weights balanced." in capsys.readouterr().err
    assert main([*weighed, "--resume", model, "--save", model, "-q"]) == 0
    whole = nk.play("perceptron", nk.read(path, weight="w", label_weights="balanced"))
    same(nk.load(model), whole)
    assert whole.rounds == rounds_of(Balance().weights(y == "yes") * weights / 2).sum()
