"""The bytes of a source: a path, a URL, "-" for standard input, or a binary file object; unpacked as they are read.

Packing
    .gz, .bz2, .xz and .zst are known by their first bytes, whatever the name.
Reading again
    A path and a file object that can seek are read again from where they began; standard input and pipes once.
Errors
    What cannot be opened, read or unpacked is a `SourceError` that names the source.
"""

from __future__ import annotations

import copy
import hashlib
import io
import os
import select
import stat
import sys
import zlib
from typing import Any, Self, cast

from novikoff.errors import SourceError
from novikoff.sources.urls import is_url, mark, open_url

MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
LONGEST_MAGIC = max(map(len, MAGIC))
SKIPPED_AT_ONCE = 2**20
SAMPLES, SAMPLED_AT_ONCE = 32, 4096
"""Pieces of a file, and bytes of each, by which it is recognised."""


class Origin:
    """Where bytes come from. `open` gives them from the start, or from a place in the unpacked bytes.

    `fixed`: a file, or bytes in memory, with no code but Python's own behind them.
    """

    def __init__(self, source: Any) -> None:
        self._path: str | None = None
        self._file: Any = None
        self._start = 0
        self._stop: int | None = None
        self._open_before = False
        self._url: str | None = None
        if isinstance(source, str) and is_url(source):
            self._url = self.name = source
            self.rereadable = self.fixed = True
        elif isinstance(source, (str, os.PathLike)) and os.fspath(source) != "-":
            self._path = self.name = os.fsdecode(source)
            self.rereadable = self.fixed = stat.S_ISREG(status(self.name).st_mode)
        elif isinstance(source, (str, os.PathLike)):
            self.name, self.rereadable, self.fixed = "standard input", False, False
        elif hasattr(source, "read"):
            name = getattr(source, "name", None)
            self.name = name if isinstance(name, str) else f"a {type(source).__name__}"
            self._file = source
            self.rereadable = _can_seek(source)
            self._start = source.tell() if self.rereadable else 0
            self.fixed = self.rereadable and _is_still(source)
        else:
            raise SourceError(f'a source must be a path, "-" or a binary file: got {type(source).__name__}.')

    @property
    def independent(self) -> bool:
        """Can it be open twice at a time?"""
        return self._url is not None or (self._path is not None and self.rereadable)

    def size(self) -> int:
        """How many bytes there are; of what is packed or comes once, an error."""
        if self.independent:
            with self.open() as opened:
                if opened.packing is None:
                    return opened.size()
        raise SourceError(
            f"a source must be a file that is not packed, to be cut: {self.name} is not. Unpack it, or cut it into "
            "several files and name them by a pattern, as part-*.svm."
        )

    def line_from(self, byte: int) -> int:
        """Where the first line begins that begins at this byte or later; the size if there is none."""
        if byte == 0:
            return 0
        with self.open(byte - 1) as opened:
            at = byte - 1
            while piece := opened.read(SKIPPED_AT_ONCE):
                end = piece.find(b"\n")
                if end >= 0:
                    return at + end + 1
                at += len(piece)
        return at

    def until(self, byte: int) -> Self:
        """The same, as if it ended there."""
        shorter = copy.copy(self)
        shorter._stop = byte
        return shorter

    def open(self, at: int = 0) -> Opened:
        """The unpacked bytes from `at` on."""
        if self._open_before and not self.rereadable:
            raise SourceError(f"a source must be rereadable to be read again: {self.name} is not. Save it in a file.")
        self._open_before = True
        if isinstance(self._file, Opened):
            opened = self._file
        else:
            file, owned = self._file, False
            try:
                if self._url is not None:
                    file, owned = open_url(self._url), True
                elif self._path is not None:
                    file, owned = io.FileIO(self._path), True
                elif file is None:
                    file = sys.stdin.buffer
                elif self.rereadable:
                    file.seek(self._start)
            except (OSError, ValueError, AttributeError) as error:
                raise _unreadable(self.name, error) from None
            if self._stop is not None:
                file = _First(file, self._stop)
            opened = Opened(file, self.name, owned, live=not self.rereadable)
        try:
            opened.skip(at)
        except BaseException:
            opened.close()
            raise
        return opened

    def peek(self, count: int) -> bytes:
        """The first bytes, without taking them: `count`, or of a pipe what has come."""
        if self.rereadable:
            with self.open() as opened:
                return opened.peek(count)
        if not isinstance(self._file, Opened):
            self._file, self._open_before = self.open(), False
        return self._file.peek(count)

    def fingerprint(self) -> dict[str, Any]:
        """Size and time of change of a file; of a path also its place and a sample. Nothing for other sources."""
        if self._url is not None:
            return mark(self._url)
        try:
            status = os.stat(self._path) if self._path is not None else os.fstat(self._file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return {}
            found: dict[str, Any] = {"size": status.st_size, "mtime_ns": status.st_mtime_ns}
            if self._path is not None:
                found |= {"place": place(self._path), "sample": sample(self._path, status.st_size)}
        except (OSError, AttributeError, ValueError):
            return {}
        return found


def place(path: str) -> str:
    """Which file it is, however its path is spelled: a digest, since model files are passed on and paths are not."""
    return hashlib.blake2b(os.fsencode(os.path.realpath(path)), digest_size=16).hexdigest()


def sample(path: str, size: int) -> str:
    """A digest of the first `size` bytes of a file: of all of them, or of some that lie evenly if there are many."""
    seen = hashlib.blake2b(str(size).encode(), digest_size=16)
    with open(path, "rb", buffering=0) as file:
        if size <= SAMPLES * SAMPLED_AT_ONCE:
            seen.update(file.read(size))
            return seen.hexdigest()
        for number in range(SAMPLES):
            file.seek(number * (size - SAMPLED_AT_ONCE) // (SAMPLES - 1))
            seen.update(file.read(SAMPLED_AT_ONCE))
    return seen.hexdigest()


class Opened(io.RawIOBase):
    """Unpacked bytes, to be read once. `packing` is gzip, bzip2, xz, zstd or None; `live` that more may come late."""

    def __init__(self, file: Any, name: str, owned: bool = False, live: bool = False) -> None:
        super().__init__()
        self.name = name
        self.live = live
        self._raw = _Raw(file, owned, live)
        self._unpacked: Any = self._raw
        self._peeked = b""
        try:
            self.packing = self._raw.recognise()
            if self.packing is not None:
                self._unpacked = _unpacker(self.packing, self._raw)
            some = getattr(self._unpacked, "readinto1", None) if live else None  # not more than there is
            self._read_some = some or self._unpacked.readinto
        except BaseException as error:
            self.close()
            if isinstance(error, Exception):
                raise _unreadable(name, error) from None
            raise

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill some of the buffer: at least a byte, unless it is over."""
        view = memoryview(buffer).cast("B")
        if self._peeked:
            count = min(len(view), len(self._peeked))
            view[:count] = self._peeked[:count]
            self._peeked = self._peeked[count:]
            return count
        try:
            count = self._read_some(view)
        except Exception as error:
            raise _unreadable(self.name, error) from None
        if count is None:
            raise SourceError(
                f"a source must wait for its bytes: {self.name} does not block. Open it in blocking mode."
            )
        return int(count)

    def peek(self, count: int, wait: bool = False) -> bytes:
        """The first bytes of what is left, without taking them: `count`, or less if there is no more for now.

        wait   for at least one more than was peeked at before
        """
        while len(self._peeked) < count and (not self._peeked or wait or self.more(0.0)):
            wait = False
            seen, self._peeked = self._peeked, b""
            piece = self.read(count - len(seen)) or b""
            self._peeked = seen + piece
            if not piece:
                break
        return self._peeked[:count]

    def ready(self, wait: float = 0.0) -> bool:
        """Will reading not wait? A pipe is asked, for `wait` seconds; if it cannot tell, it may wait."""
        return bool(self._peeked) or self.more(wait)

    @property
    def tells(self) -> bool:
        """Can it tell whether reading will wait?"""
        try:
            select.select([self._raw.fileno()], [], [], 0.0)
        except (OSError, ValueError, AttributeError, TypeError):
            return not self.live
        return True

    def more(self, wait: float) -> bool:
        """Have more bytes come than were peeked at, or will they within so many seconds? Or is it over?"""
        if not self.live or self._raw.head:
            return True
        try:
            return bool(select.select([self._raw.fileno()], [], [], wait)[0])
        except (OSError, ValueError, AttributeError, TypeError):
            return False

    def size(self) -> int:
        """Bytes of the file, as it lies there."""
        return self._raw.size()

    def skip(self, count: int) -> None:
        """Go on `count` bytes further: by a seek where that is possible, else by reading."""
        if count and self.packing is None and not self._peeked and self._raw.seek_on(count):
            return
        scratch = bytearray(min(count, SKIPPED_AT_ONCE))
        while count > 0:
            got = self.readinto(memoryview(scratch)[: min(count, len(scratch))])
            if got == 0:
                raise SourceError(
                    f"a source must reach where it is to go on: {self.name} is too short. Is it the same?"
                )
            count -= got

    def close(self) -> None:
        if not self.closed:
            super().close()
            if self._unpacked is not self._raw:
                self._unpacked.close()
            self._raw.close()


class _Raw(io.RawIOBase):
    """The bytes as they are in the file, of which the first have been looked at."""

    def __init__(self, file: Any, owned: bool, live: bool) -> None:
        super().__init__()
        self._file = file
        self._owned = owned
        self._some = getattr(file, "read1", None) if live else None  # not more than there is
        self.head = b""

    def recognise(self) -> str | None:
        """How the bytes are packed, by the first of them; no more are read than it takes."""
        while len(self.head) < LONGEST_MAGIC and any(magic.startswith(self.head) for magic in MAGIC):
            piece = self._take(LONGEST_MAGIC - len(self.head))
            self.head += piece
            if not piece:
                break
        return next((packing for magic, packing in MAGIC.items() if self.head.startswith(magic)), None)

    def _take(self, count: int) -> bytes:
        piece = self._some(count) if self._some else self._file.read(count)
        if piece is None:
            raise BlockingIOError("it does not block")
        if not isinstance(piece, (bytes, bytearray, memoryview)):
            raise TypeError("it is text, not bytes: open it with mode rb")
        return bytes(piece)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        if not self.head and not self._some and hasattr(self._file, "readinto"):
            count: int = self._file.readinto(view)
            return count
        piece = self.head[: len(view)] if self.head else self._take(len(view))
        self.head = self.head[len(piece) :]
        view[: len(piece)] = piece
        return len(piece)

    def seek_on(self, count: int) -> bool:
        """Skip bytes by a seek, not beyond the end; False if that cannot be."""
        if not _can_seek(self._file):
            return False
        here = self._file.tell()
        wanted = here - len(self.head) + count
        if self._file.seek(0, io.SEEK_END) < wanted:
            self._file.seek(here)
            return False
        self._file.seek(wanted)
        self.head = b""
        return True

    def size(self) -> int:
        here = self._file.tell()
        size: int = self._file.seek(0, io.SEEK_END)
        self._file.seek(here)
        return size

    def fileno(self) -> int:
        number: int = self._file.fileno()
        return number

    def close(self) -> None:
        if not self.closed:
            super().close()
            if self._owned:
                self._file.close()


class _First(io.RawIOBase):
    """The first bytes of a file that can seek."""

    def __init__(self, file: Any, count: int) -> None:
        super().__init__()
        self._file, self._count = file, count

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        here: int = self._file.tell()
        return here

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        here: int = self._file.seek(offset + (self._count if whence == io.SEEK_END else 0))
        return here

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        left = max(self._count - self._file.tell(), 0)
        count: int = self._file.readinto(view[: min(len(view), left)]) if left else 0
        return count

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._file.close()


def _unpacker(packing: str, raw: _Raw) -> Any:
    if packing == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=raw, mode="rb")
    if packing == "bzip2":
        import bz2

        return bz2.BZ2File(raw)
    if packing == "xz":
        import lzma

        return lzma.LZMAFile(cast(Any, raw))
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")


def _is_still(file: Any) -> bool:
    """A file that was opened, or bytes in memory; not a subclass, nor a file object of somebody's own."""
    raw = file.raw if type(file) in (io.BufferedReader, io.BufferedRandom) else file
    return type(raw) in (io.FileIO, io.BytesIO)


def _can_seek(file: Any) -> bool:
    try:
        return bool(file.seekable())
    except (AttributeError, OSError, ValueError):
        return False


def status(path: str) -> os.stat_result:
    """The status of a path that can be opened as a file or a pipe."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise SourceError(f"a source must be a file: there is no {path}. Check the name, or use demo:NAME.") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    if stat.S_ISDIR(found.st_mode):
        raise SourceError(f"a source must be a file: {path} is a directory. Name a file in it.")
    return found


def _unreadable(name: str, error: Exception) -> SourceError:
    if isinstance(error, SourceError):
        return error
    packed = isinstance(error, (EOFError, zlib.error)) or type(error).__name__ == "LZMAError"
    what = "is cut off or damaged" if packed else "is not"
    return SourceError(f"a source must be readable: {name} {what} ({error}). Check it.")
