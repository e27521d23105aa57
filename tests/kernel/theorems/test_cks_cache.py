"""The bound on what a learner holds that throws out what it no longer needs."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.core.types import Run
from novikoff.game.play import play as play_game
from novikoff.kernel.comparators.tracker import KernelTracker
from novikoff.kernel.crammer_kandola_singer import CrammerKandolaSinger
from novikoff.kernel.kernels import Kernel
from novikoff.kernel.theorems.cks_cache import cks_cache
from novikoff.kernel.theorems.kernel_facts import KernelFacts


class Hoarder(nk.CrammerKandolaSinger):
    """Broken: it throws nothing out, and says that it does."""

    def facts(self):
        return dataclasses.replace(super().facts(), distilled=True, margin=0.0)


def cks():
    return nk.CrammerKandolaSinger(None, "linear", distill=True)


CASES = {
    "cks_cache": cases.of_vectors(
        cks,
        lambda: cases.run_of(Hoarder(None, **cases.LINEAR, beta=50.0), cases.apart(50)),
        warmed=False,
        unless=cases.NARROW,
        more=((lambda: cases.run_of(cks(), cases.BOTH), cases.NARROW),),
    ),
}
"""Cases for tests/test_every_theorem.py."""

LINEAR = Kernel.of("linear")
RBF = Kernel.of("rbf", gamma=0.5)


def play(rows, ys, similarity=LINEAR, beta=0.0, hoards=False, budget=None):
    """A game of the rule in plain Python; one that hoards keeps every example, and says that it does not."""
    x = np.array(rows, dtype=float).reshape(len(rows), -1)
    values = similarity.matrix(x, x)
    kept, updates, mistakes, most = [], 0, 0, 0
    tracked = KernelTracker(similarity)
    without = lambda j: ys[j] * sum(ys[k] * values[k, j] for k in kept) - values[j, j]
    for t, y in enumerate(ys):
        score = sum(ys[k] * values[k, t] for k in kept)
        wrong = (1 if score >= 0 else -1) != y
        mistakes += wrong
        if hoards or (y * score <= beta if beta else wrong):
            updates += 1
            kept.append(t)
            while not hoards and max(map(without, kept)) > beta:
                kept.remove(max(kept, key=without))
        most = max(most, len(kept))
        tracked.see_row(x[t], y, wrong)
    before = KernelFacts(0, 0, 0, 0, budget, similarity, empty=True, margin=beta, distilled=True)
    after = dataclasses.replace(before, rounds=len(rows), updates=updates, supports=len(kept), empty=not kept)
    return Run(before, after, len(rows), mistakes, float(mistakes), (0, 0), False, True, tracked.facts()), most


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.sampled_from([-1, 1])), min_size=1, max_size=25),
    st.sampled_from([0.0, 0.5, 2.0]),
    st.sampled_from([LINEAR, RBF, Kernel.of("polynomial", degree=2)]),
)
def test_the_bound_holds_at_every_time_on_arbitrary_streams(stream, beta, similarity):
    seen = {}
    rows = [(a, b) for a, b, _ in stream]
    ys = [seen.setdefault((a, b), y) for a, b, y in stream]  # an example keeps its label
    run, most = play(rows, ys, similarity, beta)
    found = cks_cache(run)
    assert found.status in ("valid", "vacuous", "void")
    if found.bound is not None:
        assert found.bound >= most


def apart(rows):
    """A margin of 1 along the first axis, and any second coordinate."""
    coins = np.random.default_rng(1)
    y = np.where(coins.random(rows) < 0.5, 1, -1)
    return np.stack([2.0 * y, coins.uniform(-1, 1, rows)], axis=1).tolist(), y.tolist()


@pytest.mark.parametrize("beta", [0.0, 1.0, 5.0])
def test_a_wide_margin_keeps_the_list_short(beta):
    run, most = play(*apart(300), beta=beta)
    found = cks_cache(run)
    assert found.bound == (4 + 1 + beta) // 4 == int((5 + beta) / 4)
    assert most <= found.bound


def test_labels_that_contradict_each_other_make_it_void():
    run, _ = play([[1.0], [1.0]] * 5, [-1, 1] * 5)
    found = cks_cache(run)
    assert (found.status, found.bound, found.observed) == ("void", None, run.after.supports)
    assert "separates" in found.reason
    assert found.quantities == {"beyond_that": "no mistake bound is known"}


def test_refuted_assumptions_make_it_void():
    run, _ = play(np.eye(3).tolist(), [-1] * 3)
    for part, why in (
        ({"before": dataclasses.replace(run.before, empty=False)}, "empty"),
        ({"tracked": dataclasses.replace(run.tracked, similarity=RBF)}, "learner's K"),
        ({"tracked": dataclasses.replace(run.tracked, rows=3, invalid_reason="out of range")}, "out of range"),
        ({"rounds": 9}, "every round"),
    ):
        found = cks_cache(dataclasses.replace(run, **part))
        assert found.status == "void"
        assert why in found.reason


def test_a_bound_above_the_budget_is_uninformative():
    run, _ = play(np.eye(5).tolist() * 2, [-1] * 10, budget=5)
    assert cks_cache(run).status == "vacuous"


def test_the_rounding_of_the_run_is_accounted_for():
    run, _ = play(np.eye(40).tolist(), [-1] * 40)
    rough = dataclasses.replace(run, tracked=dataclasses.replace(run.tracked, error=Fraction(1, 500)))
    assert cks_cache(rough).bound > cks_cache(run).bound


@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_the_learner_itself_is_certified_as_its_plain_twin_is(beta):
    rows, ys = apart(300)
    learner = CrammerKandolaSinger(None, "linear", beta=beta, distill=True)
    ledger = play_game(learner, (np.array(rows), np.array(ys)))
    run, _ = play(rows, ys, beta=beta)
    (found,) = ledger.certify()
    assert (found.observed, found.bound) == (run.after.supports, cks_cache(run).bound)
