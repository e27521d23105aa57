"""Facts, assumptions and rounding errors that the theorems of the kernel learners share.

The run in floats
    Let R^2 be the largest K(x,x), k the error of one computed K(z,x) in units of R^2, u = 2^-53. A score is a sum of
    J products whose coefficients sum to at most C in absolute value. It is computed with an error of at most
        C e R^2,    e = k + g (1 + k),    g = (J + 4) u / (1 - (J + 4) u),
    in any order of summation, including the rounding of a product and of its coefficient. So y f(x) <= C e R^2 on a
    mistake, where the theorems have y f(x) <= 0. Nothing else is rounded: the coefficients are integers, and f is
    computed from the examples in the list, not accumulated in an array.
    The kernel Perceptron: after M mistakes (J and C at most M) ||f||^2 <= R^2 M (1 + 2 M e), by induction, as a mistake
    adds 2 y f(x) + K(x,x). So its theorems hold with R^2 lambda^2 in place of R^2, lambda^2 = 1 + 2 M e.
    With at most B examples in the list, J and C are at most B, and lambda^2 = 1 + 2 B e.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.comparators.rows import chosen
from novikoff.comparators.tally import Comparator, PenalizedComparator
from novikoff.core.certificate import Assumption, refutations, seen
from novikoff.core.types import Run
from novikoff.kernel.comparators.tracker import KernelComparatorFacts
from novikoff.kernel.kernels import Kernel
from novikoff.linear.theorems.perceptron_facts import explained

UNIT = Fraction(1, 2**53)


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """State of a kernel learner that the theorems need.

    The sums of the Forgetron are as computed, in units in which its R^2 is 1 (those of K / radius2).

    Attributes:
        rounds: Rounds so far.
        updates: Insertions so far; nothing else changes the learner.
        supports: Examples in the list, counted with repetitions.
        evictions: Examples removed from the list.
        budget: Largest number of examples; None for no limit.
        similarity: The kernel K.
        empty: Whether the list is empty.
        features: Further facts on how an x is read.
        radius2: Forgetron: R^2, fixed in advance.
        S1: Forgetron: sum over mistakes of (1 - phi) ||f'||.
        S2: Forgetron: sum over mistakes of (1 - phi^2) ||f'||^2.
        P: Forgetron: sum over removals of lambda^2 K(r,r) - 2 lambda mu.
        Lam: Forgetron: sum over removals of lambda.
        Q: Forgetron: P + 2 Lam.
        largest: Forgetron: largest K(x,x) of a mistake, in units of K.
        tuned: Forgetron: whether phi is self-tuned when an example is removed; else the basic formula.
        margin: CKS: an example is inserted when y f(x) <= margin.
        distilled: CKS: whether, after every insertion, examples with a larger margin under the others are removed.
    """

    rounds: int
    updates: int
    supports: int
    evictions: int
    budget: int | None
    similarity: Kernel
    empty: bool
    features: str = ""
    radius2: float = 1.0
    S1: float = 0.0
    S2: float = 0.0
    P: float = 0.0
    Lam: float = 0.0
    Q: float = 0.0
    largest: float = 0.0
    tuned: bool = True
    margin: float = 0.0
    distilled: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.similarity, Mapping):  # as a model file holds it
            object.__setattr__(self, "similarity", Kernel.restore(dict(self.similarity)))


def score_error(run: Run[KernelFacts], count: int) -> Fraction:
    """Return the e of a list of `count` examples, in units of R^2."""
    tracked: KernelComparatorFacts = run.tracked
    unit = (count + 4) * UNIT
    return tracked.error + unit / (1 - unit) * (1 + tracked.error)


def growth2(run: Run[KernelFacts], count: int) -> Fraction:
    """Return the lambda^2 of a list that never had more than `count` examples."""
    return 1 + 2 * count * score_error(run, count)


def assumptions(run: Run[KernelFacts]) -> list[Assumption]:
    """Return the assumptions of every theorem, checked on this run."""
    tracked: KernelComparatorFacts = run.tracked
    before, after = run.before, run.after
    whole_game = tracked.rows == run.rounds == after.rounds - before.rounds
    custom = after.similarity.kind == "own"
    product = (
        "K is an inner product, at least as accurate as a sum over the features" if custom else "K is an inner product"
    )
    return [
        Assumption(
            "every x is finite, with a K(x,x) that does not overflow",
            "refuted" if tracked.invalid_reason else "checked",
        ),
        Assumption(product, "trusted" if custom else "checked"),
        seen("the comparators use the learner's K", tracked.similarity == after.similarity == before.similarity),
        seen("the comparators were evaluated on every round it learned from", whole_game),
        seen("its list was empty when the game started", before.empty),
    ]


def on_mistakes(run: Run[KernelFacts]) -> Assumption:
    """Return the assumption that examples were inserted exactly on the mistakes."""
    inserted = run.after.updates - run.before.updates
    return seen("it changed only on its mistakes", inserted == run.mistakes == run.tracked.mistakes)


def needed_of_a_perceptron(run: Run[KernelFacts]) -> list[Assumption]:
    """Return the assumptions of the kernel Perceptron: nothing was removed, and only mistakes changed the list."""
    claim = "each mistake added y K(x, .) to its function, and nothing else changed it"
    return [
        *assumptions(run),
        on_mistakes(run),
        seen("no example was ever removed from its support set", run.after.evictions == 0),
        explained(run.tracked, claim),
    ]


def why_void(run: Run[KernelFacts], needed: Sequence[Assumption], also: str = "") -> str:
    """Return why a theorem does not apply to this run; "" if it applies.

    Args:
        run: The run.
        needed: Assumptions of the theorem.
        also: Further reason of the theorem; "" if there is none.
    """
    reason: str = run.tracked.invalid_reason or refutations(needed) or also
    warm = reason and not run.before.empty and not run.tracked.invalid_reason
    return f"warm start: {reason}" if warm else reason


def witness_of(
    run: Run[KernelFacts],
    comparators: Sequence[Comparator | PenalizedComparator],
    bound: Callable[[Any], int],
    loss: str,
) -> dict[str, object] | None:
    """Return the function of least bound among those whose coefficients are known, for a proof file.

    Args:
        run: The run.
        comparators: Comparators to choose from.
        bound: Bound of a comparator.
        loss: Attribute of its sum of losses; "" if it must have no hinge loss.
    """
    tracked: KernelComparatorFacts = run.tracked
    if tracked.functions is None:
        return None
    points, betas = tracked.functions
    known = [u for u in comparators if 0 < u.direction <= len(betas)]
    u = min(known, key=bound, default=None)
    if u is None:
        return None
    beta = betas[u.direction - 1]
    kappa = {"kappa": u.kappa} if isinstance(u, PenalizedComparator) else {}
    exact = {"scale": Fraction(u.scale), "square": u.square, "longest": tracked.square,
             "loss": getattr(u, loss) if loss else Fraction(0), **kappa}  # fmt: skip
    return {
        "centers": chosen(points, np.flatnonzero(beta)),
        "betas": [float(one).hex() for one in beta[beta != 0.0]],
        "nonzeros": tracked.nonzeros,
        "bound": bound(u),
        **{name: str(value) for name, value in exact.items()},
    }
