"""Reports of two runs, of bandits, and of saved runs by `novikoff report`."""

import json
import re

import numpy as np
import pytest

import novikoff as nk
from novikoff.cli.main import main
from novikoff.core.errors import InputError
from novikoff.reports import two_runs


def rows(count, noise, seed=0):
    coins = np.random.default_rng(seed)
    x = coins.normal(size=(count, 3))
    return x, np.where(x @ [2.0, -1.0, 0.0] + noise * coins.normal(size=count) > 0, 1, -1)


@pytest.fixture(scope="module")
def runs():
    return nk.play("logistic", rows(600, 0.2)), nk.play("logistic", rows(500, 3.0, 1))


def tile(text, name):
    return re.search(rf"<dt>{name}</dt><dd[^>]*>([^<]*)</dd><dd>([^<]*)</dd>", text).groups()


def test_two_runs_show_both_errors_and_the_verdict(runs):
    first, second = runs
    text = two_runs.page(first, second, ("before.nk", "after.nk"))
    assert tile(text, "First error") == (f"{100 * first.mistake_rate:.3g} %", "before.nk: 600 rows")
    assert tile(text, "Second error") == (f"{100 * second.mistake_rate:.3g} %", "after.nk: 500 rows")
    verdict, note = tile(text, "Verdict")
    assert verdict == "Worse"
    assert note.startswith(f"by {100 * (second.mistake_rate - first.mistake_rate):.2g} points")
    cells = re.search(r'<th scope="row">AUC</th><td[^>]*>([\d.]+)</td><td[^>]*>([\d.]+)</td><td[^>]*>([^<]+)<', text)
    shown = [float(cell) for cell in cells.groups()]
    assert shown == pytest.approx([first.auc.value, second.auc.value, second.auc.value - first.auc.value], abs=0.001)
    assert "before.nk: AUC " in text
    assert "after.nk: AUC " in text


def test_the_same_run_twice_has_no_change(runs):
    text = two_runs.page(runs[0], runs[0], ("a", "b"))
    assert tile(text, "Verdict")[0] == "No clear change"


def test_a_continued_run_is_compared_by_its_further_rows(tmp_path):
    x, y = rows(900, 0.5)
    first = nk.play("logistic", (x[:600], y[:600]))
    nk.save(first, tmp_path / "a.nk")
    second = nk.load(tmp_path / "a.nk")
    nk.play(second.learner, (x[600:], y[600:]), ledger=second)
    assert two_runs.continues(first, second)
    assert not two_runs.continues(second, first)
    text = two_runs.page(first, second, ("a.nk", "b.nk"))
    made = second.mistakes - first.mistakes
    rate, note = tile(text, "Second error")
    assert float(rate.removesuffix(" %")) == pytest.approx(100 * made / 300, abs=0.06)
    assert note == "b.nk, rows after 600: 300 rows"


def test_runs_on_other_outcomes_are_refused(runs):
    numbers = nk.play("online-gradient", (np.ones((5, 1)), np.arange(5.0) / 10))
    with pytest.raises(InputError, match="same kind of outcome"):
        two_runs.page(runs[0], numbers, ("a", "b"))
    with pytest.raises(InputError, match="one of them has none"):
        two_runs.page(runs[0], nk.Ledger(nk.Logistic()), ("a", "b"))


def test_numbers_are_compared_by_their_loss():
    x = np.random.default_rng(0).normal(size=(60, 2)) / 4
    runs = [nk.play("online-gradient", (x, x[:, 0] + shift)) for shift in (0.0, 0.5)]
    text = two_runs.page(*runs, ("a", "b"))
    assert tile(text, "Verdict")[0] == "Worse"
    assert "RMSE" in text


def test_report_of_saved_runs(runs, tmp_path, capsys):
    for name, ledger in zip("ab", runs, strict=True):
        nk.save(ledger, tmp_path / f"{name}.nk")
    one, two = tmp_path / "one.html", tmp_path / "two.html"
    assert main(["report", str(tmp_path / "a.nk"), "-o", str(one)]) == 0
    assert main(["report", str(tmp_path / "a.nk"), str(tmp_path / "b.nk"), "-o", str(two)]) == 0
    assert capsys.readouterr().out == f"report written to {one}\nreport written to {two}\n"
    assert "<dt>Guarantee</dt>" in one.read_text()
    assert "<h1>a.nk and b.nk</h1>" in two.read_text()
    assert main(["report", *[str(tmp_path / "a.nk")] * 3, "-o", str(two)]) == 2
    assert "a report is of one run or of two: got 3 files" in capsys.readouterr().err


BANDITS = {
    "game": ["exp3-ix", "stream:bandit-losses:arms=3,rounds=200"],
    "plays": ["ucb1", "stream:bandit-losses:arms=2,rounds=100"],
    "games": ["ucb1", "stream:bandit-losses:arms=2,rounds=100", "--games", "3"],
}


@pytest.mark.parametrize("words", BANDITS.values(), ids=BANDITS)
def test_bandits_have_reports(words, tmp_path, capsys):
    out = tmp_path / "out.html"
    assert main(["bandit", *words, "--report", str(out), "--json", "-q"]) == 0
    printed, text = json.loads(capsys.readouterr().out), out.read_text()
    assert "novikoff bandit " in text
    if "--games" in words:
        assert tile(text, "Games") == ("3", "of 100 rounds")
        assert tile(text, "Lowest pseudo-regret")[1] == "ucb1"
    else:
        value, total = tile(text, "Loss per round")
        assert float(value) == pytest.approx(printed["loss"] / printed["rounds"], abs=0.001)
        assert total == f"{printed['loss']:g} in total"
        assert tile(text, "Best arm")[1].startswith(printed["best"]["name"])


def test_a_bandit_log_has_a_report(tmp_path, capsys):
    log, out, coins = tmp_path / "log.csv", tmp_path / "out.html", np.random.default_rng(0)
    arms = coins.integers(2, size=2000)
    losses = (coins.random(2000) < np.where(arms == 0, 0.1, 0.8)).astype(int)
    log.write_text(
        "arm,loss,probability\n" + "".join(f"{'ab'[a]},{y},0.5\n" for a, y in zip(arms, losses, strict=True))
    )
    assert main(["bandit", str(log), "--report", str(out), "--json", "-q"]) == 0
    printed, text = json.loads(capsys.readouterr().out), out.read_text()
    assert tile(text, "Verdict") == ("✓ Better", "always a is better than the log")
    most = float(tile(text, "Guarantee")[0].removeprefix("≤ "))
    proved = next(one["at_most"] for one in printed["limits"] if one["policy"] == "a")
    assert most >= proved > most - 0.01
