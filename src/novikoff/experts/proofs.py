"""Proofs of the theorems on expert advice, followed through a game: the total weight W is squeezed from both sides."""

from __future__ import annotations

import math
from typing import Any

from novikoff.core.proof import Played, Proof, Value, below
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.experts.theorems.weighted_majority_mistakes import WeightedMajorityFacts


class WeightedMajorityProof(Proof):
    """Weight of the best hypothesis <= W <= W_1 ((1 + beta)/2)^m."""

    theorem = "weighted_majority_mistakes"
    potentials = ("ln W",)
    chain = ("ln weight of the best", "ln W", "ln W_1 - m ln(2/(1+beta))")
    scale = "ln weight"

    def __init__(self, facts: WeightedMajorityFacts) -> None:
        super().__init__()
        self._start = self._before = _log_weight(facts)
        if facts.rounds == 0:
            self.begin(math.log(facts.comparator_weight), self._start, self._start)

    def see(self, learner: Any, played: Played) -> tuple[Value, ...]:
        facts: WeightedMajorityFacts = learner.facts()
        before, after = self._before, _log_weight(facts)
        self._before = after
        self.mistakes += played.mistake
        if not math.isfinite(after):
            self.stop(played.round, "beta is 0, and every hypothesis has erred")
        if self.ended:
            return (after,)
        found = f"ln W {before:.6g} -> {after:.6g}"
        if not below(after, before, 1.0):
            self.step("W never grows", False, played.round, found)
        if played.mistake:
            c = math.log(2.0 / (1.0 + facts.beta))
            self.step("W falls by (1+beta)/2 or more", below(after, before - c, 1.0), played.round, found)
            cost = facts.comparator_errors * math.log(facts.beta) if facts.comparator_errors else 0.0
            best = math.log(facts.comparator_weight) + cost
            drop = self.mistakes * c
            self.point(played.round, (best, after, self._start - drop), 1.0 + abs(self._start) + drop)
        return (after,)


def _log_weight(facts: WeightedMajorityFacts) -> float:
    """Return ln W, the weight of all hypotheses."""
    if facts.beta == 0.0:
        return facts.spread if facts.fewest == 0 else -math.inf
    return facts.spread + facts.fewest * math.log(facts.beta)


class ExponentialWeightsProof(Proof):
    """H - sum of eta top^2/8 <= total mix loss <= L* + ln(N)/eta, where H is the expected loss of the learner.

    At a fixed rate the total mix loss is -ln(W)/eta.
    """

    theorem = "fixed_rate_regret"
    potentials = ("-ln(W)/eta", "H", "L*")
    chain = ("H - sum eta/8", "-ln(W)/eta", "L* + ln(N)/eta")
    scale = "loss"
    every_round = True

    def __init__(self, facts: ExpertsFacts) -> None:
        super().__init__()
        self.theorem = {"anytime": "anytime_regret", "doubling": "doubling_regret"}.get(facts.rule, self.theorem)
        self._start = self._before = facts
        self._paid = 0.0

    def see(self, learner: Any, played: Played) -> tuple[Value, ...]:
        after: ExpertsFacts = learner.facts()
        before, self._before = self._before, after
        paid = played.expected - self._paid
        self._paid = played.expected
        self.mistakes += 1
        mixed = after.mixed - after.gaps
        if self._start.rounds:
            return mixed, played.expected, after.best_loss
        drop, slack = mixed - (before.mixed - before.gaps), (after.rates - before.rates) / after.unit * after.top**2 / 8
        size = max(1.0, abs(mixed), after.rounding / 1e-9)
        found = f"loss {paid:.6g}, mix loss {drop:.6g}, eta/8 {slack:.6g}"
        self.step("loss <= -ln(W'/W)/eta + eta/8", below(paid, drop + slack, size), played.round, found)
        top = after.comparator_loss + after.entrance
        self.point(played.round, (played.expected - after.variation, mixed, top), size)
        return mixed, played.expected, after.best_loss
