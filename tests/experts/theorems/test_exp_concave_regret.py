"""Mixtures of predictions with log and squared loss, in a few lines of longdoubles."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import cases
import novikoff as nk
from novikoff.core.types import Run
from novikoff.experts.theorems.exp_concave_regret import exp_concave_regret
from novikoff.experts.theorems.experts_facts import ExpertsFacts


def concave(experts):
    return nk.ExponentialWeights(experts, loss="log", play="mean")


def forecasts(rows):
    """The experts say the numbers of a table; the outcome is always 1."""
    return nk.Advice(rows, np.ones(len(rows)))


CASES = {
    "exp_concave_regret": cases.Case(
        arrays(np.float64, st.tuples(st.integers(1, 25), st.integers(1, 4)), elements=st.floats(0, 1)),
        lambda rows: cases.run_of(concave(rows.shape[1]), forecasts(rows)),
        np.tile([[0.9, 0.1]], (40, 1)),
        lambda: cases.run_of(concave(3), forecasts(np.tile([[0.9, 0.1, 0.1]], (60, 1)))),
        lambda: cases.run_of(cases.broken(concave(2), 5.0), forecasts(np.tile([[0.9, 0.1]], (40, 1)))),
        (
            (
                lambda: cases.changed(cases.run_of(concave(2), forecasts(np.tile([[0.9, 0.1]], (9, 1)))), rates=1.0),
                "was constant",
            ),
            (
                lambda: cases.warm(lambda: concave(1), forecasts(np.ones((3, 1))), forecasts(np.ones((3, 1)))),
                "warm start",
            ),
        ),
    ),
}
"""Cases for tests/test_every_theorem.py."""

CLIP = 1e-6


def log_loss(p, y):
    return -np.log(np.where(y == 1, p, 1 - p))


def squared(p, y):
    return (p - y) ** 2


def play(predictions, outcomes, loss="log", eta=None, prior=None, pays=None, unit=1.0):
    """The run of the mixture; `pays` is what it really pays, to break the rule on purpose."""
    f, top = (log_loss, math.log(1 / CLIP)) if loss == "log" else (squared, 1.0)
    eta = eta or (1.0 if loss == "log" else 0.5)
    p = np.asarray(predictions, dtype=np.longdouble)
    p = np.clip(p, CLIP, 1 - CLIP) if loss == "log" else p
    rounds, experts = p.shape
    prior = np.full(experts, 1 / experts) if prior is None else np.asarray(prior, dtype=float)
    lost, paid, mixed = np.zeros(experts, dtype=np.longdouble), np.longdouble(0), np.longdouble(0)
    for row, y in zip(p, outcomes, strict=True):
        w = prior * np.exp(-eta / unit * (lost - lost.min()))
        w /= w.sum()
        paid += f(w @ row, y) if pays is None else pays(w, row, y)
        mixed += w @ f(row, y)
        lost += f(row, y)
    i = int(np.argmin(lost - unit * np.log(prior) / eta))
    facts = ExpertsFacts(
        "fixed", rounds, experts, loss, "mean", top, unit, eta, rates=eta * rounds, gaps=0.0, last_gap=0.0,
        mixed=float(mixed), best=int(np.argmin(lost)), best_loss=float(lost.min()), comparator=i,
        comparator_loss=float(lost[i]), price=-math.log(prior[i]), uniform=len(set(prior)) == 1, rounding=1e-12,
        clip=CLIP if loss == "log" else 0.0,
    )  # fmt: skip
    start = dataclasses.replace(facts, rounds=0, mixed=0.0, best_loss=0.0, comparator_loss=0.0)
    return Run(start, facts, rounds, 0, float(paid), (0, 0), adaptive=False, deterministic=True)


tables = st.tuples(st.integers(1, 25), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0])))
)


@given(tables, st.data(), st.floats(0.01, 1))
def test_log_loss_has_regret_at_most_the_price_of_the_prior(predictions, data, eta):
    rounds, experts = predictions.shape
    y = data.draw(st.lists(st.sampled_from([0, 1]), min_size=rounds, max_size=rounds))
    parts = data.draw(st.lists(st.integers(1, 100), min_size=experts, max_size=experts))
    for run in (play(predictions, y), play(predictions, y, eta=eta, prior=np.array(parts) / sum(parts))):
        certificate = exp_concave_regret(run)
        assert certificate.status in ("valid", "vacuous")
        assert certificate.observed <= certificate.bound
    assert exp_concave_regret(play(predictions, y)).bound == pytest.approx(math.log(experts), abs=1e-8)


@given(tables, st.data())
def test_squared_loss_has_regret_at_most_twice_the_logarithm(predictions, data):
    rounds, experts = predictions.shape
    y = data.draw(st.lists(st.floats(0, 1), min_size=rounds, max_size=rounds))
    certificate = exp_concave_regret(play(predictions, y, "squared"))
    assert certificate.observed <= certificate.bound == pytest.approx(2 * math.log(experts), abs=1e-8)
    assert "unclipped" not in certificate.quantities


@given(tables, st.data())
def test_unclipped_experts_add_a_small_term(predictions, data):
    rounds, experts = predictions.shape
    y = data.draw(st.lists(st.sampled_from([0, 1]), min_size=rounds, max_size=rounds))
    run = play(predictions, y)
    with np.errstate(divide="ignore"):
        unclipped = min(sum(log_loss(row, outcome) for row, outcome in zip(predictions, y, strict=True)))
    certificate = exp_concave_regret(run)
    assert run.expected - unclipped <= certificate.quantities["unclipped"] + 1e-9
    added = rounds * math.log(1 / (1 - CLIP))
    assert certificate.quantities["unclipped"] == pytest.approx(math.log(experts) + added, abs=1e-9)


def test_squared_loss_comes_within_a_tenth_of_it():
    """Few rounds decide: the experts say 0 and 1, and the outcome is always 0."""
    certificate = exp_concave_regret(play(np.tile([[0.0, 1.0]], (40, 1)), [0.0] * 40, "squared"))
    alone = exp_concave_regret(play(np.tile([[0.45, 0.55]], (4000, 1)), [0.0] * 4000, "squared"))
    assert alone.observed <= alone.bound
    assert max(certificate.observed, alone.observed) > 0.9 * alone.bound


def test_losses_that_were_clipped_are_violated():
    p = np.tile([[0.6, 0.0], [0.0, 0.6]], (200, 1))
    lost, paid = np.zeros(2), 0.0
    for row in p:
        w = np.exp(-(lost - lost.min()))
        paid += min(1.0, -math.log(w @ row / w.sum()))
        lost += np.minimum(1.0, -np.log(np.maximum(row, 1e-300)))
    run = play(p, [1] * 400)
    clipped = changed(run, best_loss=float(lost.min()), comparator_loss=float(lost[run.after.comparator]))
    assert exp_concave_regret(dataclasses.replace(clipped, expected=paid)).status == "violated"


@pytest.mark.parametrize(
    "values",
    [
        {"eta": 1.01, "rates": 4.04},
        {"play": "draw"},
        {"rule": "anytime"},
        {"loss": "absolute"},
        {"loss": "squared"},  # with the rate of log loss
    ],
)
def test_theorem_needs_a_mixture_played_with_a_small_rate(values):
    run = play(np.tile([[0.9, 0.1]], (4, 1)), [1] * 4)
    assert exp_concave_regret(run) is not None
    assert exp_concave_regret(changed(run, **values)) is None


def test_a_rate_per_unit_of_the_largest_loss_is_smaller_on_the_loss_itself():
    top = math.log(1 / CLIP)
    certificate = exp_concave_regret(play(np.tile([[0.9, 0.1]], (400, 1)), [1] * 400, eta=2.0, unit=top))
    assert certificate.observed <= certificate.bound == pytest.approx(top * math.log(2) / 2, abs=1e-8)


def test_invalid_runs_are_void():
    run = play(np.tile([[0.9, 0.1]], (4, 1)), [1] * 4)
    infinite = dataclasses.replace(run, expected=math.inf)
    assert exp_concave_regret(infinite).status == "void"
    assert exp_concave_regret(changed(run, best_loss=math.inf)).status == "void"


def changed(run, **values):
    return dataclasses.replace(run, after=dataclasses.replace(run.after, **values))
