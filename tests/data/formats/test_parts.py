"""Parts of a source: one after the other they are the whole, wherever it is cut and whoever reads them."""

import gzip
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import novikoff as nk
from data.test_every_stream import FILES
from novikoff.core.errors import NovikoffError, SourceError


def rows(stream):
    return [(repr(x), repr(y)) for batch in stream.batches() for x, y in batch.rows()]


def pickled(stream):
    return pickle.loads(pickle.dumps(stream))


@pytest.mark.parametrize("format", FILES)
def test_every_format_is_cut_anywhere_and_sent_elsewhere(format, tmp_path):
    content, options = FILES[format]
    path = tmp_path / "data"
    path.write_bytes(content)
    stream = nk.read(path, format, **options)
    whole, extent = rows(stream), stream.extent()
    for cut in sorted({0, 1, extent // 3, extent // 2, extent - 1, extent}):
        parts = [stream.part(0, cut), stream.part(cut, extent)]
        assert rows(pickled(parts[0])) + rows(pickled(parts[1])) == whole, cut
    assert [row for part in stream.parts(7) for row in rows(part)] == whole


def test_a_line_belongs_to_the_part_in_which_it_begins(tmp_path):
    path = tmp_path / "three.svm"
    path.write_text("1 0:1\n-1 0:2\n1 0:3")  # lines begin at bytes 0, 6 and 13
    stream = nk.read(path)
    lengths = [len(rows(stream.part(first, last))) for first, last in [(0, 6), (0, 7), (6, 7), (7, 13), (13, 18)]]
    assert lengths == [1, 2, 1, 0, 1]
    with pytest.raises(SourceError, match="within 0 and 18"):
        stream.part(3, 19)


def test_labels_stand_for_the_same_in_every_part_and_a_third_is_refused(tmp_path):
    path = tmp_path / "sorted.tsv"
    path.write_text("ham\thello there\n" * 50 + "spam\tbuy it now\n" * 50)
    first, last = nk.read(path, "text").parts(2)
    assert {y for batch in first.batches() for y in batch.y.tolist()} == {-1}
    assert {y for batch in last.batches() for y in batch.y.tolist()} == {1}
    path.write_text("ham\thello there\nspam\tbuy now\n" * 50 + "eggs\tand ham\n")
    first, last = nk.read(path, "text").parts(2)
    rows(first)
    with pytest.raises(SourceError, match="third"):
        rows(last)


def test_parts_of_a_table_have_the_features_of_its_first_rows(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b,y\n" + "1,red,0\n2,blue,1\n" * 500 + "3,green,1\n" * 500)
    table = nk.read(path, chunk=100)
    *known, last = table.parts(2)
    assert all(map(rows, known))
    with pytest.raises(SourceError, match="convert"):
        rows(last)
    hashed = nk.read(path, bits=10)
    assert rows(hashed.parts(2)[0]) + rows(hashed.parts(2)[1]) == rows(hashed)


def test_a_table_with_quotes_is_not_cut_as_rows_may_span_lines(tmp_path):
    path = tmp_path / "quoted.csv"
    path.write_text("a,b,y\n" + '1,"x\n2,z,0",0\n2,z,1\n' * 20)
    table = nk.read(path)
    with pytest.raises(SourceError, match="without quotes"):
        rows(table.parts(2)[0])
    assert rows(table.part(0, table.extent())) == rows(table)


def test_row_groups_are_not_cut_where_there_are_enough(tmp_path):
    path = tmp_path / "groups.parquet"
    table = pa.table({"a": np.arange(100.0), "y": np.arange(100) % 2})
    pq.write_table(table, path, row_group_size=16)
    assert nk.read(path).cuts(3) == [0, 32, 64, 100]
    pq.write_table(table, path, row_group_size=50)
    assert nk.read(path).cuts(4) == [0, 25, 50, 75, 100]


@pytest.mark.parametrize("format", ["svmlight", "csv", "parquet"])
def test_files_named_by_a_pattern_are_one_source(format, tmp_path):
    content, options = FILES[format]
    for name in ("b", "a", "c"):
        (tmp_path / f"part-{name}").write_bytes(content)
    stream = nk.read(str(tmp_path / "part-*"), format, **options)
    one = rows(nk.read(tmp_path / "part-a", format, **options))
    assert rows(stream) == 3 * one
    assert [row for part in stream.parts(4) for row in rows(pickled(part))] == 3 * one
    end = [batch.end for batch in stream.batches()][1]
    assert rows(stream)[end["row"] :] == [(repr(x), repr(y)) for batch in stream.batches(end) for x, y in batch.rows()]
    with pytest.raises(SourceError, match="Check the pattern and the quotes around it"):
        nk.read(str(tmp_path / "nothing-*"))


def test_a_packed_file_is_in_one_part_as_a_whole(tmp_path):
    content, options = FILES["svmlight"]
    for number in range(3):
        (tmp_path / f"{number}.svm.gz").write_bytes(gzip.compress(content))
    with pytest.raises(SourceError, match="Decompress it"):
        nk.read(tmp_path / "0.svm.gz").parts(2)
    files = nk.read(str(tmp_path / "*.svm.gz"), **options)
    assert sorted(len(rows(part)) for part in files.parts(2)) == [60, 120]


@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize("scheme", ["memory", "file"])
def test_urls_are_read_and_cut_as_paths_are(format, scheme, tmp_path):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed: pip install novikoff[urls]")
    content, options = FILES[format]
    place = f"{scheme}://{tmp_path}"
    system = fsspec.filesystem(scheme)
    system.makedirs(str(tmp_path), exist_ok=True)
    system.pipe_file(f"{tmp_path}/one", content)
    stream = nk.read(f"{place}/one", format, **options)
    path = tmp_path / "two"
    path.write_bytes(content)
    whole = rows(nk.read(path, format, **options))
    assert rows(stream) == whole
    assert [row for part in stream.parts(3) for row in rows(part)] == whole
    assert stream.fingerprint() == nk.read(f"{place}/one", format, **options).fingerprint() != {}
    assert rows(nk.read(f"{place}/o*", format, **options)) == whole


def test_unsupported_url_is_reported():
    pytest.importorskip("fsspec", reason="fsspec is not installed: pip install novikoff[urls]")
    with pytest.raises(NovikoffError, match="memory://nothing/there is not"):
        nk.read("memory://nothing/there")
    with pytest.raises(NovikoffError, match="gopher"):
        nk.read("gopher://nothing/there")


@pytest.mark.parametrize("format", ["svmlight", "csv"])
def test_bad_rows_of_parts_count_together_and_are_reported(format, tmp_path):
    """Each part reads by itself: three parts once skipped three bad rows where one was allowed, and told of one."""
    good = ["1 0:1", "-1 0:2"] if format == "svmlight" else ["1,1", "2,0"]
    lines = ([] if format == "svmlight" else ["a,y"]) + good * 300
    for bad in (20, 300, 590):
        lines[bad] = "1 0:x" if format == "svmlight" else "1"
    path = tmp_path / "bad"
    path.write_text("\n".join(lines) + "\n")
    u = [[1.0, 0.0]]
    for do in (lambda source: nk.parallel_perceptron(source, 3, 2),
               lambda source: nk.parallel_perceptron(source, 2, 2, held=1),
               lambda source: nk.comparator_losses(source, u, parts=3)):  # fmt: skip
        with pytest.raises(SourceError, match="2 more bad rows"):
            do(nk.read(path, format, skip_bad=2))
        source = nk.read(path, format, skip_bad=3)
        do(source)
        assert any("3 bad rows skipped in the parts" in note for note in source.notes)


def test_game_on_a_file_pattern_resumes_with_its_columns(tmp_path):
    for name, last in (("a", "spam"), ("b", "ham")):
        (tmp_path / f"{name}.csv").write_text(f"size,kind,label\n1,x,ham\n2,y,spam\n3,x,{last}\n")
    pattern = str(tmp_path / "*.csv")
    ledger, one = nk.play("perceptron", pattern), nk.play("perceptron", tmp_path / "a.csv")
    nk.play(ledger.learner, pattern, ledger=ledger)
    for name in ("b.csv", "a.csv", "b.csv"):
        nk.play(one.learner, tmp_path / name, ledger=one)
    assert (ledger.rounds, ledger.mistakes) == (one.rounds, one.mistakes)
    assert nk.read(pattern, like=ledger).encoding.features == one.encoding.features
