"""Log loss of a Bayes mixture, against the best of its forecasters.

Theorem (upper)
    N forecasters with the prior pi play P_i; P = sum of w_i P_i, w the posterior: w_i is proportional to pi_i times the
    product of the P_i(y) so far. For every forecaster j
        L  <=  L_j + ln 1/pi_j,
    and the reported bound is the least over j. The cost of labels that were not announced is known exactly, and added
    on both sides. L_j is the loss of j as recorded in this run; a theorem about j bounds it.
Assumptions
    the learner started untrained, its rounds and its loss are the ledger's, the forecasts of each round were recorded
    (all checked). The bound is void if every forecaster gave probability 0 to a label. A forecast that differs from the
    mixture by more than 1e-9 in ln P(y) is a violation: the tracker computes the weights itself, from the recorded
    forecasts.
Proof
    The product of the P(y) telescopes to the sum over j of pi_j times the product of the P_j(y), which is at least each
    of its terms; take -ln. []
    Rounding: losses and log-weights are compensated sums, so the weight of a forecaster that trails by thousands is
    exact, and none is lost by underflow.
Reference
    [vovk1998].
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, has_comparators, outward, theorem
from novikoff.core.types import CountsRounds, Run
from novikoff.mixtures.theorems.top_facts import TopFacts, infinite, of_a_top, witness_of


@theorem(
    "D",
    "vovk1998",
    "log loss",
    where=has_comparators,
    words=Words(
        covers="a mixture of forecasters with probabilities, compared with each of them",
        why="its forecaster {member} lost {member_loss:up} in this run, and mixing the forecasters adds {price:up}",
    ),
)
def mixture_regret(run: Run[CountsRounds]) -> Bound | None:
    """Return the least loss of a forecaster + ln 1/prior; None without probabilities, or for a mixture that shares."""
    tracked: TopFacts = run.tracked
    if run.log_loss is None or not isinstance(tracked, TopFacts) or tracked.path is not None:
        return None
    best = cheapest(tracked)
    price = -math.log(tracked.prior[best])
    quantities = {
        "forecasters": len(tracked.names),
        "member": tracked.names[best],
        "member_loss": tracked.losses[best],
        "price": price,
        "novelty": tracked.novelty,
    }
    value = tracked.losses[best] + price + tracked.novelty
    needed, void = of_a_top(run, run.log_loss), infinite(run.log_loss) or infinite(value)
    return Bound(outward(value), needed, quantities, run.log_loss, tracked.trivial, void=void, broken=tracked.replay)


def cheapest(tracked: TopFacts) -> int:
    """Return the forecaster with the least bound."""
    return min(range(len(tracked.prior)), key=lambda j: tracked.losses[j] - math.log(tracked.prior[j]))


@mixture_regret.witnessed
def witness(run: Run[CountsRounds]) -> dict[str, object] | None:
    """Return the loss and the price of the forecaster with the least bound."""
    tracked: TopFacts = run.tracked
    best = cheapest(tracked)
    return witness_of(tracked, tracked.losses[best], tracked.losses[best] - math.log(tracked.prior[best]))
