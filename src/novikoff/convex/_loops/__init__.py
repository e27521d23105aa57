"""Compiled loops of `novikoff.convex`, imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novikoff.numerics.lazy import submodules

if TYPE_CHECKING:
    from novikoff.convex._loops import adagrad as adagrad
    from novikoff.convex._loops import ftrl as ftrl
    from novikoff.convex._loops import multiclass_ftrl as multiclass_ftrl
    from novikoff.convex._loops import multiclass_logistic as multiclass_logistic
    from novikoff.convex._loops import online_gradient as online_gradient
else:
    __getattr__ = submodules(__name__)
