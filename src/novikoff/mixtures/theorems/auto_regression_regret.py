"""Squared loss of `auto` for numbers, against the best weights of every member in hindsight, which it knows.

Theorem (upper)
    Members j are Vovk-Azoury-Warmuth on y - c, c = y_1 the first outcome, and what they say, + c, is clipped to the
    range of the outcomes before; one more says the last outcome again; in round 1 all say 0. A stack on top of them is
    a forecaster too. With N of these in all, the mean by AdaHedge's weights is said. Then for every member j
        sum of (said - y)^2  <=  min over u of (u'Lu + sum of (c + <u,x_j> - y)^2) + sum of (y-c)^2 chi_j
                                 + c^2 + G + D_T + D_{T-1},
    and at most what is lost by who says the last outcome again, in round 1 c^2, + D_T + D_{T-1}.
    x_j: the features as j sees them; those on random features move with the running mean of the rows, in their order.
    G is the sum, over the rounds after the first in which y was outside of the range before, of the square of how far;
    it is at most (the largest y - c)^2 + (c - the smallest y)^2. D: the gaps of AdaHedge
    (experts/theorems/ada_hedge_regret.py). Reported is the least over j. The minimum is known from the member's sums
    (convex/theorems/vaw_regret.py), so no comparator is looked for.
Assumptions
    the learner began with nothing, its rounds and its loss are the ledger's, each member learned from all of them, each
    minimum is known to 1e-6 of the squares of y - c, members' sums are those of what they said, clipping cost no more
    than G and the mean no more than the forecasters on average (all checked).
Proof
    A square is convex: said loses at most h_t, the mean of the forecasters' losses by the weights; and whatever the
    losses are, no range being told, sum of h_t <= L_j + D_T + D_{T-1}, L_j being the loss of j as clipped.
    In round 1 that is c^2, where the member itself, c + 0, would have lost nothing. Later: if y is in the range, to
    clip is to project on a set that y is in. If y is above it by g: what was below the range is moved towards y, what
    was inside stays, and what was above loses g^2 now, at most g^2 more than before; so too below. So L_j is at most
    c^2 + G + the loss with nothing clipped, and that is at most min + sum of (y-c)^2 chi. The g above add up to
    the largest y - c, so their squares add up to at most its square. []
    Rounding: floats know each minimum from both sides; a weight is within 2^-43 of its own size, which moves each gap
    by at most 2^-42 D; sums of T numbers are within T 2^-52 of their size.
Reference
    [derooij2014]; [vovk2001]; [azoury2001].
"""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.convex.theorems.vaw_regret import SLACK, TINY
from novikoff.core.certificate import Bound, Words, outward, seen, theorem
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class AutoRegressionFacts:
    """State of the forecasters: members and, last, the stack.

    Attributes:
        rounds: Rounds, from the first.
        names: Names of the forecasters: those with weights, the last outcome, the stack.
        losses: Squared loss of each.
        shares: Mean weight of each over the rounds.
        gaps: D, the sum of AdaHedge's gaps.
        last_gap: Gap of the last round.
        mixed: Sum of h.
        paid: Squared loss of the mixture.
        first: c, the first outcome.
        grown: G.
        squares: Sum of (y - c)^2.
        learned: Number of rounds that each member learned from.
        unclipped: Loss of each member without clipping.
        least: Lower bound on the minimum over u.
        most: Upper bound on the minimum over u.
        chi: Sum of (y - c)^2 chi.
        spared: How much less than minimum + chi each member lost: the credit, and the reduction by a growing L.
    """

    rounds: int
    names: list[str]
    losses: list[float]
    shares: list[float]
    gaps: float
    last_gap: float
    mixed: float
    paid: float
    first: float
    grown: float
    squares: float
    learned: list[int]
    unclipped: list[float]
    least: list[float]
    most: list[float]
    chi: list[float]
    spared: list[float]

    def promised(self, j: int) -> float:
        """Return the bound of a member on its clipped loss; for the last-outcome member, the loss itself."""
        if j == len(self.most):
            return self.losses[j]
        return self.most[j] + self.chi[j] + self.first**2 + self.grown


@theorem(
    "D",
    "derooij2014",
    "squared loss",
    words=Words(
        covers="numeric targets on any rows",
        why=(
            "the best weights for its member {member} in hindsight lose {best_in_hindsight:up}; learning them adds at "
            "most {chi:up}, mixing the members {mixture:up}, and learning the range of the outcomes {range:up}"
        ),
        otherwise="repeating the previous outcome loses {member_loss:up}, and mixing the members adds {mixture:up}",
    ),
)
def auto_regression_regret(run: Run[AutoRegressionFacts]) -> Bound:
    """Return the least bound over the members, + the price of the mixture."""
    before, after = run.before, run.after
    members = range(len(after.most))
    slack = SLACK * after.squares + TINY
    known = all(after.most[j] - after.least[j] <= slack for j in members)
    told = all(abs(after.unclipped[j] - (after.most[j] + after.chi[j] - after.spared[j])) <= slack for j in members)
    clipped = all(after.losses[j] <= after.unclipped[j] + after.first**2 + after.grown + slack for j in members)
    needed = [
        seen("the learner started untrained", before.rounds == 0),
        seen("it learned from exactly the recorded rounds", after.rounds == run.rounds),
        seen("every member learned from every round", all(count == after.rounds for count in after.learned)),
        seen("its total agrees with the ledger's", abs(after.paid - run.loss) <= slack + SLACK * run.loss),
        seen(
            "the mean forecast lost no more than the weighted mean of the forecasters",
            after.paid <= after.mixed * (1.0 + SLACK),
        ),
        seen("the best loss in hindsight is known up to rounding", known),
        seen("the sums of the members agree with their predictions up to rounding", told),
        seen("clipping cost no more than the growth of the range", clipped),
    ]
    best = min(range(len(after.most) + 1), key=after.promised)
    price = 2.0 * after.gaps - after.last_gap
    rounding = (run.rounds + 20) * (2.0**-50 * (after.mixed + after.promised(best)) + 2.0**-42 * after.gaps)
    own = (
        {
            "best_in_hindsight": after.most[best],
            "chi": after.chi[best],
            "first_outcome": after.first**2,
            "range": after.grown,
        }
        if best in members
        else {"member_loss": after.losses[best]}
    )
    quantities = {
        "member": after.names[best],
        **own,
        "mixture": price,
        "heaviest": after.names[max(range(len(after.names)), key=after.shares.__getitem__)],
    }
    bound = outward(after.promised(best) + price + rounding)
    return Bound(bound, needed, quantities, run.loss, after.squares + after.first**2)
