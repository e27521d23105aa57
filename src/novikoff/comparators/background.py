"""Background: what comparators look at in a thread of their own, while the game goes on (docs/decisions/0016)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

MOST_BEHIND = 2**26
"""Bytes of batches that may wait for the thread: enough to go on while it fits."""


class Background:
    """Calls that are made in order, in one thread."""

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None
        self._behind: deque[tuple[Future[None], int]] = deque()  # what waits, and its bytes
        self._bytes = 0

    def later(self, size: int, call: Callable[..., None], *arguments: Any) -> None:
        """Make this call soon, with arguments of so many bytes; wait, if too much waits."""
        self._thread = self._thread or ThreadPoolExecutor(1, "comparators")
        self._behind.append((self._thread.submit(call, *arguments), size))
        self._bytes += size
        while self._behind and (self._bytes > MOST_BEHIND or self._behind[0][0].done()):
            self._wait()

    def catch_up(self) -> None:
        """Wait until every call has been made."""
        while self._behind:
            self._wait()

    def _wait(self) -> None:
        """Wait for the first one."""
        made, size = self._behind[0]
        wait([made])
        self._behind.popleft()
        self._bytes -= size
        made.result()
