"""Risk of the average weights, for a convex loss on independent examples.

Theorem (upper; kind P, delta = 0.025 by default, at a number of rounds fixed in advance)
    w_1 .. w_n are the weights before each round, where w_t depends on the examples before t only and ||w_t|| <= W. If
    the examples are independent draws from one distribution, and the loss is convex in w with values in [0, C] for
    every w of the ball and every example of the distribution, then with probability at least 1 - delta the mean w of
    w_1 .. w_n has
        risk(w)  <=  (1/n) (l_1(w_1) + .. + l_n(w_n))  +  C sqrt(ln(1/delta) / (2n)),
    where risk(w) is the expected loss on a new example. W, the largest ||x|| and the range of y, and so C, must be
    fixed before the first round: the theorem is void if they were learned from the run. A bound is vacuous if a
    constant is known to do as well without examples: the middle of the range of y is off by at most half the range, so
    it loses at most ((high - low)/2)^2 (squared) or (high - low)/2 (absolute).
Assumptions
    the examples are independent draws from one distribution, each used once (trusted; refuted if the stream is
    adaptive or repeated); lengths and outcomes of the whole distribution are within the given limits (trusted; checked
    for the examples played); the loss is convex and unclipped (checked; the number of mistakes and a clipped loss are
    not convex, and for them the average may be worse than every w_t); the number of rounds was fixed in advance
    (checked if it is the learner's horizon, else trusted).
Proof
    Given the past, w_t is fixed and example t is new, so l_t(w_t) has mean risk(w_t) and lies in [0, C]. By the
    Hoeffding-Azuma inequality the sum of risk(w_t) - l_t(w_t) exceeds C sqrt(n ln(1/delta)/2) with probability at most
    delta. The risk is convex as a mean of convex functions, so by Jensen risk(w) is at most the mean of risk(w_t). []
    The rounding error of the average is added: at most n W 2^-44 in norm, times the largest norm of a gradient.
Shards
    For examples split into S >= 2 shards, each played once from zero weights (averaging.py), the same holds for the
    mean of all n weights, with the losses of all shards: if the shards are put in sequence, w_t depends only on
    examples before t, namely those of its shard. The split must not depend on the rows; for text split by bytes this is
    trusted. The mean of the shards' averages, weighted by their rounds, adds at most (S + 2) 2^-52 W of rounding; as no
    shard has more than n - S + 1 rounds, n W 2^-44 is enough for both.
Reference
    [cesabianchi2004].
"""

from __future__ import annotations

import math

from novikoff.convex.theorems.online_gradient_facts import OnlineGradientFacts, convex, not_in_advance, why_void
from novikoff.core.certificate import Assumption, Bound, Words, outward, theorem
from novikoff.core.types import Run

DELTA = 0.025
"""Default failure probability; this theorem and average_risk_always then hold together with probability 0.95."""


@theorem(
    "P",
    "cesabianchi2004",
    quantity="risk of the average",
    words=Words(
        covers="independent examples from one distribution",
        why="this is its mean loss on examples it had not seen, plus an allowance for chance",
    ),
)
def average_risk(run: Run[OnlineGradientFacts], delta: float = DELTA) -> Bound | None:
    """Return the mean loss of the run + C sqrt(ln(1/delta)/(2n)); None before the first round."""
    if run.rounds == 0:
        return None
    fixed = Assumption("the number of rounds was fixed in advance",
                      "checked" if run.after.horizon == run.rounds else "trusted")  # fmt: skip
    limit = risk_limit(run.loss / run.rounds, run.after.top, run.rounds, delta)
    return risk_bound(run, limit, delta, "at a number of rounds fixed in advance", fixed)


def risk_bound(run: Run[OnlineGradientFacts], limit: float, delta: float, when: str, *more: Assumption) -> Bound:
    """Return the bound of a theorem on the average weights: `limit` plus the rounding error of averaging."""
    after = run.after
    drawn = "the examples are independent draws from one distribution, each used once"
    return Bound(
        outward(limit + averaging_error(after)),
        [convex(after), Assumption(drawn, "refuted" if run.adaptive or run.repeated else "trusted"),
         Assumption("lengths and outcomes of the whole distribution are within the given limits", "trusted"), *more],
        {"delta": delta, "largest_loss": after.top, "constant": after.constant, "when": when},
        observed=run.loss / run.rounds,
        trivial=min(after.top, after.constant),
        why="always predicting the middle of the range loses no more",
        void=why_void(run) or not_in_advance(after),
    )  # fmt: skip


def risk_limit(mean: float, top: float, rounds: int, delta: float) -> float:
    """Return mean + C sqrt(ln(1/delta)/(2n))."""
    return mean + top * math.sqrt(math.log(1.0 / delta) / (2.0 * rounds))


def averaging_error(after: OnlineGradientFacts) -> float:
    """Return the largest excess of the risk of the computed average over that of the exact one."""
    return after.steepest * after.radius * (after.rounds * 2.0**-44 + (after.longest + 4) * 2.0**-52)
