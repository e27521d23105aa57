"""AdaHedge: exponential weights whose rate is set by what mixing has cost so far; nothing to tune.

Algorithm
    Delta_0 = 0.  In round t the rate is eta_t = ln N / Delta_{t-1}, on the losses themselves; while Delta is 0 all
    leaders have the same weight, and the others none.  w_{t,i} is proportional to exp(-eta_t L_{t-1,i}).
    h_t = <w_t, l_t>;  m_t = -(1/eta_t) ln <w_t, exp(-eta_t l_t)>;  Delta_t = Delta_{t-1} + max(0, h_t - m_t).
    Say the weighted mean of the experts, or follow one drawn by the weights (experts/expert_learner.py). Losses
    multiplied by a constant leave the game as it was.
Promise
    experts/theorems/ada_hedge_regret.py: regret at most Delta_T + Delta_{T-1}; never more than
    S sqrt(T ln N) + S (4/3 ln N + 2), and far less where one expert leads.
    experts/theorems/drawn_loss.py: for the expert drawn.
Cost
    O(N) a round: two exp for each expert (three while the rate is above 600 / S); 24 bytes for each expert.
Reference
    [derooij2014].
"""

from __future__ import annotations

from typing import ClassVar

from novikoff.core.losses import CLIP
from novikoff.core.types import Theorem
from novikoff.experts.expert_learner import PANEL, ExpertLearner
from novikoff.experts.panel import Panel
from novikoff.experts.standings import Standings
from novikoff.experts.theorems.ada_hedge_regret import ada_hedge_regret
from novikoff.experts.theorems.drawn_loss import drawn_loss


class AdaHedge(ExpertLearner):
    """Exponential weights at a rate that falls as mixing costs."""

    promises: ClassVar[tuple[Theorem, ...]] = (ada_hedge_regret, drawn_loss)
    fields = (*(field for field in PANEL if field.name != "prior"), *ExpertLearner.fields)

    def __init__(
        self, experts: object, loss: str = "zero-one", play: str | None = None, clip: float = CLIP, seed: int = 0
    ) -> None:
        panel = Panel(experts, loss, play, None, clip, seed)
        super().__init__(panel, Standings(panel, "adaptive", panel.loss.top))

    survivor = ExpertLearner.heaviest
