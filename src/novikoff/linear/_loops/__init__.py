"""Compiled loops of `novikoff.linear`, imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novikoff.numerics.lazy import submodules

if TYPE_CHECKING:
    from novikoff.linear._loops import ellipsoid as ellipsoid
    from novikoff.linear._loops import metric_perceptron as metric_perceptron
    from novikoff.linear._loops import multiclass_perceptron as multiclass_perceptron
    from novikoff.linear._loops import multiclass_second_order as multiclass_second_order
    from novikoff.linear._loops import named as named
    from novikoff.linear._loops import one_vs_rest as one_vs_rest
    from novikoff.linear._loops import perceptron as perceptron
    from novikoff.linear._loops import second_order as second_order
else:
    __getattr__ = submodules(__name__)
