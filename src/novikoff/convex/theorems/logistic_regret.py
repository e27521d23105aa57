"""Log loss of second-order logistic regression, against every u.

Lemma
    l(z) = ln(1 + e^(-yz)). For every a and every |b| <= C:  l(b) >= l(a) + l'(a)(b-a) + kappa l''(a)(b-a)^2/2 with
    kappa = tanh(C/2)/(C/2).
Theorem (upper; its two forms are equal where L = ridge I)
    Let z be the scores, g = l'(z), h = kappa P(+1) P(-1), and Q(s) = l(z) + g (s-z) + h (s-z)^2/2 the parabola by which
    the learner approximates the loss. Let A = L + sum of h x x', where L never shrinks, and b = -sum of (g - hz) x;
    before the round z0 = x'A^-1 b, v = x'A^-1 x, e = z - z0. For every u
        loss  <=  L_u + u'Lu/2 + sum of Delta + deficit_u,   Delta = (g e + g^2 v/2 - h e^2/2)/(1 + hv),
    where deficit_u is the sum of max(0, Q - l) at <u,x>: by the lemma 0 if |<u,x>| <= C in all rounds. If z is root of
    z + (v/2) tanh(z/2) = z0, Delta = (v/8)(1/(1+hv) - tanh(z/2)^2) <= ln(1 + hv)/(2 kappa): for d features that is
    (d/(2 kappa)) ln(1 + kappa T R^2/(4 d ridge)) at most, for L = ridge I and ||x|| <= R.
    Whatever z and h >= 0 are: loss <= u'Lu/2 + sum of max(l, Q)(<u,x>) + D, D = sum of (g z - h z^2/2) + b'A^-1 b/2 at
    the end. The bound uses the larger of the two. u has weights on the features of the matrix.
Assumptions
    the learner started untrained; its rounds are those of the ledger, and the comparators saw them all; its sums are
    those of the scores it played; its metric never shrank (all checked).
Proof
    Lemma: l minus a line is f(z) = ln cosh(z/2), which is even, and f'' decreases in |z|. Let b >= 0. The claim is that
    the ratio of f(b) - f(a) - f'(a)(b-a) to f''(a)(b-a)^2/2, an average of f''/f''(a) over the segment, is at least
    kappa. If |a| >= b, f'' is at least f''(a) on it. If -b < a < 0 this is so on [a,-a], and the rest starts at -a. So
    let 0 <= a < b, alpha = a/2, beta = b/2. At an interior minimum over alpha the ratio is
    1/(1 + (beta-alpha) tanh alpha);
    at alpha = 0 it is 2 ln cosh(beta)/beta^2 >= tanh(beta)/beta, as tanh is concave; at alpha = beta it is 1. To show:
    beta coth beta - 1 >= (beta-alpha) tanh alpha. The left side is convex in beta, and its tangents of slope tanh alpha
    lie above, which after substituting c, tanh alpha = (sinh c - c)/(cosh c - 1), is (c-2)^2 e^c/2 + (c+2)^2 e^-c/2 +
    c^2 - 4 >= 0: 0 at c = 0, with derivative (c/2)((c-2)e^c - (c+2)e^-c + 4) >= 0. tanh(beta)/beta falls with beta. []
    Theorem: F(w) = w'Lw/2 + sum of Q(<w,x>) has least value sum of (l(z) - g z + h z^2/2) - b'A^-1 b/2, and F(u)
    is no less: so loss <= F(u) + D, and max(l, Q) >= Q. In one round D grows by at most -min over s of ((s-z0)^2/(2v) +
    g(s-z) + h(s-z)^2/2) = Delta, as L growing raises min F. At the root, e = -(v/2) tanh(z/2) and (g - tanh(z/2)/2)^2 =
    1/4 whatever y is. [] Rounding: comparators/metric.py, with b off by u0 n (n+20) M (1 + max|z|/4) for a feature with
    n rounds.
Reference
    [jezequel2020], with virtual labels of weight 1 and 1/(1+C) in place of kappa.
"""

from __future__ import annotations

from novikoff.comparators.metric_facts import MetricFacts, log_loss_bound
from novikoff.core.certificate import Bound, has_comparators, parts, theorem
from novikoff.core.types import Run


@theorem("D", "jezequel2020", "log loss", where=has_comparators)
def logistic_regret(run: Run[MetricFacts]) -> Bound | None:
    """Return the least bound over the comparators."""
    return log_loss_bound(run, lambda u: u.parabola_bound, lambda u: {"deficit": u.parabola - u.log_loss})


@logistic_regret.witnessed
def witness(run: Run[MetricFacts]) -> dict[str, object] | None:
    """Return the parts of the least bound, and u by place, -1 for the constant feature."""
    u = min(run.tracked.comparators, key=lambda u: u.parabola_bound)
    found = parts(comparator=u.parabola, penalty=0.5 * u.square, delta=u.promised)
    return None if found is None else {**found, "weights": u.by_place()}
