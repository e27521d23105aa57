"""A state that no game can lead to is refused, by every learner that promises something of it."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import novikoff as nk
from helpers import bits
from novikoff.core.errors import ModelFileError
from novikoff.finite.classes import table, thresholds

RAMP = [(x % 11, 1 if x % 11 >= 6 else -1) for x in range(5, 40)]
NOISE = [(3, -1), (0, 1), (1, -1), (2, 1)]
CORNERS = [((2, 3), 1), ((6, 3), -1), ((4, 5), 1), ((0, 0), -1), ((7, 7), -1)]
CIRCLE = [((np.cos(a), np.sin(a)), 1 if np.cos(a + 0.3) > 0 else -1) for a in (0.1, 1.0, 1.2, 2.5, 4.0, 4.3, 5.5)]


GAMES = {
    "threshold": (lambda: nk.ThresholdHalving(10), RAMP),
    "restarted": (lambda: nk.ThresholdHalving(3), NOISE),
    "halving": (lambda: nk.Halving(thresholds(10)), RAMP),
    "prior": (lambda: nk.Halving(table([[1, -1], [1, 1], [-1, 1]]), prior=[4, 2, 1]), [(0, 1), (1, 1)]),
    "consistent": (lambda: nk.Consistent(thresholds(10), random=True, seed=3), RAMP),
    "rectangle": (lambda: nk.RectangleHalving(8, 2), CORNERS),
    "negatives": (lambda: nk.RectangleHalving(8, 2), [((6, 3), -1), ((2, 3), -1), ((2, 5), -1)]),
    "solid": (lambda: nk.RectangleHalving(5, 3), [((1, 2, 3), -1), ((0, 2, 4), -1), ((3, 3, 3), -1)]),
    "box": (lambda: nk.TightestBox(2, m=8), [*CORNERS, ((3, 4), -1)]),
    "reals": (lambda: nk.TightestBox(2), [((Fraction(1, 3), 2), 1), ((0.5, 7), 1)]),
    "cover": (lambda: nk.CoverHalving(2), [*CIRCLE, ((0, 1), -1), ((0, 1), 1), ((1, 0), -1)]),
    "capped": (lambda: nk.CoverHalving(2, largest=20), [((0, 1), 1), ((0, 1), -1)] * 4),
    "majority": (lambda: nk.WeightedMajority(thresholds(10), conservative=True), RAMP),
    "midpoint": (lambda: nk.Midpoint(), [(Fraction(1, 3), -1), (0.75, 1)]),
    "constant": (lambda: nk.Constant(-1), [(0, 1)]),
}


@cache
def played(name):
    make, rounds = GAMES[name]
    learner = make()
    for x, y in rounds:
        learner.learn_one(x, y)
    return learner


@pytest.mark.parametrize("name", GAMES)
def test_a_state_that_a_game_led_to_is_taken(name):
    learner = played(name)
    again = type(learner).restore(learner.state())
    assert again.facts() == learner.facts()
    assert bits(again.state()) == bits(learner.state())


def test_the_games_are_not_the_beginning():
    assert played("restarted").restarts == 1
    assert played("rectangle").low == (2, 3)
    assert len(played("negatives").negatives) == len(played("solid").negatives) == 3
    assert played("box").contradictions == 1
    assert played("cover").level > 0
    assert played("capped").capped > 0
    assert played("majority").penalties.sum() < played("majority").errors.sum()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("threshold", {"lo": 10, "hi": 9}),
        ("threshold", {"lo": 9, "hi": 3}),
        ("threshold", {"lo": 8.5, "hi": 9}),
        ("threshold", {"lo": 6, "hi": 6.0}),
        ("threshold", {"hi": 10**30}),
        ("threshold", {"hi": 12}),
        ("threshold", {"lo": -(10**30)}),
        ("threshold", {"lo": -1}),
        ("threshold", {"lo": True}),
        ("threshold", {"lo": None}),
        ("threshold", {"rounds": -1}),
        ("threshold", {"rounds": 10**30}),
        ("threshold", {"restarts": 5}),  # but no first one
        ("threshold", {"emptied_at": 5}),  # but no restart
        ("threshold", {"conservative": "no"}),
        ("restarted", {"restarts": 0}),
        ("restarted", {"restarts": 5}),
        ("restarted", {"emptied_at": 0}),
        ("restarted", {"emptied_at": 9}),
        ("restarted", {"rounds": 1}),
        ("halving", {"rounds": 1.5}),
        ("halving", {"restarts": -1}),
        ("halving", {"emptied_at": "5"}),
        ("halving", {"conservative": None}),
        ("halving", {"space": {"members": np.array([1.5, 3.0])}}),
        ("halving", {"space": {"members": np.array([3, 99])}}),
        ("prior", {"restarts": 3}),
        ("consistent", {"random": 1}),
        ("consistent", {"rounds": -5}),
        ("rectangle", {"size": 0}),
        ("rectangle", {"size": 1}),
        ("rectangle", {"size": 2.0}),
        ("rectangle", {"low": [1]}),
        ("rectangle", {"low": None}),
        ("rectangle", {"low": [3, 6]}),
        ("rectangle", {"high": [4, 8]}),
        ("rectangle", {"low": "23"}),
        ("rectangle", {"negatives": np.array([[7, 7], [6, 3]])}),
        ("rectangle", {"negatives": np.array([[6, 3, 1]])}),
        ("rectangle", {"negatives": np.array([[6, 9]])}),
        ("rectangle", {"negatives": np.array([[6.5, 3.0]])}),
        ("rectangle", {"negatives": np.array([[3, 4]])}),  # inside the box: no box is left
        ("rectangle", {"negatives": None}),
        ("rectangle", {"emptied_at": 2}),
        ("negatives", {"size": 1297}),
        ("negatives", {"negatives": np.array([[6, 3]])}),
        ("solid", {"size": 3376}),
        ("box", {"low": [1]}),
        ("box", {"low": ["5", "3"]}),
        ("box", {"low": ["-1", "3"]}),
        ("box", {"high": ["4", "8"]}),
        ("box", {"high": [4.5, "5"]}),
        ("box", {"high": None}),
        ("box", {"high": ["4", "5", "6"]}),
        ("box", {"contradictions": -1}),
        ("box", {"contradicted_at": 0}),
        ("box", {"rounds": "multiclass"}),
        ("reals", {"low": ["1/0", "2"]}),
        ("reals", {"low": ["zz", "2"]}),
        ("reals", {"low": [float("nan"), "2"]}),
        ("reals", {"high": [float("inf"), "7"]}),
        ("reals", {"high": 3}),
        ("reals", {"high": [None, "7"]}),
        ("cover", {"spent": -5}),
        ("cover", {"spent": 3.0}),
        ("cover", {"spent": 10**6}),
        ("cover", {"level": -1}),
        ("cover", {"level": 0.5}),
        ("cover", {"level": 50}),
        ("cover", {"capped": 1}),  # there is a finer cover
        ("cover", {"zeros": -1}),
        ("cover", {"rounds": None}),
        ("capped", {"capped": 0}),  # but spent
        ("capped", {"capped": 99}),
        ("majority", {"rounds": -1}),
        ("majority", {"rounds": 2**63}),
        ("majority", {"rounds": 1}),
        ("majority", {"penalties": np.full(12, -1)}),
        ("majority", {"penalties": np.full(12, 35)}),  # more than errors
        ("majority", {"errors": np.zeros(12)}),
        ("majority", {"errors": None}),
        ("majority", {"conservative": 1}),
        ("midpoint", {"lo": ["1", "0"]}),
        ("midpoint", {"lo": ["1", "1"]}),
        ("midpoint", {"lo": ["g", "1"]}),
        ("midpoint", {"lo": 3}),
        ("midpoint", {"lo": []}),
        ("midpoint", {"hi": ["1", "2", "3"]}),
        ("midpoint", {"rounds": -1}),
        ("midpoint", {"restarts": 3}),
        ("constant", {"label": 0}),
        ("constant", {"label": "1"}),
        ("constant", {"label": 1.0}),
        ("constant", {"label": [1]}),
    ],
)
def test_a_state_that_no_game_leads_to_is_refused(name, change):
    learner = played(name)
    with pytest.raises(ModelFileError):
        type(learner).restore(learner.state() | change)
