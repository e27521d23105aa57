"""The one decorator for compiled kernels.

Compiled code is cached on disk, releases the interpreter lock and never reorders float arithmetic (no
fastmath). Where no cache folder is writable numba refuses to cache, and we compile without. numba compiles a kernel
anew when the file it is in has changed, but not when a kernel that it calls has: so its stamp is that of all files.
The plain-Python twin of a kernel is its `py_func`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

import numba

from novikoff import kernels

Function = TypeVar("Function", bound=Callable[..., Any])


if kernels.spare_blas and "scipy.linalg.cython_blas" not in sys.modules:
    sys.modules["scipy.linalg.cython_blas"] = None  # type: ignore[assignment] # not to be had, for a moment
    import numba.np.arraymath

    del sys.modules["scipy.linalg.cython_blas"]


def compiled(function: Function) -> Function:
    """Compile `function` at its first call."""
    try:
        kernel = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # "cannot cache function: no locator available"
        return cast(Function, numba.njit(nogil=True)(function))
    index: Any = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if hasattr(index, "_source_stamp"):  # else numba has changed, and its own stamp must do
        index._source_stamp = (index._source_stamp, stamp())
    return cast(Function, kernel)


@cache
def stamp() -> tuple[tuple[str, int, int], ...]:
    """Name, time of change and size of all files of kernels."""
    with os.scandir(os.path.dirname(__file__)) as files:
        found = [(file.name, file.stat()) for file in files if file.name.endswith(".py")]
    return tuple(sorted((name, status.st_mtime_ns, status.st_size) for name, status in found))
