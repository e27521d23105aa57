"""How columns become features."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.errors import ModelFileError, SourceError
from novikoff.core.types import Sparse
from novikoff.data.tables import cells
from novikoff.data.tables.column import Column, recognise
from novikoff.data.tables.encoding import Encoding


def named(encoding, x):
    """The rows as dicts of features by name."""
    names = encoding.features
    if isinstance(x, Sparse):
        return [{names[i]: v for i, v in zip(*map(np.ndarray.tolist, row), strict=True)} for row in x.rows()]
    return [{names[j]: v for j, v in enumerate(row) if v} for row in x.tolist()]


def encoded(columns, **options):
    arrays = {name: pa.array(values) for name, values in columns.items()}
    encoding = Encoding([recognise(name, values) for name, values in columns.items()], **options)
    return encoding, encoding.rows(arrays, len(next(iter(columns.values()))))


def test_numbers_are_dense_and_whole_ones_stay_whole():
    encoding, x = encoded({"a": [1, 2], "b": [True, False]})
    assert x.dtype == np.int64
    assert x.tolist() == [[1, 1], [2, 0]]
    assert encoding.features == ("a", "b")


def test_missing_number_is_a_separate_feature():
    encoding, x = encoded({"a": [1.5, None, 2.0], "b": [1.0, 2.0, float("nan")]})
    assert encoding.features == ("a", "b", "a is missing", "b is missing")
    assert x.tolist() == [[1.5, 1.0, 0.0, 0.0], [0.0, 2.0, 1.0, 0.0], [2.0, 0.0, 0.0, 1.0]]


def test_a_number_that_becomes_missing_later_makes_rows_wider():
    encoding = Encoding([Column("a", "number"), Column("b", "number")])
    first = encoding.rows({"a": pa.array([1.0]), "b": pa.array([2.0])}, 1)
    second = encoding.rows({"a": pa.array([None], pa.float64()), "b": pa.array([2.0])}, 1)
    assert first.shape == (1, 2)
    assert second.tolist() == [[0.0, 2.0, 1.0]]


def test_a_category_has_a_feature_for_each_value():
    encoding, x = encoded({"colour": ["red", "blue", "red", None], "n": [1.0, 2.0, 3.0, 4.0]})
    assert named(encoding, x) == [
        {"colour=red": 1.0, "n": 1.0},
        {"colour=blue": 1.0, "n": 2.0},
        {"colour=red": 1.0, "n": 3.0},
        {"colour is missing": 1.0, "n": 4.0},
    ]


def test_a_date_is_days_since_the_first_and_month_weekday_and_hour():
    encoding, x = encoded({"when": ["2024-01-05 10:00", None, "2024-01-06 22:30"]})
    assert named(encoding, x) == [
        {"when: days": 0.0, "when: month=Jan": 1.0, "when: weekday=Fri": 1.0, "when: hour=10": 1.0},
        {"when is missing": 1.0},
        {"when: days": 1.5208333333333333, "when: month=Jan": 1.0, "when: weekday=Sat": 1.0, "when: hour=22": 1.0},
    ]


def test_text_is_counted_words_and_hashes_all_features():
    encoding, x = encoded({"m": ["so it is so it goes on", "and it is not as bad as that", None], "n": [1.0, 2.0, 0.5]})
    assert encoding.bits == 18
    rows = [dict(zip(*map(np.ndarray.tolist, row), strict=True)) for row in x.rows()]
    assert sorted(rows[0].values()) == [1.0, 1.0, 1.0, 1.0, 2.0, 2.0]  # n, is, goes, on; so, it
    assert sorted(rows[2].values()) == [0.5, 1.0]
    assert len(rows[0].keys() & rows[1].keys()) == 3  # n, it, is


def test_hashed_features_that_collide_are_added_up():
    _, x = encoded({"m": [f"a b c d e f g {k}" for k in range(3)], "n": ["x", "y", "z"]}, bits=1)
    assert x.width == 2
    for indices, values in x.rows():
        assert len(set(indices.tolist())) == len(indices)
        assert values.sum() == 9.0


CELLS = st.fixed_dictionaries(
    {
        "a": st.one_of(st.none(), st.floats(-9, 9)),
        "c": st.one_of(st.none(), st.sampled_from(["red", "green", "blue", "?"])),
        "t": st.one_of(st.none(), st.sampled_from(["2024-01-05", "2024-02-06", "1969-07-20"])),
    }
)


@given(st.lists(CELLS, min_size=1, max_size=12), st.data())
def test_features_do_not_depend_on_where_the_table_is_cut(rows, data):
    columns = [Column("a", "number"), Column("c", "category"), Column("t", "time", "%Y-%m-%d")]
    types = {"a": pa.float64(), "c": pa.string(), "t": pa.string()}
    arrays = {name: pa.array([row[name] for row in rows], types[name]) for name in types}
    whole = Encoding(columns)
    together = named(whole, whole.rows(arrays, len(rows)))
    cut = data.draw(st.integers(0, len(rows)))
    parts = Encoding(columns)
    apart = []
    for start, stop in ((0, cut), (cut, len(rows))):
        if start < stop:
            part = {name: array.slice(start, stop - start) for name, array in arrays.items()}
            apart += named(parts, parts.rows(part, stop - start))
    assert parts.features == whole.features
    assert apart == together


def test_unseen_category_has_the_place_after_the_known_features():
    encoding, _ = encoded({"colour": ["red", "blue"], "n": [1.0, 2.0]})
    before = encoding.features
    x = encoding.rows({"colour": pa.array(["pink"]), "n": pa.array([1.0])}, 1, learn=False)
    assert x.width == len(before) + 1
    assert x.indices.tolist() == [len(before), before.index("n")]
    assert encoding.features == before


def test_saved_state_round_trips():
    encoding, _ = encoded({"colour": ["red", "blue"], "when": ["2024-01-05", "2024-01-09"], "n": [1.0, None]})
    again = Encoding.restore(encoding.state())
    arrays = {"colour": pa.array(["blue"]), "when": pa.array(["2024-01-08"]), "n": pa.array([3.0])}
    assert again.features == encoding.features
    assert named(again, again.rows(arrays, 1)) == named(encoding, encoding.rows(arrays, 1))


@pytest.mark.parametrize(
    "damage", [{"columns": [["a", "nonsense", None, False]]}, {"places": ["a", "a"]}, {"bits": "x"}]
)
def test_a_damaged_one_is_refused(damage):
    encoding, _ = encoded({"a": [1.0, 2.0]})
    with pytest.raises(ModelFileError):
        Encoding.restore({**encoding.state(), **damage})


def test_an_infinite_number_is_an_error_with_its_row():
    encoding = Encoding([Column("a", "number")])
    with pytest.raises(SourceError) as caught:
        encoding.rows({"a": pa.array([1.0, float("inf")])}, 2)
    assert caught.value.where["row"] == 1


def test_columns_named_like_other_features_keep_distinct_features():
    encoding, x = encoded({"colour": ["red", None], "colour=red": [5.0, 7.0], "colour is missing": [8.0, 9.0]})
    assert named(encoding, x) == [
        {"colour'=red": 1.0, "colour=red": 5.0, "colour is missing": 8.0},
        {"colour' is missing": 1.0, "colour=red": 7.0, "colour is missing": 9.0},
    ]
    encoding, x = encoded({"a": ["b=c", "d"], "a=b": ["c", "c"], "a'": ["e", "f"]})
    assert encoding.features == ("a''=b=c", "a=b=c", "a'=e", "a''=d", "a'=f")


def test_missing_number_feature_does_not_clash_with_a_column_name():
    encoding, x = encoded({"x": [1.0, None], "x is missing": [5.0, 7.0]})
    assert encoding.features == ("x", "x is missing", "x' is missing")
    assert x.tolist() == [[1.0, 5.0, 0.0], [0.0, 7.0, 1.0]]


def test_text_that_comes_late_where_features_are_not_hashed_is_a_category():
    encoding = Encoding([Column("a", "number"), Column("note", "unknown")])
    encoding.settle(encoding.columns[1], recognise("note", ["many words in one cell"]))
    x = encoding.rows({"a": pa.array([1.0]), "note": pa.array(["many words in one cell"])}, 1)
    assert named(encoding, x) == [{"a": 1.0, "note=many words in one cell": 1.0}]


def test_moments_of_frames_are_those_of_text_to_the_bit():
    written = ["2024-09-26 23:12:17.464290", "2031-05-06 07:08:09.000001", "1931-05-06 07:08:09.7"]
    column = Column("when", "time", "%Y-%m-%d %H:%M:%S.%f", True)
    text = cells.moments(pa.array(written), column).tolist()
    for unit in ("us", "ns"):
        assert (
            cells.moments(pa.array(pd.to_datetime(written, format="mixed")).cast(pa.timestamp(unit)), column).tolist()
            == text
        )


def test_a_moment_with_a_zone_has_the_hour_of_utc_in_frames_as_in_text():
    there = pd.Timestamp("2024-07-01", tz="Europe/Rome")
    assert recognise("when", [there]).timed == recognise("when", ["2024-07-01 00:00:00+02:00"]).timed is True
