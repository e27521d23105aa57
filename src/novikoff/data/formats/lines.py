"""Lines of text: the first, by which a format is recognised; chunks of whole lines; what is wrong with one.

A chunk ends behind a new line; one is added to the last line if it has none. Behind it there are `padding` bytes that
may be read. A line that is longer than a chunk makes a longer one. A pipe that is slow makes shorter ones: lines are
not held back for more than a tenth of a second.
"""

from __future__ import annotations

import math
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Unpack

from novikoff.core.errors import LabelError, SourceError, Where
from novikoff.data.formats.byte_reader import Opened
from novikoff.data.formats.origin import Origin

HEAD_BYTES, LONGEST_HEAD, HEAD_LINES = 2**16, 2**26, 4
BLANK = b"\xef\xbb\xbf \t\r\n"
PATIENCE = 1.0  # seconds that a pipe may be silent in its first lines


def look_at(
    source: Any, lines: int = HEAD_LINES, least: int = 0, patience: float = PATIENCE, most: int = LONGEST_HEAD
) -> tuple[Origin, object, bytes, bool]:  # fmt: skip
    """Where it comes from, what is to be read from the beginning, its first bytes, and whether that is all.

    The other parameters are those of `first_bytes`.
    """
    origin = Origin(source)
    begin = source.tell() if origin.rereadable and not origin.independent else 0
    opened = origin.open()
    head = first_bytes(opened, lines, least, patience, most)
    whole = head.count(b"\n") < lines or (not opened.live and len(opened.peek(len(head) + 1)) == len(head))
    if not origin.rereadable:
        return origin, opened, head, whole
    opened.close()
    if not origin.independent:
        source.seek(begin)
    return origin, source, head, whole


def first_bytes(
    opened: Opened, lines: int, least: int = 0, patience: float = PATIENCE, most: int = LONGEST_HEAD
) -> bytes:  # fmt: skip
    """The first bytes, with so many lines or more, if there are; about `most` bytes at most.

    least      lines for which a pipe is waited for, however long it takes
    patience   seconds for which a pipe may be silent in the others
    """
    wanted = HEAD_BYTES
    head = opened.peek(wanted)
    while head.count(b"\n") < lines:
        if len(head) == wanted:
            if wanted >= most:
                break
            wanted *= 2
        elif opened.tells and head.count(b"\n") >= least and not opened.more(patience):
            break
        seen, head = head, opened.peek(wanted, wait=True)
        if len(head) == len(seen):
            break  # it is over
    return head


LONGEST_LINE = 2**28
LITTLE = 2**16
"""Bytes of a source that Python may read, line by line: to load a kernel takes as long, to compile it takes seconds."""

LIVE_SECONDS = 0.1


class Little:
    """Says of each chunk whether it should be read without kernels, as all that came of the source is little.

    times   as quick as Python is who reads it then
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
    """The text, its size (at most `chunk`, unless a line is longer), and how many bytes were added to it.

    A text that is no longer needed can be put in `free`, to be used again.
    rows_end   where the last row ends in the first bytes of a text, 0 if none does: for rows that may span lines
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
                        "Is it the right format?"
                    )
                room *= 2
                text.extend(bytes(max(0, room + padding - len(text))))
        if over and cut < lines:
            raise SourceError(f"a row must be readable: the last of {opened.name} is not. Is a quote left open?")
        rest = bytes(memoryview(text)[cut:filled])
        if cut:
            yield text, cut, added


NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


Row = tuple[float, dict[int, float], int]
"""The label, the values by their indices, and one number more: in svmlight text, one more than the largest index."""


class BadLineError(Exception):
    """What must be, in which column (from 1) it is not, what is there, what to do, and which error that is."""

    def __init__(self, must: str, column: int, was: bytes, do: str, error: type[SourceError] = SourceError) -> None:
        super().__init__(must)
        self.must, self.column, self.was, self.do, self._error = must, column, was, do, error

    def error(self, prefix: bytes) -> SourceError:
        """An error of ours, as if the prefix were not on the line."""
        was = self.was.replace(prefix, b"", 1) if self.column == 1 else self.was
        text = repr(was[:40])[2:-1] + ("..." if len(was) > 40 else "")
        return self._error(self.must, f'has "{text}"', self.do, character=max(1, self.column - len(prefix)))


class BadValueError(BadLineError):
    """What must be, what is there instead, what to do, which error that is, and the key under which it was, if any."""

    def __init__(
        self, must: str, was: str, do: str, error: type[SourceError] = SourceError, **where: Unpack[Where]
    ) -> None:  # fmt: skip
        super().__init__(must, 0, was.encode(), do, error)
        self._got, self._where = f"has {was}", where

    def error(self, prefix: bytes) -> SourceError:
        return self._error(self.must, self._got, self.do, **self._where)


def finite(text: bytes, column: int, what: str) -> float:
    """The number that a text is. Raises `BadLineError`."""
    error = LabelError if what == "a label" else SourceError
    if not NUMBER.fullmatch(text):
        raise BadLineError(f"{what} must be a finite number", column, text, "Correct the line", error)
    number = float(text)
    if math.isinf(number):
        raise BadLineError(f"{what} must be finite", column, text, "It is too large for a double: scale it", error)
    return number
