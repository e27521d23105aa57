"""Exported models: the scorer of the documentation, and onnxruntime, predict what the learner predicts."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import novikoff as nk
from novikoff.cli.main import main
from novikoff.core.errors import InputError, MismatchError

PAGE = (Path(__file__).parents[2] / "docs/guides/export.md").read_text()
SCORER: dict = {}
exec(next(block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "def leaf" in block), SCORER)
EXACT = ["perceptron:scale=none", "ellipsoid:scale=none", "logistic", "tree", "forest", "vaw"]
NEAR = ["perceptron", "perceptron:scale=range", "ftrl", "arow"]
"""Learners in whose scores a row counts before it is predicted."""


def table(kind, numbers=False):
    """Return a frame with a category and gaps, and new rows: a category that was never seen, gaps in each column."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(600, 3)) * [1.0, 5.0, 0.1] + [0.0, 10.0, 3.0]
    city = rng.choice(["Rome", "Oslo", "10"], 600)
    z = x[:, 0] + 0.3 * x[:, 1] - 3.0 + 1.5 * (city == "Oslo") + 0.5 * rng.normal(size=600)
    y = {
        "two": np.where(z > 0, "yes", "no"),
        "three": np.where(z > 1, "hi", np.where(z > -1, "mid", "lo")),
        "number": z,
    }
    frame = pd.DataFrame(x, columns=list("abc"))
    if not numbers:
        frame["city"] = city
        frame.loc[rng.random(600) < 0.2, "c"] = np.nan
        frame.loc[rng.random(600) < 0.1, "city"] = None
    new = frame.tail(120).reset_index(drop=True)
    new.loc[0, "a"] = np.nan  # never missing in training: the mean
    if not numbers:
        new.loc[1, "city"] = "Paris"
    return frame.assign(y=y[kind]), new


def scored(path, new):
    """Return predictions and scores of the documented scorer."""
    model = json.loads(path.read_text())
    rows = [{name: None if value != value else value for name, value in row.items()} for row in new.to_dict("records")]
    return model, rows, [SCORER["predict"](model, row) for row in rows], [SCORER["scores"](model, row) for row in rows]


def by_onnx(path, model, new):
    """Return the outputs of onnxruntime by name."""
    session = pytest.importorskip("onnxruntime").InferenceSession(path)
    feed = {
        column["name"]: new[column["name"]].to_numpy(float)[:, None] if column["kind"] == "number"
        else new[column["name"]].fillna("").to_numpy(object)[:, None]
        for column in model["columns"]
    }  # fmt: skip
    assert {one.name for one in session.get_inputs()} == feed.keys()
    return dict(zip([one.name for one in session.get_outputs()], session.run(None, feed), strict=True))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("spec", "kind"),
    [*((spec, "two") for spec in EXACT[:-1] + NEAR),
     *((spec, "three") for spec in ("perceptron", "ftrl", "tree", "forest")),
     *((spec, "number") for spec in ("vaw", "online-gradient", "tree-regression", "forest-regression"))],
)  # fmt: skip
def test_exported_model_predicts_as_the_learner(tmp_path, spec, kind):
    frame, new = table(kind, numbers="ellipsoid" in spec)
    ledger = nk.play(spec, frame, label="y", task="regress" if kind == "number" else None)
    path = tmp_path / "model.json"
    assert ledger.export(path).columns == frame.shape[1] - 1
    model, rows, predicted, scores = scored(path, new)
    ours = ledger.predict(new)
    near = "tree" not in spec and "forest" not in spec and spec not in EXACT
    if kind == "number":
        assert np.abs(ours - predicted).max() < (0.5 if near else 1e-12)
    else:
        assert (ours == np.array(predicted)).mean() >= (0.97 if near else 1.0)
    if ledger.player.probable:
        theirs = np.array([[SCORER["probabilities"](model, row)[name] for name in ledger.classes] for row in rows])
        off = np.abs(theirs - ledger.predict_proba(new)).max(axis=1)
        assert off[2:].max() < (0.12 if near else 1e-12)
        assert near or off.max() < 1e-12
    ledger.export(tmp_path / "model.onnx")
    found = by_onnx(tmp_path / "model.onnx", model, new)
    assert np.abs(found["scores"] - scores).max() < 1e-12
    assert found["label"].tolist() == (pytest.approx(predicted) if kind == "number" else predicted)
    if ledger.player.probable:
        first = found["probabilities"][:, model["labels"].index(ledger.classes[0])]
        assert np.abs(first - theirs[:, 0]).max() < 1e-12


def test_scorer_reads_cells_as_the_table_does(tmp_path):
    rows = [{"plan": ("10.0", "7.50", "True", "A")[k % 4], "n": str(k % 9), "y": "ny"[k % 4 == 0]} for k in range(120)]
    pd.DataFrame(rows).to_csv(tmp_path / "rows.csv", index=False)
    ledger = nk.play("logistic", nk.read(tmp_path / "rows.csv", missing=["gone"], category=["plan"]))
    ledger.export(tmp_path / "m.json")
    model = json.loads((tmp_path / "m.json").read_text())
    for plan in ("10.0", "10", 10, 10.0, "7.50", "7.5", "true", True, "A", "a", "None", "gone", "", None, float("nan")):
        for n in ("3", 3, "-", "#N/A", "gone", None):
            expected = ledger.predict_proba({"plan": plan, "n": n})["y"]
            assert SCORER["probabilities"](model, {"plan": plan, "n": n})["y"] == pytest.approx(expected), (plan, n)
    far = {"model": "linear", "output": "label", "labels": ["n", "y"], "columns": [], "terms": [], "weights": [[-9e3]]}
    assert SCORER["probabilities"](far, {}) == {"n": 1.0, "y": pytest.approx(0.0, abs=1e-300)}


def test_arrays_and_dicts_of_numbers_are_exported_by_name(tmp_path):
    rng = np.random.default_rng(0)
    middle = np.array([0.0, 30.0, -5.0])
    x = rng.normal(size=(200, 3)) + middle
    y = np.where((x - middle) @ [1.0, -2.0, 0.5] > 0, 1, -1)
    dicts = [({"a": a, "b": b}, label) for (a, b, _), label in zip(x.tolist(), y.tolist(), strict=True)]
    for source, names in (((x, y), ["x0", "x1", "x2"]), (dicts, ["a", "b"])):
        for spec in ("perceptron", "perceptron:scale=standard,bias=1", "logistic:scale=standard", "tree"):
            ledger = nk.play(spec, source)
            ledger.export(tmp_path / "m.json")
            model = json.loads((tmp_path / "m.json").read_text())
            assert [column["name"] for column in model["columns"]] == names
            rows = [dict(zip(names, row, strict=False)) for row in x.tolist()]
            ours = ledger.predict(x if names[0] == "x0" else rows).tolist()
            assert [SCORER["predict"](model, row) for row in rows] == ours
            if ledger.player.probable and names[0] == "x0":
                theirs = [SCORER["probabilities"](model, row)[1] for row in rows]
                off = np.abs(ledger.predict_proba(x)[:, 1] - theirs)
                assert np.quantile(off, 0.9) < 1e-9
                assert off.max() < 1e-3  # rows that enlarge the range of a scaled feature


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("turned", [False, True])
def test_rare_and_unseen_categories_go_the_way_of_all_others(tmp_path, turned):
    rng = np.random.default_rng(1)
    codes = np.append(rng.permutation(180), rng.integers(0, 180, 1500))  # more than a cut can tell apart
    high = (codes % 3 == 0) != turned
    frame = pd.DataFrame({"code": [f"c{code}" for code in codes], "y": np.where(high, "yes", "no")})
    ledger = nk.play("tree", frame, label="y")
    ledger.export(tmp_path / "m.json")
    new = pd.DataFrame({"code": [*(f"c{code}" for code in range(180)), "never", None]})
    model, rows, predicted, scores = scored(tmp_path / "m.json", new)
    assert ledger.predict(new).tolist() == predicted
    theirs = [SCORER["probabilities"](model, row)["yes"] for row in rows]
    assert np.abs(ledger.predict_proba(new)[:, 1] - theirs).max() < 1e-12
    ledger.export(tmp_path / "m.onnx")
    assert np.abs(by_onnx(tmp_path / "m.onnx", model, new)["scores"] - scores).max() < 1e-12


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_chosen_threshold_is_exported(tmp_path):
    frame, new = table("two")
    ledger = nk.play("forest", frame, label="y")
    nk.choose_threshold(ledger, cost={"FP": 1, "FN": 20})
    ledger.export(tmp_path / "m.json")
    model, _, predicted, _ = scored(tmp_path / "m.json", new)
    ours = ledger.predict(new.fillna({"a": 0.0})).tolist()
    assert predicted[2:] == ours[2:]
    ledger.export(tmp_path / "m.onnx")
    assert by_onnx(tmp_path / "m.onnx", model, new)["label"].tolist() == predicted
    ledger.threshold = None
    assert ledger.predict(new.fillna({"a": 0.0})).tolist() != ours


def test_what_cannot_be_exported_is_refused_with_a_sentence(tmp_path):
    frame, _ = table("two")
    path = tmp_path / "m.json"
    for spec in ("auto:fast=true", "perceptron:normalize=true", "vaw:probabilities=true", "kernel-perceptron"):
        with pytest.raises(MismatchError, match="only linear models and trees can be exported: .* is neither"):
            nk.play(spec, frame, label="y").export(path)
    dates = frame.assign(day=pd.date_range("2024-01-01", periods=len(frame)))
    with pytest.raises(MismatchError, match="a column of dates cannot be exported: day is one"):
        nk.play("perceptron", dates, label="y").export(path)
    ledger = nk.play("perceptron", frame.rename(columns={"a": "scores"}), label="y")
    with pytest.raises(InputError, match="must not be named like one of its outputs"):
        ledger.export(tmp_path / "m.onnx")
    with pytest.raises(InputError, match="an export must be json or onnx: got the file"):
        ledger.export(tmp_path / "m.txt")
    with pytest.raises(MismatchError, match="must have played"):
        nk.Game("perceptron", labels=("a", "b")).ledger.export(path)
    assert not path.exists()


def test_command_exports_a_saved_model_and_replaces_only_exports(tmp_path, capsys):
    frame, _ = table("two")
    model, out = str(tmp_path / "m.nk"), tmp_path / "m.json"
    nk.save(nk.play("tree", frame, label="y"), model)
    for destination in (out, tmp_path / "m.onnx"):
        for _ in range(2):  # an export is replaced
            assert main(["export", model, str(destination)]) == 0
    assert f"tree: trees on 4 columns written to {out} (json)" in capsys.readouterr().out
    out.write_text("my thesis")
    assert main(["export", model, str(out)]) == 2
    assert "must not replace a file of another kind" in capsys.readouterr().err
    assert main(["export", model, str(out), "--force"]) == 0
