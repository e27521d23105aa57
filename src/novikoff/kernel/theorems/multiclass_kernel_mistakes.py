"""Mistakes of the multiclass kernel Perceptron, against the hinge loss of functions in the kernel's space.

Theorem (upper; tight on e_1 .. e_n, all labelled 1 of two, with the linear kernel)
    For every F, a function F_j = sum of beta_ij K(z_i, .) for each label, with D = sum over ALL rounds of
    max(0, 1 - F_y(x) + max over the other labels j of F_j(x)), R^2 the largest K(x,x), ||F||^2 the sum of the
    ||F_j||^2 and a = sqrt 2 R ||F||:
        M  <=  D + a^2/2 + a sqrt(D + a^2/4),
    the largest M with M <= D + a sqrt M. The reported bound is the smallest over the F tracked and F = 0, as an
    integer. If labels are not announced, the other labels in D are those observed so far, and S is added, as in
    linear/theorems/multiclass_mistakes.py.
Assumptions
    K is an inner product; the learner began with an empty list; its mistakes, had labels been announced, are those of
    its scores; each mistake added K(x,.) to f_y and subtracted it from f_p, p being the prediction, and nothing else
    changed the f_j; the comparators were evaluated on all its rounds with its K; x is finite (all checked).
Proof
    That of linear/theorems/multiclass_mistakes.py in the feature space of K: a mistake adds F_y(x) - F_p(x) >= 1 -
    loss to the sum of <F_j, f_j>, so M - D <= ||F|| ||f||; and as f_p(x) >= f_y(x) on a mistake, ||f||^2 grows by
    2(f_y(x) - f_p(x)) + 2K(x,x) <= 2R^2. With floats f_y(x) - f_p(x) <= 2M e R^2, with e as in
    kernel/theorems/kernel_facts.py, because the coefficients of each f_j sum to at most M in absolute value. So
    ||f||^2 <= 2R^2 M (1 + 2M e). []
Reference
    [crammer2003]; [fink2006]; [freund1999].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.core.certificate import Bound, Words, has_comparators, seen, theorem
from novikoff.core.types import Run
from novikoff.kernel.theorems.kernel_facts import KernelFacts, assumptions, growth2, why_void
from novikoff.linear.theorems.perceptron_facts import explained
from novikoff.linear.theorems.perceptron_hinge import largest_count


@dataclass(frozen=True, slots=True)
class MulticlassKernelFacts(KernelFacts):
    """State of a multiclass kernel learner that the theorem needs.

    Attributes:
        labels: Number of known labels.
        new: Rounds with a label observed for the first time that would have been predicted had it been known.
    """

    labels: int = 0
    new: int = 0


@theorem(
    "D",
    "fink2006",
    where=has_comparators,
    words=Words(
        covers="the multiclass kernel Perceptron on any rows",
        why=(
            "kernel functions for the {labels} labels, of joint norm {norm:up}, have a total hinge loss of {hinge:up} "
            "on these rows, and no row is longer than {R:up} in the kernel's feature space; labels seen for the first "
            "time add {new}"
        ),
    ),
)
def multiclass_kernel_mistakes(run: Run[MulticlassKernelFacts]) -> Bound:
    """Return the smallest root over the comparators, exactly."""
    after, tracked = run.after, run.tracked
    inserted = after.updates - run.before.updates
    claim = "each mistake added K(x, .) to the label and subtracted it from the prediction, and nothing else changed"
    needed = [
        *assumptions(run),
        seen("it changed only on the mistakes of its scores", inserted == tracked.mistakes),
        seen("its total agrees with the ledger's", inserted + after.new == run.mistakes),
        seen("no example was ever removed from its support set", after.evictions == 0),
        explained(tracked, claim),
    ]
    if reason := why_void(run, needed):
        return Bound(None, needed, void=reason)
    square = 2 * growth2(run, inserted) * tracked.square
    bounds = [largest_count(F.hinge, square * F.square) for F in tracked.comparators]
    bound = min(bounds)
    best = tracked.comparators[bounds.index(bound)]
    quantities = {"hinge": float(best.hinge), "norm": math.sqrt(best.square), "R": math.sqrt(tracked.square),
                  "labels": after.labels, "new": after.new, "fitted": tracked.fitted}  # fmt: skip
    return Bound(min(bound + after.new, run.rounds), needed, quantities)
