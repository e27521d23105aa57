"""What learners with expert advice have in common: a panel of experts, and a rule that weighs them.

There are two ways to play. "mean" says the weighted mean of the predictions, which a convex loss allows (in a game of
losses the mixture itself is played, and costs the mean loss). "draw" follows an expert drawn by the weights: the draw
of round t is coin t of the seed (numerics/coins.py, purpose "expert") cut at the cumulative weights, so asking twice
gives the same answer. A drawn hypothesis without a valid label says +1 (with many labels 0).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, shown
from novikoff.core.learner import Learner, Task
from novikoff.core.state import Argument, Field, Part
from novikoff.core.types import Batch, Distribution, Domain, Example, Outcome, Prediction, StepResult, Theorem
from novikoff.experts.expert_weights import ExpertWeights
from novikoff.experts.panel import Panel
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.finite.classes import Hypotheses

PANEL: tuple[Field, ...] = (
    Hypotheses("experts", counted=True, argument=True, at="_panel.experts"),
    Argument("loss", str, at="_panel.loss.name"),
    Argument("play", str, at="_panel.play"),
    Argument("prior", at="_panel.prior"),
    Argument("clip", at="_panel.clip"),
    Argument("seed", int, at="_panel.seed"),
)
"""The arguments that most learners hand to their panel."""


class ExpertLearner(Learner):
    """The mean of the experts, or one of them, by the weights of a rule.

    given   the arguments of the learner's constructor that are not the panel's
    """

    domain: Domain
    labels: int | None
    seed: int

    promises: ClassVar[tuple[Theorem, ...]]
    fields: ClassVar[tuple[Field, ...]] = (Part("weights", at="_rule"),)

    def __init__(self, panel: Panel, rule: ExpertWeights, **given: object) -> None:
        self._panel, self._rule, self._given = panel, rule, given
        self.domain, self.labels, self.draws, self.loss = panel.domain, panel.labels, panel.draws, panel.loss.name
        self.seed = panel.seed

    @classmethod
    def task_of(cls, given: Mapping[str, Any]) -> Task:
        if not isinstance(given.get("experts"), (int, float)):  # a class of hypotheses
            return "binary"
        return "losses" if given.get("loss") == "table" else "advice"

    @property
    def size(self) -> int:
        """Experts."""
        return self._panel.size

    @property
    def rounds(self) -> int:
        """Played so far."""
        return self._rule.rounds

    @property
    def weights(self) -> NDArray[np.float64]:
        """Of the experts, in the round to come (in which all are awake); they add up to 1."""
        return self._rule.weights()

    def chances(self, x: Example) -> Distribution:
        """The chance of each answer: the weight of the experts that give it; what is said for sure if it is a mean."""
        panel, rule = self._panel, self._rule
        if panel.hypotheses is not None:
            choices, weights = panel.choices(x), rule.weights()
            labels = [-1, 1] if panel.labels is None else list(range(panel.labels))
            found = {label: float(weights[choices == label].sum()) for label in labels}
            silent = max(1.0 - math.fsum(found.values()), 0.0) if not np.isin(choices, labels).all() else 0.0
            found[1 if panel.labels is None else 0] += silent
            return {label: share for label, share in found.items() if share > 0.0}
        if not panel.draws:
            said: Any = self.predict_one(x)
            return {said: 1.0}
        if panel.domain.kind == "losses":
            return {i: float(w) for i, w in enumerate(rule.weights().tolist()) if w > 0.0}
        row = panel.row(x)
        shares: dict[Any, float] = {}
        for p, w in zip(row.tolist(), rule.weights(row).tolist(), strict=True):
            if w > 0.0:
                shares[p] = shares.get(p, 0.0) + w
        return shares

    def predict_one(self, x: Example) -> Prediction:
        panel = self._panel
        if panel.hypotheses is not None:
            choices = panel.choices(x)
            return panel.label(choices[int(self._rule.predict(panel.blank))])
        if panel.domain.kind != "losses":
            return self._rule.predict(panel.row(x))
        if x is not None:
            raise InputError(f"x must be None in a game of losses: got {shown(x)}.")
        return self._rule.predict(panel.blank)

    def play_one(self, x: Example, y: Outcome) -> Prediction | StepResult:
        """Predict, then learn, looking at the experts once: `StepResult`, or a label if they are hypotheses."""
        rows, outcomes, choices = self._panel.one(x, y)
        predictions, losses, means = self._rule.play(rows, outcomes)
        if choices is not None:
            return self._panel.label(choices[int(predictions[0])])
        return StepResult(float(predictions[0]), float(losses[0]), float(means[0]))

    def learn_many(self, batch: Batch) -> StepResult | None:
        """Every row in order, compiled; None where the experts are hypotheses, which are asked one x at a time."""
        return None if self._panel.hypotheses is not None else StepResult(*self._rule.play(*self._panel.batch(batch)))

    def heaviest(self) -> str:
        """The heaviest expert, readable; of equally heavy ones the first."""
        return self._panel.describe(int(self.weights.argmax()))

    def facts(self) -> ExpertsFacts:
        return self._rule.facts()
