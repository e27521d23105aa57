"""`run --finalize` and `predict`: a classifier goes into a file, and its promise comes out again."""

import json

import numpy as np
import pytest

from helpers import novikoff as run


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2400, 3)).round(3)
    y = np.where((x[:, 0] > 0) ^ (rng.random(2400) < 0.1), "spam", "ham")
    turned = np.where(y == "spam", "ham", "spam")
    folder = tmp_path_factory.mktemp("keep")
    old, new = slice(0, 1200), slice(1200, None)
    for name, part, labels in (("old", old, y), ("new", new, y), ("turned", new, turned)):
        lines = [f"{a},{b},{c},{label}" for (a, b, c), label in zip(x[part], labels[part], strict=True)]
        (folder / f"{name}.csv").write_text("\n".join(["f,g,h,label", *lines]) + "\n")
    return folder


@pytest.mark.parametrize("how", ["best", "random", "voted", "averaged", "last"])
def test_a_classifier_is_kept_saved_and_asked(how, files, tmp_path):
    model = tmp_path / "model.nk"
    code, out, _ = run(
        "run", "perceptron:bias=1,scale=none", files / "old.csv", "--finalize", how, "--save", model, "--json"
    )
    kept = json.loads(out)["kept"]
    assert (code, kept["how"], kept["rounds"]) == (0, how, 1200)
    code, out, error = run("predict", model, files / "new.csv")
    said = out.split()
    assert code == 0
    assert len(said) == 1200
    assert set(said) == {"ham", "spam"}
    limits = [certificate["bound"] for certificate in kept["certificates"]]
    assert ("no bound on its error rate is known" in error) == (not limits)
    assert ("mean over the random draw" in error) == kept["drawn"] == (how == "random")
    told = json.loads(run("predict", model, files / "new.csv", "--json")[1])
    assert told["limit"] == (limits[0] if limits else None)
    if how in ("best", "voted"):
        assert told["mistake_rate"] <= told["limit"]
        assert not told["alarm"]


def test_rows_that_refute_the_guarantee_are_reported(files, tmp_path):
    model = tmp_path / "model.nk"
    run("run", "perceptron", files / "old.csv", "--finalize", "best", "--save", model, "-q")
    assert "too many errors: these rows are not" in run("predict", model, files / "turned.csv")[2]


def test_kept_classifier_is_described(files):
    out = run("run", "perceptron", files / "old.csv", "--finalize", "random", "--seed", "3", "-q")[1]
    assert "mean error rate of the hypotheses on new examples guaranteed at most" in " ".join(out.split())
    assert "The bound is on the mean risk over the random draw" in out
    again = run("run", "perceptron", files / "old.csv", "--finalize", "random", "--seed", "3", "-q")[1]
    assert out[out.index("final classifier: ") :] == again[again.index("final classifier: ") :]
    out = run("run", "perceptron", files / "old.csv", "--finalize", "best", "-q")[1]
    assert "drift test: no evidence against independent examples (wealth" in out
    assert "Assumes that the examples are independent draws from one distribution" in out
    verbose = run("run", "perceptron", files / "old.csv", "--finalize", "best", "-q", "-v")[1]
    assert "not checked: the examples are independent draws from one distribution" in verbose


@pytest.mark.parametrize(
    ("learner", "more", "why"),
    [
        ("perceptron", ("--finalize", "best", "--delta", "0"), "between 0 and 1"),
        ("perceptron", ("--finalize", "best", "--candidates", "0"), "at least 1"),
        ("ellipsoid", ("--finalize", "averaged"), "averaging needs a binary Perceptron"),
    ],
)
def test_unkeepable_learner_is_refused_before_the_game(learner, more, why, files, tmp_path):
    model = tmp_path / "model.nk"
    code, _, error = run("run", learner, files / "old.csv", *more, "--save", model, "-q")
    assert code == 2
    assert why in error
    assert not model.exists()


def test_a_game_without_hypotheses_cannot_keep_one_later(files, tmp_path):
    model = tmp_path / "model.nk"
    run("run", "perceptron", files / "old.csv", "--rounds", "500", "--save", model, "-q")
    code, _, error = run("run", "perceptron", files / "old.csv", "--resume", model, "--finalize", "best", "-q")
    assert code == 2
    assert "500 were played. Leave out --finalize" in error


def test_error_for_unkeepable_learner_suggests_no_dead_end(tmp_path):
    (tmp_path / "r.csv").write_text("a,label\n" + "".join(f"{i},{i / 7}\n" for i in range(40)))
    for how in ("best", "averaged"):
        told = run("run", "auto-regression", "r.csv", "--finalize", how, cwd=tmp_path)
        assert told.returncode == 2
        assert told.stderr.endswith("Play without --finalize.\n")
