"""Compiled loops of `novikoff.kernel`, imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novikoff.numerics.lazy import submodules

if TYPE_CHECKING:
    from novikoff.kernel._loops import blocks as blocks
    from novikoff.kernel._loops import cache as cache
    from novikoff.kernel._loops import crammer_kandola_singer as crammer_kandola_singer
    from novikoff.kernel._loops import forgetron as forgetron
    from novikoff.kernel._loops import kernel_perceptron as kernel_perceptron
    from novikoff.kernel._loops import multiclass_kernel_perceptron as multiclass_kernel_perceptron
    from novikoff.kernel._loops import randomized_budget as randomized_budget
    from novikoff.kernel._loops import rows as rows
    from novikoff.kernel._loops import supports as supports
    from novikoff.kernel._loops import tighter as tighter
else:
    __getattr__ = submodules(__name__)
