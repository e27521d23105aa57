from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import tries, typed
from novikoff.core.errors import SourceError
from novikoff.core.types import Labels, Sparse
from novikoff.data.arrays import Arrays
from novikoff.data.formats.jsonl import JSONL
from novikoff.data.formats.labelled_text import Text
from novikoff.data.formats.svmlight import Svmlight
from novikoff.data.formats.vw import VW
from novikoff.data.reader import BUILT_IN, read, sniff
from novikoff.data.tables.table import Table
from novikoff.data.tables.table_formats import CSV, Arrow

SVMLIGHT = b"+1 1:0.5 3:2\n-1 2:1\n# a comment\n\n+1\n"
TEXT = b"ham\tOk lar... Joking\nspam\tFree entry in 2 comps\nham\t645\n"
TABLE = b"a,b,kind\n1,2,u\n3,4,v\n"
TABBED = TABLE.replace(b",", b"\t")
WABBIT = b"1 |f 9:6.2e-02 hot\n-1 'tag |f 14:3.3e-02\n"
JSON = b'{"a": 1, "b": "u", "y": 0}\n{"a": 2.5, "c": [1, 2], "y": 1}\n'
ALL = [
    (SVMLIGHT, "svmlight", Svmlight),
    (TEXT, "text", Text),
    (TABLE, "csv", CSV),
    (TABBED, "csv", CSV),
    (WABBIT, "vw", VW),
    (JSON, "jsonl", JSONL),
]


@pytest.fixture
def write(tmp_path):
    def write(content, name="source"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def arrow_bytes():
    sink = io.BytesIO()
    table = pa.table({"a": [1, 2], "y": [0, 1]})
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def parquet_bytes():
    sink = io.BytesIO()
    pq.write_table(pa.table({"a": [1, 2], "y": [0, 1]}), sink)
    return sink.getvalue()


def rows_of(stream):
    rows = []
    for batch in stream.batches():
        for x, y in batch.rows():
            rows.append(([part.tolist() for part in x] if isinstance(batch.x, Sparse) else x.tolist(), y))
    return rows


# formats


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize(("content", "name", "kind"), ALL)
def test_text_formats_are_recognised_packed_or_not(write, content, name, kind, pack):
    stream = read(write(pack(content)))
    assert type(stream) is (Table if kind is Arrow else kind)
    assert stream.notes == [f"format: {name}"]
    assert rows_of(stream) == rows_of(kind(write(content, "plain")))


def test_zstd_is_unpacked(write):
    for content, _, kind in ALL:
        packed = pa.compress(content, codec="zstd", asbytes=True)
        assert rows_of(read(write(packed))) == rows_of(kind(write(content, "plain")))


def test_packed_files_of_several_parts_are_read_to_the_end(write):
    for pack in (gzip.compress, bz2.compress, lzma.compress):
        for content, _, kind in ALL[:3]:
            packed = b"".join(pack(line + b"\n") for line in content.splitlines())
            assert rows_of(read(write(packed))) == rows_of(kind(write(content, "plain")))


@pytest.mark.parametrize("name", ["a", "a.csv", "a.txt"])
def test_arrow_and_parquet_are_recognised_by_their_magic_for_any_name(write, name):
    for content, kind in ((arrow_bytes(), "arrow"), (parquet_bytes(), "parquet")):
        stream = read(write(content, name))
        assert type(stream) is Table
        assert stream.notes == [f"format: {kind}"]
        assert rows_of(stream) == [([1], -1), ([2], 1)]


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"1 1:1\n", "svmlight"),
        (b"1 1:1", "svmlight"),
        (b"-1\n-1 \n+1 3:1e-5 7:.5\n", "svmlight"),
        (b"# made by hand\n2 qid:3 1:0.5 # yes\n", "svmlight"),
        (b"\xef\xbb\xbf1.0 0:1\r\n0 1:2\r\n", "svmlight"),
        (b"1\t1:1\t2:1\n", "svmlight"),
        (b"1 1:1\nbroken line\n1 2:2\n", "svmlight"),
        (b"1 " + b" ".join(b"%d:0.125" % i for i in range(9000)), "svmlight"),
        (b"ham\thello\n", "text"),
        (b"ham\thello there\nspam\t\n spam \tyou won 5 pounds\n", "text"),
        (b"0\tnice film indeed\n1\tdull, very dull\n", "text"),
        (b"ham\tcall 5\t7\nspam\tplain\nham\tplain\n", "text"),
        ("ja\tschön\nnein\tübel\n".encode(), "text"),
        (b"a\tl\n1\tu\n2\tv\n", None),
        (b"1\tu\n2\tv\n", None),
        (b"1\tu\n0\tv\n", None),
        (b"5.1\tIris setosa\n5.2\tIris setosa\n6.1\tIris virginica\n", None),
        (b"0\tnot rain\n1\train or snow\n0\tnot rain\n1\tnot rain\n0\tnot rain\n", None),
        (b"u\t1.5\t2\nv\t2.5\t3\n", None),
        (b"u\t1.5\nv\t2.5\n", None),
        (b"1,2\n3,4\n", None),
        (b"1 |f 9:6.2e-02 14:3.3e-02\n", "vw"),
        (b"1 |f 9:6.2e-02 14:3.3e-02", "vw"),
        (b"1 |\n", "vw"),
        (b"-1 2 0.5 'tag |a:2 x|b y\n1 tag|a x y\n1 'x|\n", "vw"),
        (b"\xef\xbb\xbf1 | a b\r\n0 | c\r\n", "vw"),
        (b"|f a b\n'x |f c\n", "vw"),
        (b"1 |f " + b" ".join(b"%d:0.125" % i for i in range(9000)), "vw"),
        (b"1 |f a\nbroken line\n1 |f b\n", "vw"),
        (b" 1 | 2 | 3\n 4 | 5 | 6\n", None),
        (b"| a | b |\n|---|---|\n| 1 | 2 |\n", None),
        (b"1|2|3\n4|5|6\n", None),
        (b"1,a|b\n2,c|d\n", None),
        (b"1,Adventure|Comedy\n2,Comedy|Drama\n", None),
        (b'{"a": 1}\n', "jsonl"),
        (b'{"a": 1}', "jsonl"),
        (b'\xef\xbb\xbf  { "a": 1}\r\n{}\r\n', "jsonl"),
        (b'{"a": [' + b"1.25, " * 20_000, "jsonl"),
        (b'{"a": 1}\nbroken line\n{"a": 2}\n', "jsonl"),
        (b'[{"a": 1},\n{"a": 2}]\n', None),
        (b'{\n "a": 1\n}\n', None),
        (b"{1, 2}\n{3, 4}\n", None),
        (b"1\n2\n", None),
        (b"1 1:1\0\n", None),
        (b"", None),
        (b"ARROW1\0\0", "arrow"),
        (b"PAR1\x15", "parquet"),
    ],
)
def test_formats_are_detected(head, found):
    assert sniff(head) == found


def test_sniffing_a_hostile_line_takes_no_time():
    line = b"1 " + b" ".join(b"%d:111111111111" % i for i in range(4000)) + b" x"
    assert sniff(line + b"\n") is None
    assert sniff((b"1" * 60_000 + b"\n") * 2) is None
    for hostile in (b"1" + b" " * 60_000 + b"x", b"1 " * 30_000, b"1 " + b"|a" * 30_000 + b"| ", b"'" + b" " * 60_000):
        assert sniff(hostile + b"\n") is None


@given(st.binary(max_size=300))
def test_sniffing_takes_any_bytes(head):
    assert sniff(head) in (None, *BUILT_IN)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=tries(200))
@given(
    st.one_of(
        st.binary(max_size=80),
        st.lists(
            st.sampled_from(
                [b"1", b"0", b":", b" ", b"\t", b"\n", b",", b"u", b"v", b"#", b"-", b'"', b".", b"|", b"{", b"}"]
            )
        ).map(b"".join),
    )
)
def test_any_bytes_are_read_or_are_a_novikoff_error(tmp_path, content):
    path = tmp_path / "source"
    path.write_bytes(content)
    try:
        rows_of(read(path))
    except SourceError as error:
        assert str(path) in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    "content",
    [
        b"[1, 2, 3]\n[4, 5, 6]\n",
        b'{\n"a": 1, "b": 2\n}\n',
        b"<table>1, 2</table>\n",
        b"\x93NUMPY\x01\x00,1,2\n",
        b"just, a few words\nof text, here\n",
        b" 1 | 2 | 3\n 4 | 5 | 6\n",
        b"FEA1\0\0\0\0",
        bytes(range(256)),
    ],
)
def test_unknown_format_is_refused_with_the_list_of_formats(write, content):
    with pytest.raises(SourceError) as caught:
        read(write(content))
    message = str(caught.value)
    assert message.startswith("the format of ")
    assert "was not recognised. Known formats: " in message
    for name in (
        "csv",
        "svmlight",
        "text",
        "vw",
        "jsonl",
        "arrow",
        "parquet",
        ".gz",
        ".bz2",
        ".xz",
        ".zst",
        "demo:NAME",
    ):
        assert name in message


def test_an_empty_file_and_a_damaged_one_are_errors(write):
    with pytest.raises(SourceError, match="a source must not be empty"):
        read(write(b""))
    with pytest.raises(SourceError, match="truncated or damaged"):
        read(write(gzip.compress(SVMLIGHT * 100)[:30]))
    with pytest.raises(SourceError, match="is truncated or damaged"):
        read(write(b"PAR1\x15\x04,\x15\x80,1,2\xff\n"))
    with pytest.raises(SourceError, match="file not found"):
        read("nothing.svm")


# options


def test_format_option_overrides_sniffing(write):
    stream = read(write(b"u\t1\nv\t2\n"), format="text")
    assert type(stream) is Text
    assert stream.notes == ["format: text"]
    table = read(write(b"ham\t5\nspam\t6\n"), format="csv", label=0)
    assert table.labels == Labels("ham", "spam")
    assert type(read(write(arrow_bytes()), format="parquet")) is Table  # one reader for both: the file says which
    known = "arff, arrow, csv, jsonl, npz, parquet, svmlight, text, vw"
    with pytest.raises(SourceError, match=f"must be one of {known}: got 'json'"):
        read(write(TABLE), format="json")


def test_options_go_to_the_source(write):
    svmlight = read(write(SVMLIGHT + b"bad\n"), positive=-1, threads=1, skip_bad=1)
    assert [y for _, y in rows_of(svmlight)] == [-1, 1, -1]
    assert read(write(TEXT), bits=10, skip_bad=1).domain.width == 2**10
    assert read(write(TABLE), label="kind", positive="u", header=True, delimiter=",", columns=["b"]).features == ("b",)
    assert read(write(arrow_bytes()), label="y", positive=0, columns=["a"]).labels == Labels(1, 0)
    wabbit = read(write(b"1 2 |f a\n-1 |f b\nbad\n"), positive=-1, bits=9, threads=1, skip_bad=1, ignore_weights=True)
    assert [y for _, y in rows_of(wabbit)] == [-1, 1]
    assert wabbit.domain.width == 2**9
    lines = read(write(b'{"a": 1, "b": 5}\n{"a": 2, "b": 6}\n{}\n'), label="a", positive=1, bits=9, skip_bad=1)
    assert [y for _, y in rows_of(lines)] == [1, -1]
    assert lines.domain.width == 2**9


@pytest.mark.parametrize(
    ("content", "name", "option"),
    [
        (SVMLIGHT, "svmlight", "label"),
        (SVMLIGHT, "svmlight", "bits"),
        (SVMLIGHT, "svmlight", "header"),
        (TEXT, "text", "threads"),
        (TEXT, "text", "columns"),
        (TABLE, "csv", "ignore_weights"),
        (arrow_bytes(), "arrow", "header"),
        (parquet_bytes(), "parquet", "delimiter"),
        (TABLE, "csv", "nonsense"),
        (WABBIT, "vw", "label"),
        (JSON, "jsonl", "threads"),
        (JSON, "jsonl", "ignore_weights"),
    ],
)
def test_an_option_that_the_format_does_not_take_is_an_error_that_names_both(write, content, name, option):
    with pytest.raises(SourceError) as caught:
        read(write(content), **{option: 1})
    message = str(caught.value)
    assert f"{name} (detected) takes " in message
    assert f"got {option}, for " in message
    assert read(write(content), **{option: None}).notes  # None is as good as nothing


def test_a_demo_takes_no_format_and_no_options():
    assert isinstance(read("demo:iris"), Arrays)
    with pytest.raises(SourceError, match="a demo takes no options: got format"):
        read("demo:iris", format="csv")


def test_invalid_source_is_an_error():
    for nothing in ([(0, 1)], None, 5):
        with pytest.raises(SourceError, match="a source must be a path or demo:NAME"):
            read(nothing)
    with pytest.raises(SourceError, match=r"got tuple. Pass arrays as \(X, y\)"):
        read((np.eye(2), [0, 1]))


# files, pipes and standard input


@pytest.mark.parametrize(("content", "name", "kind"), [*ALL, (arrow_bytes(), "arrow", Arrow)])
def test_file_objects_are_sniffed_and_read_from_where_they_are(write, content, name, kind):
    file = io.BytesIO(b"skipped" + content)
    file.seek(7)
    stream = read(file)
    assert type(stream) is (Table if kind is Arrow else kind)
    assert f"format: {name}" in stream.notes
    rows = rows_of(kind(write(content)))
    assert rows_of(stream) == rows
    assert rows_of(stream) == rows


@pytest.mark.parametrize(
    ("content", "name", "kind"), [*ALL, (arrow_bytes(), "arrow", Arrow), (parquet_bytes(), "parquet", Arrow)]
)
def test_a_pipe_gives_the_rows_of_the_file(write, content, name, kind):
    reading, writing = os.pipe()
    thread = threading.Thread(target=lambda: [os.write(writing, content), os.close(writing)])
    thread.start()
    with os.fdopen(reading, "rb") as file:
        stream = read(file)
        rows = rows_of(stream)
    thread.join()
    assert f"format: {name}" in stream.notes
    assert rows == rows_of(kind(write(content)))


@pytest.mark.parametrize(
    ("content", "name"), [(content, name) for content, name, _ in ALL] + [(arrow_bytes(), "arrow")]
)
def test_standard_input_is_read_as_a_file_is(write, content, name):
    wanted = read(write(content))
    expected = [len(batch) for batch in wanted.batches()]
    with typed(content if name == "arrow" else gzip.compress(content)):
        stream = read("-")
        assert [len(batch) for batch in stream.batches()] == expected
    assert stream.name == "standard input"
    assert str(stream.labels) == str(wanted.labels)
    assert f"format: {name}" in stream.notes


def test_a_table_from_a_pipe_is_read_once_as_it_comes_and_its_errors_name_it(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    stream = read(Unseekable(TABLE))
    assert not stream.rereadable
    assert rows_of(stream) == [([1, 2], -1), ([3, 4], 1)]
    with pytest.raises(SourceError, match="cannot be read again"):
        rows_of(stream)
    with pytest.raises(SourceError, match='line 4, column "b" of a Unseekable has "x"'):
        rows_of(read(Unseekable(TABLE + b"5,x,u\n")))
    assert list(tmp_path.iterdir()) == []


class Unseekable(io.RawIOBase):
    """Bytes that can be read once."""

    def __init__(self, content):
        super().__init__()
        self._rest = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self._rest.readinto(buffer)


def test_a_slow_pipe_is_sniffed_from_its_first_line():
    reading, writing = os.pipe()

    def drip():
        for byte in SVMLIGHT:
            os.write(writing, bytes([byte]))
            time.sleep(0.005)
        os.close(writing)

    thread = threading.Thread(target=drip)
    thread.start()
    with os.fdopen(reading, "rb", buffering=0) as file:
        stream = read(file)
        assert isinstance(stream, Svmlight)
        assert len(rows_of(stream)) == 3
    thread.join()


def test_reading_one_format_does_not_import_the_others():
    code = (
        "import sys; from novikoff.data import reader;"
        "others = {'novikoff.data.formats.svmlight', 'novikoff.data.formats.vw'};"
        "print(({'sklearn', 'pyarrow', 'numba', 'narwhals', 'scipy'} | others) & set(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "set()"
