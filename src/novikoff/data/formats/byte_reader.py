"""Bytes of a source, decompressed while they are read.

Compression
    .gz, .bz2, .xz and .zst are detected from the first bytes, not from the name.
Errors
    Failure to open, read or decompress is a `SourceError` that names the source.
"""

from __future__ import annotations

import io
import select
import zlib
from typing import Any, cast

from novikoff.core.errors import SourceError

MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
"""First bytes of compressed files."""
LONGEST_MAGIC = max(map(len, MAGIC))
SKIPPED_AT_ONCE = 2**20
"""Number of bytes read at a time to skip them."""


class Opened(io.RawIOBase):
    """Decompressed bytes of a file, readable once.

    Args:
        file: Binary file object.
        name: Name of the source in messages.
        owned: Whether to close the file on close.
        live: Whether data may arrive late, as from a pipe.

    Attributes:
        packing: Compression: gzip, bzip2, xz or zstd; None if there is none.
    """

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
            some = (
                getattr(self._unpacked, "readinto1", None) if live else None
            )  # returns available bytes without blocking for more
            self._read_some = some or self._unpacked.readinto
        except BaseException as error:
            self.close()
            if isinstance(error, Exception):
                raise unreadable(name, error) from None
            raise

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into the buffer; return the number of bytes, 0 only at the end."""
        view = memoryview(buffer).cast("B")
        if self._peeked:
            count = min(len(view), len(self._peeked))
            view[:count] = self._peeked[:count]
            self._peeked = self._peeked[count:]
            return count
        try:
            count = self._read_some(view)
        except Exception as error:
            raise unreadable(self.name, error) from None
        if count is None:
            raise SourceError(f"a source must be in blocking mode: {self.name} is not. Open it in blocking mode.")
        return int(count)

    def peek(self, count: int, wait: bool = False) -> bytes:
        """Return up to `count` of the next bytes without consuming them, fewer if no more are available now.

        Args:
            count: Number of bytes.
            wait: Whether to wait for at least one byte more than the last peek returned.
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
        """Return whether reading does not block; a pipe is polled for `wait` seconds. False if that is unknown."""
        return bool(self._peeked) or self.more(wait)

    @property
    def pollable(self) -> bool:
        """Whether `ready` can tell if reading blocks."""
        try:
            select.select([self._raw.fileno()], [], [], 0.0)
        except (OSError, ValueError, AttributeError, TypeError):
            return not self.live
        return True

    def more(self, wait: float) -> bool:
        """Return whether bytes beyond the peeked ones, or the end, are available within `wait` seconds."""
        if not self.live or self._raw.head:
            return True
        try:
            return bool(select.select([self._raw.fileno()], [], [], wait)[0])
        except (OSError, ValueError, AttributeError, TypeError):
            return False

    def size(self) -> int:
        """Return the size of the file in bytes, as stored."""
        return self._raw.size()

    def skip(self, count: int) -> None:
        """Skip `count` bytes by a seek if possible, otherwise by reading."""
        if count and self.packing is None and not self._peeked and self._raw.seek_on(count):
            return
        scratch = bytearray(min(count, SKIPPED_AT_ONCE))
        while count > 0:
            got = self.readinto(memoryview(scratch)[: min(count, len(scratch))])
            if got == 0:
                raise SourceError(
                    f"{self.name} is shorter than the position to resume at. Check that it is the same source."
                )
            count -= got

    def close(self) -> None:
        if not self.closed:
            super().close()
            if self._unpacked is not self._raw:
                self._unpacked.close()
            self._raw.close()


class _Raw(io.RawIOBase):
    """Bytes as stored in the file, after a look at the first ones."""

    def __init__(self, file: Any, owned: bool, live: bool) -> None:
        super().__init__()
        self._file = file
        self._owned = owned
        self._some = getattr(file, "read1", None) if live else None  # returns available bytes without blocking for more
        self.head = b""

    def recognise(self) -> str | None:
        """Return the compression by the first bytes, reading no more than necessary."""
        while len(self.head) < LONGEST_MAGIC and any(magic.startswith(self.head) for magic in MAGIC):
            piece = self._take(LONGEST_MAGIC - len(self.head))
            self.head += piece
            if not piece:
                break
        return next((packing for magic, packing in MAGIC.items() if self.head.startswith(magic)), None)

    def _take(self, count: int) -> bytes:
        piece = self._some(count) if self._some else self._file.read(count)
        if piece is None:
            raise BlockingIOError("it is in non-blocking mode")
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
        """Skip bytes by a seek, not beyond the end; return False if that is impossible."""
        if not can_seek(self._file):
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


class FirstBytes(io.RawIOBase):
    """First `count` bytes of a seekable file, as a file."""

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
    """Return a file object that decompresses the bytes."""
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


def can_seek(file: Any) -> bool:
    """Return whether the file can seek."""
    try:
        return bool(file.seekable())
    except (AttributeError, OSError, ValueError):
        return False


def unreadable(name: str, error: Exception) -> SourceError:
    """Return a SourceError that names the source and the cause."""
    if isinstance(error, SourceError):
        return error
    packed = isinstance(error, (EOFError, zlib.error)) or type(error).__name__ == "LZMAError"
    what = "is truncated or damaged" if packed else "is not"
    return SourceError(f"a source must be readable: {name} {what} ({error}). Check it.")
