"""Second-order Perceptron: a Perceptron in the metric of the mistakes it has made.

Algorithm
    b = 0, A = ridge * diag(M^2) with M the largest |x| of each feature so far (ridge * I if not `scale_free`).
    The score is x'A^-1 b; predict +1 if it is 0 or more, else -1. On a mistake, A += x x' and b += y x. The score has
    the sign of x'(A + x x')^-1 b, the score of the literature, which is smaller by the factor 1 + x'A^-1 x.
    With `diagonal`, A is one number per feature: ridge M^2 + the sum of x^2 over the mistakes.
    `bias` c adds a constant feature of value c. The full matrix covers the first 256 features seen and ignores later
    ones; the diagonal has no limit.
Promise
    linear/theorems/metric_mistakes.py: for every u, M <= D + sqrt(u'Au * sum over mistakes of x'A^-1 x).
Cost
    O(non-zeros of x) per round and O(d^2) per mistake; two triangles of d^2/2 numbers. With `diagonal`, O(non-zeros)
    and four numbers per feature.
Reference
    [cesabianchi2005].
"""

from __future__ import annotations

from novikoff.linear.metric_perceptron import MetricPerceptron


class SecondOrderPerceptron(MetricPerceptron):
    """Perceptron in the metric of its mistakes, so that correlated features cost less.

    Args:
        ridge: Regularisation of the metric; larger values make smaller steps.
        diagonal: Whether the metric is a diagonal instead of a full matrix.
        scale_free: Whether to scale the ridge by the largest |x| of each feature.
        bias: Value of a constant feature; 0 for none.

    Guarantee:
        For every u with total hinge loss D on the stream, at most D + sqrt(u'Au Q) mistakes, where Q is the sum of
        x'A^-1 x over the mistakes (`metric_mistakes`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.SecondOrderPerceptron(), [([1.0, 0.0], -1), ([0.0, 1.0], 1), ([1.0, 0.0], -1)]).mistakes
        2
    """

    conservative = True
    margin = 0.0

    def __init__(self, ridge: float = 1.0, diagonal: bool = False, scale_free: bool = True, bias: float = 1.0) -> None:
        super().__init__(ridge, diagonal, scale_free, bias)
