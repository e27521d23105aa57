"""Squared loss of a regression forest, against the prunings of its trees.

Theorem (upper)
    M trees predict p_m (trees/theorems/tree_gaps.py) and are replaced by new trees between rounds, at rounds fixed in
    advance. L_m is the loss of the tree in place m over all epochs, U_m the sum over epochs of the bound of its best
    pruning in that epoch. The forest plays their mean p. Then
        L = mean of L_m - D  <=  mean of U_m - D,   D = the sum of the mean of (p_m - p)^2 >= 0.
    D is the disagreement of the trees, which is known before the outcomes. The bound is given D, as it is given the
    losses of the nodes: both are sums of this run. Without D it is the mean of U_m.
Assumptions
    the learner started untrained, its rounds are the ledger's; in every epoch the loss of each tree is the one recorded
    by its nodes, and no node paid more than twice its gaps; L = mean of L_m - D up to rounding (all checked).
Proof
    (p - y)^2 is the mean of (p_m - y)^2 less the mean of (p_m - p)^2. In every epoch the weights of stopping start
    over, so L_m <= U_m there by tree_gaps. [] Rounding: U_m is at least the recorded loss, and any excess of the
    ledger's L over mean of L_m - D is added, so that the bound is at least L for any D as it was summed.
Reference
    [derooij2014] for the choice at a node, [breiman2001] for forests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.core.certificate import Bound, Words, outward, seen, theorem
from novikoff.core.types import Run
from novikoff.trees.theorems.tree_facts import SLACK, checked, untrained


@dataclass(frozen=True, slots=True)
class NumberForestFacts:
    """State of a regression forest.

    Attributes:
        rounds: Rounds since its start.
        epochs: Number of epochs.
        played: Loss of each tree.
        bounds: Sum over epochs of the bound of each tree, at least its loss.
        losses: Mean over the trees of the losses of the prunings' nodes.
        price: Mean over the trees of the prices.
        off: Largest relative difference, in any epoch, of a tree's loss from that recorded by its nodes.
        disagreement: D.
        squares: Sum of y^2.
    """

    rounds: int
    epochs: int
    played: list[float]
    bounds: list[float]
    losses: float
    price: float
    off: float
    disagreement: float
    squares: float


@theorem(
    "D",
    "derooij2014",
    "squared loss",
    words=Words(
        covers="every stream, for a forest that starts untrained and whose sums have not drifted",
        why="it is the mean of the trees' bounds, {mean_bound:up}, less their disagreement, {disagreement:down}, which "
        "is computed from their predictions without the outcomes. The bounds, after the run: the nodes of one pruning "
        "of each tree lost {losses:up}, and twice the measured mixability gaps are {price:up}, over {epochs} epochs, "
        "each with new trees. Nothing is claimed about rows to come",
    ),
)
def forest_gaps(run: Run[NumberForestFacts]) -> Bound:
    """Return the mean of the trees' bounds, less their disagreement."""
    after, lost = run.after, run.loss
    trees, apart = len(after.played), after.disagreement
    mean, bound = math.fsum(after.played) / trees, math.fsum(after.bounds) / trees
    slack = SLACK * (mean + apart + after.squares) + 1e-290
    needed = [
        *untrained(run),
        seen("the loss of each tree is that of its nodes, in every epoch (no drift by rounding)", after.off <= SLACK),
        seen("the loss is the mean of the trees' less their disagreement", abs(lost - (mean - apart)) <= slack),
        seen("the disagreement is not negative", apart >= -slack),
    ]
    value = outward(bound + max(0.0, lost - (mean - apart))) - apart  # 1e-12 of the sums that cancel
    quantities = {
        "mean_bound": bound,
        "losses": after.losses,
        "price": after.price,
        "mean_loss": mean,
        "disagreement": apart,
        "epochs": after.epochs,
        "trees": trees,
    }
    return checked(run, value, needed, quantities, lost, max(after.squares, lost))
