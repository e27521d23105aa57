"""Quotient of two doubles by the rules of IEEE 754.

numba checks every divisor and raises ZeroDivisionError if it is 0. The check is a branch with its own exit, which keeps
a loop from being vectorised and takes time to compile.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


@intrinsic
def _quotient(typingctx: Any, a: Any, b: Any) -> Any:
    """Return a / b."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fdiv(*arguments)

    return types.float64(types.float64, types.float64), codegen


quotient: Any = _quotient
"""a / b in compiled functions; infinite or NaN if b is 0."""
