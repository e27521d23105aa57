"""Squared loss of AdaHedge's mean, against the best of its forecasters.

Theorem (upper)
    N forecasters predict numbers, and the mean under the weights of AdaHedge on their squared losses is played. For
    every forecaster j
        L  <=  L_j + D_T + D_{T-1}  <=  L_j + 2 D_T,
    D_t the sum of the mixability gaps up to round t. No range of the outcomes is needed. L_j is the loss of j as
    recorded in this run.
Assumptions
    the learner started untrained, its rounds and its loss are the ledger's, the forecasts of each round were recorded
    (all checked). A forecast that differs from the replayed mean, or a loss above the best by more than the gaps
    explain, is a violation.
Proof
    A square is convex: the mean loses at most h_t, the mean of the losses. experts/theorems/ada_hedge_regret.py: the
    sum of h_t is at most L_j + D_T + D_{T-1}, for any losses. []
    Rounding: gaps are computed from log-weights and differences of losses, never as h - m, so none is lost where a
    weight rounds to 0; the reported price is max(D_T + D_{T-1}, L - min L_j), which is sound for whatever was played.
Reference
    [derooij2014].
"""

from __future__ import annotations

from fractions import Fraction

from novikoff.core.certificate import Bound, Words, has_comparators, outward, theorem
from novikoff.core.types import CountsRounds, Run
from novikoff.mixtures.theorems.top_facts import TopFacts, of_a_top

DRIFT, TINY = 1e-6, 2.0**-1000
"""Largest excess over the gaps that rounding may cause: relative to them, and where squares underflow."""


@theorem(
    "D",
    "derooij2014",
    "squared loss",
    where=has_comparators,
    words=Words(
        covers="a mean of forecasters of a number, compared with the best of them",
        why="its forecaster {member} lost {member_loss:up} in this run, and mixing the forecasters adds {mixture:up}",
    ),
)
def numbers_regret(run: Run[CountsRounds]) -> Bound | None:
    """Return the least loss of a forecaster + the price of AdaHedge; None for a mixture that shares."""
    tracked: TopFacts = run.tracked
    if not isinstance(tracked, TopFacts) or tracked.path is not None:
        return None
    best = tracked.losses[tracked.best]
    price, paid = 2.0 * tracked.gaps - tracked.last_gap, run.loss - best
    drift = paid > price * (1.0 + DRIFT) + DRIFT * 2.0**-30 * best + TINY
    quantities = {"member": tracked.names[tracked.best], "member_loss": best, "mixture": max(price, paid)}
    broken = tracked.replay or ("the mean lost more than the best forecaster and the gaps" if drift else "")
    value = outward(best + max(price, paid))
    return Bound(value, of_a_top(run, run.loss), quantities, run.loss, tracked.trivial, broken=broken)


@numbers_regret.witnessed
def witness(run: Run[CountsRounds]) -> dict[str, object] | None:
    """Return the loss of the best forecaster and the gaps."""
    tracked: TopFacts = run.tracked
    own = {"loss": tracked.losses[tracked.best], "gaps": tracked.gaps, "last_gap": tracked.last_gap}
    return {name: str(Fraction(value)) for name, value in own.items()}
