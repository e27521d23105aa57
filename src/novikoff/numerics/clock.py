"""Clock that stops while a loop is compiled in any thread, because compiling happens once and is not part of a game.

numba compiles one loop at a time; `compiled.py` reports when it begins and ends. The time of loading a loop from the
cache counts, because every run spends it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

LONG = 1.0
"""Total seconds of compiling after which `on_compiling` is called."""

on_compiling: Callable[[], None] | None = None
"""Callback that is called once, in a separate thread, when loops have been compiled for `LONG` seconds."""

before_compiling: list[Callable[[], None]] = []
"""Callbacks that are called once, each when the next loop is compiled into a cache."""

_lock = threading.Lock()
_before = 0.0  # seconds of finished compilations
_since: float | None = None  # when the present compilation began
_depth = 0  # compilations nest: one of a loop contains those of the loops it calls
_timer: threading.Timer | None = None
_notified = False


def clock() -> float:
    """Return seconds since an arbitrary moment, without those spent compiling."""
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
        if on_compiling is not None and not _notified:
            _timer = threading.Timer(max(LONG - _before, 0.0), _notify)
            _timer.daemon = True
            _timer.start()


def compiling_ends() -> None:
    """Resume the clock."""
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


def call_before_compiling() -> None:
    """Call and remove the callbacks of `before_compiling`."""
    while before_compiling:
        before_compiling.pop(0)()


def _notify() -> None:
    global _notified
    with _lock:
        if _notified or _since is None:
            return
        _notified = True
    if on_compiling is not None:
        on_compiling()
