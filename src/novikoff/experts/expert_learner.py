"""Base class of learners with expert advice: a panel of experts and a rule that weighs them.

There are two ways to play. "mean" predicts the weighted mean of the predictions, which needs a convex loss (in a game
of losses the mixture itself is played and costs the mean loss). "draw" follows an expert drawn by the weights: the
uniform number of round t is coin t of the seed (numerics/coins.py, purpose "expert"), and selects the expert by the
cumulative weights, so repeated predictions agree. A drawn hypothesis without a valid label predicts +1 (0 in
multiclass).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, shown
from novikoff.core.learner import Learner
from novikoff.core.state import Argument, Field, Part
from novikoff.core.types import Batch, Distribution, Domain, Example, Outcome, Prediction, StepResult, Task, Theorem
from novikoff.experts.expert_weights import ExpertWeights
from novikoff.experts.panel import Panel
from novikoff.experts.standings import Standings
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
"""Constructor arguments that most learners pass to their panel."""


class ExpertLearner(Learner):
    """Learner that predicts the weighted mean of its experts, or follows one drawn by their weights.

    Args:
        panel: The experts, their loss and how they are followed.
        rule: The rule that sets the weights.
        given: Constructor arguments of the learner that are not the panel's.
    """

    domain: Domain
    labels: int | None
    fixed_labels = True
    seed: int

    promises: ClassVar[tuple[Theorem, ...]]
    fields: ClassVar[tuple[Field, ...]] = (Part("weights", at="_rule"),)

    def __init__(self, panel: Panel, rule: ExpertWeights, **given: object) -> None:
        self._panel, self._rule, self._given = panel, rule, given
        self.domain, self.labels, self.draws, self.loss = panel.domain, panel.labels, panel.draws, panel.loss.name
        self.task, self.seed = panel.task, panel.seed

    @classmethod
    def task_of(cls, given: Mapping[str, object]) -> Task:
        if not isinstance(given.get("experts"), (int, float)):  # a class of hypotheses
            return "binary"
        return "losses" if given.get("loss") == "table" else "advice"

    @property
    def size(self) -> int:
        """Number of experts."""
        return self._panel.size

    @property
    def rounds(self) -> int:
        """Rounds played so far."""
        return self._rule.rounds

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights of the experts in the next round, with all experts awake; they sum to 1."""
        return self._rule.weights()

    def chances(self, x: Example) -> Distribution:
        """Return the probability of each prediction: total weight of its experts, or 1 for a weighted mean."""
        panel, rule = self._panel, self._rule
        if panel.hypotheses is not None:
            choices, weights = panel.choices(x), rule.weights()
            labels = [-1, 1] if panel.task == "binary" else list(range(panel.labels or 0))
            found = {label: float(weights[choices == label].sum()) for label in labels}
            silent = max(1.0 - math.fsum(found.values()), 0.0) if not np.isin(choices, labels).all() else 0.0
            found[1 if panel.task == "binary" else 0] += silent
            return {label: share for label, share in found.items() if share > 0.0}
        if not panel.draws:
            predicted: Any = self.predict_one(x)
            return {predicted: 1.0}
        if panel.task == "losses":
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
        if panel.task != "losses":
            return self._rule.predict(panel.row(x))
        if x is not None:
            raise InputError(f"x must be None in a game of losses: got {shown(x)}.")
        return self._rule.predict(panel.blank)

    def play_one(self, x: Example, y: Outcome) -> Prediction | StepResult:
        """Predict, then learn; return a `StepResult`, or a label if the experts are hypotheses."""
        rows, outcomes, choices = self._panel.one(x, y)
        predictions, losses, means = self._rule.play(rows, outcomes)
        if choices is not None:
            return self._panel.label(choices[int(predictions[0])])
        return StepResult(float(predictions[0]), float(losses[0]), float(means[0]))

    def learn_many(self, batch: Batch) -> StepResult | None:
        """Play every row in order, compiled; return None if the experts are hypotheses, which take one x at a time."""
        return None if self._panel.hypotheses is not None else StepResult(*self._rule.play(*self._panel.batch(batch)))

    def textbook(self) -> dict[str, object] | None:
        panel, standings = self._panel, self._rule
        if panel.loss.name != "table" or not isinstance(standings, Standings) or standings.rule == "doubling":
            return None
        prior = None if panel.uniform or panel.given is None else [Fraction(weight) for weight in panel.given.tolist()]
        return {
            "rule": "exponential-weights",
            "experts": panel.size,
            "rate": standings.rule,
            "eta": str(Fraction(standings.facts().rate if standings.rounds else 0.0)),
            "top": str(Fraction(panel.loss.top)),
            "prior": None if prior is None else [str(weight / sum(prior)) for weight in prior],
        }

    def heaviest(self) -> str:
        """Return a readable name of the heaviest expert; the first of equals."""
        return self._panel.describe(int(self.weights.argmax()))

    @property
    def largest_loss(self) -> float:
        return 1.0 if self.counts_mistakes else float(self.facts().top)

    def facts(self) -> ExpertsFacts:
        return self._rule.facts()
