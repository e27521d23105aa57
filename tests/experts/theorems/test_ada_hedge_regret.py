"""AdaHedge in a few lines of longdoubles, and its theorem."""

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
from novikoff.experts.theorems.ada_hedge_regret import ada_hedge_regret
from novikoff.experts.theorems.experts_facts import ExpertsFacts

CASES = {
    "ada_hedge_regret": cases.of_experts(
        lambda experts: nk.AdaHedge(experts, loss="table", play="draw"),
        lambda: cases.run_of(nk.AdaHedge(2, loss="table", play="draw"), nk.Losses(cases.lead(20_000, 1_500))),
        "equal weights",
        {"uniform": False},
    ),
}
"""Cases for tests/test_every_theorem.py."""

GOLDEN = np.array([[0, 1, 0.5], [1, 0, 0.5], [0, 1, 1], [0, 0, 1]])


def play(table, top=1.0, sign=1.0):
    """The run, and every gap; sign -1 prefers the losers."""
    table = np.asarray(table, dtype=np.longdouble)
    rounds, experts = table.shape
    lost, mixed, gaps, found = np.zeros(experts, dtype=np.longdouble), np.longdouble(0), np.longdouble(0), []
    for row in table:
        behind = sign * (lost - (sign * lost).min() * sign)
        if gaps == 0 or experts == 1:
            w = (behind == 0).astype(np.longdouble)
            mix = (lost + row).min() - lost.min()
        else:
            eta = math.log(experts) / gaps
            w = np.exp(-eta * behind)
            least = row.min()
            mix = least - np.log((w / w.sum()) @ np.exp(-eta * (row - least))) / eta
        h = row @ (w / w.sum())
        found.append(max(h - mix, np.longdouble(0)))
        mixed, gaps, lost = mixed + h, gaps + found[-1], lost + row
    facts = ExpertsFacts(
        "adaptive", rounds, experts, "table", "draw", top, top, 0.0, rates=0.0, gaps=float(gaps),
        last_gap=float(found[-1]), mixed=float(mixed), best=int(np.argmin(lost)), best_loss=float(lost.min()),
        comparator=int(np.argmin(lost)), comparator_loss=float(lost.min()), price=math.log(experts), uniform=True,
        rounding=1e-12,
    )  # fmt: skip
    start = dataclasses.replace(facts, rounds=0, gaps=0.0, mixed=0.0, best_loss=0.0, comparator_loss=0.0)
    return Run(start, facts, rounds, 0, float(mixed), (0, 0), adaptive=False, deterministic=False), found


tables = st.tuples(st.integers(1, 25), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(0, 1000).map(lambda k: k / 1000))
)
zeros_and_ones = st.tuples(st.integers(1, 60), st.integers(2, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 1.0]))
)


@given(st.one_of(tables, zeros_and_ones), st.sampled_from([1.0, 0.125, 13.0]))
def test_theorem_and_its_advance_bound_hold_on_any_table(table, top):
    run, _ = play(table * top, top)
    certificate = ada_hedge_regret(run)
    assert certificate.status in ("valid", "vacuous")
    assert certificate.observed <= certificate.bound <= certificate.quantities["in_advance"] + 1e-8
    rounds, experts = table.shape
    closed = math.sqrt(rounds * math.log(experts)) + 4 / 3 * math.log(experts) + 2
    assert certificate.quantities["in_advance"] == pytest.approx(top * closed)


def test_golden_values():
    run, gaps = play(GOLDEN)
    assert [float(gap) for gap in gaps] == pytest.approx([0.5, 0.140333548, 0.205415508, 0.070752556], abs=1e-9)
    certificate = ada_hedge_regret(run)
    assert certificate.quantities["gaps"] == pytest.approx(0.916501612, abs=1e-9)
    assert certificate.observed == pytest.approx(1.150864002, abs=1e-9)
    assert certificate.bound == pytest.approx(1.762250668, abs=1e-8)


def test_bound_is_tiny_if_one_expert_always_leads():
    certificate = ada_hedge_regret(play(np.tile([[0.0, 1.0]], (10_000, 1)))[0])
    assert certificate.observed <= certificate.bound < 3.0 < certificate.quantities["in_advance"] / 25


def test_it_is_void_where_gaps_are_no_numbers():
    run, _ = play(GOLDEN)
    assert ada_hedge_regret(changed(run, gaps=math.nan)).status == "void"
    assert ada_hedge_regret(changed(run, last_gap=math.nan)).status == "void"
    assert ada_hedge_regret(changed(run, rule="fixed")) is None


def changed(run, **values):
    return dataclasses.replace(run, after=dataclasses.replace(run.after, **values))
