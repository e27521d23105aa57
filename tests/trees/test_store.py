"""The store of the last rows."""

import numpy as np
import pytest

from novikoff.core.errors import ModelFileError
from novikoff.core.state import leaving_out_rows
from novikoff.trees.store import SETTLED, SPARE, TOGETHER, RowStore


def numbered(first, stop, width=2):
    y = np.arange(first, stop, dtype=np.float64)
    return np.repeat(y[:, None], width, axis=1), y


def filled(rows, window=1000, width=2):
    store = RowStore(window)
    while store.count < rows:
        more = store.together(rows - store.count)
        store.add(*numbered(store.count, store.count + more, width), np.zeros(width))
    return store


@pytest.mark.parametrize("rows", [1, 256, 257, 3000, 3048, 3049, 9999])
def test_the_last_rows_are_kept(rows):
    store = filled(rows)
    assert store.first == max(0, rows - 1000 - SPARE)
    assert len(store.y) <= 1000 + SPARE
    x, y = store.rows(store.first, rows)
    assert y.tolist() == list(range(store.first, rows))
    assert (x == y[:, None]).all()


def test_new_columns_had_their_absent_value_before():
    store = filled(5)
    store.add(*numbered(5, 6, 4), np.array([0.0, 0.0, -1.0, np.nan]))
    x, _ = store.rows(0, 6)
    np.testing.assert_array_equal(x[:5, 2:], np.tile([-1.0, np.nan], (5, 1)))
    assert x[5].tolist() == [5.0] * 4


def test_a_wide_store_has_a_smaller_window_from_the_settling_row_on():
    store = filled(SETTLED - 1, 131_072, 128)
    assert store.window == 131_072
    assert store.together(TOGETHER) == 1
    store = filled(SETTLED + 10, 131_072, 128)
    assert store.window == 2**26 // (8 * 128)


@pytest.mark.parametrize("rows", [0, 7, 3049, 9999])
def test_a_restored_store_continues_alike(rows):
    store = filled(rows)
    other = RowStore.restore(store.state())
    for one in (store, other):
        one.add(*numbered(rows, rows + 1000), np.zeros(2))
    for mine, theirs in zip(store.rows(store.first, store.count), other.rows(other.first, other.count), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_model_without_rows_has_none_and_resumes_with_new_ones():
    store = filled(500)
    with leaving_out_rows():
        state = store.state()
    assert len(state["y"]) == 0
    other = RowStore.restore(state)
    other.add(*numbered(500, 510), np.zeros(2))
    assert (other.first, other.count) == (500, 510)
    assert other.rows(500, 510)[1].tolist() == list(range(500, 510))


@pytest.mark.parametrize(("name", "value"), [("count", 3), ("begin", 9), ("window", 0), ("x", np.zeros((4, 1)))])
def test_a_damaged_store_is_refused(name, value):
    state = {**filled(4).state(), name: value}
    with pytest.raises(ModelFileError):
        RowStore.restore(state)
