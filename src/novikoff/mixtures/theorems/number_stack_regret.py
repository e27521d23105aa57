"""Squared loss of a stack for numbers, against the best fixed weights of its members, which are known after the run.

Theorem (upper)
    Members forecast p; m = <u0, p>, a pool; x = p - m and r = y - m. With M_j the largest |x_j| so far and
    L_t = lambda diag(M^2), S := gamma S + xx' and b := gamma b + r x after the round, the stack plays m + yhat,
    yhat = x'(L_t + gamma S + xx')^-1 gamma b. Let chi = x'(L_t + gamma S + xx')^-1 x, v = chi/(1 - chi), and
    Phi_t = b'(L_t + S)^-1 b after round t. Then for every u
        sum of (m + yhat - y)^2  <=  sum of (m + <u,x> - y)^2 + u'L_T u (1 + (1-gamma)(T-1)) + sum of r^2 chi - credit,
    credit = sum of yhat^2 v >= 0. With gamma = 1 the best u is known: the first two terms are then
    sum of r^2 - Phi_T; with gamma < 1 at least sum of r^2 - Phi_T - (1-gamma) sum over t < T of Phi_t, which is used.
    Clipped to the range of the earlier outcomes, and 0 in round 1, it loses at most the sum of e^2 more, where e is the
    distance of y from that range, in round 1 |y|. u = e_j - u0 is member j.
Assumptions
    the loss that the stack counted is that of its forecasts as recorded; the best weights are known to 1e-6 of the sum
    of r^2; its loss is that of its sums; clipping cost no more than the range (all checked); its sums are those of the
    recorded forecasts (checked by a replay, else trusted). A forecast that differs from the replay is a violation.
Proof
    m is known before y, and Vovk-Azoury-Warmuth on (x, r) assumes nothing of the outcomes. With b and S before round t,
    and phi = gamma^2 b'(L_t + gamma S)^-1 b:   Phi_t = phi - yhat^2 (1 + v) + 2 r yhat + r^2 chi, so
        (yhat - r)^2  =  r^2 + phi - Phi_t + r^2 chi - yhat^2 v,
    and phi <= gamma Phi_{t-1}, as L_t + gamma S >= gamma (L_{t-1} + S). Sum: the loss is
        sum of r^2 - Phi_T - (1-gamma) sum over t < T of Phi_t + sum of r^2 chi - credit - G,
    G = sum of gamma Phi_{t-1} - phi >= 0; this identity is checked in floats. Phi_t >= 2u'b - u'(L_t + S)u for every u;
    round s has weight gamma^(T-s) + (1-gamma) sum of gamma^(t-s) = 1 in the sum of these. A coordinate with M_j = 0 is
    left out: its x_j and b_j are 0 so far. Clipping: mixtures/theorems/linear_mixture_regression_regret.py. []
    Rounding: Phi_T is known from both sides (comparators/metric.py).
Reference
    [vovk2001]; [azoury2001].
"""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.core.certificate import Assumption, Bound, Words, outward, seen, theorem
from novikoff.mixtures.theorems.stack_regret import other
from novikoff.mixtures.theorems.top_facts import SLACK

DRIFT = 1e-6
"""Largest rounding error, relative to the sum of r^2."""


@dataclass(frozen=True, slots=True)
class NumberStackFacts:
    """State of a stack for numbers.

    Attributes:
        rounds: Rounds, from the first.
        gamma: Factor of the past in each round.
        observed: Squared loss of its clipped forecasts, recorded outside the stack.
        loss: Squared loss that the stack counted.
        unclipped: Squared loss without clipping.
        squares: Sum of r^2, the loss of the pool without clipping.
        most: Upper bound on the loss of the best weights, with their penalty.
        least: Lower bound on the same.
        chi: Sum of r^2 chi.
        credit: The credit.
        growth: G.
        range: Sum of e^2.
        replayed: Whether all of this is from a replay on recorded forecasts.
        off_at: First round in which the forecast played differs from the replay; 0 for none.
    """

    rounds: int
    gamma: float
    observed: float
    loss: float
    unclipped: float
    squares: float
    most: float
    least: float
    chi: float
    credit: float
    growth: float
    range: float
    replayed: bool = False
    off_at: int = 0


@theorem(
    "D",
    "vovk2001",
    "squared loss",
    words=Words(
        covers="a stack on forecasts of a number, compared with the best fixed weights of the forecasts",
        why=(
            "the best fixed weights of the forecasts, found after the run, lose {best_in_hindsight:up} with their "
            "penalty; learning them adds at most {learning:up}, and clipping to the outcomes seen before {range:up}"
        ),
    ),
)
def number_stack_regret(facts: NumberStackFacts) -> Bound:
    """Return the loss of the best weights + the price of learning them and of the range."""
    slack = DRIFT * facts.squares + 2.0**-900
    middle = 0.5 * (facts.most + facts.least) + facts.chi - facts.credit - facts.growth
    agreed = abs(facts.loss - facts.observed) <= SLACK * facts.observed + 2.0**-900
    agreed |= facts.off_at > 0  # then the bound is violated, not void
    needed = [
        Assumption("its sums are those of the recorded forecasts", "checked" if facts.replayed else "trusted"),
        seen("the loss that the stack counted is that of its recorded forecasts", agreed),
        seen("the best loss in hindsight is known up to rounding", facts.most - facts.least <= slack),
        seen("its loss is that of its sums (no drift by rounding)", abs(facts.unclipped - middle) <= slack),
        seen("clipping cost no more than the growth of the range",
             facts.loss <= (facts.unclipped + facts.range) * (1.0 + SLACK) + slack),
    ]  # fmt: skip
    learning = facts.chi - facts.credit
    quantities = {"best_in_hindsight": facts.most, "learning": learning, "range": facts.range, "pool": facts.squares}
    rounding = (facts.rounds + 20) * 2.0**-50 * (facts.squares + facts.range)
    value = outward(facts.most + learning + facts.range + rounding)
    trivial = facts.squares + facts.range
    return Bound(value, needed, quantities, facts.observed, trivial, broken=other(facts.off_at))
