"""Games in a few lines, which theorems are asked about: the Perceptron's, and those of exponential weights."""

import dataclasses
import math
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from novikoff.comparators.linear_tracker import LinearTracker
from novikoff.core.types import Run
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.linear.theorems.perceptron_facts import PerceptronFacts


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


def weighted(
    table, rates, prior=None, top=1.0, unit=None, rule="fixed", weights=None, paid=None, loss="table", rounding=1e-12
):
    """The run of exponential weights on losses in [0, top], in longdoubles.

    rates     per unit, of each round or of all of them
    weights   (lost, rate) -> weights, to break the rule on purpose
    paid      (weights, t) -> what a mixture pays; without it an expert is drawn, and the mean is paid
    """
    table, unit = np.asarray(table, dtype=np.longdouble), unit or top
    rounds, experts = table.shape
    prior = np.full(experts, 1 / experts) if prior is None else np.asarray(prior, dtype=float)
    rates = np.broadcast_to(rates, rounds)
    lost, mixed, gaps, gap, total = np.zeros(experts, dtype=np.longdouble), 0.0, 0.0, 0.0, np.longdouble(0)
    for t, (row, eta) in enumerate(zip(table, rates, strict=True)):
        w = prior * np.exp(-eta * (lost - lost.min()) / unit) if weights is None else weights(lost, eta)
        w /= w.sum()
        gap = row @ w + (unit / eta * np.log(w @ np.exp(-eta * row / unit)) if experts > 1 else -row[0])
        mixed, gaps, lost = mixed + row @ w, gaps + gap, lost + row
        total += row @ w if paid is None else paid(w, t)
    i = int(np.argmin(lost - unit * np.log(prior) / rates[-1] if experts > 1 else lost))
    facts = ExpertsFacts(
        rule, rounds, experts, loss, "draw" if paid is None else "mean", top, unit, float(rates[-1]),
        rates=math.fsum(rates), gaps=float(gaps), last_gap=float(gap), mixed=float(mixed), best=int(np.argmin(lost)),
        best_loss=float(lost.min()), comparator=i, comparator_loss=float(lost[i]), price=-math.log(prior[i]),
        uniform=len(set(prior)) == 1, rounding=rounding,
    )  # fmt: skip
    start = dataclasses.replace(facts, rounds=0, rates=0.0, gaps=0.0, mixed=0.0, best_loss=0.0, comparator_loss=0.0)
    return Run(start, facts, rounds, 0, float(total), (0, 0), adaptive=False, deterministic=paid is not None)
