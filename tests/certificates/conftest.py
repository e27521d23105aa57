"""A Perceptron in ten lines, whose games the Perceptron's theorems are asked about."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from novikoff.certificates.perceptron_facts import PerceptronFacts
from novikoff.comparators.tracker import LinearTracker
from novikoff.types import Run


@dataclass
class Plain:
    """Plain Python doubles, summed from left to right; the rule can be broken on purpose."""

    bias: float = 0.0
    says: int = 1  # -1 says the opposite
    step: float = 1.0  # 0 never learns
    rounds: int = 0
    updates: int = 0
    weights: dict = field(default_factory=dict)

    def facts(self):
        weights = np.array([weight for i, weight in self.weights.items() if i != "bias"])
        own = self.weights.get("bias", 0.0)
        return PerceptronFacts.of(weights, own, self.rounds, self.updates, self.bias, False)

    def start(self, width):
        return [self.weights.get(i, 0.0) for i in (*range(width), "bias")]

    def play(self, row, y):
        items = [*enumerate(map(float, row)), *([("bias", self.bias)] if self.bias else [])]
        score = 0.0
        for i, value in items:
            score += self.weights.get(i, 0.0) * value
        prediction = self.says * (1 if score >= 0 else -1)
        self.rounds += 1
        if prediction != y:
            self.updates += 1
            for i, value in items:
                self.weights[i] = self.weights.get(i, 0.0) + self.step * y * value
        return prediction


def play(rows, labels, passes=1, learner=None, tracked=None, tell=True):
    """The run of a game on these rows, with its comparators."""
    learner = learner or Plain()
    width = len(rows[0]) if len(rows) else 0
    if tracked is None:
        tracked = LinearTracker(learner.bias, start=learner.start(width) if tell else None, additive=True)
    before, mistakes = learner.facts(), 0
    for _ in range(passes):
        for row, y in zip(rows, labels, strict=True):
            wrong = learner.play(row, y) != y
            mistakes += wrong
            tracked.see_row(np.array(row, dtype=np.float64), y, wrong)
    *weights, bias_weight = learner.start(width)
    return Run(
        before=before,
        after=learner.facts(),
        rounds=passes * len(rows),
        mistakes=mistakes,
        expected=float(mistakes),
        constants=(0, 0),
        adaptive=False,
        deterministic=True,
        tracked=tracked.facts(SimpleNamespace(weights=np.array(weights), bias_weight=bias_weight)),
    )


@pytest.fixture(scope="session")
def perceptron():
    return Plain


@pytest.fixture(scope="session")
def game():
    return play
