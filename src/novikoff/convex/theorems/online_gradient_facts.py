"""Facts shared by the theorems on online gradient descent.

Notation
    x~ is the example with its constant feature; w, u and the ball of radius W have a weight for that feature too.
    g_t = slope of the loss at <w_t, x~_t>, times x~_t: the gradient at w_t.
    C, the largest possible loss, and G, the largest norm of a gradient, follow from the limits fixed before the first
    round: |<w, x~> - y| <= A = W R~ + max(high, -low), so C = A^2 and G = 2 A R~ (squared), or C = A and G = R~
    (absolute).
Rounding
    The norm that decides when w is projected onto the ball is updated every round, and recomputed after at most `span`
    rounds (convex/_loops/online_gradient.py): ||w|| <= W (1 + excess).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.core.certificate import Assumption, seen, warm_start
from novikoff.core.types import Run

CONVEX = ("squared", "absolute")
"""Losses that are convex in the weights."""
LOOSE = 1.0 + 1e-9
"""Factor by which the norm of an accepted example may exceed its limit, because it is a float sum."""


@dataclass(frozen=True, slots=True)
class OnlineGradientFacts:
    """State of an online gradient learner.

    Attributes:
        rounds: Rounds since its start.
        loss: "squared" or "absolute".
        rule: Rate: "fixed", "anytime" or "adaptive".
        horizon: Number of rounds given in advance; 0 if none.
        radius: W.
        reach: R~, the largest norm of x~ allowed.
        low: Smallest outcome allowed.
        high: Largest outcome allowed.
        first_rate: Rate of its first step; 0 before it.
        rate: Rate of its last step; 0 before the first.
        squares: Sum of ||g_t||^2.
        steps: Sum of rate * ||g_t||^2.
        linear: Sum of <g_t, w_t>.
        pull: Norm of the sum of g_t.
        comparator: Best known weights: "best in the ball" or "zero weights".
        comparator_loss: Total loss of these weights.
        doubt: Rounding error of `comparator_loss`.
        places: Largest index of a feature met, plus 1.
        longest: Largest number of non-zeros of an example.
        scaled: Whether outcomes were scaled to `low` .. `high` by a range learned during the run.
        grown: Whether `reach` was learned during the run.
    """

    rounds: int
    loss: str
    rule: str
    horizon: int
    radius: float
    reach: float
    low: float
    high: float
    first_rate: float
    rate: float
    squares: float
    steps: float
    linear: float
    pull: float
    comparator: str
    comparator_loss: float
    doubt: float
    places: int
    longest: int
    scaled: bool = False
    grown: bool = False

    @property
    def excess(self) -> float:
        """Relative excess of ||w|| over W by rounding, at most."""
        span = max(4096, self.places)
        return 4.5 * span * (self.longest + 17) * 2.0**-52

    @property
    def top(self) -> float:
        """C, allowing for rounding in the norms of weights and examples."""
        return largest_loss(self.loss, self.radius * (1.0 + self.excess), self.reach * LOOSE, self.low, self.high)

    @property
    def constant(self) -> float:
        """Largest loss of the middle of the range, over all outcomes in the range."""
        half = (self.high - self.low) / 2.0
        return half * half if self.loss == "squared" else half

    @property
    def steepest(self) -> float:
        """G, allowing for rounding in the norms of weights and examples."""
        return longest_gradient(self.loss, self.radius * (1.0 + self.excess), self.reach * LOOSE, self.low, self.high)

    @property
    def linear_regret(self) -> float:
        """Largest sum of <g_t, w_t - u> over all u in the ball, an upper bound on the regret."""
        return self.linear + self.radius * self.pull

    @property
    def promise(self) -> float:
        """Bound 2 W^2/rate_T - 1.5 W^2/rate_1 + half of `steps`."""
        if not self.rate:
            return 0.0
        ball = self.radius * self.radius
        return 2.0 * ball / self.rate - 1.5 * ball / self.first_rate + self.steps / 2.0

    @property
    def rounding(self) -> float:
        """Rounding error of the linear regret, of `promise` and of the comparator's loss together."""
        if not self.rate:
            return self.doubt
        ball = self.radius * self.radius / self.rate
        gradients = math.sqrt(self.rounds * self.squares)  # upper bound on the sum of ||g_t||
        sums = self.rounds * 2.0**-53 * (80.0 * ball + self.steps)
        lengths = self.radius * gradients * (self.excess + (self.rounds + self.longest + 8) * 2.0**-53)
        return sums + lengths + 4.0 * self.excess * ball + self.doubt


def largest_loss(loss: str, radius: float, reach: float, low: float, high: float) -> float:
    """Return C."""
    furthest = radius * reach + max(high, -low)
    return furthest * furthest if loss == "squared" else furthest


def longest_gradient(loss: str, radius: float, reach: float, low: float, high: float) -> float:
    """Return G."""
    return 2.0 * (radius * reach + max(high, -low)) * reach if loss == "squared" else reach


def convex(after: OnlineGradientFacts) -> Assumption:
    """Return the assumption of all these theorems."""
    return seen("the loss is convex in the weights", after.loss in CONVEX)


def why_void(run: Run[OnlineGradientFacts]) -> str:
    """Return why the theorems are void for this run; "" if they hold."""
    before, after = run.before, run.after
    if warm := warm_start(before.rounds):
        return warm
    if after.rounds != run.rounds:
        return f"the ledger saw {run.rounds:,} of the learner's {after.rounds:,} rounds"
    used = (after.squares, after.steps, after.linear, after.pull, after.comparator_loss, after.doubt, run.loss)
    if not all(math.isfinite(value) for value in used):
        return "a loss or a gradient is not finite"
    return ""


def not_in_advance(after: OnlineGradientFacts) -> str:
    """Return why a theorem on new examples is void; "" if it holds."""
    if after.scaled:
        return "the range of outcomes was learned during the run: set low and high in advance"
    if after.grown:
        return "the bound on the length of x was learned during the run: set it in advance"
    return ""
