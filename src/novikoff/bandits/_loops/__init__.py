"""Compiled loops of `novikoff.bandits`, imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novikoff.numerics.lazy import submodules

if TYPE_CHECKING:
    from novikoff.bandits._loops import bandits as bandits
    from novikoff.bandits._loops import stochastic as stochastic
else:
    __getattr__ = submodules(__name__)
