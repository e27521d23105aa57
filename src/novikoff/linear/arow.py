"""AROW: ridge regression on the examples with a margin below 1.

Algorithm
    b = 0, A = ridge * diag(M^2) with M the largest |x| of each feature so far (ridge * I if not `scale_free`).
    The score is x'A^-1 b; predict +1 if it is 0 or more, else -1. On a mistake, and where y times the score is below 1,
    A += x x' and b += y x.
    With `diagonal`, A is one number per feature: ridge M^2 + the sum of x^2 over the updates, and x^2 of this round.
    This is not the diagonal AROW of the literature, for which no bound is known: there, the change of the score does
    not cover the change of each weight. `bias` c adds a constant feature of value c. The full matrix covers the first
    256 features seen and ignores later ones; the diagonal has no limit.
Promise
    linear/theorems/metric_mistakes.py: for every u, M <= D - U + sqrt(u'Au * Phi), U the updates that are not mistakes.
Cost
    O(non-zeros of x) per round and O(d^2) for an update; two triangles of d^2/2 numbers. With `diagonal`, O(non-zeros)
    and four numbers per feature.
Reference
    [crammer2013].
"""

from __future__ import annotations

from novikoff.linear.metric_perceptron import MetricPerceptron


class AROW(MetricPerceptron):
    """Second-order linear classifier that learns from every example with a margin below 1.

    Args:
        ridge: Regularisation of the metric; larger values make smaller steps.
        diagonal: Whether the metric is a diagonal instead of a full matrix.
        scale_free: Whether to scale the ridge by the largest |x| of each feature.
        bias: Value of a constant feature; 0 for none.

    Guarantee:
        For every u with total hinge loss D on the stream, at most D - U + sqrt(u'Au Q) mistakes, where U counts the
        updates that are not mistakes and Q is summed over the updates (`metric_mistakes`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.AROW(), [([1.0, 0.0], -1), ([0.0, 1.0], 1), ([1.0, 0.0], -1)]).mistakes
        2
    """

    margin = 1.0

    def __init__(self, ridge: float = 1.0, diagonal: bool = False, scale_free: bool = True, bias: float = 1.0) -> None:
        super().__init__(ridge, diagonal, scale_free, bias)
