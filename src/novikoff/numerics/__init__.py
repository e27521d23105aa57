"""Numerical building blocks of compiled loops: compiler, sums, dot products, exponentials, coins.

Each module is imported at its first use, as in `numerics.lanes.dense`, and numba with the first that needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from novikoff.numerics.lazy import submodules

spare_foreign = False
"""Whether numba skips scipy's BLAS, which takes 0.2 s to find, and cffi; set it before the first loop is imported.
No loop here needs them, but a user's numba functions might, so only the command line, in its own process, sets it.
"""

if TYPE_CHECKING:
    from novikoff.numerics import aligned as aligned
    from novikoff.numerics import checks as checks
    from novikoff.numerics import clock as clock
    from novikoff.numerics import coins as coins
    from novikoff.numerics import compiled as compiled
    from novikoff.numerics import decimals as decimals
    from novikoff.numerics import exp as exp
    from novikoff.numerics import fourier as fourier
    from novikoff.numerics import fused as fused
    from novikoff.numerics import lanes as lanes
    from novikoff.numerics import logits as logits
    from novikoff.numerics import nonzeros as nonzeros
    from novikoff.numerics import records as records
    from novikoff.numerics import repeats as repeats
    from novikoff.numerics import simplex as simplex
    from novikoff.numerics import softmax as softmax
    from novikoff.numerics import splitmix as splitmix
    from novikoff.numerics import totals as totals
else:
    __getattr__ = submodules(__name__)
