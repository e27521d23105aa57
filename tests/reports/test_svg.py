"""Curves of pages, read back from their SVG: what is drawn is what the ledger has."""

import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

import novikoff as nk
from novikoff.reports import charts, page, svg
from novikoff.reports.bound_curve import Bounds, proved

NUMBER = r"-?\d+\.?\d*"


def drawn(picture):
    """The curves of a picture, by colour: the pieces of each, as (round, value); and the heights of its frame."""
    root = ElementTree.fromstring(picture.replace(' xmlns="http://www.w3.org/2000/svg"', ""))
    room = root.find("svg")
    _, top, _, tall = map(float, room.get("viewBox").split())
    up, along = ticked(root)
    found = {}
    for curve in root.iter("path"):
        pieces = curve.get("d").split("M")[1:]
        points = [[tuple(map(float, pair)) for pair in re.findall(rf"({NUMBER}) ({NUMBER})", part)] for part in pieces]
        found[curve.get("stroke")] = [[(along(x), up(y)) for x, y in part] for part in points]
    return found, (up(top + tall), up(top))


def over_rounds(*lines):
    return svg.panel(charts.Panel("mistakes", "rounds", lines))


def ticked(root):
    """From places to values and rounds, by the numbers of the axes."""
    texts = [
        (one.text.replace(",", ""), float(one.get("x")), float(one.get("y"))) for one in root.find("g").iter("text")
    ]
    side = [(y - 4, float(text)) for text, x, y in texts if x == svg.LEFT - 6]
    below = [(x, float(text)) for text, x, y in texts if x != svg.LEFT - 6 and re.fullmatch(NUMBER, text)]

    def reader(pairs):
        (a, one), (b, two) = pairs[0], pairs[-1]
        return lambda place: one + (place - a) * (two - one) / (b - a)

    return reader(side), reader(below)


def height(pieces, t):
    """The value of a curve at a round."""
    for points in pieces:
        for (a, one), (b, two) in pairwise(points):
            if a <= t <= b and a < b:
                return one + (t - a) * (two - one) / (b - a)
    return None


@pytest.fixture(scope="module")
def cancer():
    datasets = pytest.importorskip("sklearn.datasets")
    x, y = datasets.load_breast_cancer(return_X_y=True)
    ledger = nk.play("scaled:[perceptron:bias=1]", (x, 2 * y - 1), observers=[Bounds()])
    return ledger, page.pictures(ledger, ledger.certify())[0]


def test_a_line_that_leaves_the_frame_is_cut_off_and_never_bent(cancer):
    ledger, _ = cancer
    curves, (_, top) = drawn(page.pictures(ledger, [])[0])  # beside few mistakes the baseline is far above
    costs, (baseline,) = ledger.best_constant.costs, curves[charts.CONSTANT]
    assert costs == 212 > top
    assert all(value == pytest.approx(costs * t / ledger.rounds, abs=1.0) for t, value in baseline)
    assert max(value for _, value in baseline) >= top - 1.0


def test_the_baseline_is_74_5_in_round_200_where_the_frame_shows_it():
    line = charts.Line("always benign", [(0, 0.0), (569, 212.0)], charts.CONSTANT)
    curves, _ = drawn(over_rounds(charts.Line("mistakes", [(0, 0), (569, 100)]), line))
    assert height(curves[charts.CONSTANT], 200) == pytest.approx(212 * 200 / 569, abs=0.5)
    curves, (_, top) = drawn(over_rounds(charts.Line("mistakes", [(0, 0), (569, 40)]), line))
    assert top < 74.5
    assert height(curves[charts.CONSTANT], 200) in (None, pytest.approx(74.5, abs=0.5))
    assert height(curves[charts.CONSTANT], 80) == pytest.approx(212 * 80 / 569, abs=0.3)


def test_plotted_mistakes_match_the_ledger_and_stay_below_the_bound(cancer):
    ledger, picture = cancer
    curves, _ = drawn(picture)
    mistakes = curves[charts.COLOURS[0]]
    for t, made in ledger.curve[::7]:
        assert height(mistakes, t + 0.5) in (None, pytest.approx(made, abs=1.01))
    if charts.COLOURS[1] in curves:
        for t, made in ledger.curve:
            allowed = height(curves[charts.COLOURS[1]], t)
            assert allowed is None or made <= allowed + 0.5


def test_a_bound_up_to_a_round_holds_for_the_rounds_before_it():
    assert proved([(16, 9.0), (23, 7.0), (32, 12.0)]) == [
        (0, 7.0),
        (16, 7.0),
        (16, 7.0),
        (23, 7.0),
        (23, 12.0),
        (32, 12.0),
    ]
    assert proved([]) == []


@pytest.mark.parametrize(("points", "parts"), [
    ([(0, 0), (10, 20)], [[(0, 0), (5.0, 10.0)]]),
    ([(0, 20), (10, 0)], [[(5.0, 10.0), (10, 0)]]),
    ([(0, 0), (1, 20), (2, 0)], [[(0, 0), (0.5, 10.0)], [(1.5, 10.0), (2, 0)]]),
    ([(0, -10), (3, 20)], [[(1.0, 0.0), (2.0, 10.0)]]),
    ([(0, 1), (1, 2), (2, math.inf), (3, 4), (4, 5)], [[(0, 1), (1, 2)], [(3, 4), (4, 5)]]),
    ([(0, 11), (5, 12)], []),
    ([(3, 4)], [[(3, 4)]]),
])  # fmt: skip
def test_a_curve_is_cut_where_it_crosses(points, parts):
    found = svg.within(points, 0.0, 10.0)
    assert [len(part) for part in found] == [len(part) for part in parts]
    assert np.concatenate([*found, []], axis=None) == pytest.approx(np.concatenate([*parts, []], axis=None))


def test_steps_hold_a_value_until_the_next_round():
    assert charts.stairs([(0, 0), (3, 1), (5, 4)]) == [(0, 0), (3, 0), (3, 1), (5, 1), (5, 4)]
    assert charts.stairs([(2, 1)]) == [(2, 1)]
