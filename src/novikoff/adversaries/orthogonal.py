"""Orthogonal vectors: learning one label gives no information on the next.

Strategy
    Show e_1, e_2, ..., e_k in turn and label each with the opposite of the prediction; then repeat them in turn with
    the same labels. The Perceptron scores 0 on each new one and predicts +1, so all labels are -1.
Forces
    adversaries/theorems/orthogonal_forced.py: k mistakes on any deterministic learner. By Novikoff's theorem the
    Perceptron makes at most R^2/margin^2 = k: its bound is met with equality.
Witness
    u = sum y_i e_i, the k labels; vectors not shown yet are +1. It separates with R = 1 and margin 1/sqrt(k).
Cost
    O(k) time per round and O(k) memory. Zeros and ones, so the learner's sums are exact.
Reference
    [novikoff1962].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.adversaries.majority_flip import MajorityFlip
from novikoff.adversaries.theorems.orthogonal_forced import orthogonal_forced
from novikoff.core.sizes import integer
from novikoff.core.types import Distribution, Domain, Example, Theorem


class Orthogonal(MajorityFlip):
    """Adversary that labels each of k orthogonal unit vectors against the prediction, then repeats them.

    Args:
        k: Number of vectors, and of features.

    Guarantee:
        At least min(T, k) mistakes on any deterministic learner, although a linear classifier separates all rows with
        R^2/margin^2 = k (`orthogonal_forced`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.Perceptron(), nk.adversaries.Orthogonal(3), rounds=5).mistakes
        3
    """

    promises: ClassVar[tuple[Theorem, ...]] = (orthogonal_forced,)

    def __init__(self, k: int) -> None:
        super().__init__(integer(k, "k", "the number of orthogonal vectors must be a positive integer", 1))
        self.name = f"orthogonal:k={self.k}"
        self.domain = Domain("vector", self.k)

    def ask(self, probe: Callable[[Example], Distribution]) -> NDArray[np.float64]:
        x = np.zeros(self.k)
        x[super().ask(probe)] = 1.0
        return x
