"""Compiled loops of `novikoff.conformal`, imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novikoff.numerics.lazy import submodules

if TYPE_CHECKING:
    from novikoff.conformal._loops import conformal as conformal
else:
    __getattr__ = submodules(__name__)
