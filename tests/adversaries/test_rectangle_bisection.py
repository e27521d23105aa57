"""Bisection against boxes: a mistake in every round, and a box that fits them all."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.adversaries.rectangle_bisection import RectangleBisection
from novikoff.core.errors import InputError, MismatchError
from novikoff.finite.constant import Constant
from novikoff.finite.midpoint import Midpoint


def never(x):
    raise AssertionError("this adversary needs no probe")


def inside(box, x):
    return 1 if all(low <= value <= high for (low, high), value in zip(box, x, strict=True)) else -1


@given(st.integers(1, 5), st.lists(st.sampled_from([-1, 1]), max_size=60))
def test_the_box_fits_every_answer_and_every_answer_contradicts(dim, said):
    adversary = RectangleBisection(dim)
    shown = []
    for prediction in said:
        x = adversary.ask(never)
        assert len(x) == dim
        assert all(type(value) is Fraction for value in x)
        shown.append((x, adversary.answer({prediction: 1.0})))
    box = adversary.witness()
    assert len(box) == dim
    assert all(low < high for low, high in box)
    assert [inside(box, x) for x, _ in shown] == [y for _, y in shown] == [-prediction for prediction in said]


@pytest.mark.parametrize("label", [-1, 1])
def test_a_constant_errs_in_every_round(label):
    ledger = nk.play(Constant(label), RectangleBisection(3), rounds=500)
    (certificate,) = ledger.certify()
    assert (certificate.theorem, certificate.status) == ("bisection_forced", "valid")
    assert certificate.observed == certificate.bound == 500


def test_a_box_of_one_axis_is_played_by_the_midpoint():
    (certificate,) = nk.play(Midpoint(), RectangleBisection(1), rounds=300).certify()
    assert certificate.observed == certificate.bound == 300


def test_the_witness_is_reported_as_a_box():
    (certificate,) = nk.play(Constant(-1), RectangleBisection(3), rounds=2).certify()
    assert certificate.quantities["witness"] == "[theta, 2] x [-1, 1]^2, theta = 1/4"
    (certificate,) = nk.play(Constant(-1), RectangleBisection(1), rounds=100).certify()
    assert certificate.quantities["witness"] == "[theta, 2], theta = a number of 101 bits"


def test_a_box_without_dimensions_is_refused():
    with pytest.raises(InputError, match="at least one dimension.*got dim = 0"):
        RectangleBisection(0)


def test_a_learner_of_indices_is_refused():
    with pytest.raises(MismatchError, match=r"index\[11\].*any\[2\]"):
        nk.play(nk.ThresholdHalving(10), RectangleBisection(2), rounds=1)
