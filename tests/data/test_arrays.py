from __future__ import annotations

import datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.errors import SourceError
from novikoff.core.types import Domain, Labels
from novikoff.data.arrays import ROWS_PER_BATCH, Arrays, encode_labels


def all_of(stream):
    batches = list(stream.batches())
    return np.concatenate([b.x for b in batches]), np.concatenate([b.y for b in batches])


@pytest.mark.parametrize(
    ("y", "labels"),
    [
        ([-1, 1, 1], Labels(-1, 1)),
        ([-1.0, 1.0, 1.0], Labels(-1, 1)),
        ([0, 1, 1], Labels(0, 1)),
        ([0.0, 1.0, 1.0], Labels(0, 1)),
        ([False, True, True], Labels(False, True)),
        ([1, 2, 2], Labels(1, 2)),
        ([-3.5, 9.25, 9.25], Labels(-3.5, 9.25)),
        (["ham", "spam", "spam"], Labels("ham", "spam")),
        ([b"ham", b"spam", b"spam"], Labels(b"ham", b"spam")),
        (np.array(["ham", "spam", "spam"], dtype=object), Labels("ham", "spam")),
        (np.array([Fraction(1, 3), Fraction(1, 2), Fraction(1, 2)]), Labels(Fraction(1, 3), Fraction(1, 2))),
        (np.array([0, 200, 200], dtype=np.uint8), Labels(0, 200)),
        (np.array([1, 2**63, 2**63], dtype=np.uint64), Labels(1, 2**63)),
    ],
)
def test_two_values_of_any_type_become_minus_one_and_plus_one_the_larger_plus_one(y, labels):
    stream = Arrays([10, 20, 30], y)
    assert stream.labels == labels
    assert type(stream.labels.positive) is type(labels.positive)
    x, signs = all_of(stream)
    assert signs.dtype == np.int8
    assert signs.tolist() == [-1, 1, 1]
    assert x.tolist() == [10, 20, 30]


def test_dates_of_any_unit_are_labels():
    days = np.array(["2020-01-02", "2020-01-01"], dtype="datetime64[ns]")
    stream = Arrays([0, 1], days)
    assert all_of(stream)[1].tolist() == [1, -1]
    assert stream.labels.positive == days[0]
    assert Arrays([0, 1], np.array([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)])).labels == Labels(
        datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)
    )


@pytest.mark.parametrize(
    ("y", "labels", "sign"),
    [
        ([1, 1], Labels(-1, 1), 1),
        ([-1, -1], Labels(-1, 1), -1),
        ([0, 0], Labels(0, 1), -1),
        ([True, True], Labels(False, True), 1),
        ([False, False], Labels(False, True), -1),
        ([1.0, 1.0], Labels(-1, 1), 1),
    ],
)
def test_a_lone_value_is_understood_if_its_meaning_is_known(y, labels, sign):
    stream = Arrays([0, 0], y)
    assert stream.labels == labels
    assert stream.labels.negative is labels.negative
    assert all_of(stream)[1].tolist() == [sign, sign]


@pytest.mark.parametrize("y", [["spam", "spam"], [2, 2], [0.5, 0.5]])
def test_any_other_lone_value_is_an_error_and_continues_when_it_is_named(y):
    with pytest.raises(SourceError, match=r"labels must take two values: mail has only .*Pass positive=VALUE"):
        Arrays([0, 1], y, name="mail")
    stream = Arrays([0, 1], y, positive=y[0])
    assert all_of(stream)[1].tolist() == [1, 1]


def test_a_third_value_is_an_error_that_names_its_row_and_the_value():
    with pytest.raises(SourceError, match=r"row 4 of mail has a third value, 'unsure'"):
        Arrays(range(5), ["spam", "spam", "ham", "unsure", "other"], name="mail")
    with pytest.raises(SourceError, match=r"row 3 of y has a third value, 0\.5"):
        encode_labels(np.array([1.5, 2.5, 0.5, 1.5]))
    with pytest.raises(SourceError, match=r"row 3 of y has a third value, 2"):
        encode_labels(np.array([-1, 1, 2]))


@pytest.mark.parametrize(
    ("y", "positive", "signs", "labels"),
    [
        (["a", "b", "c"], "b", [-1, 1, -1], Labels("not b", "b")),
        ([0, 1, 1], 0, [1, -1, -1], Labels(1, 0)),
        ([0, 1, 1], "0", [1, -1, -1], Labels(1, 0)),
        ([0.0, 1.0, 2.0], "1", [-1, 1, -1], Labels("not 1.0", 1.0)),
        ([0.0, 1.0, 2.0], 1, [-1, 1, -1], Labels("not 1.0", 1.0)),
        ([True, False, True], "True", [1, -1, 1], Labels(False, True)),
        ([True, False, True], False, [-1, 1, -1], Labels(True, False)),
        (["1", "2", "2"], 1, [1, -1, -1], Labels("2", "1")),
        ([np.nan, 1, 2], None, None, None),
    ],
)
def test_positive_names_the_value_that_is_plus_one_against_all_others(y, positive, signs, labels):
    if labels is None:
        with pytest.raises(SourceError, match="row 1 of arrays has nan"):
            Arrays([0, 1, 2], y, positive=positive)
        return
    stream = Arrays([0, 1, 2], y, positive=positive)
    assert all_of(stream)[1].tolist() == signs
    assert stream.labels == labels


def test_absent_positive_value_error_lists_existing_values():
    with pytest.raises(SourceError, match=r"y has 'ham', 'spam', not 'tasty'\."):
        encode_labels(np.array(["spam", "ham"]), positive="tasty")


def test_more_than_two_integers_are_many_labels():
    stream = Arrays([5, 6, 7], [0, 2, 1])
    assert stream.labels is None
    y = all_of(stream)[1]
    assert y.dtype == np.int32
    assert y.tolist() == [0, 2, 1]
    assert Arrays([5, 6], [0.0, 2.0], multiclass=3).labels is None
    assert all_of(Arrays([5, 6], [0, 1], multiclass=3))[1].dtype == np.int32
    assert all_of(Arrays([5, 6], [True, False], multiclass=3))[1].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([0, 3], "row 2 of arrays has 3"),
        ([0, -1], "row 2 of arrays has -1"),
        ([0.5, 1], r"row 1 of arrays has 0\.5"),
        (["0", "1"], "arrays has <U1"),
        (np.array([0, 2**40]), "row 2 of arrays has 1099511627776"),
    ],
)
def test_labels_for_a_learner_with_many_must_be_integers_below_that(y, said):
    with pytest.raises(SourceError, match=f"labels must be integers from 0 to 2: {said}"):
        Arrays([5, 6], y, multiclass=3)


def test_integers_beyond_int32_are_no_labels():
    with pytest.raises(SourceError, match="has a third value, 1099511627776"):
        Arrays([5, 6, 7], [0, 1, 2**40])


@pytest.mark.parametrize(
    "y",
    [
        [0.0, float("nan")],
        [0.0, float("inf")],
        np.array(["a", None], dtype=object),
        np.array(["a", float("nan")], dtype=object),
        np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"),
    ],
)
def test_a_missing_label_is_an_error_that_names_its_row(y):
    with pytest.raises(SourceError, match="labels must be finite: row 2 of mail has .*Clean or drop the row"):
        Arrays([0, 1], y, name="mail")


def test_labels_of_types_that_cannot_be_compared_are_an_error():
    with pytest.raises(SourceError, match="labels must have one type: arrays has several"):
        Arrays([0, 1], np.array(["a", 1], dtype=object))


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        ([], [], "a source must not be empty: arrays has no rows"),
        (np.zeros((0, 3)), [], "a source must not be empty"),
        (np.zeros((2, 0)), [0, 1], r"X must have at least one column: got shape \(2, 0\)"),
        ([1, 2], [1], "X and y must have one length: got 2 and 1 rows"),
        (3, 1, "X must have one or two dimensions and y one"),
        (np.zeros((2, 2, 2)), [0, 1], "X must have one or two dimensions and y one"),
        ([1, 2], [[0], [1]], "X must have one or two dimensions and y one"),
        ([[1, 2], [3]], [0, 1], "X must be an array: got rows of different lengths"),
        ([[1], [2]], [[0], [1, 2]], "y must be an array: got rows of different lengths"),
        (["a", "b"], [0, 1], "X must be numbers: got <U1"),
        ([None, 1], [0, 1], "X must be numbers: got object"),
        ([1j, 1], [0, 1], "X must be numbers: got complex128"),
        ([[1.0, 2.0], [3.0, float("nan")]], [0, 1], "X must be finite: row 2, feature 1 of arrays is nan"),
        ([1.0, -float("inf")], [0, 1], "X must be finite: row 2, feature 0 of arrays is -inf"),
        (np.array([2**63], dtype=np.uint64), [1], r"whole numbers must be below 2\^63: arrays has 9223372036854775808"),
    ],
)
def test_non_numeric_table_is_an_error(X, y, said):
    with pytest.raises(SourceError, match=said):
        Arrays(X, y)


@pytest.mark.parametrize(
    ("X", "domain", "dtype", "shape"),
    [
        ([3, 4], Domain("index"), np.int64, (2,)),
        (np.array([3, 4], dtype=np.uint64), Domain("index"), np.int64, (2,)),
        ([True, False], Domain("index"), np.int64, (2,)),
        ([3.0, 4.5], Domain("vector", 1), np.float64, (2, 1)),
        ([[3, 4], [5, 6]], Domain("point", 2), np.int64, (2, 2)),
        (np.array([[3, 4], [5, 6]], dtype=np.float32), Domain("vector", 2), np.float64, (2, 2)),
        (np.asfortranarray([[3.0, 4.0], [5.0, 6.0]]), Domain("vector", 2), np.float64, (2, 2)),
    ],
)
def test_the_domain_is_that_of_the_numbers(X, domain, dtype, shape):
    stream = Arrays(X, [-1, 1])
    (batch,) = stream.batches()
    assert stream.domain == domain
    assert batch.x.dtype == dtype
    assert batch.x.shape == shape
    assert batch.x.flags.c_contiguous
    assert stream.features is None


def test_features_must_name_every_column():
    assert Arrays([[1, 2]], [1], features=["a", "b"]).features == ("a", "b")
    with pytest.raises(SourceError, match="features must name every column of X: got 1 names for 2"):
        Arrays([[1, 2]], [1], features=["a"])


@given(st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.booleans()), min_size=1))
def test_numbers_round_trip_and_reread(rows):
    X = np.array([x for x, _ in rows])
    stream = Arrays(X, [y for _, y in rows])
    for _ in range(2):
        x, y = all_of(stream)
        assert x.tobytes() == X.tobytes()
        assert (y == 1).tolist() == [y for _, y in rows]


def test_long_arrays_come_in_batches_that_number_their_rounds():
    rows = 2 * ROWS_PER_BATCH + 5
    stream = Arrays(np.arange(rows), np.arange(rows) % 2)
    batches = list(stream.batches())
    assert [len(batch) for batch in batches] == [ROWS_PER_BATCH, ROWS_PER_BATCH, 5]
    assert [batch.first for batch in batches] == [1, ROWS_PER_BATCH + 1, 2 * ROWS_PER_BATCH + 1]
    assert len(stream) == stream.rows == rows
    assert stream.rereadable
