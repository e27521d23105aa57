"""Exponential weights begun anew in epochs of 1, 2, 4, ... rounds, in a few lines of longdoubles."""

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
from novikoff.experts.theorems.doubling_regret import doubling_regret
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.experts.theorems.mixability_gaps import mixability_gaps


def epochs():
    """Two experts take turns in each epoch of 1, 2, 4, ... rounds, then the first leads."""
    sizes = [(2**j, min(2**j, int(np.ceil(6 * 2 ** (j / 2))))) for j in range(17)]
    return np.concatenate([cases.lead((n - ahead) // 2, n - (n - ahead) // 2 * 2) for n, ahead in sizes])


CASES = {
    "doubling_regret": cases.of_experts(
        cases.weights("doubling"),
        lambda: cases.run_of(cases.weights("doubling")(2), nk.Losses(epochs())),
        "epochs",
        {"epochs": 3},
    ),
}
"""Cases for tests/test_every_theorem.py."""


def play(table, prior=None, top=1.0, rate=lambda k, experts: math.sqrt(8 * math.log(experts) / 2**k), sign=-1.0):
    table = np.asarray(table, dtype=np.longdouble)
    rounds, experts = table.shape
    prior = np.full(experts, 1 / experts) if prior is None else np.asarray(prior, dtype=float)
    whole, mixed, gaps, rates, span, k = np.zeros(experts, dtype=np.longdouble), 0.0, 0.0, 0.0, 0.0, 0
    eta, start, lost = 0.0, 0, whole
    for t, row in enumerate(table):
        if t + 1 == 2**k:
            eta, lost, k = rate(k, experts), np.zeros(experts, dtype=np.longdouble), k + 1
            span += 1 / eta if eta else 0.0
        w = prior * np.exp(sign * eta * (lost - lost.min()) / top)
        w /= w.sum()
        mixed += row @ w
        gaps += row @ w + top / eta * np.log(w @ np.exp(-eta * row / top)) if eta else 0.0
        rates += eta
        lost = lost + row
        whole = whole + row
    i = int(np.argmin(whole - top * np.log(prior) * span))
    facts = ExpertsFacts(
        "doubling", rounds, experts, "table", "draw", top, top, eta, rates=rates, gaps=float(gaps), last_gap=0.0,
        mixed=float(mixed), best=int(np.argmin(whole)), best_loss=float(whole.min()), comparator=i,
        comparator_loss=float(whole[i]), price=-math.log(prior[i]), uniform=len(set(prior)) == 1, rounding=1e-12,
        epochs=k, span=span,
    )  # fmt: skip
    start = dataclasses.replace(facts, rounds=0, epochs=0, mixed=0.0, best_loss=0.0, comparator_loss=0.0)
    return Run(start, facts, rounds, 0, float(mixed), (0, 0), adaptive=False, deterministic=False)


tables = st.tuples(st.integers(1, 40), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(0, 1))
)


@given(tables, st.sampled_from([1.0, 5.0]), st.data())
def test_the_theorem_holds_on_any_table_with_any_prior(table, top, data):
    rounds, experts = table.shape
    parts = data.draw(st.lists(st.integers(1, 1000), min_size=experts, max_size=experts))
    plain, favoured = play(table * top, top=top), play(table * top, np.array(parts) / sum(parts), top)
    for run in (plain, favoured):
        for theorem in (doubling_regret, mixability_gaps):
            certificate = theorem(run)
            assert certificate.status in ("valid", "vacuous")
            assert certificate.observed <= certificate.bound
        assert mixability_gaps(run).bound <= doubling_regret(run).bound + 1e-8
    closed = (2 + math.sqrt(2)) * top * math.sqrt(rounds * math.log(experts) / 2)
    assert doubling_regret(plain).bound <= closed + 1e-6
    assert doubling_regret(plain).quantities["closed_form"] == pytest.approx(closed)


@pytest.mark.parametrize("rounds", [1, 2, 3, 4, 7, 8, 15, 16, 1000])
def test_the_bound_is_the_sum_over_the_epochs_that_were_begun(rounds):
    certificate = doubling_regret(play(np.zeros((rounds, 4))))
    played = [min(2**k, rounds + 1 - 2**k) for k in range(rounds.bit_length())]
    etas = [math.sqrt(8 * math.log(4) / 2**k) for k in range(rounds.bit_length())]
    assert sum(played) == rounds
    expected = sum(math.log(4) / eta + eta * n / 8 for eta, n in zip(etas, played, strict=True))
    assert certificate.bound == pytest.approx(expected, abs=1e-8)
    assert certificate.quantities["epochs"] == rounds.bit_length()
