"""Rows: parts, copies, one after the other, and whose memory they are in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.comparators.linear_tracker import LinearTracker
from novikoff.comparators.rows import stacked
from novikoff.core.errors import InputError
from novikoff.core.types import Batch, Sparse
from novikoff.data.cached import hold
from novikoff.data.column_names import matched
from novikoff.data.convert import convert
from novikoff.data.tables.table_formats import Arrow

NUMBERS = st.integers(-2, 2).map(lambda number: number / 2)
TABLES = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(NUMBERS, min_size=width, max_size=width), min_size=1, max_size=8).map(np.array)
)


def rows(x):
    """Sparse rows, so that only the same are equal."""
    return [(i.tolist(), v.tolist(), v.dtype) for i, v in x.rows()]


def owner(array):
    """What an array is a view of: itself if its memory is its own."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def labels(count):
    return np.where(np.arange(count) % 2 == 0, 1, -1).astype(np.int8)


@given(TABLES)
def test_dense_rows_become_sparse_and_dense_again(table):
    x = Sparse.of_dense(table)
    assert np.array_equal(x.dense(), table)
    assert np.all(x.values != 0.0)
    assert x.dense(9).shape == (len(table), 9)
    again = Sparse.of_rows(list(x.rows()))
    assert rows(again) == rows(x)


def test_sparse_without_rows_is_valid():
    assert len(Sparse.of_rows([])) == 0
    assert Sparse.of_dense(np.zeros((2, 3))).take(np.array([], np.int64)).dense().shape == (0, 3)


def test_dense_and_sparse_rows_are_not_stacked():
    dense, sparse = np.ones(2), (np.array([1], np.uint32), np.ones(1))
    assert stacked([dense, dense]).tolist() == [[1.0, 1.0]] * 2
    assert rows(stacked([sparse, sparse])) == [([1], [1.0], np.float64)] * 2
    for mixed in ([dense, sparse], [sparse, dense]):
        with pytest.raises(InputError, match="one form"):
            stacked(mixed)


@given(TABLES, st.data())
def test_parts_one_after_the_other_are_the_whole(table, data):
    x = Sparse.of_dense(table)
    cut = data.draw(st.integers(0, len(table)))
    whole = Sparse.concatenated([x[:cut], x[cut:]])
    assert rows(whole) == rows(x)
    assert whole.width == x.width


@given(TABLES, st.data())
def test_rows_are_taken_by_number_or_where_it_is_true(table, data):
    x = Sparse.of_dense(table)
    cut = data.draw(st.integers(0, len(table) - 1))
    part = x[cut:]  # its first entry is not the first of the arrays
    numbers = np.array(data.draw(st.lists(st.integers(0, len(part) - 1), max_size=9)), dtype=np.int64)
    assert np.array_equal(part.take(numbers).dense(), table[cut:][numbers])
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(part), max_size=len(part))), dtype=bool)
    assert np.array_equal(part.take(mask).dense(), table[cut:][mask])


def test_a_copy_of_a_part_has_nothing_else_in_its_arrays():
    x = Sparse.of_dense(np.arange(12.0).reshape(4, 3))
    part = x[1:3]
    copy = part.copy()
    assert rows(copy) == rows(part)
    assert copy.indptr.tolist() == [0, 3, 6]
    assert len(copy.indices) == len(copy.values) == 6
    assert part.nbytes == copy.nbytes == 3 * 8 + 6 * 4 + 6 * 8
    assert part.copy(np.float32).values.dtype == np.float32
    x.values[:] = 7.0
    assert np.array_equal(copy.dense(), np.arange(12.0).reshape(4, 3)[1:3])


EXAMPLES = {
    "indices": np.array([3, 1, 2]),
    "vectors": np.arange(6.0).reshape(3, 2),
    "sparse": Sparse.of_dense(np.arange(6.0).reshape(3, 2)),
    "objects": ["a", "b", "c"],
    "nothing": None,
}


@pytest.mark.parametrize("x", EXAMPLES.values(), ids=EXAMPLES)
def test_an_example_is_that_of_its_row(x):
    batch = Batch(x, labels(3), 1)
    for row, (example, _) in enumerate(batch.rows()):
        assert repr(batch.example(row)) == repr(example)


@pytest.mark.parametrize("x", EXAMPLES.values(), ids=EXAMPLES)
def test_borrowed_arrays_are_copied_and_owned_ones_are_not(x):
    batch = Batch(x, labels(3), 5, {"row": 7})
    kept = batch.kept()
    assert (kept.memory, kept.first, kept.end, repr(list(kept.rows()))) == (
        "owned",
        5,
        batch.end,
        repr([*batch.rows()]),
    )
    assert owner(kept.y) is not owner(batch.y)
    if isinstance(x, np.ndarray):
        assert owner(kept.x) is not owner(batch.x)
    for memory in ("owned", "mapped"):
        batch = Batch(x, labels(3), 5, memory=memory)
        assert batch.kept() is batch
        assert batch.part(1, 2).memory == memory
    assert Batch(x, labels(3), 5).part(1, 2).memory == "borrowed"


def test_a_table_has_two_dimensions_and_no_gaps():
    assert Batch(np.array([3, 1]), labels(2), 1).table().tolist() == [[3], [1]]
    assert Batch(np.zeros((2, 3, 4)), labels(2), 1).table().shape == (2, 12)
    gaps = Batch(np.arange(8.0).reshape(2, 4)[:, ::2], labels(2), 1).table()
    assert gaps.tolist() == [[0.0, 2.0], [4.0, 6.0]]
    assert gaps.flags.c_contiguous


def test_bytes_are_those_of_the_rows():
    assert Batch(np.zeros((3, 2)), labels(3), 1).nbytes == 48 + 3
    assert Batch(None, np.zeros((3, 2)), 1).nbytes == 48
    assert Batch([np.zeros(4), np.zeros(2)], labels(2), 1).nbytes == 48 + 2


def lines(path, count=500):
    path.write_text("".join(f"{y} {t % 7 + 1}:1 9:0.5\n" for t, y in enumerate(labels(count).tolist())))
    return path


def test_background_comparators_read_owned_rows(tmp_path, monkeypatch):
    waited = []
    plain = LinearTracker.see

    def see(tracker, batch, wrong):
        plain(tracker, batch, wrong)
        waited.append((batch.memory, tracker._background._thread is not None, tracker._background._bytes))

    monkeypatch.setattr(LinearTracker, "see", see)
    text = nk.Svmlight(lines(tmp_path / "rows.svm"))
    at_once = nk.play(nk.Perceptron(), hold(text)).certify()
    behind = nk.play(nk.Perceptron(), text).certify()
    convert(text, tmp_path / "rows.arrow")
    mapped = nk.play(nk.Perceptron(), Arrow(tmp_path / "rows.arrow")).certify()
    assert [(memory, threaded) for memory, threaded, _ in waited] == [
        ("borrowed", False), ("owned", True), ("mapped", True)
    ]  # fmt: skip
    assert waited[2][2] == 0  # what waits in a mapped file takes no memory
    assert at_once == behind == mapped
    for column in (batch.x.values for batch in Arrow(tmp_path / "rows.arrow").batches()):
        assert not column.flags.writeable  # it lies in the file: no copy was made


def test_team_passes_owned_rows_to_comparators(tmp_path):
    team = nk.Hedge([nk.Perceptron(), nk.Perceptron(bias=1.0)])
    ledger = nk.play(team, nk.Svmlight(lines(tmp_path / "rows.svm")))
    assert all(member.tracker._background._thread is not None for member in ledger.members)


def test_columns_in_another_order_are_borrowed_if_they_were():
    frame = nk.Arrays(np.arange(6.0).reshape(3, 2), [1, -1, 1], features=["a", "b"])
    (batch,) = matched(frame, ["b", "a"]).batches()
    assert batch.memory == "borrowed"
    table = nk.Losses(np.eye(2), experts=["a", "b"])
    (batch,) = matched(table, ["b", "a"]).batches()
    assert batch.memory == "owned"
