"""Compiled loops of `novikoff.data`, imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novikoff.numerics.lazy import submodules

if TYPE_CHECKING:
    from novikoff.data._loops import cells as cells
    from novikoff.data._loops import entries as entries
    from novikoff.data._loops import quotes as quotes
    from novikoff.data._loops import scaling as scaling
    from novikoff.data._loops import svmlight as svmlight
    from novikoff.data._loops import vw as vw
    from novikoff.data._loops import words as words
else:
    __getattr__ = submodules(__name__)
