"""`run --costs`: the threshold is chosen, printed, drawn, saved, used by `predict`, and chosen again on resume."""

import json

import pytest

import novikoff as nk
from helpers import novikoff


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """A table with a rare label, and its second half."""
    folder = tmp_path_factory.mktemp("rows")
    lines = [f"{k % 7},{(k * k) % 11},{'yes' if k % 7 + (k * k) % 11 > 12 else 'no'}" for k in range(600)]
    (folder / "first.csv").write_text("\n".join(["a,b,bought", *lines[:300]]) + "\n")
    (folder / "second.csv").write_text("\n".join(["a,b,bought", *lines[300:]]) + "\n")
    return folder


def test_run_saves_the_threshold_that_predict_uses(rows, tmp_path):
    run = [
        "run",
        "logistic",
        rows / "first.csv",
        "--positive",
        "yes",
        "--costs",
        "FP=1,FN=20",
        "--json",
        "--thresholds",
    ]
    code, out, _ = novikoff(*map(str, run), "--save", str(tmp_path / "m.nk"), "--plot", str(tmp_path / "p.svg"),
                            "--report", str(tmp_path / "r.html"))  # fmt: skip
    found = json.loads(out)
    assert code == 0
    assert found["threshold"]["costs"] == {"FP": 1.0, "FN": 20.0}
    assert found["threshold"]["cost"] == min(
        (one["false_positives"] + 20 * one["false_negatives"]) / 300 for one in found["thresholds"]
    )
    assert [one["theorem"] for one in found["threshold"]["certificates"]] == [
        "threshold_cost", "threshold_precision", "threshold_recall",
    ]  # fmt: skip
    assert "cost per row" in (tmp_path / "p.svg").read_text()
    assert "Precision, recall and cost by threshold" in (tmp_path / "r.html").read_text()

    ledger = nk.load(tmp_path / "m.nk")
    code, out, _ = novikoff("predict", str(tmp_path / "m.nk"), str(rows / "second.csv"), "--json")
    said = json.loads(out)
    assert said["threshold"] == ledger.threshold.value
    assert said["predictions"] == ledger.predict(str(rows / "second.csv")).tolist()
    ledger.threshold = None
    assert said["predictions"] != ledger.predict(str(rows / "second.csv")).tolist()

    code, out, _ = novikoff("run", str(rows / "second.csv"), "--resume", str(tmp_path / "m.nk"), "--save",
                            str(tmp_path / "n.nk"), "--json")  # fmt: skip
    again, both = nk.load(tmp_path / "n.nk"), json.loads(out)["threshold"]
    assert again.threshold.rows == 600
    assert (both["rule"], both["costs"]) == ("cost", {"FP": 1.0, "FN": 20.0})


def test_precision_out_of_reach_is_a_note_and_the_run_is_kept(rows, tmp_path):
    (tmp_path / "x.csv").write_text("a,y\n" + "1,no\n1,yes\n" * 20)
    code, _, error = novikoff("run", "logistic", str(tmp_path / "x.csv"), "--precision", "0.99", "--save",
                                str(tmp_path / "m.nk"))  # fmt: skip
    assert code == 0
    assert "no threshold has a precision of 0.99" in error
    assert nk.load(tmp_path / "m.nk").threshold is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--costs", "FP=1"], "--costs must be those of a false positive and a false negative"),
        (["--costs", "FP=x,FN=1"], "Write --costs FP=1,FN=5"),
        (["--threshold", "3"], "from 0 to 1"),
        (["--precision", "0.9", "--recall", "0.9"], "cannot be combined"),
        (["--chart", "thresholds"], "pass --plot FILE"),
        (["--costs", "FP=1,FN=5", "--finalize", "best"], "cannot be combined"),
    ],
)
def test_wrong_options_are_refused_before_the_game(rows, options, message):
    code, out, error = novikoff("run", "logistic", str(rows / "first.csv"), *options)
    assert (code, out) == (2, "")
    assert message in error
