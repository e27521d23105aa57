"""The previous-label baseline in reports, and the hint where labels come in long runs."""

import json

import numpy as np
import pytest

import novikoff as nk
from novikoff.cli.main import main
from novikoff.reports import page, plain, summary
from novikoff.reports.sentences import about


def rows(n=400, seed=0, labels=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    return x, np.digitize(x[:, 0] + rng.normal(size=n), [0.8] if labels == 2 else [-0.5, 0.8])


def ordered(x, y):
    order = np.argsort(y, kind="stable")
    return x[order], y[order]


@pytest.mark.parametrize("labels", [2, 3])
def test_file_sorted_by_label_is_reported(labels):
    x, y = ordered(*rows(labels=labels))
    ledger = nk.play("perceptron", (x, y), labels=None if labels == 2 else "multiclass")
    hint = summary.runs(ledger)
    assert hint.startswith("Labels come in long runs: repeating the previous label makes only ")
    assert hint.endswith("Shuffle them if their order carries no meaning.")
    assert f"{ledger.last_label} mistake" in hint
    assert hint.partition(":")[0] in page.document(ledger)


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("n", [5, 20, 100, 400])
def test_rows_in_random_order_get_no_hint(labels, n):
    for seed in range(20):
        ledger = nk.play("perceptron", rows(n, seed, labels), labels="multiclass", track=False)
        assert summary.runs(ledger) == ""


def test_series_that_repeats_its_labels_is_reported():
    rng = np.random.default_rng(0)
    y = np.where(np.cumsum(rng.random(1000) < 0.1) % 2 == 1, 1, -1)
    ledger = nk.play("perceptron", (rng.normal(size=(1000, 2)), y))
    assert "better than the learner" in summary.runs(ledger)


class Repeater:
    """Learner that predicts the label before."""

    label = 1

    def predict_one(self, x):
        return self.label

    def learn_one(self, x, y):
        self.label = y


def test_learner_that_repeats_the_previous_label_is_reported():
    rng = np.random.default_rng(0)
    y = np.where(np.cumsum(rng.random(400) < 0.1) % 2 == 1, 1, -1)
    x = rng.normal(size=(400, 2))
    ledger = nk.play(Repeater(), (x, y))
    said = summary.repeats(ledger)
    assert said.startswith("The predictions mostly repeat the previous label: in 100 % of the rows, and in 100 % of ")
    assert said in list(summary.warnings(ledger, []))
    assert said in page.document(ledger)
    copied = np.column_stack([x[:, 0], y])  # a learner that follows each change does not repeat
    assert summary.repeats(nk.play("perceptron", (copied, y))) == ""
    rare = np.where(rng.random(400) < 0.1, 1, -1)  # nor does one that always predicts the frequent label
    assert summary.repeats(nk.play(nk.Constant(-1), (x, rare))) == ""
    assert summary.repeats(nk.play("perceptron", rows())) == ""


def test_lead_has_the_previous_label_next_to_the_best_constant():
    ledger = nk.play("perceptron", rows())
    constant, again = (about(cost / 400) for cost in (ledger.best_constant.costs, ledger.last_label))
    assert f": {constant}; repeating the previous label: {again};" in summary.lead(ledger, ledger.certify())
    assert "repeating the previous label" in page.document(ledger)


def test_weighted_table_sorted_by_label_is_reported(tmp_path):
    x, y = ordered(*rows())
    lines = [f"{a},{b},{3},{'yes' if label else 'no'}" for (a, b), label in zip(x, y, strict=True)]
    (tmp_path / "w.csv").write_text("a,b,w,label\n" + "\n".join(lines) + "\n")
    ledger = nk.play("perceptron", nk.read(str(tmp_path / "w.csv"), weight="w"))
    assert "has an error rate of only" in summary.runs(ledger)


def test_games_without_labels_have_no_hint():
    x, _ = rows()
    assert summary.runs(nk.play(nk.VAW(), (x, np.arange(400.0)))) == ""
    duel = nk.play("threshold-halving:16", nk.make("grid-bisection:16", "adversary"), rounds=4)
    assert summary.runs(duel) == ""
    assert "previous label" not in summary.lead(duel, duel.certify())
    assert summary.runs(nk.Ledger(nk.Perceptron())) == ""


def test_json_of_a_regression_has_no_mistakes(tmp_path, capsys):
    x, _ = rows()
    ledger = nk.play(nk.VAW(), (x, x[:, 0]))
    assert not {"mistakes", "mistake_rate"} & plain.game(ledger, ledger.certify(), "vaw").keys()
    lines = [f"{a},{b},{a + b}" for a, b in x]
    (tmp_path / "r.csv").write_text("a,b,y\n" + "\n".join(lines) + "\n")
    assert main(["run", "vaw", str(tmp_path / "r.csv"), "--json", "-q"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "mistake_rate" not in told
    assert told["rmse"] >= 0.0
