"""The plot of regret and weights: what is kept while a game goes, and what is drawn of it."""

from itertools import pairwise

import numpy as np
import pytest

from novikoff.core.certificate import Certificate
from novikoff.data.memory import Losses
from novikoff.experts.exponential_weights import ExponentialWeights
from novikoff.game.play import play
from novikoff.reports import plot_file, regret


def game(losses, due=True):
    """A game of losses and its history, seen where it is due."""
    learner = ExponentialWeights(losses.shape[1], loss="table")
    history = regret.History()
    ledger = play(learner, Losses(losses), observers=[history] if due else [])
    history.see_last(ledger)
    return history, ledger


@pytest.fixture(scope="module")
def losses():
    """Expert 2 is the best of forty at first, expert 5 later."""
    rng = np.random.default_rng(0)
    table = (rng.random((3000, 40)) < 0.5).astype(float)
    table[:1000, 2] = rng.random(1000) < 0.1
    table[1000:, 5] = rng.random(2000) < 0.1
    return table


def texts(chart):
    """The texts at and inside the bands of weights."""
    return [text for region in chart.panels[1].regions for text in (region.end, region.inside and region.inside[0])]


def test_moments_are_dense_at_first_and_few_in_all(losses):
    history, _ = game(losses)
    seen = [moment.rounds for moment in history.moments]
    assert seen[: regret.DENSE] == list(range(1, regret.DENSE + 1))
    assert seen == sorted(set(seen))
    assert seen[-1] == 3000
    assert len(seen) < 600
    assert max(b / a for a, b in pairwise(seen[200:])) < 1.02


def test_a_moment_holds_regret_bounds_and_weights(losses):
    history, ledger = game(losses)
    last = history.moments[-1]
    facts = ledger.learner.facts()
    assert last.regret == ledger.expected - losses.sum(axis=0).min()
    assert last.regret == ledger.expected - facts.best_loss
    (wanted,) = [(one.observed, one.bound) for one in ledger.certify() if one.theorem == "anytime_regret"]
    assert last.bounds["anytime_regret"] == wanted
    assert history.weights(5)[-1] == ledger.learner.weights[5]


def test_history_keeps_the_heaviest_of_many_experts():
    rng = np.random.default_rng(1)
    history, ledger = game((rng.random((50, 500)) < np.linspace(0.05, 0.9, 500)).astype(float))
    weights = ledger.learner.weights
    last = history.moments[-1]
    assert len(last.experts) == regret.KEPT
    assert last.weights.min() >= np.sort(weights)[-regret.KEPT]
    assert set(regret.leading(history)) <= set(last.experts.tolist())


def test_experts_that_led_for_long_are_shown_though_they_fell(losses):
    history, ledger = game(losses)
    assert ledger.learner.weights[5] > 0.9
    assert ledger.learner.weights[2] < 0.01
    shown = regret.leading(history)
    assert shown[0] == 5
    assert 2 in shown
    assert len(shown) <= regret.SHOWN


def test_the_plot_shows_regret_below_its_bound_and_names_the_experts(losses):
    history, ledger = game(losses)
    names = [f"model {k}" for k in range(40)]
    chart = regret.chart(history, ledger.certify(), names, "exponential-weights", "/home/me/losses.csv")
    above, below = chart.panels
    (ours, bound), bands = above.lines, below.regions
    assert ours.points[0] == (0, 0)
    assert ours.points[-1] == (3000, history.moments[-1].regret)
    at, bounds = zip(*bound.points, strict=True)
    assert all(np.interp(t, at, bounds) >= value for t, value in ours.points[1:])
    assert bound.name.startswith("guaranteed at most (")
    assert above.across_range() == (0, 3000)
    assert all(region.points[-1][0] == 3000 for region in bands)
    assert bands[-1].points[-1][2] == pytest.approx(1.0)
    assert any(text.startswith("model 5  ") for text in texts(chart) if text)
    assert "model 2" in texts(chart)
    assert chart.title == "exponential-weights on losses.csv"


def test_without_a_bound_the_chart_gives_the_reason(losses):
    history, _ = game(losses[:50])
    gone = Certificate("anytime_regret", "D", "upper", "regret", 1.0, None, 50, "void", "warm start")
    chart = regret.chart(history, [gone], [f"e{k}" for k in range(40)], "exponential-weights", "losses")
    assert chart.panels[0].notes == ["no bound to draw (warm start)"]
    other = Certificate("drawn_loss", "P", "upper", "loss", 1.0, 2.0, 50, "valid")
    chart = regret.chart(history, [other], [f"e{k}" for k in range(40)], "exponential-weights", "losses")
    assert chart.panels[0].notes == ["no bound to draw"]


def test_a_game_seen_once_can_be_drawn(tmp_path):
    history, ledger = game(np.zeros((3, 1)), due=False)
    assert len(history.moments) == 1
    plot_file.save(
        regret.chart(history, ledger.certify(), ["only"], "exponential-weights", "x"), str(tmp_path / "one.png")
    )
    assert (tmp_path / "one.png").stat().st_size > 1000


def test_equal_experts_are_one_band():
    history, ledger = game(np.zeros((10, 300)))
    assert regret.leading(history) == []
    chart = regret.chart(history, ledger.certify(), [f"e{k}" for k in range(300)], "exponential-weights", "x")
    assert "all experts  100 %" in texts(chart)


def test_the_same_game_makes_the_same_file(losses, tmp_path):
    written = []
    for number in range(2):
        history, ledger = game(losses[:300])
        path = tmp_path / f"{number}.svg"
        plot_file.save(regret.chart(history, ledger.certify(), [str(k) for k in range(40)], "hedge", "x"), str(path))
        written.append(path.read_bytes())
    assert written[0] == written[1]
