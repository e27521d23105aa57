import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import novikoff as nk
from novikoff.core.errors import InputError
from novikoff.core.types import Domain, Run
from novikoff.finite.classes.rectangle import Rectangles
from novikoff.finite.consistent import Consistent
from novikoff.finite.theorems.tightest_box_mistakes import TightestBoxFacts, tightest_box_mistakes
from novikoff.finite.tightest_box import TightestBox
from novikoff.game import ledger_state
from novikoff.game.play import play
from samples import BAD_PAIR, POINTS, box_stream

SAMPLES = {
    "tightest-box": [
        ("tightest-box:dim=2,m=8", *POINTS),
        ("tightest-box:dim=2", box_stream, BAD_PAIR),
    ],
}
"""Samples for tests/test_every_learner.py."""


def grid_walk():
    """From corner to corner of a grid, and the corner once more."""
    return [((min(k, 4), max(k - 4, 0)), 1) for k in range(9)] + [((0, 0), 1)]


CASES = {
    "tightest_box_mistakes": cases.Case(
        st.lists(st.tuples(st.tuples(st.integers(0, 4), st.integers(0, 4)), cases.LABELS), min_size=1, max_size=25),
        lambda stream: cases.run_of(nk.TightestBox(2, 5), stream),
        grid_walk(),
        lambda: cases.run_of(nk.TightestBox(2, 5), grid_walk()),
        lambda: cases.run_of(cases.broken(nk.TightestBox(2, 5)), [((1, 1), 1)] * 9),
        (
            (lambda: cases.run_of(nk.TightestBox(2, 5), [((1, 1), 1), ((1, 1), -1)]), "inside the box"),
            (lambda: cases.run_of(nk.TightestBox(2), [((1, 1), 1)]), "over the reals"),
        ),
        unless="not realizable",
    ),
}
"""Cases for tests/test_every_theorem.py."""

GRID = {1: 9, 2: 5, 3: 4, 5: 3}


@st.composite
def games(draw):
    """A grid, and rounds labelled by a box of it (realizable) or at will."""
    dim = draw(st.sampled_from(sorted(GRID)))
    m = draw(st.integers(1, GRID[dim]))
    point = st.tuples(*[st.integers(0, m - 1)] * dim)
    rounds = draw(st.lists(st.tuples(point, st.sampled_from([-1, 1])), min_size=1, max_size=40))
    realizable = draw(st.booleans())
    if realizable:
        one, two = draw(point), draw(point)
        sides = [sorted(pair) for pair in zip(one, two, strict=True)]
        rounds = [(x, 1 if all(a <= v <= b for (a, b), v in zip(sides, x, strict=True)) else -1) for x, _ in rounds]
    return m, dim, rounds, realizable


def walk(m, dim):
    """From the origin to the far corner, one step of one axis at a time."""
    x = [0] * dim
    yield tuple(x)
    for axis in range(dim):
        for step in range(1, m):
            x[axis] = step
            yield tuple(x)


def certify(learner, rounds):
    ledger = play(learner, rounds)
    (certificate,) = ledger.certify()
    return ledger, certificate


def saved(learner):
    return json.dumps(learner.state(), allow_nan=False, sort_keys=True)


def test_plus_one_is_predicted_exactly_inside_the_box_of_the_positives():
    learner = TightestBox(2, m=10)
    assert learner.predict_one((3, 3)) == -1
    assert learner.survivor() == "always -1"
    assert learner.size == 0
    learner.learn_one((2, 7), 1)
    assert [learner.predict_one(x) for x in [(2, 7), (2, 6), (3, 7)]] == [1, -1, -1]
    learner.learn_one((5, 4), 1)
    assert [learner.predict_one(x) for x in [(3, 5), (2, 4), (5, 7), (1, 5), (3, 8)]] == [1, 1, 1, -1, -1]
    assert learner.survivor() == "2 <= x[0] <= 5 and 4 <= x[1] <= 7"
    learner.learn_one((9, 9), -1)
    assert learner.survivor() == "2 <= x[0] <= 5 and 4 <= x[1] <= 7"
    assert learner.size == 4


@pytest.mark.parametrize(("m", "dim"), [(1, 1), (1, 4), (7, 1), (5, 2), (4, 3), (3, 6)])
def test_the_theorem_is_tight_on_a_walk_from_corner_to_corner(m, dim):
    steps = [(x, 1) for x in walk(m, dim)]
    ledger, certificate = certify(TightestBox(dim, m), steps + steps[:1])
    assert ledger.mistakes == certificate.bound == 1 + dim * (m - 1) == certificate.quantities["a_priori"]
    assert certificate.status == "valid"


@given(games())
def test_the_theorem_holds_on_every_stream(game):
    m, dim, rounds, realizable = game
    ledger, certificate = certify(TightestBox(dim, m), rounds)
    if realizable:
        assert certificate.status in ("valid", "vacuous")
    if certificate.status == "void":
        assert ledger.learner.contradictions > 0
    else:
        assert ledger.mistakes <= certificate.bound <= 1 + dim * (m - 1)


@given(games(), st.integers(0, 40))
def test_theorem_holds_on_the_rest_of_a_stream(game, cut):
    m, dim, rounds, _ = game
    if len(rounds) <= cut:
        return
    learner = TightestBox(dim, m)
    for x, y in rounds[:cut]:
        learner.learn_one(x, y)
    earlier = learner.contradictions
    ledger, certificate = certify(learner, rounds[cut:])
    if certificate.status == "void":
        assert learner.contradictions > earlier
    else:
        assert ledger.mistakes <= certificate.bound


@given(games())
def test_when_realizable_it_errs_on_positives_only(game):
    m, dim, rounds, realizable = game
    learner = TightestBox(dim, m)
    for x, y in rounds:
        prediction = learner.play_one(x, y)
        if realizable and prediction != y:
            assert (prediction, y) == (-1, 1)
    if realizable:
        assert learner.contradictions == 0


@given(games())
def test_it_follows_the_first_consistent_box_of_the_class(game):
    m, dim, rounds, realizable = game
    if not realizable or dim > 3:
        return
    tight, first = TightestBox(dim, m), Consistent(Rectangles(m, dim))
    for x, y in rounds:
        assert tight.play_one(x, y) == first.play_one(x, y)


def test_a_minus_one_inside_the_box_is_counted_leaves_the_box_and_voids_the_certificate():
    learner = TightestBox(1, m=9)
    ledger, certificate = certify(learner, [((2,), 1), ((6,), 1), ((4,), -1), ((5,), -1), ((4,), 1)])
    assert (learner.contradictions, learner.contradicted_at) == (2, 3)
    assert (learner.low, learner.high) == ((2,), (6,))
    assert ledger.mistakes == 4
    assert certificate.status == "void"
    assert certificate.bound is None
    assert certificate.reason.startswith("not realizable: 2 rounds")
    assert certificate.reason.endswith("first round 3")
    assert {a.claim: a.standing for a in certificate.assumptions} == {
        "x is on a grid": "checked",
        "no negative inside the box of earlier positives": "refuted",
    }


def test_a_contradiction_before_the_ledger_was_opened_voids_nothing():
    learner = TightestBox(1, m=9)
    for x, y in [((2,), 1), ((2,), -1)]:
        learner.learn_one(x, y)
    ledger, certificate = certify(learner, [((4,), 1), ((4,), 1), ((3,), 1), ((8,), -1)])
    assert ledger.mistakes == 1
    assert certificate.bound == 2
    assert certificate.status == "valid"


def test_over_the_reals_no_bound_is_guaranteed():
    ledger, certificate = certify(TightestBox(1), [((Fraction(1, k),), 1) for k in range(1, 50)])
    assert ledger.mistakes == 49
    assert certificate.status == "void"
    assert certificate.reason == "over the reals no bound exists (adversaries/rectangle_bisection.py)"


def test_learner_above_its_bound_is_detected():
    before = TightestBoxFacts(m=10, dim=2, boxes=0, sides=0)
    after = replace(before, boxes=1, sides=3)
    run = Run(before, after, rounds=50, mistakes=5, expected=5.0, constants=(5, 45), adaptive=False, deterministic=True)
    assert tightest_box_mistakes(run).status == "violated"
    assert tightest_box_mistakes(replace(run, mistakes=4)).status == "valid"
    assert tightest_box_mistakes(replace(run, mistakes=4)).bound == 4
    assert tightest_box_mistakes(run).quantities["a_priori"] == 1 + 2 * 9
    assert tightest_box_mistakes(replace(run, mistakes=4, rounds=4)).status == "vacuous"


def test_integers_fractions_and_floats_are_compared_exactly():
    learner = TightestBox(1)
    third, big = Fraction(1, 3), 2**53
    learner.learn_one((third,), 1)
    assert learner.predict_one([1 / 3]) == -1  # the float is a little smaller
    learner.learn_one((big,), 1)
    assert learner.predict_one((big + 1,)) == -1  # the same float as 2^53
    assert learner.predict_one((float(big),)) == 1
    assert learner.predict_one(np.array([0.5])) == 1
    assert learner.predict_one(np.array([2], dtype=np.int32)) == 1
    assert learner.predict_one((np.float32(0.25),)) == -1


def test_its_domain_is_the_grid_or_any_numbers():
    assert TightestBox(3, m=5).domain == Domain("point", 3)
    assert TightestBox(3).domain == Domain("any", 3)
    rows = np.array([[0.5, 1.5], [2.5, 0.5], [1.0, 1.0], [9.0, 9.0]])
    assert play(TightestBox(2), (rows, np.array([1, 1, 1, -1]))).mistakes == 2


def test_a_box_of_many_dimensions_and_a_huge_grid_is_played():
    dim, m = 1000, 2**53
    corner = [m - 1] * dim
    ledger, certificate = certify(TightestBox(dim, m), [([0] * dim, 1), (corner, 1), (corner, 1)])
    assert ledger.mistakes == 2
    assert certificate.quantities["a_priori"] == 1 + dim * (m - 1) == 1 + certificate.quantities["grown"]


@given(games(), st.integers(0, 40))
def test_resume_matches_uninterrupted_run(game, cut):
    m, dim, rounds, _ = game
    cut = max(1, min(cut, len(rounds) - 1))
    straight = play(TightestBox(dim, m), rounds)
    first = play(TightestBox(dim, m), rounds[:cut])
    file = json.loads(json.dumps({"learner": first.learner.state(), "ledger": ledger_state.state_of(first)}))
    second = ledger_state.restore(file["ledger"], TightestBox.restore(file["learner"]))
    if rounds[cut:]:
        play(second.learner, rounds[cut:], ledger=second)
    assert saved(second.learner) == saved(straight.learner)
    assert second.certify() == straight.certify()


NUMBER = st.one_of(
    st.integers(),
    st.fractions(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.just(Fraction(7**9000, 2**30000)),
)


@given(st.lists(st.tuples(NUMBER, NUMBER), max_size=6))
def test_the_state_over_the_reals_is_plain_and_exact(points):
    learner = TightestBox(2)
    for x in points:
        learner.learn_one(x, 1)
    copy = TightestBox.restore(json.loads(saved(learner)))
    assert (copy.low, copy.high) == (learner.low, learner.high)
    if copy.low is not None:
        assert [type(v) for v in copy.low] == [type(v) for v in learner.low]
    assert saved(copy) == saved(learner)


NAN = float("nan")
BAD_ANYWHERE = [
    ((0,), 1),
    ((0, 1, 2), 1),
    ((NAN, 1), 1),
    ((1, NAN), -1),
    ((float("inf"), 1), 1),
    (3, 1),
    (None, 1),
    ("ab", 1),
    ({0: 1, 1: 2}, 1),
    ((1j, 0), 1),
    ((None, 0), 1),
    (np.zeros((2, 2)), 1),
    ((1, 1), 0),
    ((1, 1), 2),
    ((1, 1), NAN),
]
BAD_ON_THE_GRID = [((0, 5), 1), ((-1, 0), -1), ((0.5, 1), 1), ((Fraction(1, 2), 1), 1)]


@pytest.mark.parametrize(
    ("m", "x", "y"),
    [(m, x, y) for m in (None, 5) for x, y in BAD_ANYWHERE] + [(5, x, y) for x, y in BAD_ON_THE_GRID],
)
def test_bad_input_is_refused_and_changes_nothing(m, x, y):
    learner = TightestBox(2, m)
    for good in [((1, 1), 1), ((3, 2), 1), ((2, 2), -1)]:
        learner.learn_one(*good)
    before = saved(learner)
    with pytest.raises(InputError):
        learner.learn_one(x, y)
    with pytest.raises(InputError):
        learner.play_one(x, y)
    assert saved(learner) == before


def test_predicting_changes_nothing():
    learner = TightestBox(2, m=5)
    learner.learn_one((1, 1), 1)
    before = saved(learner)
    assert [learner.predict_one(x) for x in [(1, 1), (4, 4), (1, 1)]] == [1, -1, 1]
    assert saved(learner) == before


@pytest.mark.parametrize(("dim", "m"), [(0, None), (1.5, None), (2, 0), (2, 2.5), (2, 2**53 + 1)])
def test_invalid_grid_is_refused(dim, m):
    with pytest.raises(InputError, match="a grid must have"):
        TightestBox(dim, m)


def test_the_round_of_a_contradiction_is_that_of_the_ledger():
    learner = TightestBox(1, m=9)
    learner.learn_one((2,), 1)
    _, certificate = certify(learner, [((5,), 1), ((4,), -1)])
    assert certificate.reason.endswith("positives, first round 2")
    _, certificate = certify(learner, [((5,), 1), ((4,), -1)])
    assert certificate.reason.endswith("positives")  # the first was before


def test_huge_corner_is_printed_by_its_length():
    learner = TightestBox(1)
    learner.learn_one((10**5000,), 1)
    learner.learn_one((0.5,), 1)
    assert learner.survivor() == "0.5 <= x[0] <= a number of 16,610 bits"
    with pytest.raises(InputError, match="must have a number of"):
        TightestBox(10**5000).predict_one([1])
