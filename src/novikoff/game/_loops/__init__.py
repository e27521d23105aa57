"""Compiled loops of `novikoff.game`, imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novikoff.numerics.lazy import submodules

if TYPE_CHECKING:
    from novikoff.game._loops import averaging as averaging
    from novikoff.game._loops import ranking as ranking
    from novikoff.game._loops import survivors as survivors
else:
    __getattr__ = submodules(__name__)
