from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import threading
import zlib
from collections import deque

import pyarrow as pa
import pytest

from novikoff.core.errors import SourceError
from novikoff.data.formats import lines
from novikoff.data.formats.byte_reader import Opened
from novikoff.data.formats.lines import whole_lines
from novikoff.data.formats.origin import Origin, place, sample

TEXT = b"".join(b"%d 1:%d\n" % (i % 2, i) for i in range(20_000))

PACKERS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: pa.Codec("zstd").compress(data, asbytes=True),
}


@pytest.fixture
def write(tmp_path):
    def write(content, name="mail.svm"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


class Pipe:
    """The reading end of a pipe into which a thread writes; closed at the end."""

    def __init__(self, content):
        reader, self._writer = os.pipe()
        self.file = os.fdopen(reader, "rb")
        self._thread = threading.Thread(target=self._write, args=(content,))

    def _write(self, content):
        with os.fdopen(self._writer, "wb") as file:
            file.write(content)

    def __enter__(self):
        self._thread.start()
        return self.file

    def __exit__(self, *_):
        self._thread.join()
        self.file.close()


def all_of(source, at=0):
    with Origin(source).open(at) as opened:
        return opened.read()


def test_a_path_a_text_and_a_file_object_give_the_same_bytes(write):
    path = write(TEXT)
    assert all_of(path) == all_of(str(path)) == all_of(io.BytesIO(TEXT)) == TEXT
    with open(path, "rb") as file:
        assert all_of(file) == TEXT
        assert not file.closed  # it is not ours
    with open(path, "rb", buffering=0) as file:
        assert all_of(file) == TEXT


@pytest.mark.parametrize("packing", PACKERS)
def test_packed_bytes_are_known_by_their_first_bytes_for_any_name(packing, write):
    path = write(PACKERS[packing](TEXT), "mail.txt")
    with Origin(path).open() as opened:
        assert opened.packing == packing
        assert opened.read() == TEXT
    assert all_of(io.BytesIO(PACKERS[packing](TEXT))) == TEXT


@pytest.mark.parametrize("packing", PACKERS)
def test_packed_parts_one_after_the_other_are_all_unpacked(packing, write):
    pack = PACKERS[packing]
    assert all_of(write(pack(TEXT) + pack(b"1 1:1\n"))) == TEXT + b"1 1:1\n"


@pytest.mark.parametrize("packing", PACKERS)
def test_a_packed_pipe_is_unpacked(packing):
    with Pipe(PACKERS[packing](TEXT)) as file:
        assert all_of(file) == TEXT


def test_the_name_alone_unpacks_nothing(write):
    assert all_of(write(TEXT, "mail.svm.gz")) == TEXT


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("at", [1, 5, 8192, len(TEXT) - 1, len(TEXT)])
def test_bytes_from_a_place_on_are_those_of_the_unpacked_text(packing, at, write):
    assert all_of(write(PACKERS[packing](TEXT)), at) == TEXT[at:]
    assert all_of(write(TEXT), at) == TEXT[at:]
    assert all_of(io.BytesIO(TEXT), at) == TEXT[at:]
    with Pipe(TEXT) as file:
        assert all_of(file, at) == TEXT[at:]


def test_file_object_is_reread_from_its_position():
    file = io.BytesIO(b"head" + TEXT)
    file.seek(4)
    origin = Origin(file)
    assert origin.rereadable
    for at in (0, 7, 0):
        with origin.open(at) as opened:
            assert opened.read() == TEXT[at:]


def test_a_place_beyond_the_end_is_an_error(write):
    for content in (TEXT, gzip.compress(TEXT)):
        with pytest.raises(SourceError, match=r"mail.svm is shorter than the position to resume at"):
            all_of(write(content), len(TEXT) + 1)


def test_a_pipe_can_be_read_once():
    with Pipe(TEXT) as file:
        origin = Origin(file)
        assert not origin.rereadable
        assert not origin.independent
        with origin.open() as opened:
            assert opened.live
            assert opened.read() == TEXT
        with pytest.raises(SourceError, match="cannot be read again"):
            origin.open()


def test_standard_input_is_a_dash(monkeypatch):
    with Pipe(TEXT) as file:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
        origin = Origin("-")
        assert (origin.name, origin.rereadable) == ("standard input", False)
        with origin.open() as opened:
            assert opened.read() == TEXT
        assert not file.closed
        sys.stdin.detach()


def test_standard_input_may_be_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SourceError, match="standard input is not"):
        Origin("-").open()


def test_a_named_pipe_is_not_rereadable(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TEXT,))
    writer.start()
    origin = Origin(path)
    with origin.open() as opened:
        assert opened.read() == TEXT
    writer.join()
    assert not origin.rereadable
    assert origin.fingerprint() == {}


def test_peeking_takes_nothing(write):
    for content in (TEXT, gzip.compress(TEXT)):
        with Origin(write(content)).open() as opened:
            assert opened.peek(100) == TEXT[:100]
            assert opened.peek(10) == TEXT[:10]
            assert opened.peek(70_000) == TEXT[:70_000]
            again = Origin(opened)  # what has been looked at can be handed on
            with again.open() as same:
                assert same.read() == TEXT
    with Origin(io.BytesIO(b"ab")).open() as opened:
        assert opened.peek(100) == b"ab"


def test_peeking_does_not_wait_for_a_silent_pipe():
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as file, os.fdopen(writer, "wb") as out:
        out.write(b"1 1:1\n")
        out.flush()
        with Origin(file).open() as opened:
            assert opened.peek(1000) == b"1 1:1\n"
            assert opened.ready()
            assert opened.read(6) == b"1 1:1\n"
            assert not opened.ready()


def test_packed_pipe_yields_rows_received_so_far():
    reader, writer = os.pipe()
    packer = zlib.compressobj(wbits=31)

    def send(text):
        os.write(writer, packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH))

    send(b"1 1:1\n")
    with os.fdopen(reader, "rb") as file, Origin(file).open() as opened:
        assert opened.read(1000) == b"1 1:1\n"
        send(b"-1 1:1\n")
        assert opened.read(1000) == b"-1 1:1\n"
        os.close(writer)


class Bare:
    """A file object with nothing but read."""

    def __init__(self, content, piece=1000):
        self._file = io.BytesIO(content)
        self._piece = piece

    def read(self, count):
        return self._file.read(min(count, self._piece))


@pytest.mark.parametrize("piece", [1, 1000])
def test_a_file_object_that_can_only_read_will_do(piece):
    assert all_of(Bare(TEXT[:5000], piece)) == TEXT[:5000]
    assert all_of(Bare(gzip.compress(TEXT[:5000]), piece)) == TEXT[:5000]
    assert all_of(Bare(TEXT[:5000], piece), 100) == TEXT[100:5000]


@pytest.mark.parametrize("packing", PACKERS)
def test_a_cut_off_or_damaged_file_is_a_novikoff_error(packing, write):
    packed = bytearray(PACKERS[packing](TEXT))
    with pytest.raises(SourceError, match=r"a source must be readable: .*mail.svm is"):
        all_of(write(bytes(packed[: len(packed) // 2])))
    packed[6:40] = b"\xff" * 34  # zstd has no check sum here, so data may not be enough
    with pytest.raises(SourceError, match=r"a source must be readable: .*mail.svm is"):
        all_of(write(bytes(packed)))


def test_missing_file_is_a_novikoff_error(tmp_path):
    with pytest.raises(SourceError, match=r"file not found: .*none.svm"):
        Origin(tmp_path / "none.svm")
    with pytest.raises(SourceError, match="is a directory"):
        Origin(tmp_path)
    with pytest.raises(SourceError, match="embedded null"):
        Origin("a\0b")
    with pytest.raises(SourceError, match='a path, "-" or a binary file: got int'):
        Origin(3)
    with pytest.raises(SourceError, match="open it with mode rb"):
        all_of(io.StringIO("1 1:1"))


def test_a_file_that_vanishes_is_a_novikoff_error(write):
    path = write(TEXT)
    origin = Origin(path)
    path.unlink()
    with pytest.raises(SourceError, match="No such file"):
        origin.open()
    assert origin.fingerprint() == {}


def test_the_fingerprint_of_a_file_is_its_size_and_time_and_by_path_its_place_and_a_sample(write):
    path = write(TEXT)
    status = path.stat()
    fingerprint = {"size": len(TEXT), "mtime_ns": status.st_mtime_ns}
    by_path = {"place": place(str(path)), "sample": sample(str(path), len(TEXT))}
    assert Origin(path).fingerprint() == {**fingerprint, **by_path}
    with open(path, "rb") as file:
        assert Origin(file).fingerprint() == fingerprint
    assert Origin(io.BytesIO(TEXT)).fingerprint() == {}
    assert Origin("-").fingerprint() == {}


def test_the_place_is_the_same_however_the_path_is_spelled(write, monkeypatch):
    path = write(TEXT)
    (path.parent / "link").symlink_to(path)
    monkeypatch.chdir(path.parent)
    spelled = [str(path), path.name, f"./{path.name}", f"../{path.parent.name}/{path.name}", "link"]
    assert len({place(one) for one in spelled}) == 1
    assert place("other") != place(path.name)


@pytest.mark.parametrize("size", [1, 1000, 32 * 4096, 32 * 4096 + 1, 500_000])
def test_the_sample_is_of_the_first_bytes_and_sees_both_ends_of_them(write, size):
    data = bytearray(i * i % 251 for i in range(size + 10))
    whole = sample(str(write(bytes(data))), size)
    assert sample(str(write(bytes(data[:size]))), size) == whole
    assert sample(str(write(bytes(data))), size - 1) != whole
    for place_of_change in (0, size - 1):
        changed = data.copy()
        changed[place_of_change] ^= 1
        assert sample(str(write(bytes(changed))), size) != whole


def test_files_opened_by_path_are_closed(write):
    for content in (TEXT, *(pack(TEXT) for pack in PACKERS.values())):
        opened = Origin(write(content)).open()
        raw = opened._raw._file
        opened.close()
        opened.close()
        assert raw.closed


@pytest.mark.parametrize("content", [b"", b"\x1f", b"B", b"\x28\xb5"])
def test_very_short_files_are_as_they_are(content, write):
    assert all_of(write(content)) == content
    assert all_of(Bare(content)) == content


# chunks of whole lines


@pytest.mark.parametrize("chunk", [1, 2, 7, 64, 10**6])
@pytest.mark.parametrize("text", [b"", b"\n", b"a", b"a\n", b"ab\n\nc\nlonger than the chunk\nend", TEXT[:2000]])
def test_chunks_are_whole_lines_that_make_up_the_text(text, chunk):
    free, seen, added = deque(), b"", 0
    for data, size, more in whole_lines(Opened(io.BytesIO(text), "text"), chunk, 16, free):
        assert added == 0  # only the last may have one added
        assert data[size - 1 : size] == b"\n"
        assert len(data) >= size + 16
        longest = max(len(line) + 1 for line in bytes(data[:size]).split(b"\n"))
        assert size <= max(chunk, 2 * longest)
        seen += data[: size - more]
        added += more
        free.append(data)
    assert seen == text
    assert added == (1 if text and not text.endswith(b"\n") else 0)


def test_a_line_without_end_is_an_error(monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_LINE", 1000)
    with pytest.raises(SourceError, match="a line must be shorter than 1,000 bytes: zeros has a longer one"):
        list(whole_lines(Opened(io.BytesIO(bytes(5000)), "zeros"), 10, 16, deque()))
