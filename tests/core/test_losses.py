"""The losses: values, ranges, and what they are good for."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.errors import InputError
from novikoff.core.losses import NAMES, Loss

UNIT = st.floats(0.0, 1.0)


def test_values_by_hand():
    assert Loss.of("zero-one").losses([1.0, -1.0, 3.0], 1.0).tolist() == [0.0, 1.0, 1.0]
    assert Loss.of("absolute").losses([0.25, 1.0], 0.5).tolist() == [0.25, 0.5]
    assert Loss.of("squared").losses([0.25, 1.0], 0.5).tolist() == [0.0625, 0.25]
    assert Loss.of("log").one(0.25, 1.0) == pytest.approx(math.log(4.0))
    assert Loss.of("log").one(0.25, 0.0) == pytest.approx(math.log(4.0 / 3.0))
    assert Loss.of("table").losses([0.0, 0.5, 1.0], 0.0).tolist() == [0.0, 0.5, 1.0]


def test_each_name_has_its_code():
    assert [Loss.of(name).code for name in NAMES] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("clip", [1e-15, 1e-6, 0.25])
def test_no_log_loss_is_above_the_top(clip):
    loss = Loss.of("log", clip)
    assert loss.losses([0.0, 1.0], 1.0).max() <= loss.top
    assert loss.losses([0.0, 1.0], 0.0).max() <= loss.top
    assert loss.top == pytest.approx(-math.log(clip), rel=1e-4)


@given(UNIT, UNIT, UNIT, st.sampled_from([0.0, 1.0]))
def test_a_mixture_loses_no_more_than_the_experts_on_average(p, q, w, y):
    for name in ("absolute", "squared", "log"):
        loss = Loss.of(name)
        assert loss.convex
        clipped = np.clip([p, q], loss.clip, 1.0 - loss.clip)
        mixed = loss.one(float(np.clip(w * clipped[0] + (1.0 - w) * clipped[1], 0.0, 1.0)), y)
        assert mixed <= w * loss.one(p, y) + (1.0 - w) * loss.one(q, y) + 1e-9


@given(UNIT, UNIT, UNIT, st.sampled_from([0.0, 1.0]))
def test_exp_concave_losses_are_below_the_mix_loss(p, q, w, y):
    for name in ("squared", "log"):
        loss = Loss.of(name)
        rate = loss.concave_rate
        assert rate is not None
        clipped = np.clip([p, q], loss.clip, 1.0 - loss.clip)
        mixture = float(np.clip(w * clipped[0] + (1.0 - w) * clipped[1], 0.0, 1.0))
        mean = w * math.exp(-rate * loss.one(p, y)) + (1.0 - w) * math.exp(-rate * loss.one(q, y))
        assert math.exp(-rate * loss.one(mixture, y)) >= mean - 1e-12


def test_losses_that_are_not_exp_concave_have_no_such_rate():
    assert all(Loss.of(name).concave_rate is None for name in ("zero-one", "absolute", "table"))


@pytest.mark.parametrize(
    ("name", "p", "y"),
    [
        ("zero-one", math.nan, 1.0),
        ("zero-one", math.inf, 1.0),
        ("zero-one", 1.0, math.nan),
        ("absolute", 1.1, 0.5),
        ("absolute", 0.5, -0.1),
        ("squared", -0.1, 0.5),
        ("squared", 0.5, "a"),
        ("log", 0.5, 0.5),
        ("log", 1.5, 1.0),
        ("table", 1.5, 0.0),
        ("table", math.nan, 0.0),
        ("absolute", 0.5, None),
        ("absolute", 0.5, 10**400),
    ],
)
def test_out_of_range_values_are_refused(name, p, y):
    with pytest.raises(InputError, match="must be"):
        Loss.of(name).one(p, y)


@pytest.mark.parametrize(
    ("name", "clip"), [("hinge", 1e-6), ("log", 0.0), ("log", 0.5), ("log", math.nan), ("log", "a")]
)
def test_bad_names_and_clips_are_refused(name, clip):
    with pytest.raises(InputError, match="must be"):
        Loss.of(name, clip)
