from __future__ import annotations

import json
import os

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from novikoff.core.errors import SourceError
from novikoff.core.types import Batch, Domain, Labels, Sparse
from novikoff.data.arrays import Arrays
from novikoff.data.convert import PIECE, InPieces, convert
from novikoff.data.demo import demo
from novikoff.data.formats.labelled_text import Text
from novikoff.data.formats.svmlight import Svmlight
from novikoff.data.memory import Pairs
from novikoff.data.tables.table_formats import CSV, Arrow

FRESH = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


class Rows:
    """A stream of given batches."""

    name = "rows"
    rereadable = True

    def __init__(self, batches, domain=None, labels=None):
        self._batches, self.domain, self.labels = batches, domain or Domain("vector"), labels or Labels()

    def batches(self, start=None):
        yield from self._batches


def bits(array):
    """An array as something that equals only the same bits of the same type."""
    return array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes()


def rows_of(stream, start=None):
    """Every row, so that only the same bits are equal; dense ones together."""
    rows, dense = [], []
    for batch in stream.batches(start):
        if isinstance(batch.x, Sparse):
            rows += [(bits(i), bits(v), y) for (i, v), y in batch.rows()]
        else:
            dense.append(batch.x)
            rows += batch.y.tolist()
    return [*rows, bits(np.concatenate(dense))] if dense else rows


def labels_of(stream):
    return np.concatenate([batch.y for batch in stream.batches()]).tolist()


def sparse(rows, dtype=np.float64, width=None):
    ends = np.cumsum([0, *(len(indices) for indices, _ in rows)]).astype(np.uint64)
    indices = np.array([i for indices, _ in rows for i in indices], dtype=np.uint32)
    values = np.array([v for _, values in rows for v in values], dtype=dtype)
    return Sparse(ends, indices, values, width or int(indices.max(initial=0)) + 1)


def signs(count):
    return np.where(np.arange(count) % 2, 1, -1).astype(np.int8)


# the same rows


@pytest.mark.parametrize("name", ["thresholds", "papayas", "iris", "digits-even"])
def test_demos_come_back_bit_for_bit(tmp_path, name):
    stream = demo(name)
    path = tmp_path / "demo.arrow"
    assert convert(stream, path) == stream.rows
    again = Arrow(path)
    assert again.converted
    assert rows_of(again) == rows_of(stream)
    assert (again.labels, again.domain, again.rows) == (stream.labels, stream.domain, stream.rows)
    assert again.features == stream.features


def test_svmlight_text_and_tables_come_back_bit_for_bit(tmp_path):
    svm, text, table = tmp_path / "a.svm", tmp_path / "a.txt", tmp_path / "a.csv"
    svm.write_text("".join(f"{'+1' if i % 3 else '-1'} {i}:0.{i} {i * 7 + 1}:1e-{i}\n" for i in range(1, 200)))
    text.write_text("".join(f"{'spam' if i % 3 else 'ham'}\tword{i} word WORD\n" for i in range(200)))
    table.write_text("a,b,kind\n" + "".join(f"{i},0.{i},{'uv'[i % 2]}\n" for i in range(200)))
    for stream in (Svmlight(svm, chunk=500), Text(text, chunk=500), CSV(table, chunk=500)):
        path = tmp_path / "rows.arrow"
        rows = rows_of(stream)
        assert convert(stream, path) == len(labels_of(stream))
        again = Arrow(path)
        assert rows_of(again) == rows
        assert again.labels == stream.labels
        assert len(list(stream.batches())) > 1


number = st.floats(allow_nan=False, allow_infinity=False)
sparse_row = st.dictionaries(st.integers(0, 2**32 - 2), number, max_size=5).map(
    lambda row: (list(row), list(row.values()))
)


@FRESH
@given(parts=st.lists(st.lists(sparse_row, min_size=1, max_size=4), min_size=1, max_size=4))
def test_any_sparse_rows_come_back_bit_for_bit(tmp_path, parts):
    path = tmp_path / "rows.arrow"
    width = max(sparse(part).width for part in parts)
    batches = [Batch(sparse(part, width=width), signs(len(part)), 1) for part in parts]
    convert(Rows(batches), path)
    again = Arrow(path)
    assert again.domain == Domain("vector", width)
    assert rows_of(again) == rows_of(Rows(batches))


def test_float32_rows_slices_and_empty_rows_come_back(tmp_path):
    whole = sparse([([5, 1], [0.1, 2]), ([], []), ([7], [3]), ([], []), ([2, 3], [4, 5])], np.float32)
    batches = [Batch(whole[1:3], signs(2), 1), Batch(whole[3:], signs(2), 3)]
    path = tmp_path / "rows.arrow"
    assert convert(Rows(batches), path) == 4
    assert rows_of(Arrow(path)) == rows_of(Rows(batches))
    assert next(Arrow(path).batches()).x.values.dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_dense_rows_of_every_type_come_back(tmp_path, dtype):
    x = np.arange(12).reshape(6, 2).astype(dtype) * 2
    batches = [Batch(x[:4], signs(4), 1), Batch(x[::-1][:2], signs(2), 5)]
    path = tmp_path / "rows.arrow"
    domain = Domain("point" if dtype is np.int64 else "vector", 2)
    convert(Rows(batches, domain), path)
    assert rows_of(Arrow(path)) == rows_of(Rows(batches))
    assert Arrow(path).domain == domain


def test_a_converted_file_is_mapped_not_copied(tmp_path):
    path = tmp_path / "rows.arrow"
    convert(Rows([Batch(sparse([([1, 2], [3, 4]), ([5], [6])]), signs(2), 1)]), path)
    stream = Arrow(path)
    before = pa.total_allocated_bytes()
    (batch,) = stream.batches()
    assert pa.total_allocated_bytes() == before
    for part in (batch.x.indptr, batch.x.indices, batch.x.values, batch.y):
        assert not part.flags.writeable
        assert not part.flags.owndata


def test_a_pass_resumes_from_any_batch_or_row(tmp_path):
    path = tmp_path / "rows.arrow"
    part = [([i, i + 1], [1.0, i]) for i in range(5)]
    convert(Rows([Batch(sparse(part, width=6), signs(5), 1 + 5 * k) for k in range(4)]), path)
    stream = Arrow(path)
    rows = rows_of(stream)
    for batch in stream.batches():
        assert rows_of(stream, json.loads(json.dumps(batch.end))) == rows[batch.end["row"] :]
    assert rows_of(stream, {"row": 7, "width": 6}) == rows[7:]


def test_other_tools_read_a_plain_arrow_table(tmp_path):
    path = tmp_path / "rows.arrow"
    convert(Rows([Batch(sparse([([1, 2], [3, 4]), ([5], [6])]), signs(2), 1)]), path)
    table = pa.ipc.open_file(path).read_all()
    assert table.to_pydict() == {"label": [-1, 1], "indices": [[1, 2], [5]], "values": [[3, 4], [6]]}
    assert [str(field.type) for field in table.schema] == [
        "int8", "large_list<item: uint32 not null>", "large_list<item: double not null>",
    ]  # fmt: skip


def test_hashed_words_keep_their_bits(tmp_path):
    path = tmp_path / "rows.arrow"
    source = tmp_path / "a.txt"
    source.write_text("u\ta b\nv\tc\n")
    convert(Text(source, bits=10), path)
    assert Arrow(path).bits == 10
    assert Arrow(path).domain.width == 2**10


# labels


def test_labels_that_become_known_late_are_those_of_the_end(tmp_path):
    source = tmp_path / "a.svm"
    source.write_text("1 1:1\n" * 3000 + "0 1:1\n")
    stream = Svmlight(source, chunk=1000)
    path = tmp_path / "rows.arrow"
    convert(stream, path)
    assert Arrow(path).labels == stream.labels == Labels(0, 1)


@pytest.mark.parametrize("pair", [("ham", "spam"), (0, 1), (0.5, 2.5), (False, True)])
def test_two_labels_come_back_and_either_can_be_positive(tmp_path, pair):
    path = tmp_path / "rows.arrow"
    stream = Arrays(np.eye(4), np.array([pair[0], pair[1], pair[1], pair[0]]))
    convert(stream, path)
    y = [-1, 1, 1, -1]
    assert Arrow(path).labels == Labels(*pair)
    assert labels_of(Arrow(path)) == y
    same, other = Arrow(path, positive=pair[1]), Arrow(path, positive=pair[0])
    assert (same.labels, other.labels) == (Labels(*pair), Labels(*reversed(pair)))
    assert labels_of(same) == y
    assert labels_of(other) == [-label for label in y]
    assert next(other.batches()).y.dtype == np.int8
    with pytest.raises(SourceError, match="the positive label must occur"):
        Arrow(path, positive="nothing")


def test_many_labels_come_back(tmp_path):
    path = tmp_path / "rows.arrow"
    convert(Arrays(np.eye(3), [0, 2, 1]), path)
    for many in (None, 3, 9):
        stream = Arrow(path, multiclass=many)
        assert stream.labels is None
        assert next(stream.batches()).y.tolist() == [0, 2, 1]
        assert next(stream.batches()).y.dtype == np.int32
    one = Arrow(path, positive="2")
    assert one.labels == Labels("not 2", 2)
    assert next(one.batches()).y.tolist() == [-1, 1, -1]
    with pytest.raises(SourceError, match="labels must be integers from 0 to 1: row 2 of"):
        list(Arrow(path, multiclass=2).batches())
    with pytest.raises(SourceError, match="the positive label must be an integer"):
        Arrow(path, positive="spam")


def test_two_labels_can_be_read_as_many(tmp_path):
    path = tmp_path / "rows.arrow"
    convert(Arrays(np.eye(3), [1, 3, 1]), path)
    stream = Arrow(path, multiclass=4)
    assert stream.labels is None
    assert next(stream.batches()).y.tolist() == [1, 3, 1]
    with pytest.raises(SourceError, match="labels must be integers from 0 to 2"):
        Arrow(path, multiclass=3)


# writing


def test_progress_is_reported_and_memory_does_not_grow(tmp_path):
    x = np.random.default_rng(0).random((4096, 32))
    told = []

    class Long(Rows):
        def batches(self, start=None):
            for k in range(100):
                yield Batch(x, signs(4096), 1 + 4096 * k)

    before = pa.default_memory_pool().max_memory()
    path = tmp_path / "rows.arrow"
    assert convert(Long([], Domain("vector", 32)), path, told.append) == 409_600
    assert told == sorted(set(told))
    assert told[-1] == 409_600
    assert len(told) > 10
    assert path.stat().st_size > 100 * x.nbytes
    assert pa.default_memory_pool().max_memory() - before < 30 * x.nbytes


def test_a_failure_leaves_the_old_file_and_nothing_next_to_it(tmp_path):
    path = tmp_path / "rows.arrow"
    convert(Arrays(np.eye(2), [0, 1]), path)
    old = path.read_bytes()

    class Broken(Rows):
        def batches(self, start=None):
            yield Batch(np.eye(2), signs(2), 1)
            raise SourceError("line 17 is bad")

    with pytest.raises(SourceError, match="line 17 is bad"):
        convert(Broken([], Domain("vector", 2)), path)
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["rows.arrow"]


def test_the_file_is_written_in_whole_pieces(monkeypatch):
    """Each at a multiple of its size, or to map the file would take longer."""
    monkeypatch.setattr("novikoff.data.convert.PIECE", 8)
    put = []

    class File:
        def write(self, data):
            put.append(bytes(data))

    told = []
    with InPieces(File()) as pieces:
        for size in (3, 0, 4, 30, 1, 5):
            assert pieces.write(bytes(range(size))) == size
            told.append(pieces.tell())
    with pytest.raises(ValueError, match="needs an open file"):
        pieces.write(b"more")
    assert [len(piece) for piece in put] == [8, 8, 8, 8, 8, 3]
    assert b"".join(put) == b"".join(bytes(range(size)) for size in (3, 4, 30, 1, 5))
    assert told == [3, 3, 7, 37, 38, 43]


def test_all_of_a_file_goes_through_the_pieces_and_is_there_before_it_is_flushed(tmp_path, monkeypatch):
    told, there = [], []

    class Watched(InPieces):
        def close(self):
            told.append(self.tell())
            super().close()

    monkeypatch.setattr("novikoff.data.convert.InPieces", Watched)
    monkeypatch.setattr(os, "fsync", lambda file: there.append(os.fstat(file).st_size))
    path = tmp_path / "rows.arrow"
    convert(Arrays(np.eye(300), np.resize([-1, 1], 300)), path)
    assert there == [told[0]] == [path.stat().st_size]
    assert PIECE == 2**21  # a large page of Linux


def test_full_disk_is_reported_and_leaves_no_file(tmp_path):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    x = np.random.default_rng(0).normal(size=(60_000, 8))
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, limits[1]))
    try:
        with pytest.raises(SourceError, match="must be writable: .*rows.arrow: File too large"):
            convert(Arrays(x, signs(len(x))), tmp_path / "rows.arrow")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.listdir(tmp_path) == []


def test_a_file_can_be_converted_onto_itself(tmp_path):
    path = tmp_path / "rows.arrow"
    convert(Arrays(np.eye(2), [0, 1]), path)
    rows = rows_of(Arrow(path))
    assert convert(Arrow(path), path) == 2
    assert rows_of(Arrow(path)) == rows


def test_input_that_cannot_be_converted_is_an_error(tmp_path):
    path = tmp_path / "rows.arrow"
    with pytest.raises(SourceError, match="has objects. Pass arrays instead"):
        convert(Pairs([("a", 1), ("b", -1)]), path)
    with pytest.raises(SourceError, match="a source must not be empty: rows has no rows"):
        convert(Rows([]), path)
    with pytest.raises(SourceError, match="batches must have one type"):
        convert(Rows([Batch(np.eye(2), signs(2), 1), Batch(np.eye(3), signs(3), 3)]), path)
    with pytest.raises(SourceError, match="an Arrow file must be writable"):
        convert(Arrays(np.eye(2), [0, 1]), tmp_path / "nowhere" / "rows.arrow")
    with pytest.raises(SourceError, match="convert writes Arrow files"):
        convert(Arrays(np.eye(2), [0, 1]), tmp_path / "rows.parquet")
    assert os.listdir(tmp_path) == []


# files that say they are ours


def tampered(path, note=None, schema=None, label=None):
    """A converted file with other metadata or labels."""
    reader = pa.ipc.open_file(path)
    batch, metadata = reader.get_batch_with_custom_metadata(0)
    last = {**json.loads(metadata[b"novikoff"]), **(note or {})}
    meta = {**json.loads(reader.schema.metadata[b"novikoff"]), **(schema or {})}
    if label is not None:
        batch = batch.set_column(0, reader.schema.field(0), pa.array(label, reader.schema.field(0).type))
    batch = batch.replace_schema_metadata({"novikoff": json.dumps(meta)})
    out = path.with_name("tampered.arrow")
    with pa.OSFile(str(out), "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
        writer.write_batch(batch, custom_metadata={"novikoff": json.dumps(last)})
    return out


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"note": {"width": 5}}, "an index must be below the width, 5: row 2 of"),
        ({"note": {"width": None}}, "a converted file must be unchanged"),
        ({"note": {"labels": [1]}}, "a converted file must be unchanged"),
        ({"note": {"labels": [1, 2, 3]}}, "a converted file must be unchanged"),
        ({"note": {"rows": 3}}, "2 rows instead of 3"),
        ({"schema": {"format": 2}}, "must have format 1"),
        ({"schema": {"kind": "index"}}, "a converted file must be unchanged"),
        ({"label": [0, 1]}, "the label of row 1 is 0, not -1 or"),
    ],
)
def test_file_with_false_signature_is_refused(tmp_path, changes, said):
    path = tmp_path / "rows.arrow"
    convert(Rows([Batch(sparse([([1, 2], [3, 4]), ([5], [6])]), signs(2), 1)]), path)
    with pytest.raises(SourceError, match=said):
        list(Arrow(tampered(path, **changes)).batches())


# what it may replace


def test_a_converted_file_replaces_a_converted_file_and_nothing_else(tmp_path):
    path, stream = tmp_path / "rows.arrow", Arrays(np.eye(2), [0, 1])
    convert(stream, path)
    convert(stream, path)
    with pa.OSFile(str(tmp_path / "table.arrow"), "wb") as file:
        table = pa.table({"precious": [1, 2]})
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    (tmp_path / "rows.csv").write_text("1,2,a\n")
    for name in ("table.arrow", "rows.csv"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(SourceError, match=f"must not replace a file of another kind: .*{name}"):
            convert(stream, tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
        assert convert(stream, tmp_path / name, force=True) == 2
        assert rows_of(Arrow(tmp_path / name)) == rows_of(Arrow(path))
