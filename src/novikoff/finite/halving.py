"""Halving: predict with the majority of the surviving hypotheses.

Algorithm
    V_1 = H.  Predict the label with the most weight in V_t; a tie predicts +1 (multiclass: the smallest label).
    V_{t+1} = the hypotheses of V_t that predicted the true label: in every round, or (`conservative`) on mistakes only.
    If no hypothesis is left the stream is not realizable: restart with V = H, and report it.
    A prior gives each hypothesis a weight; "length" gives a program of L bits the weight 2^-L.
Promise
    finite/theorems/halving_mistakes.py: at most log2|H| mistakes when some hypothesis is perfect.
    finite/theorems/halving_restarts.py: at most (m+1)(log2|H|+1) when the best one errs m times.
Cost
    O(survivors) time per round, O(survivors) memory; for programs, 1/64 of that.
Reference
    [littlestone1988]; [barzdin1972].
"""

from __future__ import annotations

from typing import ClassVar

from novikoff.core.hypotheses import Ballot, HypothesisClass
from novikoff.core.state import Argument
from novikoff.core.types import Label, Theorem
from novikoff.finite.proofs import HalvingProof
from novikoff.finite.theorems.halving_mistakes import halving_mistakes
from novikoff.finite.theorems.halving_restarts import halving_restarts
from novikoff.finite.version_space import VersionSpaceLearner


class Halving(VersionSpaceLearner):
    """Majority vote of the hypotheses consistent with all labels so far.

    Args:
        hypotheses: A finite class, such as `nk.classes.thresholds(100)`.
        prior: Weight of each hypothesis; None for equal weights, "length" for programs.
        conservative: Whether to filter hypotheses on mistakes only.

    Guarantee:
        If some hypothesis fits every label, at most log2|H| mistakes (`halving_mistakes`); if the best one errs m
        times, at most (m+1)(log2|H|+1) (`halving_restarts`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.Halving(nk.classes.thresholds(6))
        >>> nk.play(learner, [(3, 1), (1, -1), (2, -1), (2, -1)]).mistakes
        2
        >>> learner.survivor()
        'x >= 3'
    """

    promises: ClassVar[tuple[Theorem, ...]] = (halving_mistakes, halving_restarts)
    fields = (Argument("prior"), Argument("conservative", bool), *VersionSpaceLearner.fields)

    def __init__(self, hypotheses: HypothesisClass, prior: object = None, conservative: bool = False) -> None:
        super().__init__(hypotheses, prior)
        self.conservative = bool(conservative)

    def textbook(self) -> dict[str, object] | None:
        found = super().textbook()
        return None if found is None else {"rule": "halving", "conservative": self.conservative, **found}

    def proof(self) -> HalvingProof:
        return HalvingProof(self.facts())

    def _decide(self, ballot: Ballot) -> Label:
        return ballot.winner()
