"""AROW: ridge regression on the examples that were not clear enough.

Algorithm
    b = 0, A = ridge * diag(M^2) with M the largest |x| of each feature so far (ridge * I if not `scale_free`).
    The score is x'A^-1 b; say +1 if it is 0 or more, else -1. On a mistake, and where y times the score is below 1,
    A += x x' and b += y x.
    With `diagonal`, A is a number a feature: ridge M^2 + the sum of x^2 over the updates, and x^2 of this round. That
    is not the diagonal AROW of the literature, for which no bound is known: what one feature moves is not paid for by
    what the score does. `bias` c adds a constant feature of value c. The full matrix is for the first 256 features
    seen, later ones are left out; the diagonal has no limit.
Promise
    linear/theorems/metric_mistakes.py: for every u, M <= D - U + sqrt(u'Au * Phi), U the updates that were no mistakes.
Cost
    O(non-zeros of x) per round and O(d^2) for an update; two triangles of d^2/2 numbers. With `diagonal`, O(non-zeros)
    and four numbers a feature.
Reference
    [crammer2013].
"""

from __future__ import annotations

from novikoff.linear.metric_perceptron import MetricPerceptron


class AROW(MetricPerceptron):
    """It learns from every example with a margin below 1."""

    margin = 1.0

    def __init__(self, ridge: float = 1.0, diagonal: bool = False, scale_free: bool = True, bias: float = 1.0) -> None:
        super().__init__(ridge, diagonal, scale_free, bias)
