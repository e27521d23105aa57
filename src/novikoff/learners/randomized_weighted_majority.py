"""Randomized Weighted Majority: follow an expert drawn by weights; those that err count for less.

Algorithm
    w_i = prior_i (equal without one).  Follow expert i with chance w_i / W.  On EVERY round multiply w_i by beta if i
    erred, 0 < beta < 1: by beta^l for a loss l in a table. It is exponential weights with the rate ln(1/beta).
    The draw of round t is coin t of the seed (learners/panel.py).
Promise
    certificates/small_losses.py: expected mistakes at most (m ln(1/beta) + ln N) / (1 - beta), on every stream, if the
    best expert errs m times: for beta = 1/2, 1.39 m + 2 ln N, where a deterministic rule has 2.41 (m + log2 N).
    certificates/fixed_rate_regret.py, mixability_gaps.py: its regret; drawn_loss.py: its mistakes as they fell.
Cost
    O(N) time per round, 32 bytes for each expert.
Reference
    [littlestone1994].
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.certificates.drawn_loss import drawn_loss
from novikoff.certificates.experts_facts import ExpertsFacts
from novikoff.certificates.fixed_rate_regret import fixed_rate_regret
from novikoff.certificates.mixability_gaps import mixability_gaps
from novikoff.certificates.small_losses import small_losses
from novikoff.errors import InputError, shown
from novikoff.learners.panel import Panel, arguments, is_number
from novikoff.learners.standings import Standings
from novikoff.types import Batch, Distribution, Example, Played, State, Theorem


class RandomizedWeightedMajority:
    """An expert drawn by its weight; those that err lose weight, and none is ever dropped."""

    promises: ClassVar[tuple[Theorem, ...]] = (small_losses, mixability_gaps, fixed_rate_regret, drawn_loss)
    draws = True

    def __init__(
        self, experts: Any, beta: float = 0.5, prior: Any = None, seed: int = 0, loss: str = "zero-one"
    ) -> None:
        if not is_number(beta) or not 0.0 < float(beta) < 1.0:
            raise InputError(f"beta must be a number above 0 and below 1: got {shown(beta)}. Take 0.5 if in doubt.")
        if loss not in ("zero-one", "table"):
            raise InputError(f'the loss must be "zero-one" or "table": got {shown(loss)}.')
        self._panel = panel = Panel(experts, loss, "draw", prior, seed=seed)
        self.domain, self.labels, self.loss = panel.domain, panel.labels, panel.loss.name
        self.beta = float(beta)
        self._rounds = Standings(panel, "fixed", 1.0, -math.log(self.beta))

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
        return {**self._panel.state(), "beta": self.beta, "standings": self._rounds.state()}

    @classmethod
    def restore(cls, state: State) -> Self:
        given = arguments(state)
        learner = cls(given["experts"], state["beta"], given["prior"], given["seed"], given["loss"])
        learner._rounds.load(state["standings"])
        return learner
