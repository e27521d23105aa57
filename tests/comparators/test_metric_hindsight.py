"""Comparators in hindsight for learners in a metric: as good as with all rows kept."""

import dataclasses

import numpy as np
import pytest

import novikoff as nk
from novikoff.comparators import metric_hindsight, metric_tracker
from novikoff.core.errors import InputError
from novikoff.game.specs import make
from novikoff.reports.hindsight import describe
from novikoff.reports.plain import game

SPECS = ["ftrl", "logistic", "arow", "second-order-perceptron", "auto:fast=true"]


def rows(n=3000):
    """Labels drift, so that the first rows do not tell of the rest."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 4)) * [1.0, 10.0, 0.1, 1.0]
    u = np.linspace(0.0, 1.0, n)[:, None] * [1.0, 0.0, 5.0, 0.0] + [0.5, 0.1, 0.0, 0.0]
    return x, np.where((x * u).sum(axis=1) + 0.5 * rng.normal(size=n) < 0.0, -1, 1)


def bound(spec, keep, memory, monkeypatch, hindsight=True):
    monkeypatch.setattr(metric_tracker.MetricTracker.__init__, "__defaults__", ((0.0,), -1.0, None, keep, True, None))
    monkeypatch.setattr(metric_hindsight.look_again, "__defaults__", (memory,))
    ledger = nk.play(make(spec, "learner"), rows(), hindsight=hindsight)
    found = [one for one in ledger.certify() if one.theorem not in ("ftrl_suffix", "linear_mixture_frozen")]
    assert all(one.status in ("valid", "vacuous") for one in found), found
    return found[0].bound if found else None, ledger


@pytest.mark.parametrize("spec", SPECS)
def test_reread_rows_match_kept_rows(spec, monkeypatch):
    whole, kept = bound(spec, 16_000_000, 0, monkeypatch)
    tracked, _ = bound(spec, 20_000, 0, monkeypatch, hindsight=False)
    again, read = bound(spec, 20_000, 16_000_000, monkeypatch)
    some, part = bound(spec, 20_000, 60_000, monkeypatch)
    assert again == pytest.approx(whole, rel=1e-9)
    assert whole <= some
    if spec == "auto:fast=true":
        assert tracked is None  # its own weights are tracked
    else:
        assert some <= tracked
        assert whole < tracked
    assert [one.hindsight.reads for one in (kept, read, part)] == [0, 1, 1]
    assert describe(kept.hindsight).lines == ["hindsight: the comparators are optimal for all 3,000 rows"]
    assert "3,000 rows and were evaluated on all" in describe(part.hindsight).lines[0]
    assert game(read, read.certify(), "x")["hindsight"]["reads"] == 1


def test_nothing_is_used_of_a_source_that_changed(monkeypatch):
    monkeypatch.setattr(metric_tracker.MetricTracker.__init__, "__defaults__", ((0.0,), -1.0, None, 20_000, True, None))
    x, y = rows()
    learner = nk.FTRL()
    ledger = nk.play(learner, (x, y))
    before = ledger.certify()
    x[-1, 0] += 1.0
    found = metric_hindsight.look_again(
        ledger.tracker, learner,
        lambda fresh, tracker: nk.play(fresh, (x, y), ledger=nk.Ledger(fresh, tracker=tracker)), lambda: 0.0,
    )  # fmt: skip
    assert found.flaw == metric_hindsight.CHANGED
    assert describe(found).lines == [f"hindsight: no comparator was found: {metric_hindsight.CHANGED}"]
    ledger.hindsight = found
    assert ledger.certify() == before
    assert dataclasses.replace(found, flaw="").joined(found.facts).comparators == 2 * found.facts.comparators


def test_a_learner_that_learned_before_is_refused():
    learner = nk.FTRL()
    nk.play(learner, rows(10))
    with pytest.raises(InputError, match="needs an untrained learner: it had played 10 rounds"):
        nk.play(learner, rows(10), hindsight=True)


def test_scaled_examples_are_scaled_again(monkeypatch):
    bounds = []
    for keep in (16_000_000, 20_000):
        defaults = ((0.0,), -1.0, None, keep, True, None)
        monkeypatch.setattr(metric_tracker.MetricTracker.__init__, "__defaults__", defaults)
        ledger = nk.play(nk.Scaled(nk.Logistic()), rows(), hindsight=True)
        assert ledger.hindsight.flaw == ""
        bounds.append(ledger.certify()[0].bound)
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-9)


def wide(n=900):
    """Rows with 8 of 500 features."""
    rng = np.random.default_rng(1)
    u = rng.normal(size=500)
    rows = [dict.fromkeys(rng.choice(500, 8, replace=False).tolist(), 1.0) for _ in range(n)]
    rows[0] = dict.fromkeys(range(8), 1.0)  # it settles who plays
    return rows, [1 if sum(u[i] for i in row) > 0.0 else -1 for row in rows]


def test_weights_that_only_some_members_have_make_no_certificate_void(monkeypatch):
    defaults = ((0.0,), -1.0, None, 20_000, True, None)
    monkeypatch.setattr(metric_tracker.MetricTracker.__init__, "__defaults__", defaults)
    monkeypatch.setattr(metric_hindsight.look_again, "__defaults__", (20_000,))
    learner = make("linear-mixture", "learner")
    ledger = nk.play(learner, [*zip(*wide(), strict=True)], hindsight=True)
    assert (learner.members, ledger.hindsight.reads, learner.features.count) == (14, 1, 500)
    found = ledger.certify()
    assert {one.theorem for one in found} == {"linear_mixture_regret", "linear_mixture_frozen"}
    assert all(one.status in ("valid", "vacuous") for one in found), found
