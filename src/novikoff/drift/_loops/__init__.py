"""Compiled loops of `novikoff.drift.monitor`, imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novikoff.numerics.lazy import submodules

if TYPE_CHECKING:
    from novikoff.drift._loops import drift as drift
else:
    __getattr__ = submodules(__name__)
