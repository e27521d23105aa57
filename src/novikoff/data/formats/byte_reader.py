"""Bytes of a source, decompressed and converted to lines of UTF-8 while they are read.

Compression
    .gz, .bz2, .xz, .zst and .zip with one file are detected from the first bytes, not from the name.
Encoding
    UTF-16 is detected from its byte order mark or from its zero bytes. A table whose first 64 KB have bytes beyond
    ASCII, none of them UTF-8, is read as Windows-1252, which contains the printable characters of Latin-1. A pipe is
    UTF-8 or UTF-16, unless an encoding is given.
JSON arrays
    `[{...}, {...}]` becomes one object per line.
Errors
    Failure to open, read or decompress is a `SourceError` that names the source.
"""

from __future__ import annotations

import codecs
import io
import json
import re
import select
import zlib
from abc import ABC, abstractmethod
from typing import Any, cast

from novikoff.core.errors import SourceError

MAGIC = {
    b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"
}  # fmt: skip
"""First bytes of compressed files."""
LONGEST_MAGIC = max(map(len, MAGIC))
SKIPPED_AT_ONCE = 2**20
"""Number of bytes read at a time to skip them."""
INSPECTED, INSPECTED_MARKS = 2**16, 64
"""Number of first bytes by which an encoding, and UTF-16 or a JSON array, are detected."""
OTHER, BEYOND_ASCII = re.compile("[\udc80-\udcff]"), re.compile("[^\0-\x7f\udc80-\udcff]")
"""Patterns of a byte that is not UTF-8, as `surrogateescape` maps it, and of a UTF-8 character beyond ASCII."""
TABLE, OBJECTS = "table", "objects"
"""Contents whose encoding is detected: a table, and JSON objects, one per line or in an array."""
ARRAY = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*\[[ \t\r\n]*\{")
"""Start of a JSON array of objects."""


class Opened(io.RawIOBase):
    """Decompressed bytes of a file, readable once.

    Args:
        file: Binary file object.
        name: Name of the source in messages.
        owned: Whether to close the file on close.
        live: Whether data may arrive late, as from a pipe.
        encoding: Encoding of the text; TABLE or OBJECTS to detect it; None to leave the bytes as they are.

    Attributes:
        packing: Compression: gzip, bzip2, xz, zstd or zip; "text" if the bytes are converted; None if there is neither.
        encoding: Encoding that was detected or given; None for UTF-8.
    """

    encoding: str | None = None

    def __init__(
        self, file: Any, name: str, owned: bool = False, live: bool = False, encoding: str | None = None
    ) -> None:
        super().__init__()
        self.name = name
        self.live = live
        self._closed_too: Any = None  # decompressor below a converter
        self._raw = _Raw(file, owned, live)
        self._unpacked: Any = self._raw
        self._peeked = b""
        try:
            self.packing = self._raw.recognise()
            if self.packing is not None:
                self._unpacked = _unpacker(self.packing, self._raw, name)
            self._choose_read()
            self.convert(encoding)
        except BaseException as error:
            self.close()
            if isinstance(error, Exception):
                raise unreadable(name, error) from None
            raise

    def _choose_read(self) -> None:
        """Choose the function that reads; from a pipe, one that returns available bytes without waiting for more."""
        some = getattr(self._unpacked, "readinto1", None) if self.live else None
        self._read_some = some or self._unpacked.readinto

    def convert(self, encoding: str | None) -> None:
        """Convert to lines of UTF-8; of a pipe only the bytes that have arrived are inspected.

        Args:
            encoding: As in the constructor.
        """
        if encoding is None or self.encoding is not None:
            return
        some = INSPECTED if encoding == TABLE else INSPECTED_MARKS
        head = self._peeked or self._raw.head if self.live and self.packing is None else self.peek(some)
        found: str | None = encoding
        if encoding in (TABLE, OBJECTS):
            found = detected_encoding(head, encoding == TABLE and not self.live)
        if found is not None:
            self.recode(found)
            head = b"" if self.live else self.peek(INSPECTED_MARKS)
        if encoding == OBJECTS and ARRAY.match(head):
            self._through(_ArrayLines(self._below(), self.name))

    def recode(self, encoding: str) -> None:
        """Read the bytes that follow in this encoding, as UTF-8."""
        self.encoding = encoding
        self._through(_Recoded(self._below(), encoding))

    def _below(self) -> _Rest:
        """Return the unread bytes as a file."""
        below, self._peeked = _Rest(self._peeked, self._read_some), b""
        return below

    def _through(self, converter: Any) -> None:
        """Read through a converter; its bytes have other positions than those of the file."""
        self._closed_too = self._unpacked
        self._unpacked, self.packing = converter, self.packing or "text"
        self._read_some = converter.readinto

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
        if count > len(self._peeked) and self.packing is None and self._raw.seek_on(count - len(self._peeked)):
            self._peeked = b""
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
            for file in (self._unpacked, self._closed_too):
                if file is not None and file is not self._raw:
                    file.close()
            self._raw.close()


def detected_encoding(head: bytes, whole: bool = True) -> str | None:
    """Return the encoding of a text with these first bytes; None for UTF-8 and for binary data.

    Args:
        head: First bytes.
        whole: Whether they suffice to recognise bytes that are not UTF-8.
    """
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if len(head) > 3:
        for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
            if not any(head[first:64:2]) and all(head[1 - first : 64 : 2]):
                return encoding
    if not whole or b"\0" in head or head.startswith((b"PAR1", b"ARROW1")):
        return None
    text = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(head)  # the last character may be cut off
    if OTHER.search(text) is None or BEYOND_ASCII.search(text) is not None:
        return None  # UTF-8, or UTF-8 with damaged characters
    try:
        head.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


class _Rest:
    """Bytes that were peeked at, followed by those of a reading function."""

    def __init__(self, peeked: bytes, readinto: Any) -> None:
        self._peeked, self._readinto = peeked, readinto

    def some(self) -> bytes:
        """Return further bytes, those that are available; empty at the end."""
        if self._peeked:
            piece, self._peeked = self._peeked, b""
            return piece
        scratch = bytearray(INSPECTED)
        count = self._readinto(memoryview(scratch))
        if count is None:
            raise BlockingIOError("it is in non-blocking mode")
        return bytes(scratch[:count])


class _Converted(io.RawIOBase, ABC):
    """Base class of converters: bytes that are computed from other bytes."""

    def __init__(self, below: _Rest) -> None:
        super().__init__()
        self._below, self._made = below, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        while not self._made:
            piece = self._below.some()
            self._made = self._convert(piece)
            if not piece and not self._made:
                return 0
        count = min(len(view), len(self._made))
        view[:count], self._made = self._made[:count], self._made[count:]
        return count

    @abstractmethod
    def _convert(self, piece: bytes) -> bytes:
        """Return what `piece` adds; an empty piece is the end."""


class _Recoded(_Converted):
    """Bytes of another encoding as UTF-8."""

    def __init__(self, below: _Rest, encoding: str) -> None:
        super().__init__(below)
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def _convert(self, piece: bytes) -> bytes:
        return self._decoder.decode(piece, final=not piece).encode()


class _ArrayLines(_Converted):
    """JSON array as lines, one per element."""

    def __init__(self, below: _Rest, name: str) -> None:
        super().__init__(below)
        self._name, self._text, self._begun, self._done = name, "", False, False
        self._decode, self._bytes = json.JSONDecoder().raw_decode, codecs.getincrementaldecoder("utf-8-sig")()
        self._tried = 0  # length of a text in which the next element is incomplete

    def _convert(self, piece: bytes) -> bytes:
        self._text += self._bytes.decode(piece, final=not piece)
        lines, at = [], 0
        while not self._done:
            at = _behind_space(self._text, at)
            if at == len(self._text) or (piece and len(self._text) < 2 * self._tried):
                break
            mark = self._text[at]
            if not self._begun or mark == ",":
                self._begun, at = True, at + 1
                continue
            if mark == "]":
                self._done, at = True, at + 1
                break
            try:
                _, end = self._decode(self._text, at)
            except ValueError as error:
                if not piece:
                    raise SourceError(
                        f"{self._name} must be a JSON array: it is not ({error}). Write it again."
                    ) from None
                self._tried = len(self._text) - at
                break
            lines.append(" ".join(self._text[at:end].splitlines()) + "\n")
            at, self._tried = end, 0
        self._text = self._text[at:]
        if self._done and self._text.strip():
            raise SourceError(f"{self._name} must be one JSON array: there is more behind it. Write it again.")
        if not piece and not self._done:
            raise SourceError(f"{self._name} must be a JSON array: it is not closed. Write it again.")
        return "".join(lines).encode()


def _behind_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


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

    def member(self, name: str) -> Any:
        """Open the only file in a zip archive."""
        import zipfile

        if not can_seek(self._file):
            raise SourceError(f"a zip archive must be a file: {name} is a pipe. Save it, or decompress it first.")
        archive = zipfile.ZipFile(self._file)
        inside = [one for one in archive.namelist() if not one.endswith("/") and not one.startswith("__MACOSX/")]
        if "[Content_Types].xml" in inside:
            raise SourceError(f"a table must be text: {name} is an office document. Save the sheet as CSV.")
        if len(inside) != 1:
            shown = ", ".join(inside[:5]) or "none"
            raise SourceError(f"a zip archive must contain one file: {name} has {shown}. Unpack it, and name one.")
        return archive.open(inside[0])

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


def _unpacker(packing: str, raw: _Raw, name: str) -> object:
    """Return a file object that decompresses the bytes."""
    if packing == "zip":
        return raw.member(name)
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
