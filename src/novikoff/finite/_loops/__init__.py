"""Compiled loops of `novikoff.finite`, imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novikoff.numerics.lazy import submodules

if TYPE_CHECKING:
    from novikoff.finite._loops import linear as linear
    from novikoff.finite._loops import programs as programs
    from novikoff.finite._loops import threshold_halving as threshold_halving
else:
    __getattr__ = submodules(__name__)
