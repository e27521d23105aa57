"""A clock that stands still while loops are compiled, in whichever thread: that happens once, and is not the game's.

numba compiles one loop at a time, whoever asks; `compiled.py` tells when it begins and ends. To read a loop from
the cache counts, as every run does it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

LONG = 1.0
"""Seconds of compiling, all together, after which somebody may want to know."""

on_compiling: Callable[[], None] | None = None
"""Called once, in a thread of its own, when loops have been compiled for that long: set it to tell those who wait."""

_lock = threading.Lock()
_before = 0.0  # seconds, without what is compiled now
_since: float | None = None
_depth = 0  # a loop is compiled while one that calls it is
_timer: threading.Timer | None = None
_told = False


def clock() -> float:
    """Seconds from some moment on, without those in which a loop was compiled."""
    with _lock:
        return (time.perf_counter() if _since is None else _since) - _before


def compiling_begins() -> None:
    """Stop the clock."""
    global _depth, _since, _timer
    with _lock:
        _depth += 1
        if _depth > 1:
            return
        _since = time.perf_counter()
        if on_compiling is not None and not _told:
            _timer = threading.Timer(max(LONG - _before, 0.0), _tell)
            _timer.daemon = True
            _timer.start()


def compiling_ends() -> None:
    """Let the clock go on."""
    global _depth, _since, _before, _timer
    with _lock:
        _depth -= 1
        if _depth > 0 or _since is None:
            return
        _before += time.perf_counter() - _since
        _since = None
        if _timer is not None:
            _timer.cancel()
            _timer = None


def _tell() -> None:
    global _told
    with _lock:
        if _told or _since is None:
            return
        _told = True
    if on_compiling is not None:
        on_compiling()
