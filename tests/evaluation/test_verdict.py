"""Metrics and verdict of a comparison: log loss, AUC, MAE and RMSE, with uncertainty."""

import json
import math

import numpy as np
import pytest
from scipy.stats import t

import novikoff as nk
from mixed_rows import as_csv, mixed
from novikoff.cli.main import main
from novikoff.core.errors import InputError, MismatchError


def numbers(rows=400, noise=1.0):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(rows, 4))
    return X, X @ [1.0, 2.0, 0.0, 0.5] + noise * draw.normal(size=rows)


def test_metrics_are_those_of_each_game():
    found = nk.compare(["logistic", "ftrl"], "demo:breast-cancer", threads=1)
    for one in found.learners:
        ledger = nk.play(one.learner, "demo:breast-cancer")
        assert one.games[0].log_loss == ledger.log_loss / ledger.rounds
        assert one.games[0].auc == ledger.auc.value
        assert one.games[0].mistakes == ledger.mistakes
    assert found.by == "log-loss"
    assert [one.learner for one in found.ranking] == ["logistic", "ftrl"]
    assert found.verdict.startswith("logistic is better than ftrl by 0.1")


def test_difference_and_interval_are_those_of_block_means():
    found = nk.compare(["logistic", "ftrl"], "demo:breast-cancer", threads=1)
    one, other = (np.array(learner.games[0].blocks) for learner in found.ranking)
    assert one.shape == (30, 4)
    assert one[-1, 0] == 569
    means = np.diff(other[:, 2] - one[:, 2], prepend=0.0) / np.diff(one[:, 0], prepend=0.0)
    (difference,) = found.differences
    assert math.isclose(difference.within, t.ppf(0.975, 29) * means.std(ddof=1) / math.sqrt(30))
    assert math.isclose(difference.amount, found.learners[1].games[0].log_loss - found.learners[0].games[0].log_loss)


def test_numbers_are_compared_by_rmse_and_auto_takes_its_form_for_numbers():
    X, y = numbers()
    found = nk.compare(["auto", "vaw"], (X, y), threads=1)
    assert found.by == "rmse"
    assert {one.learner for one in found.learners} == {"auto-regression", "vaw"}
    for one in found.learners:
        ledger = nk.play(one.learner, (X, y))
        assert (one.games[0].rmse, one.games[0].mae) == (ledger.rmse, ledger.mae)
    by_mae = nk.compare(["auto", "vaw"], (X, y), threads=1, by="mae")
    gap = abs(by_mae.learners[0].games[0].mae - by_mae.learners[1].games[0].mae)
    assert math.isclose(by_mae.differences[0].amount, gap)
    assert "mean absolute error" in by_mae.verdict
    assert list(found.frame().columns) == ["learner", "mae", "rmse", "behind_best", "plus_minus", "seconds"]


def test_interval_covers_the_difference_of_equal_learners_about_as_often_as_it_should():
    """Two constant predictors of a fair coin differ by 0 on average: the 95 % interval should mostly contain 0."""
    draw = np.random.default_rng(1)
    missed = 0
    for _ in range(60):
        y = np.where(draw.random(300) < 0.5, 1, -1)
        X = np.ones((300, 1))
        found = nk.compare({"up": lambda seed: Says(1), "down": lambda seed: Says(-1)}, (X, y), threads=1)
        missed += found.differences[0].clear
    assert missed <= 10  # 95 % of 60 are 57; at most 10 misses has a chance of 99.97 %


class Says:
    """Predict one label, whatever comes."""

    def __init__(self, label):
        self.label = label

    def predict_one(self, x):
        return self.label

    def learn_one(self, x, y):
        pass


def test_equal_learners_do_not_differ_clearly_and_a_clear_one_is_better():
    found = nk.compare({"a": "logistic", "b": "logistic"}, "demo:breast-cancer", threads=1)
    assert "do not differ clearly: 0." in found.verdict
    assert not found.differences[0].clear
    short = nk.compare(["logistic", "ftrl"], "demo:breast-cancer", threads=1, rounds=20)
    assert "its uncertainty is unknown" in short.verdict


def test_auc_has_an_interval_over_shuffles_only():
    one = nk.compare(["logistic", "perceptron"], "demo:breast-cancer", threads=1, by="auc")
    assert one.differences[0].within is None
    several = nk.compare(["logistic", "perceptron"], "demo:breast-cancer", threads=1, by="auc", shuffles=3)
    assert several.differences[0].within > 0.0
    assert "AUC" in several.verdict


def test_many_labels_and_dicts_are_compared():
    rows = [{"a": float(k % 7), "c": "xyz"[k % 3], "y": ["low", "mid", "top"][k % 3]} for k in range(90)]
    found = nk.compare(["logistic", "perceptron"], rows, threads=1, label="y")
    assert found.by == "error"
    assert set(found.frame().columns) >= {"error", "log_loss"}


@pytest.mark.parametrize(
    ("learners", "source", "options", "error", "sentence"),
    [
        (["logistic", "vaw"], numbers(), {}, MismatchError, "vaw predicts numbers"),
        (["logistic", "auto"], numbers(), {}, MismatchError, "logistic is a classifier, and targets is read with num"),
        (["logistic"], "demo:iris", {"by": "rmse"}, InputError, "by=rmse needs learners"),
        (["perceptron"], "demo:iris", {"by": "log-loss"}, InputError, "has none"),
        (["perceptron"], "demo:iris", {"by": "logloss"}, InputError, 'Did you mean "log-loss"'),
    ],
)
def test_metrics_and_tasks_that_do_not_fit_are_errors(learners, source, options, error, sentence):
    with pytest.raises(error, match=sentence):
        nk.compare(learners, source, threads=1, **options)


def test_command_line_prints_metrics_and_the_verdict(tmp_path, capsys):
    (tmp_path / "rows.csv").write_bytes(as_csv(mixed(120)))
    command = ["compare", str(tmp_path / "rows.csv"), "-l", "logistic", "-l", "ftrl"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "log loss" in printed
    assert "AUC" in printed
    assert "log loss per row." in printed.splitlines()[-1]
    assert main([*command, "--by", "error", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["by"] == "error"
    assert found["verdict"].endswith("percentage points of error rate.")
    assert found["differences"][0].keys() == {"better", "other", "amount", "within", "clear"}
    assert main(["compare", str(tmp_path / "rows.csv"), "--label", "amount", "-l", "auto", "-l", "vaw"]) == 0
    assert "RMSE" in capsys.readouterr().out
