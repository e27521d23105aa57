"""The second-order Perceptron: a Perceptron in the metric of the mistakes it has made.

Algorithm
    b = 0, A = ridge * diag(M^2) with M the largest |x| of each feature so far (ridge * I if not `scale_free`).
    The score is x'A^-1 b; say +1 if it is 0 or more, else -1. On a mistake, A += x x' and b += y x. It has the sign of
    x'(A + x x')^-1 b, the score of the literature, which is smaller by the factor 1 + x'A^-1 x.
    With `diagonal`, A is a number a feature: ridge M^2 + the sum of x^2 over the mistakes.
    `bias` c adds a constant feature of value c. The full matrix is for the first 256 features seen, later ones are left
    out; the diagonal has no limit.
Promise
    linear/theorems/metric_mistakes.py: for every u, M <= D + sqrt(u'Au * sum over mistakes of x'A^-1 x).
Cost
    O(non-zeros of x) per round and O(d^2) for a mistake; two triangles of d^2/2 numbers. With `diagonal`, O(non-zeros)
    and four numbers a feature.
Reference
    [cesabianchi2005].
"""

from __future__ import annotations

from novikoff.linear.metric_perceptron import MetricPerceptron


class SecondOrderPerceptron(MetricPerceptron):
    """It learns from mistakes."""

    conservative = True
    margin = 0.0

    def __init__(self, ridge: float = 1.0, diagonal: bool = False, scale_free: bool = True, bias: float = 1.0) -> None:
        super().__init__(ridge, diagonal, scale_free, bias)
