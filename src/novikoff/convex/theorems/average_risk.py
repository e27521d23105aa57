"""Risk of the average of the weights, for a convex loss on independent examples.

Theorem (upper; kind P, delta = 0.025 or as asked for, at a number of rounds fixed in advance)
    w_1 .. w_n are the weights before each round, w_t made of the examples before t only, all with ||w|| <= W. If the
    examples are independent draws from one distribution, and the loss is convex in w with values in [0, C] for every w
    of the ball and every example of the distribution, then with probability at least 1 - delta the mean w of w_1 .. w_n
    has
        risk(w)  <=  (1/n) (l_1(w_1) + .. + l_n(w_n))  +  C sqrt(ln(1/delta) / (2n)),
    where risk(w) is the expected loss on a new example. W, the longest x and the range of y were fixed before the first
    round, so C was: taken from the run it would prove nothing, so the theorem is void if they were learned on the way.
    Vacuous from what a constant is known to lose at most, without a single example: the middle of the range of y is
    off by half the range, so it loses ((high - low)/2)^2 (squared) or (high - low)/2 (absolute), whatever comes.
Assumptions
    the examples are independent draws from one distribution, each used once (trusted; refuted if they answered back);
    lengths and outcomes of the whole distribution are within the given limits (trusted; checked of those played);
    the loss is convex and paid as it is (checked): neither mistakes nor a loss cut off at some value is convex, and for
    them the average may be worse than every w_t; the number of rounds was fixed in advance (checked if the learner was
    told it, else trusted).
Proof
    Given the past, w_t is fixed and example t is new, so l_t(w_t) has mean risk(w_t) and lies in [0, C]. By the
    inequality of Hoeffding and Azuma the sum of risk(w_t) - l_t(w_t) exceeds C sqrt(n ln(1/delta)/2) with chance delta
    at most. The risk is convex as a mean of convex functions, so by Jensen risk(w) is at most the mean of risk(w_t). []
    What rounding changed in the average is added: at most n W 2^-44 in length, times the longest gradient.
Shards
    Of examples that are cut into S >= 2 shards, each played once from zero weights (averaging.py), the same holds of
    the mean of all n weights, the losses those of all shards: played one shard after the other, w_t is made of examples
    before t, those of its own shard. That needs cuts which do not depend on the rows; where text is cut by bytes, that
    is trusted. The mean of the shards' averages, each times its rounds, is rounded (S + 2) 2^-52 W more at most; as no
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
"""So that this theorem and average_risk_always hold together with probability 0.95."""


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
    """The mean loss of the run + C sqrt(ln(1/delta)/(2n)); None before the first round."""
    if run.rounds == 0:
        return None
    told = Assumption("the number of rounds was fixed in advance",
                      "checked" if run.after.horizon == run.rounds else "trusted")  # fmt: skip
    limit = risk_limit(run.loss / run.rounds, run.after.top, run.rounds, delta)
    return risk_bound(run, limit, delta, "at a number of rounds fixed in advance", told)


def risk_bound(run: Run[OnlineGradientFacts], limit: float, delta: float, when: str, *more: Assumption) -> Bound:
    """What every theorem on the average says: `limit`, and what averaging in floats may have added."""
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
    """mean + C sqrt(ln(1/delta)/(2n))."""
    return mean + top * math.sqrt(math.log(1.0 / delta) / (2.0 * rounds))


def averaging_error(after: OnlineGradientFacts) -> float:
    """By how much the risk of the average as computed may exceed that of the true one."""
    return after.steepest * after.radius * (after.rounds * 2.0**-44 + (after.longest + 4) * 2.0**-52)
