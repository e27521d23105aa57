"""Compiled loops of `novikoff.comparators`, imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novikoff.numerics.lazy import submodules

if TYPE_CHECKING:
    from novikoff.comparators._loops import descent as descent
    from novikoff.comparators._loops import dual as dual
    from novikoff.comparators._loops import log_losses as log_losses
    from novikoff.comparators._loops import margins as margins
    from novikoff.comparators._loops import multiclass_losses as multiclass_losses
else:
    __getattr__ = submodules(__name__)
