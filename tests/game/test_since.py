"""Results of the last part of a game equal those counted from its predictions."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import novikoff as nk
from helpers import novikoff
from novikoff.core.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 3))
Y = np.where(X[:, 0] + 0.5 * RNG.standard_normal(300) > 0.8, 1, -1)


def test_part_after_a_round_is_counted_from_its_own_predictions():
    ledger = nk.play("logistic", (X, Y), after=120, record=True)
    part, said, y = ledger.since(), ledger.recorded()[120:], Y[120:]
    assert (part.after, part.rounds, part.weight) == (120, 180, 180)
    assert part.mistakes == np.count_nonzero(said != y)
    assert part.mistake_rate == part.mistakes / 180
    assert part.best_constant == pytest.approx(min((y == 1).mean(), (y == -1).mean()))
    assert part.last_label == np.mean(y != Y[119:-1])


def test_log_loss_and_area_are_those_of_the_part():
    """The learner continues in a ledger of its own, which begins at the mark."""
    ledger = nk.play("logistic", (X, Y), after=120)
    first = nk.play("logistic", (X[:120], Y[:120]))
    rest = nk.play(first.learner, (X[120:], Y[120:]))
    part = ledger.since()
    assert part.log_loss == pytest.approx(rest.log_loss / 180, rel=1e-9)
    assert part.brier == pytest.approx(rest.brier / 180, rel=1e-9)
    assert part.mistakes == rest.mistakes
    assert abs(part.auc - rest.auc.value) < 0.01


def test_resumed_game_reports_since_it_was_resumed():
    ledger = nk.play("logistic", (X, Y), rounds=120)
    assert ledger.since() is None
    ledger = nk.play(ledger.learner, (X, Y), ledger=ledger, resume=True)
    assert ledger.since() == nk.play("logistic", (X, Y), after=120).since()


def test_mark_of_a_game_row_by_row():
    game = nk.Game(nk.Perceptron())
    wrong = 0
    for t, (x, y) in enumerate(zip(X, Y.tolist(), strict=True)):
        if t == 200:
            mark = game.ledger.marked()
        wrong += game.learn_one(x, y) != y and t >= 200
    assert game.ledger.since(mark).mistakes == wrong
    assert game.ledger.since(game.ledger.marked()).rounds == 0


def test_errors_of_numbers_are_those_of_the_part():
    source = nk.RegressionArrays(X, 2.0 * X[:, 0] + 1.0)
    ledger = nk.play("online-gradient", source, after=100, record=True)
    gaps = ledger.recorded()[100:] - (2.0 * X[100:, 0] + 1.0)
    assert ledger.since().rmse == pytest.approx(math.sqrt(np.mean(gaps**2)), rel=1e-9)
    assert ledger.since().mae == pytest.approx(np.mean(np.abs(gaps)), rel=1e-9)
    assert ledger.since().mistakes is None


def test_weighted_part_counts_weight():
    game = nk.Game(nk.Logistic())
    said = []
    for t, (x, y) in enumerate(zip(X[:60], Y[:60].tolist(), strict=True)):
        if t == 30:
            mark = game.ledger.marked()
        said.append(game.learn_one(x, y, weight=1 + t % 3))
    part, weights = game.ledger.since(mark), [1 + t % 3 for t in range(30, 60)]
    assert part.weight == sum(weights)
    assert part.mistakes == sum(w for w, one, y in zip(weights, said[30:], Y[30:60], strict=True) if one != y)


@pytest.mark.parametrize("after", [-1, 1.5, True, "10"])
def test_impossible_rounds_are_refused(after):
    with pytest.raises(InputError, match="after must be a number of rounds from 0"):
        nk.play("logistic", (X, Y), after=after)


def test_rounds_that_passed_are_refused():
    ledger = nk.play("logistic", (X, Y), rounds=120)
    with pytest.raises(InputError, match="after must be at least the 120 rounds that were played: got 100"):
        nk.play(ledger.learner, (X, Y), ledger=ledger, resume=True, after=100)


def test_command_line_reports_the_rows_after_a_round(tmp_path):
    rows = ["a,y", *(f"{k % 7},{'yes' if k % 7 > 3 else 'no'}" for k in range(60))]
    (tmp_path / "rows.csv").write_text("\n".join(rows))
    _, out, _ = novikoff("run", "logistic", str(tmp_path / "rows.csv"), "--after", "40", "--json")
    assert json.loads(out)["since"]["rounds"] == 20
    _, out, _ = novikoff("run", "logistic", str(tmp_path / "rows.csv"), "--after", "40", "-q")
    assert "after 40" in out
    assert "accuracy over 20 rows" in out
