"""With delayed labels, metrics are those of the predictions that were served."""

import copy
import math

import numpy as np
import pytest

import novikoff as nk
from novikoff.game.ledger_state import packed, unpacked
from novikoff.game.metrics import Forecast
from novikoff.reports import plain

DELAY = 5


def sticky(rounds=60, labels=2, seed=0):
    """Return noise, and labels that mostly repeat the label before: easy at arrival, hard when served."""
    rng = np.random.default_rng(seed)
    y, changes = np.zeros(rounds, np.int64), rng.random(rounds) < 0.2
    for t in range(1, rounds):
        y[t] = (y[t - 1] + 1) % labels if changes[t] else y[t - 1]
    return rng.normal(size=(rounds, 2)), y


def late_game(game, x, y, delay=DELAY, save_at=-1):
    """Play a game whose labels come `delay` rounds late; return it, and what the learner forecast when it served."""
    served = []
    for t in range(len(y) + delay):
        if t == save_at:
            ledger = unpacked(packed(game.ledger))
            game = nk.Game(ledger.learner, ledger)
        if t < len(y):
            player = game.player
            chances = player.probabilities_one(x[t]) if player.numbered else None
            scores = player.score_one(x[t]) if player.task == "binary" else None
            served.append((game.predict_one(x[t], id=t), chances, scores))
        if t >= delay:
            game.learn_one(t - delay, y[t - delay].item())
    return game, served


@pytest.mark.parametrize("save_at", [-1, 31])
def test_metrics_of_two_labels_are_those_of_served_predictions(save_at):
    x, y = sticky()
    y = np.where(y > 0, 1, -1)
    game, served = late_game(nk.Game(nk.Logistic()), x, y, save_at=save_at)
    ledger, predicted = game.ledger, np.array([one[0] for one in served])
    scores = np.array([one[2] for one in served])
    assert ledger.mistake_rate == (predicted != y).mean()
    assert ledger.confusion.table == [[int(((y == a) & (predicted == b)).sum()) for b in (-1, 1)] for a in (-1, 1)]
    lost = np.logaddexp(0.0, -y * scores)
    assert ledger.metrics.log_loss == pytest.approx(lost.sum())
    assert ledger.metrics.brier == pytest.approx(((1.0 - np.exp(-lost)) ** 2).sum())
    assert ledger.metrics.calibration.predicted == pytest.approx((1.0 / (1.0 + np.exp(-scores))).sum())
    pairs = np.sign(scores[y == 1][:, None] - scores[y == -1]) / 2 + 0.5
    assert ledger.auc.low <= pairs.mean() <= ledger.auc.high
    assert ledger.thresholds().at(0.0).true_positives == int(((y == 1) & (predicted == 1)).sum())
    assert ledger.log_loss != ledger.metrics.log_loss  # that of the arrivals, which certificates are about
    assert ledger.metrics.mistakes == ledger.late.mistakes != ledger.mistakes


@pytest.mark.parametrize("save_at", [-1, 31])
def test_metrics_of_many_labels_are_those_of_served_predictions(save_at):
    x, y = sticky(60, 3)
    game, served = late_game(nk.Game(nk.MulticlassForest(trees=2)), x, y, save_at=save_at)
    ledger, chances = game.ledger, [one[1] for one in served]
    lost = [-math.log(p[c] if c < len(p) else 1.0 - p.sum()) for p, c in zip(chances, y.tolist(), strict=True)]
    assert ledger.metrics.log_loss == pytest.approx(sum(lost))
    assert ledger.mistake_rate == np.mean([one[0] != c for one, c in zip(served, y.tolist(), strict=True)])
    squares = 0.0
    for p, c in zip(chances, y.tolist(), strict=True):
        whole = np.append(np.pad(p, (0, 3 - len(p))), 1.0 - p.sum())
        whole[3 if c >= len(p) else c] -= 1.0
        squares += float(whole @ whole) if c < len(p) else 2.0 * p.sum() ** 2
    assert ledger.metrics.brier == pytest.approx(squares)
    assert "none known" in ledger.confusion.labels  # the first five were served before any label


def test_metrics_of_numbers_are_those_of_served_predictions():
    x, _ = sticky()
    y = np.cumsum(np.random.default_rng(1).normal(size=60))
    game, served = late_game(nk.Game(nk.LinearMixtureRegression()), x, y)
    gaps = np.array([one[0] for one in served]) - y
    assert game.ledger.rmse == pytest.approx(np.sqrt((gaps**2).mean()))
    assert game.ledger.mae == pytest.approx(np.abs(gaps).mean())
    assert game.ledger.loss < game.ledger.metrics.loss  # at arrival the previous outcome is known


def test_auto_is_measured_as_it_was_served():
    """The previous label is known on arrival and not when the prediction is served, five labels earlier."""
    x, y = sticky(150, 3)
    game, served = late_game(nk.Game(nk.MulticlassAuto()), x, y)
    wrong = sum(one[0] != c for one, c in zip(served, y.tolist(), strict=True))
    assert game.ledger.mistake_rate == wrong / 150
    assert game.ledger.mistakes < 0.75 * wrong  # the arrivals
    (found,) = [one for one in game.ledger.certify() if one.theorem == "switching_regret"]
    assert (found.status, found.observed) == ("valid", game.ledger.log_loss)


def measured(ledger):
    own = ledger.metrics
    return (own.rounds, own.mistakes, own.log_loss, own.brier, ledger.auc, own.calibration.table(), own.curve)


def test_labels_without_delay_have_the_metrics_of_the_game():
    x, y = sticky()
    y = np.where(y > 0, 1, -1).tolist()
    plain, late = nk.Game(nk.Logistic()), nk.Game(nk.Logistic())
    for t in range(60):
        plain.learn_one(x[t], y[t])
        if t < 20:  # without ids
            late.learn_one(x[t], y[t])
        else:
            late.predict_one(x[t], id=t)
            late.learn_one(t, y[t])
    assert late.ledger.metrics is late.ledger.late.served
    assert measured(late.ledger) == measured(plain.ledger)


def test_batches_need_what_was_served_for_probabilities():
    x, y = sticky()
    y = np.where(y > 0, 1, -1).astype(np.int8)
    one, batched = (
        late_game(nk.Game(nk.Logistic()), x, y)[0],
        {True: nk.Game(nk.Logistic()), False: nk.Game(nk.Logistic())},
    )
    for recorded, game in batched.items():
        waiting = []
        for t in range(60 + DELAY):
            if t < 60:
                row = nk.Batch(x[t : t + 1], y[t : t + 1], t + 1)
                forecast = Forecast(float(game.player.scores_many(row)[0]))
                waiting.append((row, game.predict_batch(row), game.ledger.rounds, forecast))
            if t >= DELAY:
                row, served, version, forecast = waiting[t - DELAY]
                game.learn_batch(row, served, np.array([version]), [forecast] if recorded else None)
    assert measured(batched[True].ledger) == measured(one.ledger)
    unknown = batched[False].ledger
    assert unknown.metrics.unknown == 59  # no label came before the first, so its arrival is what was served
    assert (unknown.metrics.log_loss, unknown.metrics.brier, unknown.auc) == (None, None, None)
    assert unknown.mistake_rate == one.ledger.mistake_rate
    with pytest.raises(nk.NovikoffError, match="thresholds need the score of every row"):
        unknown.thresholds()


def test_saved_file_without_served_metrics_still_loads():
    x, y = sticky(20)
    game, _ = late_game(nk.Game(nk.Logistic()), x, np.where(y > 0, 1, -1))
    state = copy.deepcopy(packed(game.ledger))
    del state["ledger"]["served"]
    del state["ledger"]["late"]["pending"]["forecasts"]
    ledger = unpacked(state)
    assert ledger.metrics is ledger
    assert ledger.certify()[0].theorem == game.ledger.certify()[0].theorem


def test_json_has_served_predictions_and_arrivals():
    x, y = sticky()
    game, _ = late_game(nk.Game(nk.MulticlassForest(trees=2)), x, y)
    ledger = game.ledger
    found = plain.game(ledger, ledger.certify(), "")
    assert found["served"]["mistakes"] == ledger.metrics.mistakes
    assert found["mistake_rate"] == ledger.metrics.mistakes / 60
    assert found["log_loss"] == ledger.metrics.log_loss / 60
