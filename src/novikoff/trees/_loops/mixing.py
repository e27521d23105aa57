"""Arithmetic of mixtures over prunings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import inner
from novikoff.numerics.exp import exp


@inner
def softplus(z: float) -> float:
    """Return ln(1 + e^z)."""
    return max(z, 0.0) + np.log1p(exp(-abs(z)))


@inner
def log_add(a: float, b: float) -> float:
    """Return ln(e^a + e^b)."""
    return max(a, b) + np.log1p(exp(-abs(a - b)))


@inner
def shares(z: float) -> tuple[float, float]:
    """Return 1/(1 + e^-z) and 1/(1 + e^z): neither is 1 minus the other, so the small one keeps its digits."""
    e = exp(-abs(z))
    large = 1.0 / (1.0 + e)
    small = e * large
    return (large, small) if z >= 0.0 else (small, large)


@inner
def entropy(counts: NDArray[np.int64]) -> float:
    """Return the log loss of the best constant probabilities on rounds with `counts` (k,) of each label."""
    total, lost = 0.0, 0.0
    for k in range(len(counts)):
        total += counts[k]
        lost -= counts[k] * np.log(counts[k]) if counts[k] > 0 else 0.0
    return lost + total * np.log(total) if total > 0.0 else 0.0
