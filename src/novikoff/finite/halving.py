"""Halving: say what most of the surviving hypotheses say.

Algorithm
    V_1 = H.  Predict the label with the most weight in V_t; a tie says +1 (with many labels, the smallest).
    V_{t+1} = those of V_t that gave the true label: on every round, or (`conservative`) on mistakes only.
    If no hypothesis is left the stream is not realizable: begin again with V = H, and say so.
    A prior gives each hypothesis a weight; "length" weighs a program of L bits 2^-L.
Promise
    finite/theorems/halving_mistakes.py: at most log2|H| mistakes when some hypothesis is perfect.
    finite/theorems/halving_restarts.py: at most (m+1)(log2|H|+1) when the best one errs m times.
Cost
    O(survivors) time per round, O(survivors) memory; programs take 1/64 of that.
Reference
    [littlestone1988]; [barzdin1972].
"""

from __future__ import annotations

from typing import Any, ClassVar

from novikoff.core.hypotheses import Ballot, HypothesisClass
from novikoff.core.state import Argument
from novikoff.core.types import Label, Theorem
from novikoff.finite.theorems.halving_mistakes import halving_mistakes
from novikoff.finite.theorems.halving_restarts import halving_restarts
from novikoff.finite.version_space import VersionSpaceLearner


class Halving(VersionSpaceLearner):
    """The majority of the survivors decides."""

    promises: ClassVar[tuple[Theorem, ...]] = (halving_mistakes, halving_restarts)
    fields = (Argument("prior"), Argument("conservative", bool), *VersionSpaceLearner.fields)

    def __init__(self, hypotheses: HypothesisClass, prior: Any = None, conservative: bool = False) -> None:
        super().__init__(hypotheses, prior)
        self.conservative = bool(conservative)

    def _decide(self, ballot: Ballot) -> Label:
        return ballot.winner()
