"""Origin of a source's bytes: a path, a URL, "-" for standard input, or a binary file object.

Reading again
    Paths and seekable file objects are read again from their start; standard input and pipes only once.
Fingerprint
    Identifies a file by size, modification time, location and a sample of its bytes.
URLs
    Opened by fsspec: s3://, gs://, memory://, file:// and others that are installed. fsspec is an optional dependency
    (`pip install "novikoff[urls]"`), and each storage needs a package of its own, such as s3fs for s3://.
Copies
    Tables and Arrow files are read more than once (`OnDisk`): standard input and other file objects are decompressed
    to a temporary file, which is deleted with the stream.
"""

from __future__ import annotations

import codecs
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

from novikoff.core.errors import SourceError, absent
from novikoff.core.types import Json
from novikoff.data.formats.byte_reader import (
    LONGEST_MAGIC,
    MAGIC,
    OBJECTS,
    SKIPPED_AT_ONCE,
    TABLE,
    FirstBytes,
    Opened,
    can_seek,
    unreadable,
)

SAMPLES, SAMPLED_AT_ONCE = 32, 4096
"""Number of sampled pieces of a file, and bytes of each, for its fingerprint."""


class Origin:
    """Origin of bytes, opened from the start or from an offset in the decompressed bytes.

    Args:
        source: Path, URL, "-" or binary file object.
        encoding: Encoding of the text; TABLE or OBJECTS to detect it; None to leave the bytes as they are.

    Attributes:
        name: Name of the source in messages.
        rereadable: Whether it can be read again.
        fixed: Whether it is a file or bytes in memory, so that no user code computes the bytes.
    """

    def __init__(self, source: Any, encoding: str | None = None) -> None:
        self._encoding = codec(encoding)
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
        """Whether it can be open twice at the same time."""
        return self._url is not None or (self._path is not None and self.rereadable)

    def size(self) -> int:
        """Return the number of bytes; raise SourceError if it is compressed or can be read only once."""
        if self.independent:
            with self.open() as opened:
                if opened.packing is None:
                    return opened.size()
        raise SourceError(
            f"only an uncompressed file can be split: {self.name} is not one. Decompress it, or split it into several "
            "files and name them by a pattern such as part-*.svm."
        )

    def line_from(self, byte: int) -> int:
        """Return the start of the first line at or after this byte; the size if there is none."""
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
        """Return the same origin, cut off at this byte."""
        shorter = copy.copy(self)
        shorter._stop = byte
        return shorter

    def open(self, at: int = 0) -> Opened:
        """Open the decompressed bytes from `at` on."""
        if self._open_before and not self.rereadable:
            raise SourceError(f"{self.name} cannot be read again. Save it in a file.")
        self._open_before = True
        if isinstance(self._file, Opened):
            opened = self._file
            opened.convert(self._encoding)
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
            opened = Opened(file, self.name, owned, not self.rereadable, self._encoding)
        try:
            opened.skip(at)
        except BaseException:
            opened.close()
            raise
        return opened

    def peek(self, count: int) -> bytes:
        """Return the first `count` bytes without consuming them; for a pipe, those that have arrived."""
        if self.rereadable:
            with self.open() as opened:
                return opened.peek(count)
        if not isinstance(self._file, Opened):
            self._file, self._open_before = self.open(), False
        return self._file.peek(count)

    def fingerprint(self) -> dict[str, Json]:
        """Return size and modification time of a file; empty for other sources.

        For a path, also a digest of its location and a sample of its bytes.
        """
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


def codec(encoding: str | None) -> str | None:
    """Return the encoding, None for UTF-8. Raises SourceError if Python does not know it."""
    if encoding in (None, TABLE, OBJECTS):
        return encoding
    try:
        return None if codecs.lookup(str(encoding)).name in ("utf-8", "ascii") else encoding
    except LookupError:
        raise SourceError(
            f"an encoding must be one that Python knows, such as utf-8, latin-1 or cp1252: got {encoding!r}."
        ) from None


def place(path: str) -> str:
    """Return a digest of the real path; the path itself must not be in model files, which are shared."""
    return hashlib.blake2b(os.fsencode(os.path.realpath(path)), digest_size=16).hexdigest()


def sample(path: str, size: int) -> str:
    """Return a digest of the first `size` bytes of a file, or of evenly spaced pieces if it is large."""
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
    """Return the status of a path; raise SourceError if it is missing or a directory."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise SourceError(absent(path, "Check the name, or use demo:NAME.")) from None
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    if stat.S_ISDIR(found.st_mode):
        raise SourceError(
            f"a source must be a file: {path} is a directory. Name a file in it, or a pattern such as part-*.csv."
        )
    return found


def _is_still(file: Any) -> bool:
    """Return whether it is an opened file or bytes in memory, not a subclass or a custom file object."""
    raw = file.raw if type(file) in (io.BufferedReader, io.BufferedRandom) else file
    return type(raw) in (io.FileIO, io.BytesIO)


def is_url(source: object) -> bool:
    """Return whether it is text of the form scheme://location."""
    return isinstance(source, str) and "://" in source and source.partition("://")[0].isalnum()


def open_url(url: str) -> Any:
    """Open a URL as a seekable file, independent of others with the same URL."""
    try:
        file = system(url).open(_path(url), "rb")
    except SourceError:
        raise
    except Exception as error:  # each storage has its own exception types
        raise _unreadable(url, error) from None
    return io.BytesIO(file.getvalue()) if isinstance(file, io.BytesIO) else file  # memory:// returns one shared object


def mark(url: str) -> dict[str, Any]:
    """Return the fingerprint of a URL: its size and the storage's version key, such as the modification time."""
    try:
        there = system(url)
        return {"size": int(there.size(_path(url)) or 0), "mark": str(there.ukey(_path(url)))}
    except SourceError:
        raise
    except Exception as error:
        raise _unreadable(url, error) from None


def matching(pattern: str) -> list[str]:
    """Return the URLs that match a pattern, sorted."""
    try:
        there = system(pattern)
        return sorted(there.unstrip_protocol(path) for path in there.glob(_path(pattern)))
    except SourceError:
        raise
    except Exception as error:
        raise _unreadable(pattern, error) from None


def system(url: str) -> Any:
    """Return the file system of a URL."""
    try:
        import fsspec
    except ImportError:
        raise SourceError(f'reading {url} needs fsspec: pip install "novikoff[urls]".') from None
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
"""Number of bytes copied at a time."""
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
"""Suffixes of compressed files."""


class OnDisk:
    """A file that can be read more than once; standard input and file objects are copied to a temporary file.

    Args:
        source: Path, URL, "-" or binary file object.
    """

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
        """Return the notes for the user."""
        return [f"{self.name} was copied to a temporary file, to be read more than once"] if self.copied else []

    def fingerprint(self) -> dict[str, Json]:
        """Return the fingerprint of the file; empty for a copy."""
        return {} if self.copied else Origin(self.path).fingerprint()

    def open(self) -> Any:
        """Open the file for reading."""
        return open_url(self.path) if self.remote else open(self.path, "rb")

    def packing(self) -> str | None:
        """Return the compression by the first bytes: gzip, bzip2, xz, zstd or None."""
        try:
            with self.open() as file:
                head = file.read(LONGEST_MAGIC)
        except OSError as error:
            raise SourceError(f"a file must be readable: {self.name} is not ({error}). Check it.") from None
        return next((packing for magic, packing in MAGIC.items() if head.startswith(magic)), None)


def _copy(origin: Origin) -> str:
    """Copy the decompressed bytes to a temporary file and return its path."""
    with origin.open() as opened:
        number, path = tempfile.mkstemp(prefix="novikoff-")
        try:
            with open(number, "wb") as copy:
                while piece := opened.read(COPIED_AT_ONCE):
                    copy.write(piece)
        except BaseException as error:
            _remove(path)
            if isinstance(error, OSError):
                raise SourceError(f"{origin.name} could not be copied to be read twice ({error}).") from None
            raise
    return path


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
