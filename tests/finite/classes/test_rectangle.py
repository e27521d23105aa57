import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.certificate import floor_log2
from novikoff.core.errors import InputError, TooLargeError
from novikoff.finite.classes.rectangle import Rectangles
from novikoff.finite.halving import Halving

GOLDEN = [(3, 2, 37, 5), (11, 2, 4357, 12), (101, 2, 26532802, 24), (11, 3, 287497, 18), (4, 2, 101, 6), (3, 3, 217, 7)]


def boxes(m, dim):
    """Every box as a tuple of (low, high), one per axis; None is the empty one."""
    intervals = [(a, b) for a in range(m) for b in range(a, m)]
    return [None, *itertools.product(intervals, repeat=dim)]


def says(box, x):
    return 1 if box is not None and all(a <= v <= b for (a, b), v in zip(box, x, strict=True)) else -1


@pytest.mark.parametrize(("m", "dim", "size", "bound"), GOLDEN)
def test_the_class_has_its_golden_size_and_halving_its_golden_bound(m, dim, size, bound):
    rectangles = Rectangles(m, dim)
    assert rectangles.size == len(rectangles) == size
    assert floor_log2(size, 1) == bound


@pytest.mark.parametrize(("m", "dim"), [(1, 1), (1, 3), (2, 1), (5, 1), (3, 2), (4, 2), (2, 3), (3, 3), (2, 4)])
def test_the_hypotheses_are_all_boxes_and_one_empty_box_each_once(m, dim):
    rectangles = Rectangles(m, dim)
    points = list(itertools.product(range(m), repeat=dim))
    columns = np.stack([rectangles.labels_of(rectangles.encode(x), None) for x in points], axis=1)
    expected = sorted([says(box, x) for x in points] for box in boxes(m, dim))
    assert sorted(columns.tolist()) == expected
    assert columns.dtype == np.int8


@pytest.mark.parametrize(("m", "dim"), [(1, 2), (7, 1), (4, 2), (3, 3)])
def test_any_members_vote_as_they_do_among_all(m, dim):
    rectangles = Rectangles(m, dim)
    rng = np.random.default_rng(m)
    for x in itertools.product(range(m), repeat=dim):
        everyone = rectangles.labels_of(rectangles.encode(x), None)
        for some in (0.02, 0.3, 1.1):  # few members are decoded, many are looked up
            members = np.flatnonzero(rng.random(rectangles.size) < some)
            assert rectangles.labels_of(rectangles.encode(x), members).tolist() == everyone[members].tolist()


@pytest.mark.parametrize(("m", "dim"), [(5, 1), (3, 2), (2, 3)])
def test_a_description_is_true_of_its_hypothesis(m, dim):
    rectangles = Rectangles(m, dim)
    described = [rectangles.describe(index) for index in range(rectangles.size)]
    assert described[0] == "always -1"
    assert len(set(described)) == rectangles.size
    for x in itertools.product(range(m), repeat=dim):
        labels = rectangles.labels_of(rectangles.encode(x), None)
        for index in range(1, rectangles.size):
            assert labels[index] == (1 if eval(described[index], {"x": x}) else -1)


def test_a_description_is_readable_and_needs_no_table_on_a_huge_grid():
    assert Rectangles(3, 2).describe(36) == "0 <= x[0] <= 2 and 0 <= x[1] <= 2"
    m = 10**9
    huge = Rectangles(m, 2)
    assert huge.describe(1) == "0 <= x[0] <= 0 and 0 <= x[1] <= 0"
    assert huge.describe(m) == f"0 <= x[0] <= 0 and {m - 1} <= x[1] <= {m - 1}"
    assert huge.describe(m + 1) == "0 <= x[0] <= 0 and 0 <= x[1] <= 1"
    assert huge.describe(huge.size - 1) == f"0 <= x[0] <= {m - 1} and 0 <= x[1] <= {m - 1}"


@given(st.data())
def test_the_first_survivor_is_the_tightest_box(data):
    m, dim = data.draw(st.sampled_from([(6, 1), (4, 2), (3, 3)]))
    point = st.tuples(*[st.integers(0, m - 1)] * dim)
    target = data.draw(st.sampled_from(boxes(m, dim)))
    learner = Halving(Rectangles(m, dim))
    positives = []
    for x in data.draw(st.lists(point, max_size=12)):
        learner.learn_one(x, says(target, x))
        if says(target, x) == 1:
            positives.append(x)
    if not positives:
        assert learner.survivor() == "always -1"
    else:
        sides = [(min(axis), max(axis)) for axis in zip(*positives, strict=True)]
        assert learner.survivor() == " and ".join(f"{a} <= x[{i}] <= {b}" for i, (a, b) in enumerate(sides))


def test_a_class_too_large_to_hold_is_refused_and_the_alternative_named():
    with pytest.raises(TooLargeError, match=r"RectangleHalving\(m, dim\), which counts votes without enumeration"):
        Rectangles(1000, 2).space()
    with pytest.raises(TooLargeError, match="at most 100,000,000"):
        Rectangles(2**53, 64).space()
    with pytest.raises(InputError, match=r"at most 64 axes: got dim = 65. Use TightestBox"):
        Rectangles(3, 65)


def test_millions_of_hypotheses_vote():
    line = Rectangles(5000, 1)  # 12.5 million intervals
    labels = line.labels_of(line.encode((2500,)), None)
    assert int(np.count_nonzero(labels == 1)) == 2501 * 2500
    assert line.labels_of(line.encode((2500,)), np.array([0, 1, 2501, line.size - 1])).tolist() == [-1, -1, 1, 1]


@pytest.mark.parametrize(("m", "dim"), [(0, 1), (-3, 2), (2.5, 2), (2**53 + 1, 1), ("3", 1), (3, 0), (3, -1), (3, 1.5)])
def test_invalid_grid_is_refused(m, dim):
    with pytest.raises(InputError, match="a grid must have"):
        Rectangles(m, dim)


@pytest.mark.parametrize(
    "x", [(0,), (0, 1, 2), (0, 3), (-1, 0), (0.5, 1), (float("nan"), 1), 1, None, "ab", ("a", "b")]
)
def test_an_x_outside_the_grid_is_refused(x):
    with pytest.raises(InputError, match="x must"):
        Rectangles(3, 2).space().poll(x)


def test_the_state_names_the_class_and_its_grid():
    assert Rectangles(7, 3).state() == {"class": "rectangles", "m": 7, "dim": 3}
