"""Risk of the average of the weights, for a convex loss on independent examples.

Theorem (upper; kind P, delta = 0.025 or as asked for, at a number of rounds fixed in advance)
    w_1 .. w_n are the weights before each round, w_t made of the examples before t only, all with ||w|| <= W. If the
    examples are independent draws from one distribution, and the loss is convex in w with values in [0, C] for every w
    of the ball and every example of the distribution, then with probability at least 1 - delta the mean w of w_1 .. w_n
    has
        risk(w)  <=  (1/n) (l_1(w_1) + .. + l_n(w_n))  +  C sqrt(ln(1/delta) / (2n)),
    where risk(w) is the expected loss on a new example. W, the longest x and the range of y were fixed before the first
    round, so C was: taken from the run it would prove nothing.
    Vacuous from what a constant is known to lose at most, without a single example: the middle of the range of y is
    off by half the range, so it loses ((high - low)/2)^2 (squared) or (high - low)/2 (absolute), whatever comes.
Assumptions
    the examples are independent draws from one distribution, each played once (trusted; refuted if they answered back);
    no example of the distribution is longer or has an outcome out of range (trusted; checked of those played);
    the loss is convex and paid as it is (checked): neither mistakes nor a loss cut off at some value is convex, and for
    them the average may be worse than every w_t; the number of rounds was fixed in advance (checked if the learner was
    told it, else trusted).
Proof
    Given the past, w_t is fixed and example t is new, so l_t(w_t) has mean risk(w_t) and lies in [0, C]. By the
    inequality of Hoeffding and Azuma the sum of risk(w_t) - l_t(w_t) exceeds C sqrt(n ln(1/delta)/2) with chance delta
    at most. The risk is convex as a mean of convex functions, so by Jensen risk(w) is at most the mean of risk(w_t). []
    What rounding changed in the average is added: at most n W 2^-44 in length, times the longest gradient.
Reference
    [cesabianchi2004].
"""

from __future__ import annotations

import math

from novikoff.certificate import Assumption, Certificate, Standing, judge, outward, void
from novikoff.certificates.online_gradient_facts import CONVEX, OnlineGradientFacts, void_certificate
from novikoff.types import Run

NAME = "average_risk"
REFERENCE = "cesabianchi2004"
DELTA = 0.025
"""So that this theorem and average_risk_always hold together with probability 0.95."""
CONSTANT = "to predict the middle of the range loses no more"


def average_risk(run: Run[OnlineGradientFacts], delta: float = DELTA) -> Certificate | None:
    """The mean loss of the run + C sqrt(ln(1/delta)/(2n)); None before the first round."""
    after, n = run.after, run.rounds
    if n == 0:
        return None
    top, trivial = after.top, min(after.top, after.constant)
    told: Standing = "checked" if after.horizon == n else "trusted"
    assumptions = (*independent_and_convex(run), Assumption("the number of rounds was fixed in advance", told))
    mean = run.loss / n
    quantities = {
        "delta": delta,
        "largest_loss": top,
        "constant": after.constant,
        "when": "at a number of rounds fixed in advance",
    }
    reason = void_certificate(run)
    if reason:
        return void(NAME, "P", reason, observed=mean, trivial=trivial, assumptions=assumptions, reference=REFERENCE,
                    quantities=quantities, quantity="risk of the average")  # fmt: skip
    bound = risk_limit(mean, top, n, delta) + averaging_error(after)
    return judge(NAME, "P", observed=mean, bound=outward(bound), trivial=trivial, assumptions=assumptions,
                 reference=REFERENCE, quantities=quantities, quantity="risk of the average", why=CONSTANT)  # fmt: skip


def independent_and_convex(run: Run[OnlineGradientFacts]) -> tuple[Assumption, ...]:
    """What every theorem on the average needs."""
    drawn = "the examples are independent draws from one distribution, each played once"
    return (
        Assumption("the loss is convex in the weights", "checked" if run.after.loss in CONVEX else "refuted"),
        Assumption(drawn, "refuted" if run.adaptive or run.repeated else "trusted"),
        Assumption("no example of the distribution is longer or has an outcome out of range", "trusted"),
    )


def risk_limit(mean: float, top: float, rounds: int, delta: float) -> float:
    """mean + C sqrt(ln(1/delta)/(2n))."""
    return mean + top * math.sqrt(math.log(1.0 / delta) / (2.0 * rounds))


def averaging_error(after: OnlineGradientFacts) -> float:
    """By how much the risk of the average as computed may exceed that of the true one."""
    return after.steepest * after.radius * (after.rounds * 2.0**-44 + (after.longest + 4) * 2.0**-52)
