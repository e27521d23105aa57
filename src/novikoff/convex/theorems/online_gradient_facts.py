"""What the theorems on online gradient descent need to know of it.

Words
    x~ is the example with its constant feature; w, u and the ball of radius W have a weight for that feature too.
    g_t = slope of the loss at <w_t, x~_t>, times x~_t: the gradient at w_t.
    C, the largest loss there can be, and G, the longest gradient, follow from what was fixed before the first round:
    |<w, x~> - y| <= A = W R~ + max(high, -low), so C = A^2 and G = 2 A R~ (squared), or C = A and G = R~ (absolute).
Rounding
    The lengths that decide when w is brought back into the ball are kept up to date, and measured again after `span`
    rounds at most (convex/_loops/online_gradient.py): ||w|| <= W (1 + excess).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.core.certificate import Assumption, seen
from novikoff.core.errors import counted
from novikoff.core.types import Run

CONVEX = ("squared", "absolute")
LOOSE = 1.0 + 1e-9
"""What an example may be too long by, unseen: its length is a float sum."""


@dataclass(frozen=True, slots=True)
class OnlineGradientFacts:
    """One learner by online gradient descent, now.

    rounds             its rounds, from its first
    loss, rule         "squared" or "absolute"; its rate is "fixed", "anytime" or "adaptive"
    horizon            the rounds it was told to expect; 0 if it was not
    radius             W
    reach              R~, the longest x~ allowed
    low, high          the outcomes allowed
    first_rate, rate   of its first and its last step; 0 if it made none
    squares, steps     the sums of ||g_t||^2 and of rate * ||g_t||^2
    linear, pull       the sum of <g_t, w_t>, and the length of the sum of g_t
    comparator         which weights are known to have lost least: "best in the ball" or "zero weights"
    comparator_loss    what they lost, and by how much `doubt` rounding may have changed that
    places, longest    features met, by the largest; the most non-zeros of an example
    scaled, grown      were outcomes scaled by a range that was learned, to `low` .. `high`; is `reach` from the run?
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
        """||w|| is at most W times 1 + this."""
        span = max(4096, self.places)
        return 4.5 * span * (self.longest + 17) * 2.0**-52

    @property
    def top(self) -> float:
        """C, for weights and examples that are a little too long by rounding."""
        return largest_loss(self.loss, self.radius * (1.0 + self.excess), self.reach * LOOSE, self.low, self.high)

    @property
    def constant(self) -> float:
        """What the middle of the range of outcomes loses at most, for every outcome in it."""
        half = (self.high - self.low) / 2.0
        return half * half if self.loss == "squared" else half

    @property
    def steepest(self) -> float:
        """G, likewise."""
        return longest_gradient(self.loss, self.radius * (1.0 + self.excess), self.reach * LOOSE, self.low, self.high)

    @property
    def linear_regret(self) -> float:
        """The largest sum of <g_t, w_t - u> over all u in the ball: no u had less loss by more than this."""
        return self.linear + self.radius * self.pull

    @property
    def promise(self) -> float:
        """2 W^2/rate_T - 1.5 W^2/rate_1 + half the steps."""
        if not self.rate:
            return 0.0
        ball = self.radius * self.radius
        return 2.0 * ball / self.rate - 1.5 * ball / self.first_rate + self.steps / 2.0

    @property
    def rounding(self) -> float:
        """What rounding may have done to the linear regret, to `promise` and to what they are compared with."""
        if not self.rate:
            return self.doubt
        ball = self.radius * self.radius / self.rate
        gradients = math.sqrt(self.rounds * self.squares)  # the sum of ||g_t||, at most
        sums = self.rounds * 2.0**-53 * (80.0 * ball + self.steps)
        lengths = self.radius * gradients * (self.excess + (self.rounds + self.longest + 8) * 2.0**-53)
        return sums + lengths + 4.0 * self.excess * ball + self.doubt


def largest_loss(loss: str, radius: float, reach: float, low: float, high: float) -> float:
    """C."""
    furthest = radius * reach + max(high, -low)
    return furthest * furthest if loss == "squared" else furthest


def longest_gradient(loss: str, radius: float, reach: float, low: float, high: float) -> float:
    """G."""
    return 2.0 * (radius * reach + max(high, -low)) * reach if loss == "squared" else reach


def convex(after: OnlineGradientFacts) -> Assumption:
    """What every theorem here needs."""
    return seen("the loss is convex in the weights", after.loss in CONVEX)


def why_void(run: Run[OnlineGradientFacts]) -> str:
    """Why nothing can be said of this run; "" if something can."""
    before, after = run.before, run.after
    if before.rounds:
        return f"warm start: the learner had played {counted(before.rounds, 'round')} when the game started"
    if after.rounds != run.rounds:
        return f"the ledger saw {run.rounds:,} of the learner's {after.rounds:,} rounds"
    used = (after.squares, after.steps, after.linear, after.pull, after.comparator_loss, after.doubt, run.loss)
    if not all(math.isfinite(value) for value in used):
        return "a loss or a gradient is not finite"
    return ""


def not_in_advance(after: OnlineGradientFacts) -> str:
    """What a theorem on new examples misses; "" if nothing."""
    if after.scaled:
        return "the range of outcomes was learned during the run: set low and high in advance"
    if after.grown:
        return "the bound on the length of x was learned during the run: set it in advance"
    return ""
