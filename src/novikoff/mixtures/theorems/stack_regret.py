"""Log loss of a stack for labels, against fixed weights of its members.

Theorem (upper)
    In round t the stack plays scores z = F'w, with the loss l_t, gradient g = F(P - e_y) and some H >= 0;
    Q_t(u) = l_t + <g, u-w> + (u-w)'H(u-w)/2. Let F_0(u) = (u-c)'L(u-c)/2 and
        F_t  =  gamma F_{t-1} + R_t + Q_t,       w_t = argmin of F_t without Q_t,
    where R_t >= 0 restores what forgetting took from the ridge: (1 - gamma) F_0; for two labels
    d (1 - gamma) lambda (u-c)_i^2 / 2, with the coordinates i in turn. For every u, with l_t(u) the loss of F'u:
        L  <=  sum of max(l_t, Q_t)(u) + gamma F_0(u) + sum of R_t(u) + sum of Delta_t,
        Delta_t = g'A_t^-1 g/2,  A_t the Hessian of F_t;  two labels, a score z other than z0 = x'w played, v = x'A^-1 x
        before the round, e = z - z0:  Delta = (g e + g^2 v/2 - h e^2/2)/(1 + h v).
    The sum of max(l, Q) is the loss of u plus its deficit, which contains the stack's own loss. Row j of F has the
    clipped forecast of member j: log-odds to -8 .. 8; ln P from below at -8, then centred over the known labels. So
    u = e_j is the clipped member j, whose loss is at most that of j + ln(1 + (k-1)e^-8) per round.
    The reported bound is the least over the members and the pool u = c, whose sums are computed from the first round
    on; any other weights would need a second pass over the rounds.
Assumptions
    the loss that the stack counted is that of its forecasts as recorded, its sums agree with its steps (checked); the
    losses of the fixed weights are those of the recorded forecasts (checked by a replay, else trusted). A forecast that
    differs from the replay by more than 1e-9 is a violation.
Proof
    Around the argmin of what precedes Q_t, F_t(u) - Q_t(u) = min + (u-w)'(A - H)(u-w)/2, so
    min F_t = min(F_t - Q_t) + l_t - Delta_t; for two labels, minimising over s = x'u,
    -Delta = min of (s-z0)^2/(2v) + g(s-z) + h(s-z)^2/2. And min(F_t - Q_t) >= gamma min F_{t-1}, as R_t >= 0. Sum:
        L  <=  min F_T + (1 - gamma) sum over t < T of min F_t + sum of Delta_t,
    and min F_t <= F_t(u). On the right side Q_s(u) and R_s(u) have the weight
    gamma^(T-s) + (1-gamma) sum over s <= t < T of gamma^(t-s) = 1, and F_0(u) has gamma. []
    The sum of Delta may be replaced by D* = sum of (g(z-o) - h(z-o)^2/2) + b'A^-1 b/2 + (1-gamma)/2 times the sum of
    b'A^-1 b after earlier rounds, o = F'c: for EVERY sequence of scores, however computed, L - D* is the right side
    without Delta, minimised. It is at most the sum of Delta, and equal to it for gamma = 1. The larger of both is used.
    L appears on both sides of this identity: it checks the steps, not the loss.
Reference
    [jezequel2020].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.core.certificate import Assumption, Bound, Words, outward, seen, theorem
from novikoff.mixtures.theorems.top_facts import SLACK

DRIFT = 1e-6
"""Largest excess of D* over the sum of Delta, relative to 1 + that sum."""


def other(off_at: int) -> str:
    """Return why a stack was not played as its replay; "" if it was."""
    return f"the forecast played in round {off_at:,} is not that of the stack" if off_at else ""


@dataclass(frozen=True, slots=True)
class StackFacts:
    """State of a stack for labels.

    Attributes:
        rounds: Rounds, from the first.
        names: Names of the fixed weights: each member alone and, last, the pool.
        gamma: Factor of the past in each round.
        observed: Log loss of its forecasts, recorded outside the stack.
        loss: Log loss that the stack counted.
        losses: Log loss of each of the fixed weights.
        over: Sum of max(l, Q) of each.
        penalties: Penalty of each.
        delta: Sum of Delta.
        dual: Upper bound on D*.
        least: Lower bound on D*.
        labels: Number of labels.
        replayed: Whether all of this is from a replay on recorded forecasts.
        off_at: First round in which the forecast played differs from the replay; 0 for none.
    """

    rounds: int
    names: list[str]
    gamma: float
    observed: float
    loss: float
    losses: list[float]
    over: list[float]
    penalties: list[float]
    delta: float
    dual: float
    least: float
    labels: int
    replayed: bool = False
    off_at: int = 0


@theorem(
    "D",
    "jezequel2020",
    "log loss",
    words=Words(
        covers="a stack on forecasts, compared with fixed weights of the clipped forecasts",
        why=(
            "{member}, as fixed weights on the clipped forecasts, lost {member_loss:up}; their penalty is "
            "{penalty:up}, learning adds at most {delta:up}, and the deficit {deficit:up}, which contains the stack's "
            "own loss"
        ),
    ),
)
def stack_regret(facts: StackFacts) -> Bound:
    """Return the least bound over the members alone and the pool."""
    learned = max(facts.delta, facts.dual)
    best = min(range(len(facts.over)), key=lambda i: facts.over[i] + facts.penalties[i])
    agreed = abs(facts.loss - facts.observed) <= SLACK * (1.0 + facts.observed)
    agreed |= facts.off_at > 0  # then the bound is violated, not void
    slack = DRIFT * (1.0 + facts.delta)
    steady = facts.least <= facts.delta + slack and (facts.gamma < 1.0 or facts.delta <= facts.dual + slack)
    needed = [
        seen("the loss that the stack counted is that of its recorded forecasts", agreed),
        seen("the sums of the stack agree with its steps (no drift by rounding)", steady),
        Assumption("the losses of the fixed weights are those of the recorded forecasts",
                   "checked" if facts.replayed else "trusted"),
    ]  # fmt: skip
    quantities = {
        "member": facts.names[best],
        "member_loss": facts.losses[best],
        "penalty": facts.penalties[best],
        "delta": learned,
        "deficit": facts.over[best] - facts.losses[best],
    }
    rounding = (facts.rounds + 20) * 2.0**-50 * (facts.over[best] + learned)
    value = outward(facts.over[best] + facts.penalties[best] + learned + rounding)
    trivial = facts.rounds * math.log(max(facts.labels, 2))
    return Bound(value, needed, quantities, facts.observed, trivial, broken=other(facts.off_at))
