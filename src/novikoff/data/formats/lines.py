"""Lines of text: the first lines, for format detection; chunks of whole lines; errors of a line.

A chunk ends after a new line; the last line gets one if it has none. `padding` readable bytes follow it. A line longer
than a chunk makes the chunk longer. A slow pipe makes chunks shorter: lines are delayed by at most a tenth of a second.
"""

from __future__ import annotations

import math
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Unpack

from novikoff.core.errors import LabelError, SourceError, Where
from novikoff.data.formats.byte_reader import Opened
from novikoff.data.formats.origin import Origin

HEAD_BYTES, LONGEST_HEAD, HEAD_LINES = 2**16, 2**26, 4
"""Initial and maximum number of bytes to look at, and the number of lines wanted."""
BLANK = b"\xef\xbb\xbf \t\r\n"
"""Bytes to strip before the first character: a byte order mark and white space."""
SNIFFED_BYTES, SNIFFED_LINES = 2**16, 50
"""Number of first bytes and lines by which a format is recognised."""
DECIMAL = rb"(?>[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?)"  # possessive: no backtracking
"""Pattern of a number, for use in larger patterns."""
PATIENCE = 1.0
"""Seconds to wait for each piece of the first lines of a pipe."""


def first_lines(head: bytes) -> list[bytes]:
    """Return the first lines, stripped, without blank lines and comments (#); empty if they are not text."""
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if len(lines) > 1:
        lines.pop()  # cut off, or empty
    elif len(head) >= SNIFFED_BYTES:
        lines = lines[0].rsplit(maxsplit=1)[:1]  # the last field may be cut off
    lines = [line.strip() for line in lines]
    lines = [line for line in lines if line and not line.startswith(b"#")][:SNIFFED_LINES]
    return [] if any(b"\0" in line for line in lines) else lines


def mostly(lines: Sequence[object], test: Callable[[Any], object]) -> bool:
    """Return whether `test` holds for more than half of the lines."""
    return 2 * sum(bool(test(line)) for line in lines) > len(lines)


def look_at(
    source: Any, lines: int = HEAD_LINES, least: int = 0, patience: float = PATIENCE, most: int = LONGEST_HEAD,
    encoding: str | None = None,
) -> tuple[Origin, object, bytes, bool]:  # fmt: skip
    """Return the origin, a source that still starts at the beginning, its first bytes, and whether these are all.

    The other parameters are those of `first_bytes` and `Origin`.
    """
    origin = Origin(source, encoding)
    begin = source.tell() if origin.rereadable and not origin.independent else 0
    opened = origin.open()
    try:
        head = first_bytes(opened, lines, least, patience, most)
        whole = head.count(b"\n") < lines or (not opened.live and len(opened.peek(len(head) + 1)) == len(head))
    except BaseException:
        opened.close()
        raise
    if not origin.rereadable:
        return origin, opened, head, whole
    opened.close()
    if not origin.independent:
        source.seek(begin)
    return origin, source, head, whole


def first_bytes(
    opened: Opened, lines: int, least: int = 0, patience: float = PATIENCE, most: int = LONGEST_HEAD
) -> bytes:  # fmt: skip
    """Return the first bytes, with at least `lines` lines if there are that many.

    Args:
        opened: Bytes to peek at.
        lines: Number of lines wanted.
        least: Number of lines for which to wait however long a pipe takes.
        patience: Seconds to wait for each further piece of a pipe.
        most: Approximate limit in bytes.
    """
    wanted = HEAD_BYTES
    head = opened.peek(wanted)
    while head.count(b"\n") < lines:
        if len(head) == wanted:
            if wanted >= most:
                break
            wanted *= 2
        elif opened.pollable and head.count(b"\n") >= least and not opened.more(patience):
            break
        seen, head = head, opened.peek(wanted, wait=True)
        if len(head) == len(seen):
            break  # end of the data
    return head


LONGEST_LINE = 2**28
"""Maximum number of bytes of a line."""
LITTLE = 2**16
"""Size of a source up to which Python reads it line by line: loading a compiled loop takes as long."""

LIVE_SECONDS = 0.1
"""Maximum delay of the lines of a pipe."""


class Little:
    """Test for each chunk whether to read it without compiled loops, because little of the source has arrived.

    Args:
        times: Speed of the Python reader, relative to a reader line by line.
    """

    def __init__(self, times: int = 1) -> None:
        self._seen, self._times = 0, times

    def __call__(self, size: int) -> bool:
        self._seen += size
        return self._seen <= self._times * LITTLE


def whole_lines(
    opened: Opened, chunk: int, padding: int, free: deque[bytearray],
    rows_end: Callable[[bytearray, int], int] | None = None,
) -> Iterator[tuple[bytearray, int, int]]:  # fmt: skip
    """Yield each text, its size (at most `chunk`, unless a line is longer), and the number of bytes added to it.

    Args:
        opened: Bytes of the source.
        chunk: Chunk size in bytes.
        padding: Readable bytes after each text.
        free: Buffers for reuse; the caller appends texts that are done.
        rows_end: Returns the end of the last row in the first bytes of a text, or 0: for rows that may span lines.
    """
    rest = b""
    over = False
    while not over:
        text = free.popleft() if free else bytearray()
        room = max(chunk, len(rest) + 1)
        if not room + padding <= len(text) <= 4 * room + padding:
            text = bytearray(room + padding)
        text[: len(rest)] = rest
        filled, lines, added = len(rest), 0, 0
        begun = None
        while True:
            got = opened.readinto(memoryview(text)[filled:room])
            begun = begun or time.monotonic()
            over = got == 0
            lines = text.rfind(b"\n", filled, filled + got) + 1 or lines
            filled += got
            if over and filled > lines:
                text[filled] = 10
                added = 1
                lines = filled + 1
            left = begun + LIVE_SECONDS - time.monotonic()
            if over or filled == room or (opened.live and (left <= 0 or not opened.ready(left))):
                cut = rows_end(text, lines) if rows_end and lines else lines
                if over or cut:
                    break
            if filled == room:
                if room >= LONGEST_LINE:
                    raise SourceError(
                        f"a line must be shorter than {LONGEST_LINE:,} bytes: {opened.name} has a longer one. "
                        "Check the format."
                    )
                room *= 2
                text.extend(bytes(max(0, room + padding - len(text))))
        if over and cut < lines:
            raise SourceError(f"a row must be readable: the last of {opened.name} is not. Is a quote left open?")
        rest = bytes(memoryview(text)[cut:filled])
        if cut:
            yield text, cut, added


# Number in a line that Python reads again after the compiled loop has rejected it
NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


Row = tuple[float, dict[int, float], int]
"""Label, values by index, and one more number: in svmlight text, the largest index + 1."""


class BadLineError(Exception):
    """Error of a line.

    Args:
        must: Requirement that was not met.
        column: Column of the error, from 1.
        was: Text found there.
        do: Advice.
        error: Class of the error to raise.
    """

    def __init__(self, must: str, column: int, was: bytes, do: str, error: type[SourceError] = SourceError) -> None:
        super().__init__(must)
        self.must, self.column, self.was, self.do, self._error = must, column, was, do, error

    def error(self, prefix: bytes) -> SourceError:
        """Return the error to raise, with columns as if the prefix were not on the line."""
        was = self.was.replace(prefix, b"", 1) if self.column == 1 else self.was
        text = repr(was[:40])[2:-1] + ("..." if len(was) > 40 else "")
        return self._error(self.must, f'has "{text}"', self.do, character=max(1, self.column - len(prefix)))


class BadValueError(BadLineError):
    """Error of a value.

    Args:
        must: Requirement that was not met.
        was: Value found.
        do: Advice.
        error: Class of the error to raise.
        **where: Position of the value, such as its key.
    """

    def __init__(
        self, must: str, was: str, do: str, error: type[SourceError] = SourceError, **where: Unpack[Where]
    ) -> None:  # fmt: skip
        super().__init__(must, 0, was.encode(), do, error)
        self._got, self._where = f"has {was}", where

    def error(self, prefix: bytes) -> SourceError:
        return self._error(self.must, self._got, self.do, **self._where)


def finite(text: bytes, column: int, what: str) -> float:
    """Return a text as a finite number. Raises `BadLineError`."""
    error = LabelError if what == "a label" else SourceError
    if not NUMBER.fullmatch(text):
        raise BadLineError(f"{what} must be a finite number", column, text, "Correct the line", error)
    number = float(text)
    if math.isinf(number):
        raise BadLineError(f"{what} must be finite", column, text, "It is too large for a double: scale it", error)
    return number
