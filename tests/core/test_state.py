"""Declared fields are saved, checked and restored."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from novikoff.core.errors import ModelFileError
from novikoff.core.state import (
    Argument,
    Array,
    Choice,
    Coded,
    Count,
    First,
    Number,
    Part,
    Stateful,
    Sum,
    Tuples,
    Value,
    Values,
)
from novikoff.numerics.total import Total


class Inner(Stateful):
    described = "an inner part"
    fields = (Count("count", most=9),)

    def __init__(self):
        self.count = 3


class Outer(Stateful):
    fields = (
        Argument("bias", float),
        Argument("labels", int | None, at="announced"),
        Count("rounds"),
        Count("updates", most="rounds"),
        First("first", "updates"),
        Number("loss", least=0.0, most="rounds", at="_sums.1"),
        Value("settled", bool),
        Sum("paid", at="_paid"),
        Part("inner"),
        Part("other", Inner, optional=True),
        Array("weights", ("inner.count", 2), spare=0.0, nonnegative=(1,), at="_weights"),
        Array("slots", ("inner.count",), np.int32, spare=-1, at="_slots"),
        Array("seen", (None,), assigned=False),
        Array("shares", (3,), least=0.0, most="rounds"),
        Values("bins", int, 3, 0, "rounds"),
        Values("names", str),
        Tuples("pairs", (str, int | float)),
        Choice("rule", ("first", 2)),
        Coded("root", str, lambda text: math.sqrt(float(text)), "the text of a number from 0", assigned=False),
    )

    def __init__(self, bias, labels=None):
        self.bias, self.announced = bias, labels
        self.rounds, self.updates, self.first, self.settled = 8, 2, 5, True
        self._sums, self._paid = np.zeros(2), Total(4.0, 0.5)
        self.inner, self.other = Inner(), None
        self._weights, self._slots = np.arange(10.0).reshape(5, 2), np.array([2, 0], np.int32)
        self.seen, self.root = np.arange(4.0), 9.0
        self.shares, self.bins, self.names = np.array([0.0, 1.0, 3.0]), [0, 3, 8], ["a"]
        self.pairs, self.rule = [("a", 1), ("b", 0.5)], "first"

    def after_restoring(self, found):
        self.total, self.root = float(found["seen"].sum()), found["root"]


def test_the_state_has_every_field_under_its_name():
    state = Outer(1.0, 2).state()
    assert list(state) == [field.name for field in Outer.fields]
    assert (state["bias"], state["labels"], state["paid"], state["inner"]) == (1.0, 2, [4.0, 0.5], {"count": 3})
    assert state["weights"].tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert state["slots"].tolist() == [2, 0, -1]


def test_the_state_shares_no_memory_with_the_object():
    one = Outer(1.0)
    state = one.state()
    one._weights[:], one.seen[:] = 7.0, 7.0
    assert state["weights"].max() == 5.0
    assert state["seen"].max() == 3.0


def test_restoring_assigns_fields_and_calls_the_hook():
    one = Outer(0.5, 3)
    one._sums[1], one.other, one.inner.count = 1.5, Inner(), 2
    again = Outer.restore(one.state())
    assert (again.bias, again.announced, again.updates, again._sums[1], again.inner.count) == (0.5, 3, 2, 1.5, 2)
    assert (again._paid, again.other.count, again.total, again.root) == (Total(4.0, 0.5), 3, 6.0, 3.0)
    assert again._weights.tolist() == [[0.0, 1.0], [2.0, 3.0], [0.0, 0.0]]
    assert again._slots.tolist() == [2, 0, -1]
    assert (again.bins, again.names, again.pairs, again.rule) == ([0, 3, 8], ["a"], [("a", 1), ("b", 0.5)], "first")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bias": "1"}, "bias of a learner must be an integer or a number"),
        ({"bias": True}, "bias of a learner"),
        ({"rounds": 2.0}, "rounds of a learner must be an integer from 0"),
        ({"rounds": 2**63}, "rounds of a learner"),
        ({"updates": 9}, "updates of a learner must be an integer from 0 to 8"),
        ({"first": 0}, "first of a learner must be an integer from 1 to 7"),
        ({"first": 8}, "first of a learner"),
        ({"loss": 8.5}, "loss of a learner must be from 0 to 8"),
        ({"loss": math.nan}, "loss of a learner must be a finite number"),
        ({"settled": 1}, "settled of a learner must be true or false"),
        ({"paid": [1.0]}, "paid of a learner must be two numbers"),
        ({"inner": {"count": 10}}, "count of an inner part must be an integer from 0 to 9"),
        ({"inner": {}}, "count of an inner part must be saved"),
        ({"other": {"count": -1}}, "count of an inner part"),
        ({"weights": np.zeros((2, 2))}, "weights of a learner must be 3 x 2 numbers of type float64"),
        ({"weights": np.zeros((3, 2), np.float32)}, "weights of a learner"),
        ({"weights": np.full((3, 2), -1.0)}, "weights of a learner must not be negative"),
        ({"weights": np.full((3, 2), math.inf)}, "weights of a learner must be finite"),
        ({"weights": None}, "weights of a learner"),
        ({"shares": np.array([0.0, 1.0, -0.5])}, "shares of a learner must be at least 0"),
        ({"shares": np.array([0.0, 1.0, 8.5])}, "shares of a learner must be at most 8"),
        ({"bins": [0, 3, 9]}, "bins of a learner must be an integer from 0 to 8"),
        ({"bins": [-1, 3, 8]}, "bins of a learner must be an integer from 0 to 8"),
        ({"bins": [0, 3]}, "bins of a learner must be a list of 3"),
        ({"bins": [0, 3, 8.0]}, "bins of a learner must be an integer"),
        ({"names": [1]}, "names of a learner must be a text"),
        ({"pairs": [["a"]]}, "pairs of a learner must be lists of a text"),
        ({"pairs": [["a", "b"]]}, "pairs of a learner must be lists of a text"),
        ({"rule": 2.0}, "rule of a learner must be one of first, 2"),
        ({"rule": "second"}, "rule of a learner must be one of first, 2"),
        ({"root": "x"}, "root of a learner must be the text of a number from 0"),
    ],
)
def test_a_value_out_of_range_is_refused(change, message):
    with pytest.raises(ModelFileError, match=message):
        Outer.restore(Outer(1.0).state() | change)


@pytest.mark.parametrize("name", [field.name for field in Outer.fields])
def test_a_field_that_is_missing_is_refused(name):
    state = Outer(1.0).state()
    del state[name]
    with pytest.raises(ModelFileError, match=f"{name} of a learner must be saved"):
        Outer.restore(state)


def test_a_class_without_fields_cannot_be_saved():
    @dataclass
    class Empty(Stateful):
        pass

    with pytest.raises(TypeError, match="declare its `fields`"):
        Empty().state()
