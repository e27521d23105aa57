"""Arrays that are lent: their memory is used again when nobody looks at them any more; and arrays of each thread.

Fresh memory is cleared by the system before it can be used: for a file of a gigabyte that takes as long as a third of
parsing it. A reader that fills array after array borrows them here instead.
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
    """Memory that comes back by itself: when the last array of a loan is gone, the next loan may have it."""

    def __init__(self) -> None:
        self._free: deque[bytearray] = deque()

    def arrays(self, *wanted: tuple[int, Any]) -> list[NDArray[Any]]:
        """Arrays of these lengths and types, not cleared; the widest types first, so that all are aligned."""
        sizes = [count * np.dtype(kind).itemsize for count, kind in wanted]
        memory = self._memory(sum(sizes))
        whole = np.frombuffer(memory, dtype=np.uint8)  # every array below keeps this one alive
        weakref.finalize(whole, self._free.append, memory).atexit = False
        arrays, start = [], 0
        for size, (_, kind) in zip(sizes, wanted, strict=True):
            arrays.append(whole[start : start + size].view(kind))
            start += size
        return arrays

    def _memory(self, size: int) -> bytearray:
        try:
            memory = self._free.popleft()
        except IndexError:  # all is lent
            memory = bytearray()
        return memory if len(memory) >= size else bytearray(size + size // 8)


class OwnArrays:
    """Arrays of each thread, used again and again; made anew by `make` where more room is asked for.

    There may be room for the worst: memory that is not touched costs nothing.
    """

    def __init__(self, make: Callable[[int], Sequence[NDArray[Any]]]) -> None:
        self._make, self._local = make, threading.local()

    def __call__(self, size: int) -> Sequence[NDArray[Any]]:
        """Those for `size` bytes of text."""
        if getattr(self._local, "size", -1) < size:
            self._local.size, self._local.arrays = size, self._make(size)
        arrays: Sequence[NDArray[Any]] = self._local.arrays
        return arrays
