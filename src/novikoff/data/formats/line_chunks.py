"""Text cut into chunks of whole lines, for readers that parse a chunk at a time.

A chunk ends behind a new line; one is added to the last line if it has none. Behind it there are `padding` bytes that
may be read. A line that is longer than a chunk makes a longer one. A pipe that is slow makes shorter ones: lines are
not held back for more than a tenth of a second.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator

from novikoff.core.errors import SourceError
from novikoff.data.formats.opened import Opened

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
