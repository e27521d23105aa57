"""The first lines of a source, by which its format is recognised, without taking them."""

from __future__ import annotations

from typing import Any

from novikoff.data.formats.opened import Opened
from novikoff.data.formats.origin import Origin

HEAD_BYTES, LONGEST_HEAD, HEAD_LINES = 2**16, 2**26, 4
BLANK = b"\xef\xbb\xbf \t\r\n"
PATIENCE = 1.0  # seconds that a pipe may be silent in its first lines


def look_at(
    source: Any, lines: int = HEAD_LINES, least: int = 0, patience: float = PATIENCE, most: int = LONGEST_HEAD
) -> tuple[Origin, Any, bytes, bool]:  # fmt: skip
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
