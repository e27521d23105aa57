"""Compiled loops of `novikoff.experts`, imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novikoff.numerics.lazy import submodules

if TYPE_CHECKING:
    from novikoff.experts._loops import ada_hedge as ada_hedge
    from novikoff.experts._loops import advice as advice
    from novikoff.experts._loops import grouped as grouped
    from novikoff.experts._loops import sharing as sharing
    from novikoff.experts._loops import sleeping as sleeping
    from novikoff.experts._loops import specialists as specialists
    from novikoff.experts._loops import standings as standings
    from novikoff.experts._loops import weights as weights
else:
    __getattr__ = submodules(__name__)
