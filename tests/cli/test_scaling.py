"""`--scale`: tables and arrays are scaled by default, other sources are not; saved, resumed and asked for."""

import json
import math

import numpy as np
import pytest

import novikoff as nk
from helpers import novikoff


def played(*arguments, cwd):
    code, out, error = novikoff("run", *arguments, "--json", cwd=cwd)
    assert code == 0, error
    return json.loads(out)


@pytest.fixture
def folder(tmp_path):
    """The same rows, of columns of different sizes, as a table and as svmlight."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 3)) * [1.0, 100.0, 0.01] + [0.0, 500.0, 0.0]
    y = np.where((x - [0, 500, 0]) @ [1.0, 0.01, 100.0] > 0, 1, -1)
    (tmp_path / "rows.csv").write_text(
        "a,b,c,label\n" + "".join(f"{','.join(map(repr, r.tolist()))},{s}\n" for r, s in zip(x, y, strict=True))
    )
    (tmp_path / "rows.svm").write_text(
        "".join(f"{s} 0:{r[0]!r} 1:{r[1]!r} 2:{r[2]!r}\n" for r, s in zip(x.tolist(), y, strict=True))
    )
    return tmp_path


def test_scaling_of_a_table_is_reported(folder):
    told = played("perceptron:bias=1", "rows.csv", cwd=folder)
    assert told["learner"] == "perceptron:bias=1,scale=standard"
    raw = played("perceptron:bias=1", "rows.csv", "--scale", "none", cwd=folder)
    assert raw["learner"] == "perceptron:bias=1,scale=none"
    assert told["mistakes"] < raw["mistakes"] / 2
    assert told["certificates"][0]["status"] == "valid"
    x = nk.read(folder / "rows.csv")
    assert nk.play(nk.Scaled(nk.Perceptron(bias=1), "standard"), x).mistakes == told["mistakes"]


def test_other_sources_are_not_scaled_unless_requested(folder):
    assert played("perceptron", "rows.svm", cwd=folder)["learner"] == "perceptron"
    assert played("perceptron", "stream:separable:rounds=50,width=5", cwd=folder)["learner"] == "perceptron"
    assert (
        played("perceptron", "rows.svm", "--scale", "range", cwd=folder)["learner"] == "perceptron:bias=1,scale=range"
    )


def test_scaled_rows_have_a_constant_feature_unless_disabled(folder):
    for spec, played_as in (
        ("perceptron", "perceptron:bias=1,scale=standard"),
        ("perceptron:bias=0", "perceptron:bias=0,scale=standard"),
        ("perceptron:0.5", "perceptron:0.5,scale=standard"),
        ("perceptron:scale=standard", "perceptron:scale=standard"),
        ("kernel-perceptron", "kernel-perceptron:scale=standard"),
    ):
        assert played(spec, "rows.csv", cwd=folder)["learner"] == played_as
    assert played("online-gradient", "rows.csv", cwd=folder)["learner"] == "online-gradient"
    asked = played("online-gradient", "rows.csv", "--scale", "standard", cwd=folder)
    assert asked["learner"] == "online-gradient:bias=1,scale=standard"
    assert not any(
        "average" in one["quantity"] for one in asked["certificates"]
    )  # scaled rows are no independent draws


def test_spec_overrides_the_option(folder):
    told = played("perceptron:scale=range", "rows.csv", "--scale", "standard", cwd=folder)
    assert told["learner"] == "perceptron:scale=range"


def test_members_of_a_team_are_scaled(folder):
    told = played("hedge:learners=[perceptron,[rbp:budget=9],constant]", "rows.csv", "--save", "team.nk", cwd=folder)
    assert told["learner"] == "hedge:learners=[[perceptron:bias=1],[rbp:budget=9],[constant]],scale=standard"
    members = nk.load(folder / "team.nk").learner.learners
    assert [type(one).__name__ for one in members] == ["Scaled", "Scaled", "Constant"]


def test_a_learner_that_is_not_on_vectors_is_left_alone_and_refuses_to_be_scaled(folder):
    assert played("constant", "rows.csv", cwd=folder)["learner"] == "constant"
    code, _, error = novikoff("run", "constant", "rows.csv", "--scale", "range", cwd=folder)
    assert code == 2
    assert "scale is for learners on vectors: constant plays on any. Leave it out." in error


def test_converted_table_is_scaled(folder):
    novikoff("convert", "rows.csv", "rows.arrow", cwd=folder)
    told, other = (played("perceptron", name, cwd=folder) for name in ("rows.csv", "rows.arrow"))
    assert told["learner"] == other["learner"] == "perceptron:bias=1,scale=standard"
    assert told["mistakes"] == other["mistakes"]
    novikoff("convert", "rows.svm", "svm.arrow", cwd=folder)
    assert played("perceptron", "svm.arrow", cwd=folder)["learner"] == "perceptron"


@pytest.mark.parametrize("again", ["perceptron:bias=1", "perceptron:bias=1,scale=standard", "perceptron"])
@pytest.mark.parametrize("scale", [(), ("--scale", "standard"), ("--scale", "auto")])
def test_a_scaled_game_resumes(folder, again, scale):
    whole = played("perceptron:bias=1", "rows.csv", cwd=folder)
    played("perceptron:bias=1", "rows.csv", "--rounds", "50", "--save", "half.nk", cwd=folder)
    rest = played(again, "rows.csv", "--resume", "half.nk", *scale, cwd=folder)
    for name in ("learner", "rounds", "mistakes", "certificates"):
        assert rest[name] == whole[name], name


@pytest.mark.parametrize(("begun", "asked"), [("standard", "range"), ("standard", "none"), ("none", "standard")])
def test_a_game_resumes_with_its_own_scale(folder, begun, asked):
    played("perceptron", "rows.csv", "--scale", begun, "--rounds", "50", "--save", "half.nk", cwd=folder)
    code, _, error = novikoff("run", "perceptron", "rows.csv", "--resume", "half.nk", "--scale", asked, cwd=folder)
    assert code == 2
    assert f"has scale {begun}, not {asked}. Leave out --scale." in error


def test_scaled_example_may_be_normalized(folder):
    told = played("perceptron", "rows.csv", "--normalize", "--save", "unit.nk", cwd=folder)
    assert nk.load(folder / "unit.nk").learner.within.normalize
    assert told["certificates"][0]["quantities"]["R"] == pytest.approx(math.sqrt(2.0))  # and a constant of 1


def test_a_saved_scaled_learner_predicts(folder):
    played("perceptron", "rows.csv", "--save", "m.nk", cwd=folder)
    code, out, _ = novikoff("predict", "m.nk", "rows.csv", "--json", cwd=folder)
    learner, stream = nk.load(folder / "m.nk").learner, nk.read(folder / "rows.csv")
    said = [learner.predict_one(x) for batch in stream.batches() for x, _ in batch.rows()]
    assert code == 0
    assert json.loads(out)["predictions"] == said
    code, _, error = novikoff("predict", "m.nk", "rows.csv", "--no-label", cwd=folder)
    assert code == 2
    assert "leave out --no-label" in error


def test_a_scaled_regression_is_saved_and_predicts(folder):
    spec = "online-gradient:normalize=true,scale=standard"
    told = played(spec, "rows.csv", "--save", "r.nk", cwd=folder)
    assert told["learner"] == spec
    assert played("online-gradient:limit=1000", "rows.csv", cwd=folder)["learner"] == "online-gradient:limit=1000"
    code, out, error = novikoff("predict", "r.nk", "rows.csv", cwd=folder)
    assert code == 0
    assert len(out.splitlines()) == 120
    assert "RMSE" in error
    assert "always predicting their mean" in error


def test_compare_scales_the_specs_on_a_table(folder):
    code, out, _ = novikoff("compare", "rows.csv", "-l", "perceptron", "-l", "constant", "--json", cwd=folder)
    assert code == 0
    assert [one["learner"] for one in json.loads(out)["learners"]] == ["perceptron:bias=1,scale=standard", "constant"]
    code, out, _ = novikoff("compare", "rows.csv", "-l", "perceptron", "--scale", "none", "--json", cwd=folder)
    assert [one["learner"] for one in json.loads(out)["learners"]] == ["perceptron:scale=none"]


@pytest.mark.parametrize("how", ["best", "random", "voted", "last"])
def test_a_classifier_is_kept_of_a_scaled_game(folder, how):
    kept = played("perceptron", "rows.csv", "--finalize", how, "--save", "kept.nk", cwd=folder)["kept"]
    code, out, error = novikoff("predict", "kept.nk", "rows.csv", "--json", cwd=folder)
    assert code == 0, error
    assert json.loads(out)["limit"] == (kept["certificates"][0]["bound"] if kept["certificates"] else None)
    assert kept["drawn"] == (how in ("random", "voted"))


def test_weights_on_different_scales_are_not_averaged(folder):
    code, _, error = novikoff("run", "perceptron", "rows.csv", "--finalize", "averaged", "--scale", "auto", cwd=folder)
    assert code == 2
    assert "a Perceptron without scaling: this one scales each row" in error
    kept = played("perceptron", "rows.csv", "--finalize", "averaged", cwd=folder)
    assert kept["learner"] == "perceptron:scale=none"


@pytest.mark.parametrize("scale", ["standard", "range"])
@pytest.mark.parametrize("source", ["rows.csv", "rows.svm"])
def test_hindsight_reads_the_rows_as_the_learner_saw_them(folder, scale, source):
    told = played("perceptron:bias=1", source, "--scale", scale, "--hindsight", cwd=folder)
    found = told["hindsight"]
    assert found["hinge"][0] <= found["hinge"][1] < 120
    without = played("perceptron:bias=1", source, "--scale", scale, cwd=folder)
    assert told["certificates"][0]["bound"] <= without["certificates"][0]["bound"]


def test_hindsight_of_a_scaled_game_that_continues_is_that_of_the_whole(folder):
    whole = played("perceptron:bias=1", "rows.csv", "--hindsight", cwd=folder)
    played("perceptron:bias=1", "rows.csv", "--rounds", "50", "--save", "half.nk", cwd=folder)
    rest = played("perceptron", "rows.csv", "--resume", "half.nk", "--hindsight", cwd=folder)
    assert rest["hindsight"]["hinge"] == whole["hindsight"]["hinge"]


def test_hindsight_of_a_scaled_game_is_of_one_pass(folder):
    code, _, error = novikoff("run", "perceptron", "rows.csv", "--passes", "2", "--hindsight", cwd=folder)
    assert code == 2
    assert "hindsight of a scaled game needs one pass from the first example on: 2 passes were requested." in error
    told = played("perceptron", "rows.csv", "--passes", "2", "--hindsight", "--scale", "none", cwd=folder)
    assert told["hindsight"]
