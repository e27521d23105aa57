"""Log loss of a forest, against the prunings of its trees.

Theorem (upper)
    M trees forecast P_m, each the mixture over its prunings (trees/theorems/tree_pruning.py), and are replaced by new
    trees between rounds, at rounds fixed in advance: an epoch is the time from one takeover to the next. L_m is the
    loss of the tree in place m over all epochs, U_m the sum over epochs of the bound of its best pruning in that epoch,
    with the prior that rows before the epoch gave its prunings. The forest plays P_c = prod_m P_m,c^(1/M) / Z. Then
        L = mean of L_m - D  <=  mean of U_m - D,   D = the sum of -ln Z >= 0.
    D is the disagreement of the trees: -ln Z of a round is a function of their forecasts, known before its label. The
    bound is given D, as it is given the losses of the nodes: both are sums of this run. Without D: the mean of U_m.
Assumptions
    the learner started untrained, its rounds are the ledger's; in every epoch the loss of each tree is that of the
    mixture of its nodes, and the weights follow from their losses; L = mean of L_m - D up to 1e-9 (1 + L), and D is
    not negative, else the sums have drifted (all checked).
Proof
    -ln P_y = the mean of -ln P_m,y + ln Z, and Z does not depend on y. Z <= the sum over labels of the mean of P_m,c,
    which is 1: a geometric mean is at most the arithmetic one. L_m <= U_m in every epoch: the prior is a function of
    the past. []
    Rounding: U_m is at least the loss of the mixture from the nodes' sums, and the excess of the loss played is added;
    so is any excess of the ledger's L over mean of L_m - D as it was summed. So the bound is at least L for any D; that
    D is what the trees disagreed by is the identity, which fails for a forest that plays another mean. D is summed when
    the forest forecasts, before it reads the label (trees/_loops/forest.py).
    New labels are paid for as in trees/theorems/tree_pruning.py: their round is played as if they had been known, and
    the difference is added to the bound.
Reference
    [willems1995] for mixtures over prunings, [breiman2001] for forests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.core.certificate import Bound, Words, outward, seen, theorem
from novikoff.core.types import Run
from novikoff.trees.theorems.tree_facts import SLACK, checked, untrained


@dataclass(frozen=True, slots=True)
class ForestFacts:
    """State of a forest.

    Attributes:
        rounds: Rounds since its start.
        labels: Number of labels known.
        novelty: Cost of new labels and of the reserve for them.
        epochs: Number of epochs.
        played: Loss of each tree.
        bounds: Sum over epochs of the bound of each tree, at least its loss.
        constants: Mean over the trees of the loss of the best constants.
        regret: Mean over the trees of the regret of the nodes.
        price: Mean over the trees of the price of the prunings.
        off: Largest difference, in any epoch, of a tree's loss from that of its nodes' mixture, or of a weight from
            the one that the losses imply, relative to 1 + the tree's loss.
        disagreement: D.
        entropy: Log loss of the best constant probabilities for all rounds.
    """

    rounds: int
    labels: int
    novelty: float
    epochs: int
    played: list[float]
    bounds: list[float]
    constants: float
    regret: float
    price: float
    off: float
    disagreement: float
    entropy: float


@theorem(
    "D",
    "willems1995",
    "log loss",
    words=Words(
        covers="every stream, for a forest that starts untrained and whose sums have not drifted",
        why="it is the mean of the trees' bounds, {mean_bound:up}, less their disagreement, {disagreement:down}, which "
        "is computed from their forecasts without the labels. The bounds, after the run: constants {constants:up}, "
        "regret of the nodes {regret:up}, price {price:up}, in each of {epochs} epochs with new trees, constants and "
        "prunings, each node only on the rounds it answered for. One constant for "
        "all rounds loses {best_constant:down}. Nothing is claimed about the finished trees used from the first row, "
        "or about rows to come",
    ),
)
def forest_mean(run: Run[ForestFacts]) -> Bound | None:
    """Return the mean of the trees' bounds, less their disagreement."""
    if run.log_loss is None:
        return None
    after, lost = run.after, run.log_loss
    trees, apart = len(after.played), after.disagreement
    mean, bound = math.fsum(after.played) / trees, math.fsum(after.bounds) / trees
    expected, slack = mean - apart + after.novelty, SLACK * (1.0 + lost)
    needed = [
        *untrained(run),
        seen("the loss of each tree is that of its nodes, in every epoch (no drift by rounding)", after.off <= SLACK),
        seen("the loss is the mean of the trees' less their disagreement", abs(lost - expected) <= slack),
        seen("the disagreement is not negative", apart >= -slack),
    ]
    value = outward(bound + after.novelty + max(0.0, lost - expected)) - apart  # 1e-12 of the sums that cancel
    quantities = {
        "mean_bound": bound + after.novelty,
        "constants": after.constants,
        "regret": after.regret,
        "price": after.price + after.novelty,
        "mean_loss": mean,
        "disagreement": apart,
        "epochs": after.epochs,
        "trees": trees,
        "best_constant": after.entropy,
    }
    trivial = run.rounds * math.log(max(after.labels, 2))
    return checked(run, value, needed, quantities, lost, trivial)
