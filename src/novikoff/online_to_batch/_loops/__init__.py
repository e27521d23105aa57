"""Compiled loops of `novikoff.online_to_batch.finalize`, imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from novikoff.numerics.lazy import submodules

if TYPE_CHECKING:
    from novikoff.online_to_batch._loops import voting as voting
else:
    __getattr__ = submodules(__name__)
