"""Bisection of the circle: every round a mistake, though one halfplane fits all answers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.adversaries.plane_bisection import PlaneBisection
from novikoff.core.errors import InputError
from novikoff.finite.constant import Constant

CASES = {
    "plane_bisection_forced": cases.of_adversary(PlaneBisection, nk.Perceptron, 20),
}
"""Cases for tests/test_every_theorem.py."""


def never(x):
    raise AssertionError("this adversary needs no probe")


def lower(ledger):
    (certificate,) = [c for c in ledger.certify() if c.side == "lower"]
    return certificate


@pytest.mark.parametrize("learner", ["perceptron", "perceptron:bias=1", "ellipsoid", "logistic", "kernel-perceptron"])
def test_every_learner_errs_in_each_of_the_first_rounds(learner):
    ledger = nk.play(learner, PlaneBisection(), rounds=26)
    certificate = lower(ledger)
    assert ledger.mistakes == certificate.observed == certificate.bound == 26
    assert certificate.status == "valid"
    assert all(one.status != "violated" for one in ledger.certify())


@given(st.integers(1, 26), st.lists(st.sampled_from([-1, 1]), max_size=40))
def test_the_witness_fits_every_answer_and_each_forced_round_contradicts(bits, said):
    adversary = PlaneBisection(bits)
    shown = []
    for prediction in said:
        x = adversary.ask(never)
        shown.append((tuple(map(Fraction, x)), adversary.answer({prediction: 1.0})))
    u = adversary.witness()
    products = [u[0] * x[0] + u[1] * x[1] for x, _ in shown]
    assert all(product * y > 0 for product, (_, y) in zip(products, shown, strict=True))
    assert adversary.forced >= min(len(said), bits)
    assert all(y == -p for (_, y), p in zip(shown[: min(len(said), bits)], said, strict=False))


def test_x_is_exact():
    adversary = PlaneBisection()
    for k in range(26):
        m = Fraction((adversary.a + adversary.b) // 2, 2**26)
        assert tuple(map(Fraction, adversary.ask(never))) == (-2 * m, 1 - m * m)
        adversary.answer({(-1) ** k: 1.0})


def test_after_the_arc_is_exhausted_nothing_is_guaranteed():
    certificate = lower(nk.play(Constant(1), PlaneBisection(4), rounds=30))
    assert certificate.bound == 4
    assert certificate.status == "valid"
    assert ">= 0" in certificate.quantities["witness"]


def test_game_begun_before_the_ledger_forces_the_remaining_mistakes():
    adversary = PlaneBisection(6)
    nk.play("perceptron", adversary, rounds=4)
    assert lower(nk.play(Constant(-1), adversary, rounds=10)).bound == 2


def test_the_certificate_is_void_for_a_learner_that_draws():
    ledger = nk.play("hedge:[perceptron,ellipsoid]", PlaneBisection(), rounds=5)
    assert [c.status for c in ledger.certify() if c.theorem == "plane_bisection_forced"] == ["void"]


@pytest.mark.parametrize("bits", [0, 27, -1, True, 2.5])
def test_bits_that_would_not_be_exact_are_refused(bits):
    with pytest.raises(InputError, match="bits"):
        PlaneBisection(bits)
