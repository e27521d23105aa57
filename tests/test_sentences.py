"""What people try first and is wrong: one sentence each, with what to do, in Python and on the command line."""

import copy
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import novikoff as nk
from helpers import novikoff
from novikoff.core.errors import NovikoffError

X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.where(X[:, 0] > 0, 1, 0)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=Y)
DATES = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=60), "a": X[:, 0]})
DAYS = pd.DataFrame({"d": ["01/02/2024"] * 1100 + ["25/12/2024"], "label": [0, 1] * 550 + [1]})
TWICE = pd.concat([FRAME[["a"]], FRAME], axis=1)


def played():
    return nk.play("logistic", FRAME, candidates=5)


def river(learner):
    from novikoff.integrations.river import NovikoffClassifier

    return NovikoffClassifier(learner)


def fitted(frame):
    from novikoff.integrations.sklearn import AutoClassifier

    return AutoClassifier().fit(frame, Y)


IN_PYTHON = {
    "frame before learner": (lambda: nk.play(FRAME, "perceptron"), "learner must come before the source"),
    "arrays before learner": (lambda: nk.play((X, Y), nk.Perceptron()), "learner must come before the source"),
    "path before learner": (lambda: nk.play("h.csv", "perceptron"), "the source 'h.csv' and then the learner"),
    "class": (lambda: nk.play(nk.Perceptron, FRAME), r"got the class Perceptron. Pass Perceptron\(\)"),
    "no learner": (lambda: nk.play(3, FRAME), 'Pass "perceptron" or'),
    "labels apart": (lambda: nk.play("perceptron", X, Y), r"pass them with X: nk.play\(learner, \(X, y\)\)"),
    "labels apart, a list": (lambda: nk.play("perceptron", X, Y.tolist()), r"nk.play\(learner, \(X, y\)\)"),
    "no labels": (lambda: nk.play("perceptron", X), r"Pass X and y as one pair: \(X, y\)"),
    "finalize of a learner": (lambda: nk.finalize(nk.Perceptron()), r"finalize needs the ledger.*candidates=50"),
    "function as observer": (
        lambda: nk.play("perceptron", FRAME, observers=[lambda ledger: None]), r"Wrap a function.*Calls\(function\)"
    ),
    "observers alone": (lambda: nk.play("perceptron", FRAME, observers=print), "observers must be a list"),
    "game of a ledger": (lambda: nk.Game(played()), r"nk.Game\(ledger.learner, ledger\)"),
    "game of a class": (lambda: nk.Game(nk.Logistic), r"got the class Logistic. Pass Logistic\(\)"),
    "game of a frame": (lambda: nk.Game(FRAME), "a game must have a learner: got a value of type DataFrame"),
    "labels of pairs": (lambda: nk.Pairs([((1, 2), "a")], labels=("a", "b")), r"Pass nk.Labels\('a', 'b'\)"),
    "multiclass pairs": (lambda: nk.Pairs([((1, 2), "a")], labels="multiclass"), "multiclass=True for more than two"),
    "batch is a frame": (lambda: nk.Game(nk.Logistic()).predict_batch(FRAME), r"must be a Batch: got DataFrame"),
    "taught a frame": (lambda: nk.Game(nk.Logistic()).learn_batch(FRAME), r"must be a Batch: got DataFrame"),
    "batch is an array": (lambda: played().learner.predict_many(X), r"got ndarray. Pass nk.Batch\(X, y, 1\)"),
    "scores of an array": (lambda: nk.play("perceptron", FRAME).learner.scores_many(X), "got ndarray"),
    "kept, of an array": (lambda: nk.finalize(played(), "last").predict_many(X), "got ndarray"),
    "columns twice": (lambda: nk.play("perceptron", TWICE), "columns of the frame are called 'a'. Rename or drop one"),
    "columns twice in Frame": (lambda: nk.Frame(TWICE), "two columns of the frame are called 'a'"),
    "frame before learners": (lambda: nk.compare(FRAME, ["perceptron"]), r"Write nk.compare\(\["),
    "River, a learner": (lambda: river(nk.Logistic()), 'learner must be the spec.*Pass its spec: "logistic"'),
    "River, a class": (lambda: river(nk.Logistic), "got the class Logistic"),
    "scikit-learn, dates": (lambda: fitted(DATES), "column 'when' is datetime64"),
    "scikit-learn, dates alone": (lambda: fitted(DATES[["when"]]), "column 'when' is datetime64"),
    "passes as text": (lambda: nk.play("perceptron", FRAME, passes="2"), "passes must be an integer.*got '2'"),
    "passes in part": (lambda: nk.play("perceptron", FRAME, passes=2.5), "passes must be an integer.*got 2.5"),
    "rounds a boolean": (lambda: nk.play("perceptron", FRAME, rounds=True), "rounds must be an integer.*got True"),
    "shuffles as text": (lambda: nk.compare(["perceptron"], FRAME, shuffles="2"), "shuffles must be an integer"),
    "passes to compare": (lambda: nk.compare(["perceptron"], FRAME, passes=1.5), "passes must be an integer"),
    "rounds to repeat": (lambda: nk.repeat("perceptron", FRAME, rounds="5"), "rounds must be an integer"),
    "seeds as one number": (lambda: nk.repeat("perceptron", FRAME, 3), r"Write seeds=range\(30\)"),
    "repeat, swapped": (lambda: nk.repeat(FRAME, "perceptron"), r"Write nk.repeat\('perceptron', source\)"),
    "repeat, a learner": (lambda: nk.repeat(FRAME, nk.Perceptron()), r"Write nk.repeat\(lambda seed: Perceptron\("),
    "repeat, labels apart": (lambda: nk.repeat("perceptron", X, np.sign(X[:, 0])), r"nk.repeat\(learner, \(X, y\)\)"),
    "permutation, swapped": (
        lambda: nk.permutation_test(FRAME, "perceptron"), r"Write nk.permutation_test\('perceptron', source\)"
    ),
    "permutation, labels apart": (
        lambda: nk.permutation_test("perceptron", X, Y), r"nk.permutation_test\(learner, \(X, y\)\)"
    ),
    "compare, swapped": (lambda: nk.compare(FRAME, "perceptron"), r"Write nk.compare\(\['perceptron'\], source\)"),
    "compare, a path": (lambda: nk.compare("h.csv", ["arow"]), r"the source 'h.csv' and then the learner \['arow'\]"),
    "load of a ledger": (lambda: nk.load(played()), "got a value of type Ledger. It is in memory already"),
    "load of a frame": (lambda: nk.load(FRAME), "got a value of type DataFrame. Pass the path"),
    "pickled ledger": (lambda: pickle.dumps(played()), r"it was pickled. Write nk.save\(ledger, path\)"),
    "label NA": (
        lambda: nk.play("perceptron", pd.DataFrame({"a": range(40), "label": ["NA", "yes"] * 20})),
        "20 rows have no label, or one that is read as missing, such as NA: rename it if it is a label",
    ),
    "day first, late": (lambda: nk.play("perceptron", DAYS), "the month first.*25/12/2024.*Write all as 2024-12-31"),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_PYTHON)
def test_python_error_names_problem_and_remedy(name):
    if name.startswith("River"):
        pytest.importorskip("river")
    attempt, told = IN_PYTHON[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(NovikoffError) as caught:
            attempt()
    assert re.search(told, str(caught.value))
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tries")
    table = FRAME.assign(deny=np.where(Y, "yes", "no")).drop(columns="label").to_csv(index=False)
    (folder / "h.csv").write_text(table)
    (folder / "page.csv").write_text("<!DOCTYPE html>\n<html><body><p>Not found, sorry.</p></body></html>\n")
    (folder / "na.csv").write_text("a,label\n" + "".join(f"{k},{'NA' if k % 2 else 'yes'}\n" for k in range(40)))
    DAYS.to_csv(folder / "days.csv", index=False)
    code, _, error = novikoff("run", "perceptron", "h.csv", "--save", "m.nk", cwd=folder)
    assert code == 0, error
    return folder


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "h.csv", "perceptron"], "the learner comes before the source. Try: novikoff run perceptron h.csv"),
        (["run", "h.csv", "auto:drift=true"], "novikoff run auto:drift=true h.csv"),
        (["run", "m.nk", "h.csv"], "To resume it: novikoff run h.csv --resume m.nk"),
        (
            ["run", "h.csv", "m.nk"],
            "expected a source, got the model file m.nk. To resume it: novikoff run SOURCE --resume m.nk",
        ),
        (["run", "h.csv", "--resume", "h.csv"], "h.csv is a table or other text. Pass a file that --save wrote"),
        (["predict", "h.csv", "m.nk"], "the model comes before the source. Try: novikoff predict m.nk h.csv"),
        (["run", "h.csv", "--target", "deny"], "(did you mean --label?)"),
        (["run", "h.csv", "--target=deny"], "(did you mean --label?)"),
        (["run", "h.csv", "--label", "Deny"], 'Did you mean "deny"?'),
        (["run", "h.csv", "--drop", "A"], 'Did you mean "a"?'),
        (["h.csv"], "novikoff run h.csv"),
        (["demo:iris"], "novikoff run demo:iris"),
        (["run", "page.csv"], "page.csv is an HTML or XML page. Save the file itself"),
        (["run", "perceptron", "na.csv"], "20 rows have no label, or one that is read as missing, such as NA"),
        (["run", "perceptron", "days.csv"], "Write all as 2024-12-31"),
    ],
)
def test_command_line_error_names_problem_and_remedy(folder, words, told):
    code, _, error = novikoff(*words, cwd=folder)
    assert code == 2
    assert told in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"a,b\n1,2\n", "is a table or other text"),
        (b'{"rounds": 3}', "is a JSON file"),
        (pickle.dumps({1: 2}), "is a pickle"),
        (b"PAR1....", "is a Parquet file"),
        (b"ARROW1..", "is an Arrow file"),
        (None, "is a folder"),
    ],
)
def test_load_names_the_kind_of_a_file_that_is_no_model(tmp_path, content, told):
    path = tmp_path / "m.nk"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(NovikoffError, match=f"m.nk {told}. Pass a file that save wrote"):
        nk.load(path)


def test_load_of_arrays_of_numpy_is_refused_with_a_sentence(tmp_path):
    np.savez(tmp_path / "x.npz", X=X)
    with pytest.raises(NovikoffError, match="is a zip archive without a model. Pass a file"):
        nk.load(tmp_path / "x.npz")


def test_ledger_can_still_be_copied():
    ledger = played()
    for other in (copy.copy(ledger), copy.deepcopy(ledger)):
        assert other is not ledger
        assert other.certify() == ledger.certify()


def test_dates_that_fit_both_orders_are_reported_before_the_game(folder):
    stream = nk.read(folder / "days.csv")
    assert any('is read month first, though "01/02/2024" could be day first' in note for note in stream.notes)


def test_header_that_begins_with_a_hash_is_a_header(tmp_path):
    (tmp_path / "t.csv").write_text("#id,age,label\n" + "".join(f"{k},{k % 7},{k % 2}\n" for k in range(40)))
    assert nk.read(tmp_path / "t.csv").features == ("#id", "age")
