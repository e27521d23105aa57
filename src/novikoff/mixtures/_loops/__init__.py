"""Compiled loops of `novikoff.mixtures`, imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novikoff.numerics.lazy import submodules

if TYPE_CHECKING:
    from novikoff.mixtures._loops import discriminant as discriminant
    from novikoff.mixtures._loops import forgetting as forgetting
    from novikoff.mixtures._loops import linear_mixture as linear_mixture
    from novikoff.mixtures._loops import multiclass_linear_mixture as multiclass_linear_mixture
    from novikoff.mixtures._loops import new_labels as new_labels
    from novikoff.mixtures._loops import resting as resting
    from novikoff.mixtures._loops import stacks as stacks
    from novikoff.mixtures._loops import tops as tops
else:
    __getattr__ = submodules(__name__)
