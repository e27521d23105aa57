"""Examples are checked at the border."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core import encode
from novikoff.core.errors import InputError, brief, shown, whole
from novikoff.core.types import Domain, Labels, check_label

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("x", [3, np.int64(3), 3.0, np.float64(3), [3], (3,), np.array([3]), np.array(3.0)])
def test_an_index_may_be_written_in_many_ways(x):
    assert encode.index(x, 11) == 3
    assert type(encode.index(x, 11)) is int


@pytest.mark.parametrize("x", [-1, 11, 2.5, NAN, INF, "3", None, [1, 2], [], Fraction(1, 2), object(), {}])
def test_non_index_is_refused(x):
    with pytest.raises(InputError, match="x must be"):
        encode.index(x, 11)


def test_an_index_beyond_int64_is_exact():
    assert encode.index(10**30, 10**31) == 10**30


@pytest.mark.parametrize("x", [[1, 2], (1.0, 2.0), np.array([1, 2], dtype=np.uint8)])
def test_a_point_is_integers(x):
    assert encode.point(x, 2, 0, 5).tolist() == [1, 2]


@pytest.mark.parametrize(
    "x",
    [
        [1],
        [1, 2, 3],
        [1, 6],
        [-1, 2],
        [1, 2.5],
        [1, NAN],
        [1, INF],
        ["1", "2"],
        None,
        3,
        [[1, 2]],
        [None, 1],
        [10**30, 1],
        [[1], [1, 2]],
    ],
)
def test_non_point_is_refused(x):
    with pytest.raises(InputError, match="x must"):
        encode.point(x, 2, 0, 5)


@pytest.mark.parametrize(
    "x", [[1], [1, 2, 3], [1, NAN], [1, INF], ["a", "b"], None, 3, [[1, 2]], [10**400, 1], [{}, 1]]
)
def test_non_vector_is_refused(x):
    with pytest.raises(InputError, match="x must"):
        encode.vector(x, 2)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False), min_size=1, max_size=5))
def test_scaling_is_exact_and_brings_the_largest_entry_near_one(values):
    x = np.array(values)
    scaled = encode.scaled(x)
    if not np.any(x):
        assert scaled is x
    else:
        assert 1 <= np.abs(scaled).max() < 2
        top = np.abs(x) >= np.abs(x).max() * 2.0**-900
        ratio = scaled[np.argmax(np.abs(x))] / x[np.argmax(np.abs(x))] if np.abs(x).max() > 1e-300 else None
        if ratio is not None and np.isfinite(ratio):
            assert np.all(scaled[top] == x[top] * ratio)


def test_labels_are_checked():
    assert [check_label(y, None) for y in (1, -1, 1.0, np.int8(-1))] == [1, -1, 1, -1]
    for y, stands in ((True, "1"), (np.True_, "1"), (False, "-1"), (np.False_, "-1")):
        with pytest.raises(InputError, match=f"a label must be -1 or \\+1, not a boolean: got {y}. Pass {stands},"):
            check_label(y, None)
    with pytest.raises(InputError, match="an integer from 0 to 4, not a boolean: got False. Pass 0,"):
        check_label(False, 5)
    for bad in (0, 2, None, "1", NAN, [1]):
        with pytest.raises(InputError, match="a label must be"):
            check_label(bad, None)
    assert check_label(np.int32(2), 3) == 2
    for bad in (3, -1, 1.0, True, None):
        with pytest.raises(InputError, match="from 0 to 2"):
            check_label(bad, 3)


LONG = 10**5000


@pytest.mark.parametrize(
    "ask",
    [
        lambda: encode.index(0.5, LONG),
        lambda: encode.index([1, 2], LONG),
        lambda: encode.index([[1], [1, 2]], LONG),
        lambda: encode.index(Fraction(LONG, 3), 5),
        lambda: encode.index(LONG, 5),
        lambda: encode.index(-LONG, 5),
        lambda: encode.point([LONG, 1], 2, 0, 5),
        lambda: encode.point([1], LONG, 0, 5),
        lambda: encode.vector([LONG, "a"], 2),
        lambda: encode.vector([1], LONG),
        lambda: check_label(LONG, None),
        lambda: check_label([[1], [1, 2]], None),
        lambda: check_label(LONG, 3),
    ],
)
def test_unprintably_long_numbers_are_refused(ask):
    with pytest.raises(InputError, match=r"x must|a label must"):
        ask()


def test_given_values_are_shown_briefly():
    assert (shown(3), shown("a"), shown(True), shown(Fraction(1, 3))) == ("3", "'a'", "True", "1/3")
    assert len(shown(list(range(10_000)))) < 250
    assert shown([LONG]) == "a list that cannot be printed"
    assert (brief(12345), brief(0.5), brief(Fraction(-3, 4))) == ("12345", "0.5", "-3/4")
    assert brief(2**64, 64) == "a number of 65 bits"
    assert brief(Fraction(1, LONG)) == "a number of 16,610 bits"
    assert (whole(-1234), whole(LONG), whole(-LONG)) == ("-1,234", "about 2^16609", "about -2^16609")


def test_two_values_stand_for_minus_and_plus_one():
    labels = Labels("ham", "spam")
    assert (labels.encode("spam"), labels.encode("ham")) == (1, -1)
    assert (labels.decode(1), labels.decode(-1)) == ("spam", "ham")
    assert str(labels) == "ham is -1, spam is +1"
    with pytest.raises(InputError, match="'eggs'"):
        labels.encode("eggs")


@pytest.mark.parametrize(
    ("learner", "stream", "fits"),
    [
        (Domain("any"), Domain("vector", 3), True),
        (Domain("any"), Domain("any"), True),
        (Domain("any", 2), Domain("any", 2), True),
        (Domain("any", 2), Domain("point", 2), True),
        (Domain("any", 2), Domain("any", 3), False),
        (Domain("index", 5), Domain("index"), True),
        (Domain("index", 5), Domain("vector", 1), True),
        (Domain("index", 5), Domain("vector", 2), False),
        (Domain("index", 5), Domain("any"), False),
        (Domain("point", 2), Domain("vector", 2), True),
        (Domain("point", 2), Domain("point", 3), False),
        (Domain("vector", 2), Domain("point", 2), True),
        (Domain("vector", 2), Domain("index"), False),
        (Domain("vector"), Domain("vector", 9), True),
    ],
)
def test_domains_that_fit(learner, stream, fits):
    assert learner.admits(stream) is fits


def test_mappings_at_once_are_each_of_them():
    names = {"a": 0, "b": 1, "c": 2}
    given = [{"c": 1, "a": 0.5}, {}, {"b": True, "c": Fraction(1, 3), "a": -0.0}]
    for (indices, values), x in zip(encode.mappings(given, names).rows(), given, strict=True):
        alone = encode.mapping(x, names)
        assert (indices.tolist(), values.tobytes()) == (alone[0].tolist(), alone[1].tobytes())


@pytest.mark.parametrize("key", [-1, encode.LARGEST_INDEX + 1, 2**70, np.int64(-3)])
def test_mapping_refuses_an_index_out_of_range(key):
    with pytest.raises(InputError, match="indices must be integers from 0 to"):
        encode.mapping({0: 1.0, key: 2.0}, {})


@pytest.mark.parametrize("keys", [(0, 7), (np.int64(0), 7), (np.uint8(0), np.int32(7)), (False, 7)])
def test_mapping_takes_integers_of_any_type(keys):
    indices, values = encode.mapping(dict(zip(keys, (1.5, -2.0), strict=True)), {"a": 0})
    assert (indices.tolist(), indices.dtype, values.tolist()) == ([0, 7], np.uint32, [1.5, -2.0])


@pytest.mark.parametrize("x", [{"a": 1.0, 3: 2.0}, {3: 1.0, "a": 2.0}, {1.0: 2.0}, {("a",): 1.0}])
def test_mapping_refuses_keys_of_two_kinds(x):
    with pytest.raises(InputError, match="features must all be names or all whole numbers"):
        encode.mapping(x, {"a": 0})


@pytest.mark.parametrize("x", [{"a": NAN}, {"a": 1.0, "b": INF}, {3: -INF}])
def test_mapping_refuses_infinite_values_and_learns_no_name(x):
    names = {"a": 0}
    with pytest.raises(InputError, match="x must be finite"):
        encode.mapping(x, names)
    assert names == {"a": 0}
