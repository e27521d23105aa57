"""AdaHedge: exponential weights whose learning rate is set by the cost of mixing so far; nothing to tune.

Algorithm
    Delta_0 = 0.  In round t the rate is eta_t = ln N / Delta_{t-1}, on the losses themselves; while Delta is 0 all
    leaders have the same weight, and the others weight 0.  w_{t,i} is proportional to exp(-eta_t L_{t-1,i}).
    h_t = <w_t, l_t>;  m_t = -(1/eta_t) ln <w_t, exp(-eta_t l_t)>;  Delta_t = Delta_{t-1} + max(0, h_t - m_t).
    Predict the weighted mean of the experts, or follow one drawn by the weights (experts/expert_learner.py).
    Multiplying all losses by a constant does not change the game.
Promise
    experts/theorems/ada_hedge_regret.py: regret at most Delta_T + Delta_{T-1}; never more than
    S sqrt(T ln N) + S (4/3 ln N + 2), and far less where one expert leads.
    experts/theorems/drawn_loss.py: for the expert drawn.
Cost
    O(N) per round: two exp per expert (three while the rate is above 600 / S); 24 bytes per expert.
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
    """Exponential weights over experts, with a learning rate that adapts to the cost of mixing.

    Args:
        experts: Number of experts, or a hypothesis class whose hypotheses are the experts.
        loss: "zero-one", "absolute", "squared", "log", or "table" for rows of losses.
        play: "mean" to predict the weighted mean, "draw" to follow one expert; None for the default of the loss.
        clip: Distance from 0 and 1 that predictions keep under log loss.
        seed: Seed of the draws.

    Guarantee:
        Regret against the best expert at most S sqrt(T ln N) + S (4/3 ln N + 2) after T rounds with losses in [0, S]
        (`ada_hedge_regret`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.AdaHedge(2, loss="squared")
        >>> for advice, outcome in [([0.0, 1.0], 1), ([0.2, 0.9], 1)]:
        ...     step = learner.play_one(advice, outcome)
        >>> learner.weights.round(2).tolist()
        [0.11, 0.89]
    """

    promises: ClassVar[tuple[Theorem, ...]] = (ada_hedge_regret, drawn_loss)
    fields = (*(field for field in PANEL if field.name != "prior"), *ExpertLearner.fields)

    def __init__(
        self, experts: object, loss: str = "zero-one", play: str | None = None, clip: float = CLIP, seed: int = 0
    ) -> None:
        panel = Panel(experts, loss, play, None, clip, seed)
        super().__init__(panel, Standings(panel, "adaptive", panel.loss.top))

    survivor = ExpertLearner.heaviest
