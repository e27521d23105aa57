"""`predict --no-label`: the labels of a file that has none, as if it had them; and `predict` of numbers."""

import gzip
import json

import numpy as np
import pytest

from helpers import novikoff as run


def learned(learner, source, model, *options):
    code, _, error = run("run", learner, source, "--save", model, "-q", *options)
    assert code == 0, error
    return model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same examples as a table, as svmlight, as messages and as JSON lines, with labels and without."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 3)).round(3)
    y = np.where(x[:, 0] > 0, "spam", "ham")
    words = np.where(y == "spam", "win a prize", "see you soon")
    folder = tmp_path_factory.mktemp("unlabelled")
    full = {"csv": ["f,g,h,label"], "svm": [], "txt": [], "jsonl": []}
    bare = {"csv": ["f,g,h"], "svm": [], "txt": [], "jsonl": []}
    for t, ((a, b, c), label) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        line = {"csv": f"{a},{b},{c}", "svm": f"1:{a} 2:{b} 9:{c}", "txt": f"{words[t]} no{t}"}
        for kind, text in line.items():
            bare[kind].append(text)
        full["csv"].append(f"{a},{b},{c},{label}")
        full["svm"].append(f"{1 if label == 'spam' else 0} {line['svm']}")
        full["txt"].append(f"{label}\t{line['txt']}")
        bare["jsonl"].append(json.dumps({"f": a, "g": b, "city": str(words[t])}))
        full["jsonl"].append(json.dumps({"f": a, "g": b, "city": str(words[t]), "label": label}))
    for kind in full:
        (folder / f"old.{kind}").write_text("\n".join(full[kind]) + "\n")
        (folder / f"new.{kind}").write_text("\n".join(bare[kind]) + "\n")
    learned("perceptron:bias=1", folder / "old.csv", folder / "csv.nk")
    return folder


@pytest.mark.parametrize("kind", ["csv", "svm", "txt", "jsonl"])
def test_predictions_do_not_depend_on_labels(kind, folder, tmp_path):
    model = learned("perceptron", folder / f"old.{kind}", tmp_path / "m.nk")
    with_labels = run("predict", model, folder / f"old.{kind}")
    code, out, error = run("predict", model, folder / f"new.{kind}", "--no-label")
    assert code == 0, error
    assert out == with_labels[1]
    assert set(out.split()) == ({"0", "1"} if kind == "svm" else {"ham", "spam"})
    assert error.endswith("\n400 rows\n")
    assert "mistakes in 400 rows" in with_labels[2]
    assert "; always predicting " in with_labels[2]


def test_names_of_columns_may_be_left_out(folder, tmp_path):
    lines = (folder / "new.csv").read_text().splitlines(keepends=True)[1:]
    (tmp_path / "bare.csv").write_text("".join(lines))
    wanted = run("predict", folder / "csv.nk", folder / "new.csv", "--no-label")[1]
    assert run("predict", folder / "csv.nk", tmp_path / "bare.csv", "--no-label")[1] == wanted


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_standard_input_is_read_packed_or_not(packed, folder):
    wanted = run("predict", folder / "csv.nk", folder / "new.csv", "--no-label")[1]
    given = packed((folder / "new.csv").read_bytes())
    assert run("predict", folder / "csv.nk", "-", "--no-label", input=given)[:2] == (0, wanted)


def test_as_json_there_are_predictions_and_no_mistakes(folder, monkeypatch):
    from novikoff.data import unlabelled

    plain = unlabelled.unlabelled

    def in_parts(*given, **options):
        stream = plain(*given, **options)
        whole = list(stream.batches())
        parts = [batch.part(a, min(a + 150, len(batch))) for batch in whole for a in range(0, len(batch), 150)]
        monkeypatch.setattr(stream, "batches", lambda: parts, raising=False)
        return stream

    said = run("predict", folder / "csv.nk", folder / "new.csv", "--no-label")[1].split()
    monkeypatch.setattr(unlabelled, "unlabelled", in_parts)
    code, out, _ = run("predict", folder / "csv.nk", folder / "new.csv", "--no-label", "--json")
    told = json.loads(out)
    assert (code, told["rows"], told["predictions"]) == (0, 400, said)
    assert not {"mistakes", "mistake_rate"} & set(told)


def test_guarantee_of_a_kept_classifier_is_printed_without_a_test(folder, tmp_path):
    model = learned("perceptron", folder / "old.csv", tmp_path / "m.nk", "--finalize", "best")
    code, out, error = run("predict", model, folder / "new.csv", "--no-label")
    assert (code, len(out.split())) == (0, 400)
    assert "400 rows\nguaranteed: error rate at most " in error
    assert "if these rows are independent draws" in error
    told = json.loads(run("predict", model, folder / "new.csv", "--no-label", "--json")[1])
    assert 0.0 < told["limit"] < 1.0
    assert told["alarm"] is None


@pytest.mark.parametrize("how", ["voted", "random", "averaged"])
def test_finalized_classifier_knows_its_width(how, folder, tmp_path):
    model = learned("kernel-perceptron" if how != "averaged" else "perceptron", folder / "old.csv", tmp_path / "m.nk",
                    "--finalize", how, "--seed", "1")  # fmt: skip
    (tmp_path / "two.csv").write_text("f,g\n1,2\n3,4.5\n")
    code, out, error = run("predict", model, tmp_path / "two.csv", "--no-label")
    assert (code, out) == (2, "")
    assert "m.nk was trained on: " in error
    assert 'two.csv has no "h"' in error
    (tmp_path / "two.csv").write_text("1,2\n3,4.5\n")
    assert "m.nk has 3 features: " in run("predict", model, tmp_path / "two.csv", "--no-label")[2]


def test_a_file_that_lacks_one_column_may_lack_the_label(folder, tmp_path):
    (tmp_path / "new.csv").write_text("f,g,h\n1,2,0\n3,4.5,1\n")
    code, out, error = run("predict", folder / "csv.nk", tmp_path / "new.csv")
    assert (code, out) == (2, "")
    assert "new.csv has no such column. Pass --label NAME if it has another name, --no-label if there" in error
    assert run("predict", folder / "csv.nk", tmp_path / "new.csv", "--no-label")[0] == 0
    (tmp_path / "one.csv").write_text("f,h\n1,0\n3,1\n")
    assert 'has no "g". ' in run("predict", folder / "csv.nk", tmp_path / "one.csv", "--no-label")[2]


def test_a_last_column_that_holds_no_labels_may_be_a_feature(folder):
    code, _, error = run("predict", folder / "csv.nk", folder / "new.csv")
    assert code == 2
    assert error.startswith('novikoff: the labels must be in column "label"')
    assert error.endswith("--no-label if there are none.\n")


def test_a_file_with_one_column_more_may_have_the_label(folder, tmp_path):
    (tmp_path / "new.csv").write_text("f,g,h,label\n1,2,0,1\n3,4.5,1,0\n")
    code, _, error = run("predict", folder / "csv.nk", tmp_path / "new.csv", "--no-label")
    assert code == 2
    assert 'has a new "label". ' in error
    assert error.endswith(" If one of its columns is the label, leave out --no-label.\n")


def test_a_converted_file_is_compared_with_its_labels(folder, tmp_path):
    run("convert", folder / "old.csv", tmp_path / "old.arrow")
    code, out, error = run("predict", folder / "csv.nk", tmp_path / "old.arrow", "--no-label")
    assert (code, len(out.split())) == (0, 400)
    assert "has labels" in error
    assert "mistakes in 400 rows" in error


def test_a_learner_of_integers_is_shown_exact_ones(tmp_path):
    (tmp_path / "old.csv").write_text("x,label\n" + "".join(f"{x},{int(x >= 40)}\n" for x in range(101)))
    model = learned("threshold-halving:100", tmp_path / "old.csv", tmp_path / "m.nk")
    (tmp_path / "new.csv").write_text("x\n0\n39\n40\n100\n")
    assert run("predict", model, tmp_path / "new.csv", "--no-label")[1].split() == ["0", "0", "1", "1"]
    (tmp_path / "new.csv").write_text("x\n0\n9007199254740993\n")
    code, _, error = run("predict", model, tmp_path / "new.csv", "--no-label")
    assert code == 2
    assert "below 2^53" in error


@pytest.mark.parametrize(("content", "options"), [("", ()), ("f,g,h\n", ("--header",))])
def test_an_empty_file_is_an_error(content, options, folder, tmp_path):
    (tmp_path / "new.csv").write_text(content)
    code, out, error = run("predict", folder / "csv.nk", tmp_path / "new.csv", "--no-label", *options)
    assert (code, out) == (2, "")
    assert "must not be empty" in error


@pytest.mark.parametrize("option", ["--label", "--positive"])
def test_options_about_labels_are_refused(option, folder):
    code, _, error = run("predict", folder / "csv.nk", folder / "new.csv", "--no-label", option, "f")
    assert code == 2
    assert f"{option} and --no-label cannot be combined" in error


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    rng = np.random.default_rng(1)
    x = rng.uniform(-0.7, 0.7, size=(300, 2)).round(3)
    folder = tmp_path_factory.mktemp("numbers")
    lines = [f"{a},{b}" for a, b in x.tolist()]
    outcomes = (0.5 * x[:, 0] + 0.1).round(4).tolist()
    (folder / "new.csv").write_text("\n".join(["f,g", *lines]) + "\n")
    full = [f"{line},{y}" for line, y in zip(lines, outcomes, strict=True)]
    (folder / "old.csv").write_text("\n".join(["f,g,y", *full]) + "\n")
    return folder, np.array(outcomes)


@pytest.mark.parametrize("keep", [(), ("--finalize", "averaged")])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_a_regressor_predicts_numbers_and_its_mean_loss_is_reported(loss, keep, numbers, tmp_path):
    folder, y = numbers
    model = learned(f"online-gradient:bias=1,loss={loss}", folder / "old.csv", tmp_path / "m.nk", *keep)
    code, out, error = run("predict", model, folder / "old.csv")
    said = np.array(out.split(), dtype=float)
    assert (code, said.shape) == (0, y.shape)
    mean = float(np.mean((said - y) ** 2 if loss == "squared" else np.abs(said - y)))
    rmse, mae = float(np.sqrt(np.mean((said - y) ** 2))), float(np.mean(np.abs(said - y)))
    constant = f"always predicting their mean {y.mean():.4g}: RMSE {y.std():.4g}"
    assert f"RMSE {rmse:.4g}, MAE {mae:.4g} in 300 rows; {constant}" in error
    assert (f"mean {loss} loss {mean:.6g}\n" in error) == bool(keep)
    assert ("guaranteed: expected loss at most " in error) == bool(keep)
    told = json.loads(run("predict", model, folder / "old.csv", "--json")[1])
    assert told["mean_loss"] == pytest.approx(mean)
    assert told["predictions"] == said.tolist()
    code, without, error = run("predict", model, folder / "new.csv", "--no-label")
    assert (code, without) == (0, out)
    assert "300 rows\n" in error
    assert "mean_loss" not in json.loads(run("predict", model, folder / "new.csv", "--no-label", "--json")[1])


def test_a_table_without_outcomes_is_recognised_by_its_width(numbers, tmp_path):
    folder, _ = numbers
    model = learned("online-gradient:bias=1", folder / "old.csv", tmp_path / "m.nk")
    code, _, error = run("predict", model, folder / "new.csv")
    assert code == 2
    assert "--no-label if there are none" in error
