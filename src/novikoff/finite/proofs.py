"""Proofs of the theorems on finite classes, followed through a game: the version space shrinks at every mistake."""

from __future__ import annotations

import math
from typing import Any

from novikoff.core.hypotheses import VersionSpaceFacts
from novikoff.core.proof import Played, Proof, Value, below, log2


class HalvingProof(Proof):
    """1 <= |V| <= |H| / 2^m: at least half of the weight of the version space is removed at every mistake.

    Weights are integers and are compared exactly; with a prior, |V| is the prior weight of the survivors in the chain,
    and its least value is the weight of the lightest hypothesis.
    """

    theorem = "halving_mistakes"
    potentials: tuple[str, ...] = ("|V|", "weight")
    chain: tuple[str, ...] = ("log2 of the lightest weight", "log2 weight of V", "log2 weight of H - m")
    scale = "bits"

    def __init__(self, facts: VersionSpaceFacts) -> None:
        if facts.whole == facts.hypotheses:  # no prior
            self.potentials, self.chain = ("|V|",), ("0", "log2 |V|", "log2 |H| - m")
        super().__init__()
        self._start, self._before = facts, facts
        self.begin(log2(facts.lightest), log2(facts.weight), log2(facts.weight))

    def see(self, learner: Any, played: Played) -> tuple[Value, ...]:
        after: VersionSpaceFacts = learner.facts()
        before, self._before = self._before, after
        self.mistakes += played.mistake
        if after.restarts > before.restarts:
            self.stop(played.round, "no hypothesis fits all labels")
        if self.ended:
            return self._values(after)
        if after.weight > before.weight:
            self.step("V never grows", False, played.round, f"|V| {before.weight:,} -> {after.weight:,}")
        if played.mistake:
            found = f"|V| {before.weight:,} -> {after.weight:,}"
            self.step("|V| falls to half or less", 2 * after.weight <= before.weight, played.round, found)
            top = log2(self._start.weight) - self.mistakes
            self.point(played.round, (log2(after.lightest), log2(after.weight), top), 1.0 + self.mistakes)
        return self._values(after)

    def _values(self, facts: VersionSpaceFacts) -> tuple[Value, ...]:
        return (facts.survivors, facts.weight)[: len(self.potentials)]


class ConsistentProof(Proof):
    """1 <= |V| <= |H| - m: the hypothesis that was followed is removed at every mistake."""

    theorem = "consistent_mistakes"
    potentials = ("|V|",)
    chain = ("1", "|V|", "|H| - m")
    scale = "hypotheses"

    def __init__(self, facts: VersionSpaceFacts) -> None:
        super().__init__()
        self._start, self._before = facts, facts
        if facts.survivors < 2**53:
            self.begin(1.0, float(facts.survivors), float(facts.survivors))

    def see(self, learner: Any, played: Played) -> tuple[Value, ...]:
        after: VersionSpaceFacts = learner.facts()
        before, self._before = self._before, after
        self.mistakes += played.mistake
        if after.restarts > before.restarts:
            self.stop(played.round, "no hypothesis fits all labels")
        if self.ended:
            return (after.survivors,)
        if played.mistake:
            found = f"|V| {before.survivors:,} -> {after.survivors:,}"
            self.step("|V| falls by 1 or more", after.survivors < before.survivors, played.round, found)
            if max(after.survivors, self._start.survivors) < 2**53:
                self.point(played.round, (1, after.survivors, self._start.survivors - self.mistakes))
        return (after.survivors,)


class CoverProof(Proof):
    """Within one cover C of the sphere, 1 <= |V| <= |C| / 2^m; a cover without survivors gives way to a finer one."""

    theorem = "cover_restarts"
    potentials = ("|V|", "cover")
    chain = ("0", "log2 |V|", "log2 |C| - mistakes in C")
    scale = "bits"

    def __init__(self, facts: Any) -> None:
        super().__init__()
        self._before, self._whole, self._inside = facts, facts.survivors, 0

    def see(self, learner: Any, played: Played) -> tuple[Value, ...]:
        after = learner.facts()
        before, self._before = self._before, after
        self.mistakes += played.mistake
        if after.zeros > before.zeros or after.capped > before.capped:
            self.stop(
                played.round, "x = 0 is labelled -1" if after.zeros > before.zeros else "no finer cover is allowed"
            )
        if self.ended:
            return after.survivors, after.level
        if after.spent > before.spent:  # the cover was emptied: the next begins
            self._whole, self._inside = after.survivors, 0
            self.step("a cover is emptied by a mistake", played.mistake, played.round)
        elif played.mistake:
            self._inside += 1
            found = f"|V| {before.survivors:,} -> {after.survivors:,}"
            self.step("|V| falls to half or less", 2 * after.survivors <= before.survivors, played.round, found)
            self.point(played.round, (0.0, log2(after.survivors), log2(self._whole) - self._inside), log2(self._whole))
        return after.survivors, after.level


class BoxProof(Proof):
    """m <= (box created) + (growth of its sides) <= 1 + dim (m - 1): a side grows at every mistake."""

    theorem = "tightest_box_mistakes"
    potentials = ("sides",)
    chain = ("mistakes", "boxes + growth of the sides", "1 + dim (m-1)")
    scale = "steps"

    def __init__(self, facts: Any) -> None:
        super().__init__()
        self._start = self._before = facts
        self.begin(0.0, 0.0, 0.0 if facts.m is None else 1.0 + facts.dim * (facts.m - 1))

    def see(self, learner: Any, played: Played) -> tuple[Value, ...]:
        after = learner.facts()
        before, self._before = self._before, after
        self.mistakes += played.mistake
        if after.contradictions > before.contradictions:
            self.stop(played.round, "a -1 lies inside the box of the positives")
        if self.ended or after.m is None:
            return (after.sides,)
        if played.mistake:
            size, was = after.boxes + after.sides, before.boxes + before.sides
            found = f"boxes + sides {was} -> {size}"
            self.step("the box is created, or a side grows", size > was, played.round, found)
            grown = size - self._start.boxes - self._start.sides
            self.point(played.round, (self.mistakes, grown, 1 + after.dim * (after.m - 1)))
        return (after.sides,)


class ConsistentExpectedProof(Proof):
    """Expected mistakes <= ln(|H|/|V|) <= ln|H|, for a survivor that is drawn in each round."""

    theorem = "consistent_expected"
    potentials = ("|V|", "expected mistakes")
    chain = ("expected mistakes", "ln |H|/|V|", "ln |H|")
    scale = "mistakes"
    every_round = True

    def __init__(self, facts: VersionSpaceFacts) -> None:
        super().__init__()
        self._start, self._before, self._paid = facts, facts, 0.0

    def see(self, learner: Any, played: Played) -> tuple[Value, ...]:
        after: VersionSpaceFacts = learner.facts()
        before, self._before = self._before, after
        paid, self._paid = played.expected - self._paid, played.expected
        self.mistakes += played.mistake
        if after.restarts > before.restarts:
            self.stop(played.round, "no hypothesis fits all labels")
        if self.ended:
            return after.survivors, played.expected
        drop = _log_ratio(before.survivors, after.survivors)
        found = f"P(mistake) {paid:.6g}, ln(|V|/|V'|) {drop:.6g}"
        self.step("P(mistake) <= ln(|V|/|V'|)", below(paid, drop, 1.0), played.round, found)
        whole = self._start.survivors
        self.point(played.round, (played.expected, _log_ratio(whole, after.survivors), _log_ratio(whole, 1)), 1.0)
        return after.survivors, played.expected


def _log_ratio(above: int, under: int) -> float:
    return math.log(2.0) * (log2(above) - log2(under))
