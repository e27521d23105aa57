"""Squared loss of the linear mixture for regression against each member's best weights in hindsight.

Theorem (upper)
    Members j are Vovk-Azoury-Warmuth on y - c, with c = y_1 the first outcome; c is added to their predictions, which
    are clipped to the range of the earlier outcomes. One more member repeats the last outcome; in round 1 all predict
    0. A stack on top of them is a forecaster too. The prediction p is the mean of these N forecasters by AdaHedge's
    weights. Then for every member j
        sum of (p - y)^2  <=  min over u of (u'Lu + sum of (c + <u,x_j> - y)^2) + sum of (y-c)^2 chi_j
                              + c^2 + G + D_T + D_{T-1},
    and at most the loss of repeating the last outcome (in round 1, c^2) + D_T + D_{T-1}.
    x_j are the features of member j; random features depend on the running mean of the rows, in their order.
    G is the sum of g^2 over the rounds after the first in which y is outside the range of the earlier outcomes, g the
    distance from it; it is at most (the largest y - c)^2 + (c - the smallest y)^2. D is the sum of AdaHedge's gaps
    (experts/theorems/ada_hedge_regret.py). The reported bound is the least over j. The minimum over u is known from the
    member's sums (convex/theorems/vaw_regret.py), so no search for a comparator is needed.
Assumptions
    the learner started untrained, its rounds and its loss are the ledger's, each member learned from all rounds, each
    minimum is known to 1e-6 of the squares of y - c, members' sums agree with their predictions, clipping cost no more
    than G, and the mean lost no more than the weighted mean loss of the forecasters (all checked).
Proof
    A square is convex: p loses at most h_t, the weighted mean of the forecasters' losses; and for any losses, of any
    range, sum of h_t <= L_j + D_T + D_{T-1}, where L_j is the loss of j after clipping.
    In round 1 that is c^2, where the unclipped member, c + 0, would have lost nothing. Later rounds: if y is in the
    range, clipping is a projection on a convex set that contains y, and costs nothing. If y is above the range by g: a
    prediction below the range moves towards y, one inside stays, and one above now loses g^2, at most g^2 more than
    before; likewise if y is below. So L_j is at most c^2 + G + the unclipped loss, which is at most
    min + sum of (y-c)^2 chi. The distances g above the range sum to the largest y - c, so their squares sum to at most
    its square. []
    Rounding: each minimum is bounded from both sides in floats; a weight is within 2^-43 of its own size, which moves
    each gap by at most 2^-42 D; sums of T numbers are within T 2^-52 of their size.
Reference
    [derooij2014]; [vovk2001]; [azoury2001].
"""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.convex.theorems.vaw_regret import SLACK, TINY
from novikoff.core.certificate import Bound, Words, outward, seen, theorem
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class LinearMixtureRegressionFacts:
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
def linear_mixture_regression_regret(run: Run[LinearMixtureRegressionFacts]) -> Bound | None:
    """Return the least bound over the members, + the price of the mixture; None if it is part of `auto`."""
    before, after = run.before, run.after
    if not after.names:
        return None
    members = range(len(after.most))
    slack = SLACK * after.squares + TINY
    known = all(after.most[j] - after.least[j] <= slack for j in members)
    agreed = all(abs(after.unclipped[j] - (after.most[j] + after.chi[j] - after.spared[j])) <= slack for j in members)
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
        seen("the sums of the members agree with their predictions up to rounding", agreed),
        seen("clipping cost no more than the growth of the range", clipped),
    ]
    best = min(range(len(after.most) + 1), key=after.promised)
    price = 2.0 * after.gaps - after.last_gap
    rounding = (run.rounds + 20) * (2.0**-50 * (after.mixed + after.promised(best)) + 2.0**-42 * after.gaps)
    parts = (
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
        **parts,
        "mixture": price,
        "heaviest": after.names[max(range(len(after.names)), key=after.shares.__getitem__)],
    }
    bound = outward(after.promised(best) + price + rounding)
    return Bound(bound, needed, quantities, run.loss, after.squares + after.first**2)
