"""Lazy import of the modules of a package."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType


def submodules(package: str) -> Callable[[str], ModuleType]:
    """Return a `__getattr__` for `package` that imports its modules; Python calls it once per module."""

    def find(name: str) -> ModuleType:
        full = f"{package}.{name}"
        try:
            return importlib.import_module(full)
        except ModuleNotFoundError as error:
            if error.name != full:
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    return find
