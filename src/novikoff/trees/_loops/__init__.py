"""Compiled loops of `novikoff.trees`, imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novikoff.numerics.lazy import submodules

if TYPE_CHECKING:
    from novikoff.trees._loops import boosting as boosting
    from novikoff.trees._loops import codes as codes
    from novikoff.trees._loops import columns as columns
    from novikoff.trees._loops import forest as forest
    from novikoff.trees._loops import number_forest as number_forest
    from novikoff.trees._loops import tree as tree
else:
    __getattr__ = submodules(__name__)
