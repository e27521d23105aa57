"""Limit of one BLAS thread while a fit runs.

The matrices of a fit are small: several threads would spend more time waiting for one another than computing.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def one_blas_thread(with_scipy: bool = True) -> AbstractContextManager[object]:
    """Return a context in which numpy and scipy compute with one thread.

    Args:
        with_scipy: Whether scipy.linalg, which takes a quarter of a second to import, is used inside.
    """
    limited: AbstractContextManager[Any] = _libraries(with_scipy).limit(limits=1, user_api="blas")
    return limited


@cache
def _libraries(with_scipy: bool) -> Any:
    """Return the loaded libraries, cached because searching for them takes as long as a small fit."""
    if with_scipy:
        import scipy.linalg  # noqa: F401 # loads its library, which would not be found otherwise
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
