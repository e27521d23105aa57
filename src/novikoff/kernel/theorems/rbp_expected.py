"""Expected mistakes of the Randomized Budget Perceptron against the hinge loss of any function in the kernel's space.

Theorem (upper, in expectation over the coins)
    The learner keeps a list L of at most B examples, w = sum over L of y_k K(x_k, .). It predicts the sign of w(x). On
    a mistake, if |L| = B, an example drawn uniformly from L is removed; then (x, y) is appended. Let the stream be
    fixed in advance, R^2 its largest K(x,x). For every u in the kernel's space with hinge loss D (over ALL rounds), and
    rho = R ||u|| / sqrt B < 1:
        (1)  E[M]  <=  (D + rho B/4) / (1 - rho).
    If an example was removed (which then happens for all coins), with b = 2 D + rho^2 B/2, c = D^2 + rho^2 B^2/2:
        (2)  E[M]  <=  (b + sqrt(b^2 - 4 (1 - rho^2) c)) / (2 (1 - rho^2)),
    and E[M] <= D if the radicand is negative. The reported bound is (2), the smallest over the u tracked; an
    expectation is never rounded to an integer. At the same u, `simpler` is (1), and `notes` the bound of the
    literature, with a = R ||u|| and sqrt B = (1 + eps) a:
        (1 + 2/eps) (D + (1+eps)^2 a^3 + 2 (1+eps) a^2 max(0, ln(a + a/eps))).
    Without the max it is false for small a.
Assumptions
    the stream does not depend on the coins (refuted against an adversary: there u may not be chosen in hindsight, and
    the certificate is void); an example was removed (else kernel/theorems/rbp_no_eviction.py is stronger); K is an
    inner product (checked; trusted for a user-defined function); the list was empty at first and changed on mistakes
    only (checked); the comparators were evaluated on all its rounds (checked); x is finite (checked).
Proof
    Let R = 1, a = ||u||. No coin is used up to mistake B, so either mistake B + 1 is made for all coins or for none; if
    for none, the learner is the Perceptron and M <= D + a sqrt M <= D + rho (M + B/4), which is (1).
    Otherwise n = E[M] - B examples are removed in expectation. Let w be the function before such a mistake, Q the
    removed example, with its sign: E[Q | past] = w/B. As y w(x) <= 0 and all norms are at most 1,
        E[ ||w - Q + y x||^2 | past ]  <=  ||w||^2 - 2 ||w||^2/B + 2,
    because the terms with both y x and w are 2 y w(x) (1 - 1/B) <= 0. When the list became full ||w||^2 <= B. So with S
    the expected sum of ||w||^2 over the mistakes at which an example is removed, and F = E ||w_end||^2,
        (3)  F + (2/B) S  <=  B + 2 n.
    Every mistake adds y u(x) >= 1 - loss to <u,w>, and a removal subtracts <u,Q> from it, so
    M <= D + <u,w_end> + sum of <u,Q>. Take expectations, and apply Cauchy-Schwarz twice:
        E[M]  <=  D + a sqrt F + (a/B) sqrt(n S)  <=  D + a sqrt(F + 2S/B) sqrt(1 + n/(2B))
              <=  D + rho sqrt((n + B/2)(n + 2B)),
    by (3). With n = E[M] - B this is E[M] <= D + rho sqrt((E[M] + B)(E[M] - B/2)): squared and solved, it is (2), whose
    value is at least D. By the inequality of arithmetic and geometric means the root is at most E[M] + B/4, so (1) is
    never smaller. []
    Other R: x and u become x/R and R u. In floats y w(x) <= B e R^2 on a mistake, so that R^2 grows by lambda^2
    (kernel/theorems/kernel_facts.py). Over several passes the stream is that of all of them.
    (1) needs a < sqrt B, and no learner with B examples can do much better: adversaries/theorems/budget_forced.py.
Reference
    [cavallanti2007], [cesabianchi2006b] for the learner and the bound of the literature.
"""

from __future__ import annotations

import math
from fractions import Fraction

from novikoff.comparators.rounding import root
from novikoff.core.certificate import Bound, Words, fixed_in_advance, has_comparators, outward, theorem
from novikoff.core.types import Run
from novikoff.kernel.theorems.kernel_facts import KernelFacts, assumptions, growth2, on_mistakes, why_void
from novikoff.linear.theorems.perceptron_facts import near, quantities


@theorem(
    "E",
    "cavallanti2007",
    where=has_comparators,
    words=Words(
        covers="a budget from which random examples are removed",
        why="a kernel classifier of norm {norm:up} has a total hinge loss of {hinge:up}, with a budget of {budget}",
    ),
)
def rbp_expected(run: Run[KernelFacts]) -> Bound | None:
    """Return the smallest bound on E[M] over the comparators; None if no example was removed."""
    budget = run.after.budget
    if budget is None or not run.after.evictions:
        return None
    needed = [fixed_in_advance(run), *assumptions(run), on_mistakes(run)]
    if reason := why_void(run, needed):
        return Bound(None, needed, void=reason)
    square = growth2(run, budget) * run.tracked.square
    best = min(run.tracked.comparators, key=lambda u: roughly(near(u.hinge), near(square * u.square), budget))
    a2 = square * best.square
    return Bound(
        outward(float(once_full(best.hinge, a2, budget))),
        needed,
        {
            **quantities(run.tracked, best),
            "budget": budget,
            "evictions": run.after.evictions,
            "rho": math.sqrt(a2 / budget),
            "simpler": outward(float(simpler(best.hinge, a2, budget))),
            "notes": notes(float(best.hinge), math.sqrt(a2), budget),
        },
    )


def simpler(hinge: Fraction, a2: Fraction, budget: int) -> Fraction:
    """Return (D + rho B/4) / (1 - rho), rounded up; a^2 must be below B."""
    rho = root(a2 / budget)
    return (hinge + rho * budget / 4) / (1 - rho)


def once_full(hinge: Fraction, a2: Fraction, budget: int) -> Fraction:
    """Return the larger solution of E = D + rho sqrt((E + B)(E - B/2)), rounded up."""
    rho2 = a2 / budget
    b, c = 2 * hinge + rho2 * budget / 2, hinge**2 + rho2 * budget**2 / 2
    radicand = b * b - 4 * (1 - rho2) * c
    return hinge if radicand < 0 else (b + root(radicand)) / (2 * (1 - rho2))


def roughly(hinge: float, a2: float, budget: int) -> float:
    """Return (2) in floats, to choose a comparator; infinite if a^2 is not clearly below B, or the loss is huge."""
    rho2 = a2 / budget
    if not (rho2 < 1.0 - 1e-9 and hinge < 1e150):
        return math.inf
    b, c = 2.0 * hinge + rho2 * budget / 2.0, hinge * hinge + rho2 * budget**2 / 2.0
    radicand = b * b - 4.0 * (1.0 - rho2) * c
    return hinge if radicand < 0.0 else (b + math.sqrt(radicand)) / (2.0 * (1.0 - rho2))


def notes(hinge: float, a: float, budget: int) -> float:
    """Return the bound of the literature with its logarithm at least 0; for a = 0 its limit."""
    if a == 0.0:
        return hinge
    eps = math.sqrt(budget) / a - 1.0
    if eps <= 0.0:
        return math.inf
    logarithm = max(0.0, math.log(a + a / eps))
    return (1.0 + 2.0 / eps) * (hinge + (1.0 + eps) ** 2 * a**3 + 2.0 * (1.0 + eps) * a**2 * logarithm)
