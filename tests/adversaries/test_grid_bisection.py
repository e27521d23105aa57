"""Bisection on a grid: floor(log2(n+2)) mistakes, which ThresholdHalving meets exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.adversaries.grid_bisection import GridBisection
from novikoff.core.errors import InputError, MismatchError
from novikoff.finite.classes.threshold import Thresholds
from novikoff.finite.constant import Constant

CASES = {
    "grid_bisection_forced": cases.of_adversary(lambda: GridBisection(20), lambda: nk.ThresholdHalving(20), 20),
}
"""Cases for tests/test_every_theorem.py."""

GOLDEN = [(1, 1), (2, 2), (3, 2), (5, 2), (6, 3), (10, 3), (14, 4), (100, 6), (1000, 9)]


def never(x):
    raise AssertionError("this adversary needs no probe")


def lower(ledger):
    (certificate,) = [c for c in ledger.certify() if c.side == "lower"]
    return certificate


@pytest.mark.parametrize(("n", "forced"), GOLDEN)
def test_the_theorem_is_tight_on_threshold_halving(n, forced):
    learner = nk.ThresholdHalving(n)
    ledger = nk.play(learner, GridBisection(n), rounds=40)
    assert ledger.mistakes == forced
    certificates = {c.theorem: c for c in ledger.certify()}
    assert certificates["grid_bisection_forced"].bound == certificates["grid_bisection_forced"].observed == forced
    assert certificates["grid_bisection_forced"].status == "valid"
    assert certificates["halving_mistakes"].quantities["a_priori"] == forced
    assert certificates["halving_mistakes"].holds


@pytest.mark.parametrize(("n", "forced"), GOLDEN)
def test_every_other_learner_makes_at_least_as_many(n, forced):
    learners = [
        nk.Halving(Thresholds(n)),
        nk.Halving(Thresholds(n), conservative=True),
        nk.Consistent(Thresholds(n)),
        Constant(1),
        Constant(-1),
    ]
    for learner in learners:
        certificate = lower(nk.play(learner, GridBisection(n), rounds=40))
        assert certificate.observed >= certificate.bound == forced
        assert certificate.status == "valid"


@given(st.integers(0, 70), st.lists(st.sampled_from([-1, 1]), max_size=30))
def test_the_witness_fits_every_answer_and_each_forced_round_contradicts(n, said):
    adversary = GridBisection(n)
    shown = []
    for prediction in said:
        x = adversary.ask(never)
        assert 0 <= x <= n
        shown.append((x, adversary.answer({prediction: 1.0})))
    k = adversary.witness()
    assert 0 <= k <= n + 1
    assert [y for _, y in shown] == [1 if x >= k else -1 for x, _ in shown]
    forced = adversary.forced
    assert all(y == -prediction for (_, y), prediction in zip(shown[:forced], said, strict=False))
    assert forced >= min(len(said), (n + 2).bit_length() - 1)
    assert forced <= (n + 1).bit_length()  # ceil(log2(n + 2)): each round leaves at most the larger half


def test_a_grid_of_twenty_thousand_bits_is_handled():
    n = 2**20_000
    adversary = GridBisection(n)
    ledger = nk.play(nk.ThresholdHalving(n), adversary, rounds=20_010)
    certificate = lower(ledger)
    assert certificate.observed == certificate.bound == 20_000
    assert certificate.status == "valid"
    assert len(certificate.quantities["witness"]) < 40
    assert len(adversary.name) < 60


def test_the_witness_is_reported_as_a_threshold_or_as_always_minus_one():
    assert lower(nk.play(Constant(1), GridBisection(10), rounds=9)).quantities["witness"] == "always -1"
    assert lower(nk.play(Constant(-1), GridBisection(10), rounds=9)).quantities["witness"] == "x >= 0"


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_before_the_end_every_round_is_forced(rounds):
    certificate = lower(nk.play(nk.ThresholdHalving(100), GridBisection(100), rounds=rounds))
    assert certificate.bound == certificate.observed == rounds
    assert certificate.status == ("valid" if rounds else "vacuous")


def test_game_begun_before_the_ledger_forces_the_remaining_mistakes():
    adversary = GridBisection(14)
    nk.play(nk.ThresholdHalving(14), adversary, rounds=3)
    certificate = lower(nk.play(Constant(1), adversary, rounds=10))
    assert certificate.quantities["thresholds_before"] == 2
    assert certificate.bound == 1


def test_the_certificate_is_void_for_a_learner_that_draws():
    certificate = lower(nk.play(nk.Consistent(Thresholds(10), random=True), GridBisection(10), rounds=10))
    assert certificate.status == "void"
    assert certificate.bound is None
    assert certificate.reason == "assumption failed: the learner is deterministic"


def test_a_negative_grid_is_refused():
    with pytest.raises(InputError, match="at least 0: got n = -1"):
        GridBisection(-1)


def test_a_learner_on_another_grid_is_refused():
    with pytest.raises(MismatchError, match=r"index\[4\].*index\[11\]"):
        nk.play(nk.ThresholdHalving(3), GridBisection(10), rounds=1)
