"""Limit of one BLAS thread while a fit runs.

The matrices of a fit are small: several threads would spend more time waiting for one another than computing.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which numpy and scipy compute with one thread."""
    limited: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limited


@cache
def _libraries() -> Any:
    """Return the loaded libraries, cached because searching for them takes as long as a small fit."""
    import scipy.linalg  # noqa: F401 # loads its library, which would not be found otherwise
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
