import itertools
import json
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.errors import InputError, TooLargeError
from novikoff.finite.box_count import count_boxes, relevant, with_point
from novikoff.finite.classes.rectangle import Rectangles
from novikoff.finite.halving import Halving
from novikoff.finite.rectangle_halving import RectangleHalving
from novikoff.game import ledger_state
from novikoff.game.ledger import Ledger
from novikoff.game.play import play
from samples import BAD_TRIPLE, POINTS, point_stream

SAMPLES = {
    "rectangle-halving": [
        ("rectangle-halving:m=8,dim=1", partial(point_stream, 0, 7, 1), [[8], [-1], [1, 2], [math.nan], None]),
        ("rectangle-halving:m=8,dim=2", *POINTS),
        ("rectangle-halving:m=5,dim=3,conservative=true", partial(point_stream, 0, 4, 3), BAD_TRIPLE),
    ],
}
"""Samples for tests/test_every_learner.py."""

SMALL = {1: 12, 2: 6, 3: 4}  # grids whose boxes can be listed
GOLDEN = [(3, 2, 5), (11, 2, 12), (101, 2, 24), (11, 3, 18), (4, 2, 6), (3, 3, 7)]


def count_one_by_one(low, high, points, m):
    sides = [[(a, b) for a in range(x + 1) for b in range(y, m)] for x, y in zip(low, high, strict=True)]
    return sum(
        not any(all(a <= v <= b for (a, b), v in zip(box, z, strict=True)) for z in points)
        for box in itertools.product(*sides)
    )


def sweep_axis_by_axis(low, high, points, m):
    """The plain count: on each axis every pair of sides between points, the other axes by recursion."""
    if not low:
        return 0 if points else 1
    lefts = [low[0], *sorted({z[0] for z in points if z[0] < low[0]}, reverse=True), -1]
    rights = [high[0], *sorted({z[0] for z in points if z[0] > high[0]}), m]
    return sum(
        (a - further)
        * (beyond - b)
        * sweep_axis_by_axis(low[1:], high[1:], [z[1:] for z in points if a <= z[0] <= b], m)
        for a, further in itertools.pairwise(lefts)
        for b, beyond in itertools.pairwise(rights)
    )


def bounding_box(points):
    return tuple(map(min, zip(*points, strict=True))), tuple(map(max, zip(*points, strict=True)))


def stream(m, dim, rounds, seed, noise=0.0):
    rng = np.random.default_rng(seed)
    low, high = np.sort(rng.integers(0, m, (2, dim)), axis=0)
    x = rng.integers(0, m, (rounds, dim))
    inside = np.all((low <= x) & (x <= high), axis=1)
    y = np.where(inside ^ (rng.random(rounds) < noise), 1, -1)
    return x, y.astype(np.int8)


@st.composite
def scenes(draw):
    """A grid, a box of it and points."""
    dim = draw(st.sampled_from([1, 2, 3]))
    m = draw(st.integers(1, SMALL[dim]))
    point = st.tuples(*[st.integers(0, m - 1)] * dim)
    low, high = bounding_box(draw(st.lists(point, min_size=1, max_size=2)))
    return low, high, sorted(draw(st.sets(point, max_size=10))), m


@st.composite
def games(draw):
    dim = draw(st.sampled_from([1, 2, 3]))
    m = draw(st.integers(1, SMALL[dim]))
    point = st.tuples(*[st.integers(0, m - 1)] * dim)
    rounds = draw(st.lists(st.tuples(point, st.sampled_from([-1, 1])), max_size=30))
    if draw(st.booleans()):  # labelled by a box, so realizable
        low, high = bounding_box([draw(point), draw(point)])
        rounds = [(x, 1 if all(a <= v <= b for a, v, b in zip(low, x, high, strict=True)) else -1) for x, _ in rounds]
    return m, dim, rounds, draw(st.booleans())


def plain(value):
    return json.dumps(value, default=lambda array: array.tolist(), sort_keys=True)


# The count


def test_points_that_stand_for_each_other_are_not_both_dropped():
    assert count_boxes((0,), (3,), [(1,), (2,)], 4) == 0
    assert relevant((0,), (0,), [(1,), (2,)]) == [(1,)]
    assert count_boxes((0, 0), (1, 0), [(0, 2), (1, 2)], 3) == 4
    assert len(relevant((0, 0), (1, 0), [(0, 2), (1, 2)])) == 1
    assert count_boxes((0, 0), (1, 0), relevant((0, 0), (1, 0), [(0, 2), (1, 2)]), 3) == 4


def test_the_learner_prunes_the_golden_cases_rightly():
    line = RectangleHalving(4, 1)
    for x, y in [((0,), 1), ((2,), -1), ((1,), -1)]:
        line.learn_one(x, y)
    assert line.negatives == [(1,)]
    assert line.votes((3,)) == 0
    plane = RectangleHalving(3, 2)
    for x, y in [((0, 2), -1), ((1, 2), -1), ((0, 0), 1), ((1, 0), 1)]:
        plane.learn_one(x, y)
    assert plane.size == 4
    assert len(plane.negatives) == 1


@given(scenes())
def test_the_count_is_that_of_listing_the_boxes(scene):
    low, high, points, m = scene
    assert count_boxes(low, high, points, m) == count_one_by_one(low, high, points, m)


@given(scenes())
def test_points_that_do_not_matter_change_no_count_around_the_box(scene):
    low, high, points, m = scene
    kept = relevant(low, high, points)
    assert set(kept) <= set(points)
    for x in itertools.product(range(m), repeat=len(low)):
        wider = bounding_box([low, high, x])
        assert count_boxes(*wider, kept, m) == count_boxes(*wider, points, m)
    for z in kept:  # and none of those kept can be spared
        others = [p for p in kept if p != z]
        assert count_boxes(low, high, others, m) > count_boxes(low, high, kept, m)


@given(scenes())
def test_adding_points_one_at_a_time_keeps_those_that_matter(scene):
    low, high, points, m = scene
    kept = []
    for z in points:
        if count_boxes(*bounding_box([low, high, z]), kept, m):
            kept = with_point(low, high, kept, z)
    assert kept == sorted(kept)
    assert len(kept) == len(relevant(low, high, points))
    assert count_boxes(low, high, kept, m) == count_boxes(low, high, points, m)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_count_is_exact_far_beyond_64_bits(dim):
    m = 10**12
    half, quarter = m // 2, m // 4
    low = high = (half,) * dim
    assert count_boxes(low, high, [], m) == ((half + 1) * (m - half)) ** dim
    axis = (quarter, *(half,) * (dim - 1))  # straight left on axis 0
    assert count_boxes(low, high, [axis], m) == (half - quarter) * (m - half) * ((half + 1) * (m - half)) ** (dim - 1)
    corner = (quarter,) * dim  # stops the boxes that reach it on every axis
    stopped = ((quarter + 1) * (m - half)) ** dim
    assert count_boxes(low, high, [corner], m) == ((half + 1) * (m - half)) ** dim - stopped


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_count_is_that_of_the_plain_sweep_on_a_huge_grid(dim):
    m = 10**15
    rng = np.random.default_rng(dim)
    for case in range(40):
        box = rng.integers(0, m, (1 + case % 2, dim)) if case % 4 else rng.integers(0, m, (1, dim))
        low, high = bounding_box(box.tolist())
        spread = [m, 10**9, 8][case % 3]  # far apart, close by, and with many equal coordinates
        offsets = rng.integers(-spread, spread, (9, dim))
        points = {tuple(z) for z in np.clip(np.array(low) + offsets, 0, m - 1).tolist()}
        assert count_boxes(low, high, sorted(points), m) == sweep_axis_by_axis(low, high, list(points), m)


# The learner


@given(games())
def test_it_plays_as_halving_over_the_listed_boxes(game):
    m, dim, rounds, conservative = game
    listed = Halving(Rectangles(m, dim), conservative=conservative)
    counted = RectangleHalving(m, dim, conservative=conservative)
    for x, y in rounds:
        ballot = listed.space.poll(x)
        assert counted.votes(x) == ballot.weights[1]
        assert counted.predict_one(x) == listed.predict_one(x)
        assert counted.play_one(x, y) == listed.play_one(x, y)
        assert counted.facts() == listed.facts()
        assert counted.survivor() == listed.survivor()


@pytest.mark.parametrize("conservative", [False, True])
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.5])
@pytest.mark.parametrize(("m", "dim"), [(30, 1), (9, 2), (4, 3)])
def test_it_gets_the_certificates_of_halving_over_the_listed_boxes(m, dim, noise, conservative):
    for seed in range(3):
        data = stream(m, dim, 150, seed, noise)
        one = play(Halving(Rectangles(m, dim), conservative=conservative), data, record=True)
        two = play(RectangleHalving(m, dim, conservative=conservative), data, record=True)
        assert one.recorded().tolist() == two.recorded().tolist()
        assert one.certify() == two.certify()
        assert not any(certificate.status == "violated" for certificate in two.certify())
        if noise == 0.0:
            assert two.certify()[0].holds
        if noise == 0.5:
            assert two.learner.restarts > 0


@pytest.mark.parametrize("conservative", [False, True])
@pytest.mark.parametrize(("m", "dim", "bound"), GOLDEN)
def test_the_golden_bound_holds_on_streams_a_box_labels(m, dim, bound, conservative):
    for seed in range(4):
        ledger = play(RectangleHalving(m, dim, conservative), stream(m, dim, 400, seed))
        certificate = ledger.certify()[0]
        assert certificate.status in ("valid", "vacuous")
        assert certificate.quantities["a_priori"] == bound
        assert ledger.mistakes <= certificate.bound <= bound


def test_tie_predicts_plus_one():
    learner = RectangleHalving(1, 1)  # the box [0, 0] and the empty one
    assert learner.size == 2
    assert learner.votes((0,)) == 1
    assert learner.predict_one((0,)) == 1


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_a_huge_grid_is_played_within_its_bound(dim):
    m = 10**9
    whole = (m * (m + 1) // 2) ** dim + 1
    rng = np.random.default_rng(dim)
    x = rng.integers(0, m, (600, dim))
    y = np.where(np.all((x > m // 5) & (x < m - m // 7), axis=1), 1, -1)
    learner = RectangleHalving(m, dim)
    ledger = play(learner, (x, y))
    (certificate,) = ledger.certify()
    assert learner.facts().hypotheses == whole
    assert certificate.status == "valid"
    assert ledger.mistakes <= certificate.bound <= certificate.quantities["a_priori"] == whole.bit_length() - 1
    assert learner.size == count_boxes(learner.low, learner.high, learner.negatives, m) > 0


def test_five_rounds_at_the_ends_leave_one_box_of_a_huge_grid():
    m, target = 10**9, (123_456_789, 987_654_321)
    learner = RectangleHalving(m, 1)
    learner.learn_one((500_000_000,), 1)
    for x in (target[0] - 1, target[1] + 1):
        learner.learn_one((x,), -1)
    for x in target:
        learner.learn_one((x,), 1)
    assert learner.size == 1
    assert learner.survivor() == "123456789 <= x[0] <= 987654321"


def test_restart_is_reported_when_no_box_is_left():
    learner = RectangleHalving(5, 2)
    ledger = play(learner, [((1, 1), 1), ((3, 3), 1), ((2, 2), -1), ((2, 2), -1)])
    assert (learner.restarts, learner.emptied_at) == (1, 3)
    assert learner.facts().survivors == learner.size < learner.facts().hypotheses
    statuses = {certificate.theorem: certificate.status for certificate in ledger.certify()}
    assert statuses["halving_mistakes"] == "void"
    assert statuses["halving_restarts"] in ("valid", "vacuous")


def test_a_conservative_learner_learns_nothing_from_rounds_it_gets_right():
    learner = RectangleHalving(6, 2, conservative=True)
    before = plain({**learner.state(), "rounds": 0})
    for x in itertools.product(range(6), repeat=2):
        learner.learn_one(x, learner.predict_one(x))
    assert learner.rounds == 36
    assert plain({**learner.state(), "rounds": 0}) == before


@given(games(), st.integers(0, 30))
def test_resume_matches_uninterrupted_run(game, cut):
    m, dim, rounds, conservative = game
    straight = Ledger(RectangleHalving(m, dim, conservative))
    first = Ledger(RectangleHalving(m, dim, conservative))
    if rounds[:cut]:
        play(first.learner, rounds[:cut], ledger=first)
    saved = json.loads(plain({"learner": first.learner.state(), "ledger": ledger_state.state_of(first)}))
    second = ledger_state.restore(saved["ledger"], RectangleHalving.restore(saved["learner"]))
    if rounds[cut:]:
        play(second.learner, rounds[cut:], ledger=second)
    if rounds:
        play(straight.learner, rounds, ledger=straight)
    assert plain(second.learner.state()) == plain(straight.learner.state())
    assert second.certify() == straight.certify()


def test_state_is_restored_from_arrays():
    learner = RectangleHalving(10**9, 3)
    play(learner, stream(10**9, 3, 40, seed=2))
    state = learner.state()
    assert state["negatives"].dtype == np.int64
    copy = RectangleHalving.restore(state)
    assert plain(copy.state()) == plain(state)
    assert (copy.low, copy.high, copy.negatives) == (learner.low, learner.high, learner.negatives)


BAD = [
    ((0,), 1),
    ((0, 1, 2), 1),
    ((0, 5), 1),
    ((-1, 0), -1),
    ((0.5, 1), 1),
    ((float("nan"), 1), 1),
    ((float("inf"), 1), -1),
    (3, 1),
    (None, 1),
    ("ab", 1),
    ((2**70, 0), 1),
    ((0, 0), 0),
    ((0, 0), 2),
    ((0, 0), "yes"),
]


@pytest.mark.parametrize(("x", "y"), BAD)
def test_bad_input_is_refused_and_changes_nothing(x, y):
    learner = RectangleHalving(5, 2)
    for good in [((1, 1), 1), ((4, 4), -1)]:
        learner.learn_one(*good)
    before = plain(learner.state())
    with pytest.raises(InputError):
        learner.learn_one(x, y)
    with pytest.raises(InputError):
        learner.play_one(x, y)
    assert plain(learner.state()) == before


def test_predicting_changes_nothing():
    learner = RectangleHalving(5, 2)
    play(learner, stream(5, 2, 20, seed=1))
    before = plain(learner.state())
    for x in itertools.product(range(5), repeat=2):
        learner.predict_one(x)
    assert plain(learner.state()) == before


def test_more_than_three_dimensions_are_refused_and_the_alternative_named():
    with pytest.raises(TooLargeError, match=r"at most 3 dimensions: got dim = 4. Use TightestBox\(dim, m\)"):
        RectangleHalving(3, 4)
    for m, dim in [(0, 2), (3, 0), (2.5, 1)]:
        with pytest.raises(InputError, match="a grid must have"):
            RectangleHalving(m, dim)


@pytest.mark.slow
def test_long_streams_agree_with_the_listed_boxes():
    for seed, (m, dim) in itertools.product(range(12), [(40, 1), (12, 2), (5, 3)]):
        data = stream(m, dim, 600, seed, noise=[0.0, 0.01, 0.2][seed % 3])
        one = play(Halving(Rectangles(m, dim), conservative=seed % 2 == 0), data, record=True)
        two = play(RectangleHalving(m, dim, conservative=seed % 2 == 0), data, record=True)
        assert one.recorded().tolist() == two.recorded().tolist()
        assert one.certify() == two.certify()
