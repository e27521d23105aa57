"""Constant and Midpoint: the two plain learners that adversaries are shown on."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.adversaries.bisection import Bisection
from novikoff.core.errors import InputError
from novikoff.finite.constant import Constant, ConstantFacts
from novikoff.finite.midpoint import Midpoint
from samples import real_stream

SAMPLES = {
    "midpoint": [("midpoint", real_stream, [math.nan, math.inf, None, "a", [1, 2]])],
    "constant": [("constant", real_stream, []), ("constant:label=-1", real_stream, [])],
}
"""Samples for tests/test_every_learner.py."""

LABELS = st.sampled_from([-1, 1])
NUMBERS = st.one_of(st.integers(-20, 20), st.fractions(-3, 3), st.floats(-10, 10))


@pytest.mark.parametrize("label", [-1, 1])
def test_a_constant_errs_on_every_other_label(label):
    ledger = nk.play(Constant(label), [("a", 1), (None, -1), (3.5, 1)])
    assert ledger.mistakes == (2 if label == -1 else 1)
    assert ledger.certify() == []


def test_a_constant_is_restored_from_its_state():
    again = Constant.restore(json.loads(json.dumps(Constant(-1).state())))
    assert again.predict_one(0) == -1
    assert again.facts() == ConstantFacts(-1)


@pytest.mark.parametrize("wrong", [0, 2, "spam"])
def test_a_constant_takes_and_learns_labels_only(wrong):
    with pytest.raises(InputError, match=r"a label must be -1 or \+1"):
        Constant(wrong)
    with pytest.raises(InputError, match=r"a label must be -1 or \+1"):
        Constant().learn_one(0, wrong)


def test_the_midpoint_by_hand():
    learner = Midpoint()
    assert learner.predict_one(-5) == 1  # nothing is known
    assert learner.play_one(0, -1) == 1
    assert learner.predict_one(100) == -1  # theta in (0, infinity)
    assert learner.play_one(1, 1) == -1
    assert learner.predict_one(Fraction(1, 2)) == 1  # theta in (0, 1], a tie
    assert learner.predict_one(math.nextafter(0.5, 0.0)) == -1
    assert learner.play_one(0.75, -1) == 1
    assert (learner.lo, learner.hi) == (Fraction(3, 4), 1)
    assert learner.predict_one(Fraction(7, 8)) == 1
    assert learner.predict_one(0.85) == -1


def test_midpoint_with_only_positives_predicts_plus_one():
    learner = Midpoint()
    learner.learn_one(3, 1)
    assert learner.predict_one(-1000) == 1


def test_contradiction_restarts_the_learner():
    learner = Midpoint()
    nk.play(learner, [(1, -1), (2, 1), (2, -1)])
    assert (learner.lo, learner.hi) == (None, None)
    assert (learner.facts().rounds, learner.facts().restarts) == (3, 1)


@given(NUMBERS, st.lists(NUMBERS, min_size=1, max_size=30))
def test_realizable_stream_is_never_contradicted_and_seen_rows_are_known(theta, xs):
    learner = Midpoint()
    stream = [(x, 1 if Fraction(x) >= Fraction(theta) else -1) for x in xs]
    nk.play(learner, stream)
    assert learner.restarts == 0
    assert learner.lo is None or learner.lo < theta
    assert learner.hi is None or theta <= learner.hi
    if len({y for _, y in stream}) == 2:
        assert [learner.predict_one(x) for x in xs] == [y for _, y in stream]


@given(st.lists(st.tuples(NUMBERS, LABELS), max_size=30), st.integers(0, 30))
def test_resumed_midpoint_matches_uninterrupted_run(stream, stop):
    whole, part = Midpoint(), Midpoint()
    said = [whole.play_one(x, y) for x, y in stream]
    first = [part.play_one(x, y) for x, y in stream[:stop]]
    part = Midpoint.restore(json.loads(json.dumps(part.state())))
    assert first + [part.play_one(x, y) for x, y in stream[stop:]] == said
    assert part.state() == whole.state()
    assert part.facts() == whole.facts()


@given(st.lists(st.tuples(NUMBERS, LABELS), min_size=1, max_size=20), NUMBERS)
def test_predicting_changes_nothing(stream, x):
    learner = Midpoint()
    nk.play(learner, stream)
    before = learner.state()
    assert learner.predict_one(x) == learner.predict_one(x)
    assert learner.state() == before


def test_a_state_of_twenty_thousand_bits_is_plain_data():
    learner = Midpoint()
    learner.learn_one(Fraction(1, 3**13_000), -1)
    learner.learn_one(1, 1)
    assert Midpoint.restore(json.loads(json.dumps(learner.state()))).lo == Fraction(1, 3**13_000)


@pytest.mark.parametrize(
    "x",
    [0.1, np.float64(0.1), [0.1], (0.1,), np.array([0.1]), np.array(0.1), Fraction(0.1), Decimal.from_float(0.1)],
    ids=lambda x: type(x).__name__,
)
def test_every_form_of_a_number_has_the_same_exact_value(x):
    learner = Midpoint()
    learner.learn_one(x, -1)
    assert learner.lo == Fraction(0.1)


def test_numpy_integers_do_not_overflow():
    learner = Midpoint()
    learner.learn_one(np.int64(2**62), -1)
    learner.learn_one(np.int64(2**63 - 1), 1)
    assert learner.predict_one(np.int64(2**62 + 2**61)) == 1
    assert learner.predict_one(np.int64(2**62 + 2**61 - 1)) == -1
    assert type(learner.lo.numerator) is int


def test_float32_is_taken_at_its_own_value():
    learner = Midpoint()
    learner.learn_one(np.float32(0.1), -1)
    assert learner.lo == Fraction(float(np.float32(0.1)))


@pytest.mark.parametrize("x", [math.nan, math.inf, -math.inf, np.float32("nan"), Decimal("inf"), np.array([np.nan])])
def test_nonfinite_input_is_refused_and_changes_nothing(x):
    learner = Midpoint()
    learner.learn_one(1, -1)
    before = learner.state()
    for act in (lambda: learner.predict_one(x), lambda: learner.learn_one(x, 1)):
        with pytest.raises(InputError, match="x must be finite"):
            act()
    assert learner.state() == before


@pytest.mark.parametrize("x", ["1/2", None, 1j, {}, [1, 2], np.zeros(3), [], [[1]], [[1], [1, 2]]])
def test_non_numbers_are_refused(x):
    with pytest.raises(InputError, match=r"x must be (a|one) number"):
        Midpoint().predict_one(x)


def test_invalid_label_is_refused_and_changes_nothing():
    learner = Midpoint()
    with pytest.raises(InputError, match=r"a label must be -1 or \+1"):
        learner.learn_one(1, 0)
    assert learner.state() == Midpoint().state()


def test_on_random_thresholds_it_errs_about_as_often_as_bits_are_needed():
    stream = [(t * 0.6180339887498949 % 1.0, 1 if t * 0.6180339887498949 % 1.0 >= 0.3 else -1) for t in range(2000)]
    assert nk.play(Midpoint(), stream).mistakes <= 12


def test_no_theorem_since_bisection_forces_every_mistake():
    ledger = nk.play(Midpoint(), Bisection(), rounds=200)
    assert ledger.mistakes == 200
    assert [certificate.side for certificate in ledger.certify()] == ["lower"]
