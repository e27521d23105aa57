"""Log loss of a growing tree, against every pruning of the tree as it grew.

Theorem (upper)
    Node v forecasts p_v, any function of the past; s_v = 1/(1 + e^-beta_v) is the weight of stopping there. On the path
    of x the mixture is q_v = p_v at the leaf, q_v = s_v p_v + (1 - s_v) q_child above, and the tree plays q_root. After
    y, beta_v += ln p_v(y) - ln q_child(y). A leaf may be split after a round: its children's first round is the next
    one, and beta_v begins at 0, or at any prior. For a node v, A_v is the loss -ln p_v(y) summed over its rounds until
    it was split, B_v the same since then, pi_v = 1/(1 + e^-prior). Then
        Q_v = A_v at a leaf,   Q_v = A_v - ln( pi_v e^-B_v + (1 - pi_v) e^-(Q_left + Q_right) )  above,   L = Q_root,
    and for every pruning P, a subtree with the root, with inner nodes I and leaves F,
        L <= sum over F of (A_v + B_v + ln 1/pi_v if v was split) + sum over I of (A_v + ln 1/(1 - pi_v)).
    The least right side U is found from the leaves up; U - L is ln 1/(posterior weight of the best pruning). A_v + B_v
    is the loss of the best constant on v's own rounds plus the regret of its running estimate, which is measured.
Assumptions
    the learner started untrained, its rounds and labels are the ledger's; whole numbers agree, c_v - c_v(split) =
    c_left + c_right for each label; L = Q_root up to 1e-9 (1 + L), from both sides, else its sums have drifted;
    beta_v = prior + Q_left + Q_right - B_v. With labels known in advance: the root's loss is the function of the counts
    that it must be, and that of every other node lies between its closed forms (all checked).
Proof
    Let a = pi e^-(B so far), c = (1 - pi) e^-(Q_left + Q_right so far). A round passes one child, and multiplies a by
    p_v(y) and c by q_child(y): so beta_v = ln(a/c) always, q_v(y) = (a' + c')/(a + c), and the product telescopes from
    a + c = 1. By induction this is Q_v. Keep one of the two terms at every node of P. []
    Closed forms: the root is (n_c + 1/2)/(n + k/2), so its loss is ln of Gamma(n + k/2)/Gamma(k/2) times the product of
    Gamma(1/2)/Gamma(n_c + 1/2). Below, p_c = (1 - k f)(n_c + 2 r_c)/(n + 2) + f, f = 2^-30, r the parent's forecast in
    [m, M], i_c the counts at birth: the j-th round of label c costs ln (i + t + 2)/(i_c + j - 1 + 2 r_c) up to the
    floor f, so with m_c for r_c the sum is an upper bound, with M_c a lower one. The floor adds at most -ln(1 - k f)
    per round, and takes off at most ln(1 + f/p). The two bounds do not meet: the sum W of the widths of these intervals
    over the nodes of P is reported, and the parts are checked up to W nats.
    Rounding: Q_root <= U for whatever sums are stored, so max(U, Q_root) + max(0, L - Q_root) is sound for whatever was
    played; L is summed with compensation.
    New labels: a round in which a label first appears costs -ln of the reserve and is not one of the tree's; the
    others cost -ln(1 - reserve) more. Their sum is added to the bound.
Reference
    [willems1995] for mixtures over prunings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.core.certificate import Bound, Words, outward, parts, seen, theorem
from novikoff.core.types import Run
from novikoff.trees.theorems.tree_facts import SLACK, checked, untrained


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """State of a growing tree for labels.

    Attributes:
        rounds: Rounds since its start.
        labels: Number of labels known.
        counts: Rounds of the mixture with each label, at the root.
        first_rounds: Rounds in which a label first appeared.
        novelty: Cost of new labels and of the reserve for them.
        bound: Loss of the best pruning plus its price.
        mixed: Loss of the mixture, from the losses of the nodes.
        constants: Loss of the best constants of the pruning's nodes.
        regret: Loss of these nodes beyond their constants.
        price: Price of not knowing the pruning.
        leaves: Leaves of the pruning.
        nodes: Nodes of the tree.
        drift: Largest relative error of a beta.
        sound: Whether whole numbers and structure agree.
        closed: Whether nodes have closed forms: all labels were known in advance.
        root_error: Difference of the root's loss from its closed form, relative to 1 + that loss.
        width: Sum of the widths of the closed forms; -1 if a node's loss is outside.
        entropy: Log loss of the best constant probabilities for all rounds.
    """

    rounds: int
    labels: int
    counts: list[int]
    first_rounds: int
    novelty: float
    bound: float
    mixed: float
    constants: float
    regret: float
    price: float
    leaves: int
    nodes: int
    drift: float
    sound: bool
    closed: bool
    root_error: float
    width: float
    entropy: float


@theorem(
    "D",
    "willems1995",
    "log loss",
    words=Words(
        covers="every stream, for a tree that starts untrained and whose sums have not drifted",
        why="after the run, the nodes of one pruning of the tree as it grew, {leaves} leaves, would have lost "
        "{constants:up} with the best constant probabilities, each node only on the rounds it answered for; their "
        "running estimates lost {regret:up} more, measured; not knowing the pruning costs {price:up}, rounding "
        "{rounding:up}. {checks}. One constant for all rounds loses {best_constant:down}. Nothing is claimed about the "
        "finished tree used from the first row, or about rows to come",
    ),
)
def tree_pruning(run: Run[TreeFacts]) -> Bound | None:
    """Return the loss and price of the best pruning."""
    if run.log_loss is None:
        return None
    after, lost = run.after, run.log_loss
    expected = after.mixed + after.novelty
    two = after.labels == 2 and after.first_rounds == 0 and after.novelty == 0.0
    binary = not two or sorted(after.counts) == sorted(run.constants)
    needed = [
        *untrained(run),
        seen("its counts of labels agree with the ledger's",
             binary and sum(after.counts) + after.first_rounds == run.rounds),
        seen("whole numbers and structure of the tree agree", after.sound),
        seen("the loss is that of the mixture (no drift by rounding)", abs(lost - expected) <= SLACK * (1.0 + lost)),
        seen("the weights follow from the losses of the nodes (no drift by rounding)", after.drift <= SLACK),
    ]  # fmt: skip
    if after.closed:
        needed += [
            seen("the loss of the root follows from its counts", after.root_error <= SLACK),
            seen("the loss of every other node is within its closed forms", after.width >= 0.0),
        ]
    trivial = run.rounds * math.log(max(after.labels, 2))
    value = outward(after.bound + after.novelty + max(0.0, lost - expected))
    quantities = {
        "constants": after.constants,
        "regret": after.regret,
        "price": after.price + after.novelty,
        "rounding": value - after.bound - after.novelty,
        "leaves": after.leaves,
        "nodes": after.nodes,
        "checks": f"The parts are checked up to {after.width:.3g} nats" if after.closed else "The parts are consistent",
        "best_constant": after.entropy,
    }
    return checked(run, value, needed, quantities, lost, trivial)


@tree_pruning.witnessed
def witness(run: Run[TreeFacts]) -> dict[str, object] | None:
    """Return the parts of the bound of the best pruning."""
    after = run.after
    return parts(constants=after.constants, regret=after.regret, price=after.price, novelty=after.novelty)
