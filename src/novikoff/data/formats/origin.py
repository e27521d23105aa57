"""Where the bytes of a source come from: a path, a URL, "-" for standard input, or a binary file object.

Reading again
    A path and a file object that can seek are read again from where they began; standard input and pipes once.
Recognising again
    By its fingerprint: of a file the size, the time of change, its place and a sample of its bytes.
URLs
    Files that fsspec opens: s3://, gs://, memory://, file:// and whatever else is installed. fsspec is an extra
    (`pip install "novikoff[urls]"`), and so is what it needs for one kind of storage, as s3fs for s3://.
Copies
    Tables and Arrow files must be read more than once (`OnDisk`): standard input and other file objects are copied to
    a temporary file, unpacked, which goes away with the stream.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
import os
import stat
import sys
import tempfile
import weakref
from typing import Any, Self

from novikoff.core.errors import SourceError
from novikoff.core.types import Json
from novikoff.data.formats.byte_reader import (
    LONGEST_MAGIC,
    MAGIC,
    SKIPPED_AT_ONCE,
    FirstBytes,
    Opened,
    can_seek,
    unreadable,
)

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
            self.rereadable = can_seek(source)
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
                raise unreadable(self.name, error) from None
            if self._stop is not None:
                file = FirstBytes(file, self._stop)
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

    def fingerprint(self) -> dict[str, Json]:
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


def status(path: str) -> os.stat_result:
    """The status of a path that can be opened as a file or a pipe."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise SourceError(f"a source must be a file: there is no {path}. Check the name, or use demo:NAME.") from None
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    if stat.S_ISDIR(found.st_mode):
        raise SourceError(f"a source must be a file: {path} is a directory. Name a file in it.")
    return found


def _is_still(file: Any) -> bool:
    """A file that was opened, or bytes in memory; not a subclass, nor a file object of somebody's own."""
    raw = file.raw if type(file) in (io.BufferedReader, io.BufferedRandom) else file
    return type(raw) in (io.FileIO, io.BytesIO)


def is_url(source: Any) -> bool:
    """Is it text of the form scheme://place?"""
    return isinstance(source, str) and "://" in source and source.partition("://")[0].isalnum()


def open_url(url: str) -> Any:
    """The bytes, as a file that can seek, apart from every other one of the same URL."""
    try:
        file = system(url).open(_path(url), "rb")
    except SourceError:
        raise
    except Exception as error:  # each kind of storage has errors of its own
        raise _unreadable(url, error) from None
    return io.BytesIO(file.getvalue()) if isinstance(file, io.BytesIO) else file  # memory:// gives one to all


def mark(url: str) -> dict[str, Any]:
    """By what the file is known again: its size, and what the storage says of it, such as its time of change."""
    try:
        there = system(url)
        return {"size": int(there.size(_path(url)) or 0), "mark": str(there.ukey(_path(url)))}
    except SourceError:
        raise
    except Exception as error:
        raise _unreadable(url, error) from None


def matching(pattern: str) -> list[str]:
    """The URLs that match, in their order."""
    try:
        there = system(pattern)
        return sorted(there.unstrip_protocol(path) for path in there.glob(_path(pattern)))
    except SourceError:
        raise
    except Exception as error:
        raise _unreadable(pattern, error) from None


def system(url: str) -> Any:
    """The file system that a URL is of."""
    try:
        import fsspec
    except ImportError:
        raise SourceError(f'URLs are opened by fsspec: got {url}. Install it: pip install "novikoff[urls]".') from None
    try:
        return fsspec.core.url_to_fs(url)[0]
    except (ImportError, ValueError) as error:
        raise _unreadable(url, error) from None


def _path(url: str) -> str:
    import fsspec

    path: str = fsspec.core.url_to_fs(url)[1]
    return path


def _unreadable(url: str, error: Exception) -> SourceError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return SourceError(f"a source must be readable: {url} is not ({reason}). Check the URL, and that you may read it.")


COPIED_AT_ONCE = 2**20
PACKED = (".gz", ".bz2", ".xz", ".zst")


class OnDisk:
    """The path of a file, and its name for messages (`str`)."""

    def __init__(self, source: Any) -> None:
        self.remote = isinstance(source, str) and is_url(source)
        self.copied = not isinstance(source, (str, os.PathLike)) or os.fspath(source) == "-"
        if self.copied:
            origin = Origin(source)
            self.name = origin.name
            self.path = _copy(origin)
            weakref.finalize(self, _remove, self.path)
        else:
            self.path = self.name = os.fsdecode(source)
            if not self.remote and not stat.S_ISREG(status(self.path).st_mode):
                must, do = "a source must be a file that can be read twice", "Save it in a file first."
                raise SourceError(must, f"{self.path} is not", do)

    def __str__(self) -> str:
        return self.name

    def notes(self) -> list[str]:
        """What to tell the user."""
        return [f"{self.name} was copied to a temporary file, to be read more than once"] if self.copied else []

    def fingerprint(self) -> dict[str, Json]:
        """Size and time of change of the file; nothing for a copy of something else."""
        return {} if self.copied else Origin(self.path).fingerprint()

    def open(self) -> Any:
        """Its bytes."""
        return open_url(self.path) if self.remote else open(self.path, "rb")

    def packing(self) -> str | None:
        """How it is packed, by its first bytes: gzip, bzip2, xz, zstd or None."""
        try:
            with self.open() as file:
                head = file.read(LONGEST_MAGIC)
        except OSError as error:
            raise SourceError(f"a file must be readable: {self.name} is not ({error}). Check it.") from None
        return next((packing for magic, packing in MAGIC.items() if head.startswith(magic)), None)


def _copy(origin: Origin) -> str:
    """The path of a copy of the unpacked bytes."""
    with origin.open() as opened:
        number, path = tempfile.mkstemp(prefix="novikoff-")
        try:
            with open(number, "wb") as copy:
                while piece := opened.read(COPIED_AT_ONCE):
                    copy.write(piece)
        except BaseException as error:
            _remove(path)
            if isinstance(error, OSError):
                raise SourceError(
                    f"a source must be copied to be read twice: {origin.name} is not ({error})."
                ) from None
            raise
    return path


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
