"""AdaHedge: exponential weights whose rate is set by what mixing has cost so far; nothing to tune.

Algorithm
    Delta_0 = 0.  In round t the rate is eta_t = ln N / Delta_{t-1}, on the losses themselves; while Delta is 0 all
    leaders have the same weight, and the others none.  w_{t,i} is proportional to exp(-eta_t L_{t-1,i}).
    h_t = <w_t, l_t>;  m_t = -(1/eta_t) ln <w_t, exp(-eta_t l_t)>;  Delta_t = Delta_{t-1} + max(0, h_t - m_t).
    Say the weighted mean of the experts, or follow one drawn by the weights (learners/panel.py). Losses multiplied by a
    constant leave the game as it was.
Promise
    certificates/ada_hedge_regret.py: regret at most Delta_T + Delta_{T-1}; never more than
    S sqrt(T ln N) + S (4/3 ln N + 2), and far less where one expert leads.
    certificates/drawn_loss.py: for the expert drawn.
Cost
    O(N) a round: two exp for each expert (three while the rate is above 600 / S); 24 bytes for each expert.
Reference
    [derooij2014].
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.certificates.ada_hedge_regret import ada_hedge_regret
from novikoff.certificates.drawn_loss import drawn_loss
from novikoff.certificates.experts_facts import ExpertsFacts
from novikoff.learners.panel import Panel, arguments
from novikoff.learners.standings import Standings
from novikoff.losses import CLIP
from novikoff.types import Batch, Distribution, Example, Played, State, Theorem


class AdaHedge:
    """Exponential weights at a rate that falls as mixing costs."""

    promises: ClassVar[tuple[Theorem, ...]] = (ada_hedge_regret, drawn_loss)

    def __init__(
        self, experts: Any, loss: str = "zero-one", play: str | None = None, clip: float = CLIP, seed: int = 0
    ) -> None:
        self._panel = panel = Panel(experts, loss, play, None, clip, seed)
        self.domain, self.labels, self.draws, self.loss = panel.domain, panel.labels, panel.draws, panel.loss.name
        self._rounds = Standings(panel, "adaptive", panel.loss.top)

    @property
    def size(self) -> int:
        """Experts."""
        return self._panel.size

    @property
    def rounds(self) -> int:
        """Played so far."""
        return self._rounds.rounds

    @property
    def weights(self) -> NDArray[np.float64]:
        """Of the experts, in the round to come; they add up to 1."""
        return self._rounds.weights()

    def chances(self, x: Example) -> Distribution:
        """The chance of each answer."""
        return self._panel.chances(self._rounds, x)

    def predict_one(self, x: Example) -> Any:
        return self._panel.predict(self._rounds, x)

    def learn_one(self, x: Example, y: Any) -> None:
        self._panel.play_one(self._rounds, x, y)

    def play_one(self, x: Example, y: Any) -> Any:
        """Predict, then learn, looking at the experts once: `Played`, or a label if they are hypotheses."""
        return self._panel.play_one(self._rounds, x, y)

    def sweep(self, batch: Batch) -> Played | None:
        """Every row in order, compiled; hypotheses are asked one x at a time."""
        return self._panel.sweep(self._rounds, batch)

    def survivor(self) -> str:
        """The heaviest expert, readable; of equally heavy ones the first."""
        return self._rounds.survivor()

    def facts(self) -> ExpertsFacts:
        return self._rounds.facts()

    def state(self) -> State:
        return {**self._panel.state(), "standings": self._rounds.state()}

    @classmethod
    def restore(cls, state: State) -> Self:
        given = arguments(state)
        learner = cls(**{name: given[name] for name in ("experts", "loss", "play", "clip", "seed")})
        learner._rounds.load(state["standings"])
        return learner
