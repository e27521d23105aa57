"""Squared loss of a growing tree, against every pruning of the tree as it grew.

Theorem (upper)
    Node v predicts p_v, any function of the past. On the path of x the mixture is q_v = p_v at the leaf, and above
    q_v = s p_v + (1 - s) q_child, s by AdaHedge of two: with D the loss of q_child less that of p_v since v was split,
    and G the sum of the mixability gaps so far, s = 1/(1 + e^-z), z = (D/G) ln 2; the leader if G is 0, 1/2 on a tie.
    A_v and B_v are the squared losses of p_v until the split and since then, Q_v that of the mixture. Then
        Q_v <= A_v + min(B_v, Q_left + Q_right) + 2 G_v,
    so the loss is at most, for every pruning P with inner nodes I and leaves F,
        sum over F of (A_v + B_v) + sum over I of A_v + 2 sum of G_v over the nodes of P that were split.
    The least right side is found from the leaves up. No bound on x or y is needed, and none is known in advance.
Assumptions
    the learner started untrained, its rounds are the ledger's, whole numbers agree, the loss of the root's mixture is
    the ledger's, and no node paid more than twice its gaps beyond rounding (all checked).
Proof
    With h = s l_stop + (1-s) l_go, m = -ln(s e^(-eta l_stop) + (1-s) e^(-eta l_go))/eta, eta = ln 2/G, the gap is
    h - m. (y - q_v)^2 <= h, as the square is convex; the sum of m is at most min + ln 2/eta = min + G [derooij2014];
    the sum of the gaps is G. Induction over the children. [] Rounding: weights and gaps are computed from ln s and
    ln(1-s), never from 1 - s; the price of a node is the larger of 2G and what it paid, Q_v - A_v - min(B_v, Q_left +
    Q_right), from recorded losses, so the bound is sound for whatever was played.
Reference
    [derooij2014] for AdaHedge; [willems1995] for prunings.
"""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.core.certificate import Bound, Words, outward, seen, theorem
from novikoff.core.types import Run
from novikoff.trees.theorems.tree_facts import SLACK, checked, untrained

DRIFT = 1e-6


@dataclass(frozen=True, slots=True)
class NumberTreeFacts:
    """State of a growing tree for numbers.

    Attributes:
        rounds: Rounds since its start.
        bound: Loss of the best pruning plus its price.
        mixed: Loss of the mixture at the root, as recorded.
        losses: Loss of the pruning's nodes.
        price: Twice the gaps of its nodes, or what they paid if that is more.
        leaves: Leaves of the pruning.
        nodes: Nodes of the tree.
        drift: Largest excess of a node's price over twice its gaps, relative to its loss.
        sound: Whether whole numbers and structure agree.
        squares: Sum of the squared distances of the outcomes from `middle`.
    """

    rounds: int
    bound: float
    mixed: float
    losses: float
    price: float
    leaves: int
    nodes: int
    drift: float
    sound: bool
    squares: float


@theorem(
    "D",
    "derooij2014",
    "squared loss",
    words=Words(
        covers="every stream, for a tree that starts untrained and whose sums have not drifted",
        why="after the run, the nodes of one pruning of the tree as it grew, {leaves} leaves, lost {losses:up}, each "
        "node only on the rounds it answered for, and not knowing the pruning costs {price:up}, twice the measured "
        "mixability gaps. Nothing is claimed about the finished tree used from the first row, or about rows to come",
    ),
)
def tree_gaps(run: Run[NumberTreeFacts]) -> Bound:
    """Return the loss and price of the best pruning."""
    after = run.after
    needed = [
        *untrained(run),
        seen("whole numbers and structure of the tree agree", after.sound),
        seen("the loss of the mixture is the ledger's", abs(after.mixed - run.loss) <= SLACK * run.loss + 1e-290),
        seen("no node paid more than twice its gaps (no drift by rounding)", after.drift <= DRIFT),
    ]
    quantities = {"losses": after.losses, "price": after.price, "leaves": after.leaves, "nodes": after.nodes}
    value = outward(after.bound + max(0.0, run.loss - after.mixed))
    return checked(run, value, needed, quantities, run.loss, max(after.squares, run.loss))
