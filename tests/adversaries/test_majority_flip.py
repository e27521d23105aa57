"""Majority flip: k mistakes on k points, which meets Halving's bound on the cube."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.adversaries.majority_flip import MajorityFlip
from novikoff.core.errors import InputError
from novikoff.finite.classes.matrix import cube
from novikoff.finite.constant import Constant

CASES = {
    "majority_flip_forced": cases.of_adversary(lambda: MajorityFlip(5), lambda: nk.Halving(cube(5)), 10),
}
"""Cases for tests/test_every_theorem.py."""


def never(x):
    raise AssertionError("this adversary needs no probe")


def lower(ledger):
    (certificate,) = [c for c in ledger.certify() if c.side == "lower"]
    return certificate


@pytest.mark.parametrize("conservative", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 7, 12])
def test_halvings_bound_is_met_with_equality_on_the_cube(k, conservative):
    ledger = nk.play(nk.Halving(cube(k), conservative=conservative), MajorityFlip(k), rounds=3 * k)
    certificates = {c.theorem: c for c in ledger.certify()}
    upper, below = certificates["halving_mistakes"], certificates["majority_flip_forced"]
    assert below.bound == ledger.mistakes == upper.bound == k
    assert upper.status == ("valid" if k < 3 * k else "vacuous")
    assert below.status == "valid"


def test_the_witness_is_the_row_of_the_cube_that_survives():
    k, adversary = 5, MajorityFlip(5)
    learner = nk.Halving(cube(k))
    nk.play(learner, adversary, rounds=k)
    row = sum(1 << i for i, label in enumerate(adversary.witness()) if label == 1)
    assert learner.size == 1
    assert learner.survivor() == cube(k).describe(row)


@given(st.integers(1, 9), st.lists(st.sampled_from([-1, 1]), max_size=30))
def test_the_witness_fits_every_answer_and_the_first_k_contradict(k, said):
    adversary = MajorityFlip(k)
    shown = []
    for prediction in said:
        x = adversary.ask(never)
        shown.append((x, adversary.answer({prediction: 1.0})))
    labels = adversary.witness()
    assert len(labels) == k
    assert set(labels) <= {-1, 1}
    assert [x for x, _ in shown] == [t % k for t in range(len(said))]
    assert all(labels[x] == y for x, y in shown)
    assert [y for _, y in shown[:k]] == [-prediction for prediction in said[:k]]


@pytest.mark.parametrize(("rounds", "forced"), [(0, 0), (4, 4), (6, 6), (20, 6)])
def test_any_deterministic_learner_pays_for_each_new_point(rounds, forced):
    certificate = lower(nk.play(Constant(-1), MajorityFlip(6), rounds=rounds))
    assert certificate.bound == forced
    assert certificate.observed == rounds  # "always -1" does not learn
    assert certificate.quantities["witness"] == "+" * min(rounds, 6)


def test_points_shown_before_the_ledger_was_opened_are_not_counted():
    adversary = MajorityFlip(6)
    nk.play(Constant(1), adversary, rounds=4)
    assert lower(nk.play(Constant(1), adversary, rounds=10)).bound == 2
    assert lower(nk.play(Constant(1), adversary, rounds=10)).bound == 0


def test_a_long_witness_is_reported_by_its_counts():
    certificate = lower(nk.play(Constant(1), MajorityFlip(2000), rounds=2000))
    assert certificate.quantities["witness"] == "0 points +1, 2,000 points -1"


def test_the_certificate_is_void_for_a_learner_that_draws():
    certificate = lower(nk.play(nk.Consistent(cube(4), random=True), MajorityFlip(4), rounds=4))
    assert certificate.status == "void"
    assert certificate.bound is None
    assert certificate.reason == "assumption failed: the learner is deterministic"


def test_no_points_are_refused():
    with pytest.raises(InputError, match="must be a positive integer: got k = 0"):
        MajorityFlip(0)
