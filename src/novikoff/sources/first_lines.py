"""The first lines of a source, by which its format is recognised, without taking them."""

from __future__ import annotations

import time
from typing import Any

from novikoff.sources.layout import check_encoding
from novikoff.sources.opened import Opened, Origin

HEAD_BYTES, LONGEST_HEAD, HEAD_LINES = 2**16, 2**26, 4
BLANK = b"\xef\xbb\xbf \t\r\n"
PATIENCE, MOMENT = 1.0, 0.01  # seconds that a pipe may be silent in its first lines; between two looks


def look_at(source: Any) -> tuple[Origin, Any, bytes, bool]:
    """Where it comes from, what is to be read from the beginning, its first bytes, and whether that is all."""
    origin = Origin(source)
    begin = source.tell() if origin.rereadable and not origin.independent else 0
    opened = origin.open()
    head, whole = _head(opened)
    check_encoding(head, origin.name)
    if not origin.rereadable:
        return origin, opened, head, whole
    opened.close()
    if not origin.independent:
        source.seek(begin)
    return origin, source, head, whole


def _head(opened: Opened) -> tuple[bytes, bool]:
    """The first bytes, with a few lines at least; and whether that is all. Of a pipe that is slow, what has come."""
    wanted, silent = HEAD_BYTES, 0.0
    head = opened.peek(wanted)
    while head.count(b"\n") < HEAD_LINES and wanted < LONGEST_HEAD:
        if len(head) < wanted and not opened.live:
            return head, True
        if len(head) < wanted:
            if silent >= PATIENCE:
                return head, True
            time.sleep(MOMENT)
            silent += MOMENT
        else:
            wanted *= 2
        seen, head = head, opened.peek(wanted)
        silent = 0.0 if len(head) > len(seen) else silent
    return head, len(head) < wanted and not opened.live
