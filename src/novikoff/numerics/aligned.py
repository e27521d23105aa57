"""Arrays aligned to a cache line, so that no vector crosses the border of two lines.

Arrays of numpy begin at any multiple of 16 bytes; loops that read vectors of 32 bytes take up to a third longer there.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

LINE = 64
"""Bytes of a cache line."""


def aligned(shape: int | tuple[int, ...]) -> NDArray[np.float64]:
    """Return an aligned array of zeros of this shape."""
    size = 8 * (shape if isinstance(shape, int) else math.prod(shape))
    memory = np.zeros(size + LINE, dtype=np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + size].view(np.float64).reshape(shape)
