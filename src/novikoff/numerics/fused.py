"""Fused multiply-add a * b + c, rounded once: the same on every machine, and one operation instead of two."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils


def fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Generate the code of a * b + c, for doubles or vectors of doubles."""
    kind = a.type
    name = f"v{kind.count}f64" if isinstance(kind, ir.VectorType) else "f64"
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind] * 3), f"llvm.fma.{name}")
    return builder.call(function, [a, b, c])
