"""Compiled loops of `novikoff.convex`, imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novikoff.numerics.lazy import submodules

if TYPE_CHECKING:
    from novikoff.convex._loops import adagrad as adagrad
    from novikoff.convex._loops import ftrl as ftrl
    from novikoff.convex._loops import many_ftrl as many_ftrl
    from novikoff.convex._loops import many_logistic as many_logistic
    from novikoff.convex._loops import online_gradient as online_gradient
else:
    __getattr__ = submodules(__name__)
