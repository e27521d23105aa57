"""Bounds up to some rounds of a game: each is that of a game that ends there."""

import numpy as np

import novikoff as nk
from novikoff.game import ledger_state
from novikoff.game.ledger import Ledger
from novikoff.reports import charts, game_chart, summary
from novikoff.reports.bound_curve import Bounds, mark


def rows(count=1500):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(count, 4))
    return x, np.where(x[:, 0] + 0.3 * rng.normal(size=count) >= 0, 1, -1)


def test_each_bound_is_that_of_a_game_that_ends_there():
    x, y = rows()
    ledger, plain = nk.play(nk.Perceptron(), (x, y), observers=[Bounds()]), nk.play(nk.Perceptron(), (x, y))
    assert [c.bound for c in ledger.certify()] == [c.bound for c in plain.certify()]  # asking changed nothing
    assert [t for t, _ in ledger.bounds] == sorted({t for t, _ in ledger.bounds})
    assert len(ledger.bounds) > 5
    for t, bound in ledger.bounds[:: len(ledger.bounds) // 3]:
        part = nk.play(nk.Perceptron(), (x[:t], y[:t]))
        best = summary.bounding(part, part.certify())
        assert bound == best.bound >= part.mistakes


def test_bounds_are_saved_and_drawn():
    ledger = nk.play(nk.Perceptron(), rows(), observers=[Bounds()])
    assert ledger_state.restore(ledger_state.state_of(ledger), ledger.learner).bounds == ledger.bounds
    panel = game_chart.chart(ledger, ledger.certify(), "perceptron").panels[0]
    line = next(one for one in panel.lines if one.colour == charts.BOUND)
    assert [t for t, _ in line.points[1::2]] == [*(t for t, _ in ledger.bounds), ledger.rounds]


def test_a_learner_without_a_bound_on_mistakes_is_asked_once(monkeypatch):
    asked, certify = [], Ledger.certify
    monkeypatch.setattr(Ledger, "certify", lambda self: asked.append(self.rounds) or certify(self))
    assert nk.play(nk.Constant(), rows(), observers=[Bounds()]).bounds == []
    assert asked == [16]
    assert [mark(0), mark(16), mark(23)] == [16, 23, 33]
