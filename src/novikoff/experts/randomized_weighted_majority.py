"""Randomized Weighted Majority: follow an expert drawn by weight; a mistake reduces an expert's weight.

Algorithm
    w_i = prior_i (equal without one).  Follow expert i with probability w_i / W.  In EVERY round multiply w_i by beta
    if i erred, 0 < beta < 1 (by beta^l for a loss l in a table). This is exponential weights with the rate ln(1/beta).
    The draw of round t is coin t of the seed (experts/expert_learner.py).
Promise
    experts/theorems/small_losses.py: expected mistakes at most (m ln(1/beta) + ln N) / (1 - beta), on every stream, if
    the best expert errs m times: for beta = 1/2, 1.39 m + 2 ln N, where a deterministic rule has 2.41 (m + log2 N).
    experts/theorems/fixed_rate_regret.py, mixability_gaps.py: its regret; drawn_loss.py: its actual mistakes.
Cost
    O(N) time per round, 32 bytes per expert.
Reference
    [littlestone1994].
"""

from __future__ import annotations

import math
from typing import ClassVar

from novikoff.core.errors import InputError, shown
from novikoff.core.state import Argument
from novikoff.core.types import Theorem
from novikoff.experts.expert_learner import PANEL, ExpertLearner
from novikoff.experts.panel import Panel, is_number
from novikoff.experts.standings import Standings
from novikoff.experts.theorems.drawn_loss import drawn_loss
from novikoff.experts.theorems.fixed_rate_regret import fixed_rate_regret
from novikoff.experts.theorems.mixability_gaps import mixability_gaps
from novikoff.experts.theorems.small_losses import small_losses


class RandomizedWeightedMajority(ExpertLearner):
    """Learner that follows an expert drawn by weight and multiplies the weight of experts that err.

    Args:
        experts: Number of experts, or a hypothesis class whose hypotheses are the experts.
        beta: Factor of the weight after a mistake, between 0 and 1.
        prior: Prior weights of the experts; None for equal ones.
        seed: Seed of the draws.
        loss: "zero-one", or "table" for rows of losses.

    Guarantee:
        Expected mistakes at most (m ln(1/beta) + ln N) / (1 - beta) if the best of N experts makes m (`small_losses`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.RandomizedWeightedMajority(3, loss="table")
        >>> for losses in [[0.0, 1.0, 1.0], [0.0, 1.0, 0.0]]:
        ...     step = learner.play_one(None, losses)
        >>> learner.weights.round(2).tolist()
        [0.57, 0.14, 0.29]
    """

    promises: ClassVar[tuple[Theorem, ...]] = (small_losses, mixability_gaps, fixed_rate_regret, drawn_loss)
    fields = (
        *(field for field in PANEL if field.name not in ("play", "clip")),
        Argument("beta", float),
        *ExpertLearner.fields,
    )

    def __init__(
        self, experts: object, beta: float = 0.5, prior: object = None, seed: int = 0, loss: str = "zero-one"
    ) -> None:
        if not is_number(beta) or not 0.0 < float(beta) < 1.0:
            raise InputError(f"beta must be a number above 0 and below 1: got {shown(beta)}. 0.5 is usual.")
        if loss not in ("zero-one", "table"):
            raise InputError(f'the loss must be "zero-one" or "table": got {shown(loss)}.')
        self.beta = float(beta)
        panel = Panel(experts, loss, "draw", prior, seed=seed)
        super().__init__(panel, Standings(panel, "fixed", 1.0, -math.log(self.beta)), beta=self.beta)

    survivor = ExpertLearner.heaviest
