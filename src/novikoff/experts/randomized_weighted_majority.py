"""Randomized Weighted Majority: follow an expert drawn by weights; those that err count for less.

Algorithm
    w_i = prior_i (equal without one).  Follow expert i with chance w_i / W.  On EVERY round multiply w_i by beta if i
    erred, 0 < beta < 1: by beta^l for a loss l in a table. It is exponential weights with the rate ln(1/beta).
    The draw of round t is coin t of the seed (experts/expert_learner.py).
Promise
    experts/theorems/small_losses.py: expected mistakes at most (m ln(1/beta) + ln N) / (1 - beta), on every stream, if
    the best expert errs m times: for beta = 1/2, 1.39 m + 2 ln N, where a deterministic rule has 2.41 (m + log2 N).
    experts/theorems/fixed_rate_regret.py, mixability_gaps.py: its regret; drawn_loss.py: its mistakes as they fell.
Cost
    O(N) time per round, 32 bytes for each expert.
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
    """An expert drawn by its weight; those that err lose weight, and none is ever dropped."""

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
            raise InputError(f"beta must be a number above 0 and below 1: got {shown(beta)}. Take 0.5 if in doubt.")
        if loss not in ("zero-one", "table"):
            raise InputError(f'the loss must be "zero-one" or "table": got {shown(loss)}.')
        self.beta = float(beta)
        panel = Panel(experts, loss, "draw", prior, seed=seed)
        super().__init__(panel, Standings(panel, "fixed", 1.0, -math.log(self.beta)), beta=self.beta)

    survivor = ExpertLearner.heaviest
