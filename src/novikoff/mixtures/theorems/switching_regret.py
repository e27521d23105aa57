"""Log loss of fixed share, against every way of following one forecaster at a time and changing between them.

Theorem (upper)
    N forecasters with the prior pi play P_i; P = sum of w_i P_i, w = pi in round 1, and after round t
    w = (1 - a) v + a pi, v_i = w_i P_i(y)/P(y), a = 1/(t+1). A path names one forecaster for each round. Its price is
    ln 1/pi of its first forecaster, + for every later round t, with i its forecaster in that round,
        ln 1/(1 - 1/t + pi_i/t)   if it stayed with i,
        ln (t/pi_i)               if it changed to i.
    For every path:  L  <=  V  =  the loss of the path + its price, and the least V is known exactly. A path with
    changes after rounds s_1, .., s_m costs at most ln T + the sum of ln 1/pi over its m + 1 forecasters + the sum of
    the ln s_i; the path without a change gives L <= L_j + ln 1/pi_j + ln T. The cost of labels that were not announced
    is known exactly, and added on both sides.
    Losses of paths are measured in this run. A theorem about forecaster j bounds L_j, so it may be inserted for the
    path without a change, but not for a part of a path: the loss there is a difference of two losses of j.
Assumptions
    the learner started untrained, its rounds and its loss are the ledger's, the forecasts of each round were recorded
    (all checked). The bound is void if every forecaster gave probability 0 to a label. A forecast that differs from the
    mixture by more than 1e-9 in ln P(y) is a violation: the tracker computes the weights itself, from the recorded
    forecasts.
Proof
    Fixed share is Bayes over paths whose forecasters form a Markov chain: pi first, then, after round t, i again with
    probability 1 - a + a pi_i and j with a pi_j. So e^-L is the sum over all paths of their probability times e^-loss,
    at least each term of it; V is -ln of a term. The least over paths that end with i obeys
        V_i  =  loss_i + min( V_i + price of staying, min over j of V_j + price of a change to i ).
    1 - 1/t + pi/t >= 1 - 1/t, and these multiply to 1/T; a change after round s instead of staying costs
    ln (s+1)/pi - ln (s+1)/s = ln s/pi. []
    Rounding: V and L are compensated sums, within 2^-50 of their size for any T; logarithms are within 2 ulp.
Reference
    [herbster1998].
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, has_comparators, outward, theorem
from novikoff.core.types import CountsRounds, Run
from novikoff.mixtures.theorems.top_facts import TopFacts, infinite, of_a_top


@theorem(
    "D",
    "herbster1998",
    "log loss",
    where=has_comparators,
    words=Words(
        covers="every way of following one of its forecasters at a time and changing between them",
        why=(
            "for every way of following one of the {forecasters} forecasters at a time and changing between them, the "
            "loss is at most the measured loss of that way plus its price; the cheapest lost {path_loss:up} at a price "
            "of {price:up} (changes: {changes}, not a count of drifts). Without a change, {single} lost "
            "{single_loss:up}, and the price is {single_price:up}. This says nothing about rows to come, nor about the "
            "loss of {single} had it been followed alone"
        ),
    ),
)
def switching_regret(run: Run[CountsRounds]) -> Bound | None:
    """Return V of the cheapest path; None for a learner without probabilities or without paths."""
    tracked: TopFacts = run.tracked
    if run.log_loss is None or not isinstance(tracked, TopFacts) or tracked.path is None:
        return None
    path, rounds = tracked.path, max(run.rounds, 1)
    prices = [math.log(rounds) - math.log(weight) for weight in tracked.prior]
    single = min(range(len(prices)), key=lambda j: tracked.losses[j] + prices[j])
    quantities = {
        "forecasters": len(tracked.names),
        "path_loss": path.loss,
        "price": path.value - path.loss,
        "changes": path.changes,
        "last": tracked.names[path.last],
        "single": tracked.names[single],
        "single_loss": tracked.losses[single],
        "single_price": prices[single],
        "single_bound": outward(tracked.losses[single] + prices[single] + tracked.novelty),
        "novelty": tracked.novelty,
    }
    needed, void = of_a_top(run, run.log_loss), infinite(run.log_loss) or infinite(path.value)
    value = outward(path.value + tracked.novelty)
    return Bound(value, needed, quantities, run.log_loss, tracked.trivial, void=void, broken=tracked.replay)
