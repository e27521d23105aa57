"""Pool of buffers for arrays, reused once no array refers to them, and arrays per thread.

The system clears new memory before use, which takes a third of the parsing time of a large file. Readers that fill many
arrays therefore take them from a pool.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class BufferPool:
    """Pool of buffers; a buffer returns to the pool when its last array is garbage-collected."""

    def __init__(self) -> None:
        self._free: deque[bytearray] = deque()

    def arrays(self, *wanted: tuple[int, Any]) -> list[NDArray[Any]]:
        """Return uninitialised arrays of these (length, dtype) pairs; pass the widest types first, for alignment."""
        sizes = [count * np.dtype(kind).itemsize for count, kind in wanted]
        memory = self._memory(sum(sizes))
        whole = np.frombuffer(memory, dtype=np.uint8)  # every array below keeps this view alive
        weakref.finalize(whole, self._free.append, memory).atexit = False
        arrays, start = [], 0
        for size, (_, kind) in zip(sizes, wanted, strict=True):
            arrays.append(whole[start : start + size].view(kind))
            start += size
        return arrays

    def _memory(self, size: int) -> bytearray:
        try:
            memory = self._free.popleft()
        except IndexError:  # no free buffer
            memory = bytearray()
        return memory if len(memory) >= size else bytearray(size + size // 8)


class _Local(threading.local):
    """The arrays of one thread, and the size of the text for which they were made."""

    size = -1
    arrays: Sequence[NDArray[Any]] = ()


class ThreadArrays:
    """Arrays per thread, reused between calls and reallocated when more room is needed.

    `make` may allocate for the worst case: memory that is not touched costs nothing.

    Args:
        make: Function from the size of a text in bytes to its arrays.
    """

    def __init__(self, make: Callable[[int], Sequence[NDArray[np.generic]]]) -> None:
        self._make, self._local = make, _Local()

    def __call__(self, size: int) -> Sequence[NDArray[Any]]:
        """Return this thread's arrays for `size` bytes of text."""
        if self._local.size < size:
            self._local.size, self._local.arrays = size, self._make(size)
        return self._local.arrays
