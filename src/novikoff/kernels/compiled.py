"""The one decorator for compiled kernels.

Compiled code is cached on disk, releases the interpreter lock and never reorders float arithmetic (no
fastmath). Where no cache folder is writable numba refuses to cache, and we compile without.
The plain-Python twin of a kernel is its `py_func`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
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
        return cast(Function, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # "cannot cache function: no locator available"
        return cast(Function, numba.njit(nogil=True)(function))
