"""Threads that parse text for a generator, and are not waited for when it is left.

A generator that is left by an error may be closed by the garbage collector, in any thread, even in one that is just
being started and holds a lock of Python's own: to wait for other threads there would be to wait for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


@contextmanager
def workers(count: int, name: str) -> Iterator[ThreadPoolExecutor]:
    """So many threads; what they have not begun when this is left, they do not begin."""
    threads = ThreadPoolExecutor(count, name)
    try:
        yield threads
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
