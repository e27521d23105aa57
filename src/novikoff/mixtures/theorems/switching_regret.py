"""Log loss of fixed share, against every way of following one forecaster at a time and changing between them.

Theorem (upper)
    N forecasters with the prior pi play P_i. Forecaster i joins after s_i rounds, a number fixed in advance; 0 if it is
    awake from the start. In round t the forecasters A_t with s_i < t are awake; p_i = pi_i/pi(A_t) is their prior, and
    b = pi(those with s_i = t - 1)/pi(A_t) that of those that join in round t > 1. P = sum of w_i P_i over A_t, w = p in
    round 1. After round t, with v_i = w_i P_i(y)/P(y), a = 1/(t+1), p and b of round t+1,
        w_i  =  (1 - a) (1 - b) v_i + a p_i   if i was awake,    w_i  =  p_i   if it joins.
    A path names one awake forecaster for each round. Its price is ln 1/p of its first forecaster, + for every later
    round t, with i its forecaster in that round,
        ln 1/((1 - 1/t) (1 - b) + p_i/t)   if it stayed with i,
        ln (t/p_i)                         if it changed to i,    ln 1/p_i   if i joined in that round.
    For every path:  L  <=  V  =  the loss of the path + its price, and the least V is known exactly. If all play from
    the start, a path with changes after rounds s_1, .., s_m costs at most ln T + the sum of ln 1/pi over its m + 1
    forecasters + the sum of the ln s_i. For every forecaster j that joined, with L_j the loss of the mixture up to
    round s_j and that of j afterwards,
        L  <=  L_j + ln (pi(A_T)/pi_j) + ln (T/(s_j + 1)).
    The cost of labels that were not announced is known exactly, and is part of the loss on both sides.
    Losses of paths are measured in this run. A theorem about forecaster j bounds its loss over all rounds, so it may be
    inserted for a path without a change, but not for a part of a path: the loss there is a difference of two losses.
Assumptions
    the learner started untrained, its rounds and its loss are the ledger's, the forecasts of each round were recorded
    (all checked). The bound is void if every forecaster gave probability 0 to a label. A forecast that differs from the
    mixture by more than 1e-9 in ln P(y) is a violation: the tracker computes the weights itself, from the recorded
    forecasts.
Proof
    Fixed share is Bayes over paths whose forecasters form a Markov chain: p first, then, from i after round t, j with
    probability p_j if j joins; i again with (1 - a) (1 - b) + a p_i; another one awake with a p_j. These sum to
    b + (1 - a) (1 - b) + a (1 - b) = 1, and the weights above are its marginals given the labels so far. So e^-L is the
    sum over all paths of their probability times e^-loss, at least each term of it; V is -ln of a term. The least over
    paths that end with i obeys
        V_i  =  loss_i + min( V_i + price of staying, min over j of V_j + price of a change to i ).
    Without joining, b = 0: 1 - 1/t + pi/t >= 1 - 1/t, and these multiply to 1/T; a change after round s instead of
    staying costs ln (s+1)/pi - ln (s+1)/s = ln s/pi.
    For j take all paths that are with j from round s_j + 1 on: before it their sum is e^-(loss of the mixture), they
    enter j with p_j, and stay with at least (1 - 1/t) (1 - b) in round t. The first factors multiply to (s_j + 1)/T.
    The second are pi(A_t-1)/pi(A_t), so that p_j times their product is pi_j/pi(A_T). []
    Rounding: V and L are compensated sums, within 2^-50 of their size for any T; logarithms are within 2 ulp.
Reference
    [herbster1998].
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, has_comparators, outward, theorem
from novikoff.core.types import CountsRounds, Run
from novikoff.mixtures.theorems.top_facts import TopFacts, infinite, of_a_top, witness_of


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
            "loss of a forecaster had it been followed alone"
        ),
    ),
)
def switching_regret(run: Run[CountsRounds]) -> Bound | None:
    """Return V of the cheapest path; None for a learner without probabilities or without paths."""
    tracked: TopFacts = run.tracked
    if run.log_loss is None or not isinstance(tracked, TopFacts) or tracked.path is None:
        return None
    path = tracked.path
    single, price = single_path(tracked, run.rounds)
    joins = tracked.joins or [0] * len(tracked.prior)
    quantities = {
        "forecasters": len(tracked.names),
        "path_loss": path.loss,
        "price": path.value - path.loss,
        "changes": path.changes,
        "last": tracked.names[path.last],
        "single": named(tracked.names[single], joins[single]),
        "single_loss": tracked.losses[single],
        "single_price": price,
        "single_bound": outward(tracked.losses[single] + price + tracked.novelty),
        "novelty": tracked.novelty,
    }
    needed, void = of_a_top(run, run.log_loss), infinite(run.log_loss) or infinite(path.value)
    value = outward(path.value + tracked.novelty)
    return Bound(value, needed, quantities, run.log_loss, tracked.trivial, void=void, broken=tracked.replay)


def named(name: str, after: int) -> str:
    """Return the name of the path that follows the mixture until a forecaster joins, then that forecaster."""
    return f"the mixture for {after:,} rounds, then {name}," if after else name


def single_path(tracked: TopFacts, rounds: int) -> tuple[int, float]:
    """Return the forecaster whose path without a change has the least bound, and its price."""
    rounds, joins = max(rounds, 1), tracked.joins or [0] * len(tracked.prior)
    here = [j for j, after in enumerate(joins) if after < rounds]
    whole = 1.0 if len(here) == len(joins) else math.fsum(tracked.prior[j] for j in here)
    prices = {j: math.log(rounds / (joins[j] + 1)) + math.log(whole / tracked.prior[j]) for j in here}
    single = min(here, key=lambda j: tracked.losses[j] + prices[j])
    return single, prices[single]


@switching_regret.witnessed
def witness(run: Run[CountsRounds]) -> dict[str, object] | None:
    """Return the loss and the price of the cheapest path."""
    tracked: TopFacts = run.tracked
    return None if tracked.path is None else witness_of(tracked, tracked.path.loss, tracked.path.value)
