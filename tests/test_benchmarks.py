"""`python -m benchmarks` lists the benchmarks, and rejects unknown names and options before it measures anything."""

import argparse
import ast
import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import novikoff as nk

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "benchmarks").glob("*.py"))
HELPERS = ("__init__", "__main__", "made", "quality_page", "quality_peers", "quality_streams", "real", "timing")
NAMES = [file.stem for file in FILES if file.stem not in HELPERS]


def asked(*arguments):
    return subprocess.run([sys.executable, "-m", "benchmarks", *arguments], cwd=ROOT, capture_output=True, text=True)


def test_help_has_a_line_for_each():
    done = asked("--help")
    told = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if line.startswith("  "))
    assert (done.returncode, done.stderr, list(told)) == (0, "", NAMES)
    assert told["svmlight"].startswith("Reading svmlight text")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["svmligth"], "unknown benchmark: svmligth. Available:\n  adapters "),
        (["--shuffles", "3"], "--shuffles must follow the name of a benchmark"),
        (["svmlight", "--shuffles", "3"], "svmlight takes no options: got --shuffles 3."),
    ],
)
def test_unknown_names_are_refused(arguments, said):
    done = asked(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_imported_names_exist(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("novikoff."):
            try:
                module = importlib.import_module(node.module)
            except ImportError as error:
                if str(error.name).startswith("novikoff"):
                    raise
                pytest.skip(f"an extra is not installed: {error}")
            for name in node.names:
                if not hasattr(module, name.name):
                    importlib.import_module(f"{node.module}.{name.name}")


@pytest.fixture
def board(monkeypatch):
    """The quality board with two tiny streams."""
    pytest.importorskip("pandas")
    monkeypatch.syspath_prepend(ROOT)
    quality = importlib.import_module("benchmarks.quality")
    import pandas as pd

    rng = np.random.default_rng(5)
    x = pd.DataFrame({"number": rng.normal(size=80), "word": rng.choice(["red", "green"], size=80)})
    score = 2.0 * x["number"] + (x["word"] == "red")
    label = score + rng.normal(size=80) > 0.0
    streams = quality.quality_streams
    tiny = {
        "labels": streams.Stream("binary", lambda: (x, label)),
        "numbers": streams.Stream("regression", lambda: (x, score + 3.0), ordered=True),
    }
    for module in (streams, quality.quality_page):
        monkeypatch.setattr(module, "STREAMS", tiny)
    quality.rows.cache_clear()
    yield quality
    quality.rows.cache_clear()


PLAYED = ["auto", "River linear", "scikit-learn SGD"]


def play(board, path, learners=PLAYED, **options):
    chosen = argparse.Namespace(streams=["labels", "numbers"], learners=learners, orders=3, jobs=1, again=False)
    vars(chosen).update(options)
    results = board.Results(path)
    board.run(chosen, results)
    return results


@pytest.mark.filterwarnings("default")  # those of the peers
def test_board_runs_on_two_streams_and_continues(board, tmp_path, capsys):
    pytest.importorskip("river")
    pytest.importorskip("sklearn")
    path = tmp_path / "results.jsonl"
    play(board, path, PLAYED[1:])
    before = path.read_text()
    lines = play(board, path).lines
    assert "River" not in capsys.readouterr().err.split("auto", 1)[1]  # nothing is played twice
    assert set(before.splitlines()) < set(path.read_text().splitlines())
    orders = {"labels": 3, "numbers": 1}
    assert set(lines) == {(s, order, name) for s, n in orders.items() for order in range(n) for name in PLAYED}
    assert all(0.0 < line["log_loss"] < 3.0 for line in lines.values() if line["stream"] == "labels")
    text = board.quality_page.page(lines)
    assert "| labels | 80 |" in text
    assert "| numbers | 80 |" in text
    assert "of 1 streams" in board.quality_page.summary(lines)


@pytest.mark.filterwarnings("default")
def test_board_log_loss_equals_independent_computation(board, tmp_path):
    pytest.importorskip("river")
    from river import compose, linear_model, preprocessing
    from sklearn.metrics import log_loss, roc_auc_score

    lines = play(board, tmp_path / "results.jsonl", ["auto", "River linear"], orders=1).lines
    rows = board.quality_streams.rows("labels", 0)
    scaled = compose.Select("number") | preprocessing.StandardScaler()
    model = (scaled + (compose.Select("word") | preprocessing.OneHotEncoder())) | linear_model.LogisticRegression()
    chances = []
    for x, y in zip(rows.x.to_dict("records"), rows.y.tolist(), strict=True):
        chances.append(model.predict_proba_one(x).get(True, 0.5))
        model.learn_one(x, bool(y))
    counted = np.ones(80, bool)
    counted[[rows.y.tolist().index(0), rows.y.tolist().index(1)]] = False  # labels that are new
    line = lines["labels", 0, "River linear"]
    assert line["log_loss"] == pytest.approx(log_loss(rows.y[counted], np.array(chances)[counted]), abs=1e-6)
    assert line["auc"] == pytest.approx(roc_auc_score(rows.y, chances), abs=1e-6)
    assert line["error"] == pytest.approx(np.mean((np.array(chances) > 0.5) != rows.y), abs=1e-6)
    ledger = nk.play("auto", rows.x.assign(label=[f"label {y}" for y in rows.y]))
    own = lines["labels", 0, "auto"]
    assert (own["loss"], own["error"]) == (pytest.approx(ledger.log_loss), pytest.approx(ledger.mistakes / 80))
    assert own["loss"] <= own["bound"]
    numbers = lines["numbers", 0, "auto"]
    rows = board.quality_streams.rows("numbers", 0)
    ledger = nk.play("auto-regression", rows.x.assign(label=rows.y))
    assert 79 * numbers["rmse"] ** 2 + numbers["first"] == pytest.approx(ledger.loss)


def line(order, learner, loss, blocks=None):
    found = {"stream": "labels", "order": order, "learner": learner, "log_loss": loss}
    return found if blocks is None else {**found, "blocks": {"log_loss": blocks}}


def indexed(*lines):
    return {(one["stream"], one["order"], one["learner"]): one for one in lines}


@pytest.mark.parametrize(
    ("own", "peer", "expected"),
    [
        ([0.1, 0.2, 0.3], [0.2, 0.3, 0.4], "lower"),  # the same difference in each order: no error
        ([0.2, 0.3, 0.4], [0.1, 0.2, 0.3], "higher"),
        ([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], "tie"),
        ([0.0, 0.0, 0.0], [3.0, 0.0, 0.0], "tie"),  # mean 1, standard error sqrt(3) / sqrt(3) = 1
        ([0.0, 0.0, 0.0], [3.0, 0.1, 0.1], "lower"),
    ],
)
def test_tie_is_at_most_one_standard_error_over_orders(board, own, peer, expected):
    lines = indexed(
        *(line(order, "auto", loss) for order, loss in enumerate(own)),
        *(line(order, "VW", loss) for order, loss in enumerate(peer)),
    )
    assert board.quality_page.verdict(lines, "labels", "auto", ["VW", "LightGBM"], "log_loss") == expected


def test_tie_with_one_order_is_computed_over_parts_of_the_stream(board):
    page = board.quality_page
    lines = indexed(line(0, "auto", 0.5, [0.0, 1.0]), line(0, "VW", 1.0, [1.0, 1.0]), line(1, "auto", 9.0))
    assert page.compare(lines, "labels", "auto", "VW", "log_loss") == (-0.5, 0.5)  # order 1 has no VW
    assert page.verdict(lines, "labels", "auto", ["VW"], "log_loss") == "tie"
    lines = indexed(line(0, "auto", 0.4, [0.3, 0.5]), line(0, "VW", 1.0, [0.9, 1.1]))
    assert page.verdict(lines, "labels", "auto", ["VW"], "log_loss") == "lower"
    assert page.verdict(lines, "labels", "auto", ["LightGBM"], "log_loss") is None


def test_peer_that_diverges_does_not_tie(board):
    lines = indexed(line(0, "auto", 0.5, [0.5, 0.5]), line(0, "VW", 5.0, [0.5, 9.5]))
    assert board.quality_page.verdict(lines, "labels", "auto", ["VW"], "log_loss") == "tie"
    lines |= indexed(line(0, "frequencies", 0.7))
    assert board.quality_page.verdict(lines, "labels", "auto", ["VW"], "log_loss") == "lower"


def test_page_on_quality_is_printed_from_the_results(monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.syspath_prepend(ROOT)
    quality = importlib.import_module("benchmarks.quality")
    lines = quality.Results(quality.RESULTS).lines
    assert (ROOT / "docs" / "quality.md").read_text(encoding="utf-8") == quality.quality_page.page(lines)
