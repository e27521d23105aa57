"""Halving for thresholds on a grid of any size, in constant time and memory.

Algorithm
    Grid 0 .. n, thresholds k = 0 .. n+1 (see finite/classes/threshold.py). The survivors are always an interval
    lo .. hi of integers, at first 0 .. n+1.
    Predict +1 if 2i + 1 >= lo + hi: i - lo + 1 thresholds vote +1 and hi - i vote -1 (clipped); a tie predicts +1.
    On +1: hi = min(hi, i).  On -1: lo = max(lo, i+1).  Every round, or (`conservative`) on mistakes only.
    If lo > hi the stream is not realizable: restart with 0 .. n+1, and report it.
Promise
    finite/theorems/halving_mistakes.py: at most floor(log2(n+2)) mistakes. No learner has a smaller bound:
    adversaries/grid_bisection.py.
Cost
    O(1) per round for any n; integers, so exact. Batches run in a compiled loop up to n = 2^61.
Reference
    [littlestone1988]; [shalevshwartz2014], chapter 21.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.errors import InputError, brief
from novikoff.core.hypotheses import VersionSpaceFacts
from novikoff.core.learner import Learner
from novikoff.core.state import Argument, Count, First
from novikoff.core.types import Batch, Domain, Example, Label, Outcome, Theorem, check_label, signs
from novikoff.finite import _loops
from novikoff.finite.classes.threshold import check_grid_end
from novikoff.finite.proofs import HalvingProof
from novikoff.finite.theorems.halving_mistakes import halving_mistakes
from novikoff.finite.theorems.halving_restarts import halving_restarts

LARGEST_COMPILED = 2**61
"""Largest n of the compiled loop: 2i + 1 and lo + hi then fit into int64."""
MOVING = ("lo", "hi", "restarts", "emptied_at", "rounds")
"""Attributes that change from round to round, in the order of the `state` of the compiled loop."""


class ThresholdHalving(Learner):
    """Majority vote of the thresholds on the grid 0 .. n that are consistent with all labels so far.

    Args:
        n: Last point of the grid.
        conservative: Whether to filter thresholds on mistakes only.

    Guarantee:
        If some threshold fits every label, at most floor(log2(n+2)) mistakes (`halving_mistakes`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.ThresholdHalving(6)
        >>> nk.play(learner, [(3, 1), (1, -1), (2, -1), (2, -1)]).mistakes
        2
        >>> learner.survivor()
        'x >= 3'
    """

    domain: Domain

    promises: ClassVar[tuple[Theorem, ...]] = (halving_mistakes, halving_restarts)
    fields = (
        Argument("n", int),
        Argument("conservative", bool),
        Count("hi", most="last"),
        Count("lo", most="hi"),
        Count("rounds"),
        Count("restarts", most="rounds"),
        First("emptied_at", "restarts"),
    )

    def __init__(self, n: int, conservative: bool = False) -> None:
        self.n = check_grid_end(n)
        self.conservative = bool(conservative)
        self.domain = Domain("index", self.n + 1)
        self.lo, self.hi = 0, self.n + 1
        self.rounds = self.restarts = self.emptied_at = 0

    @property
    def last(self) -> int:
        """Largest threshold, n + 1: "always -1"."""
        return self.n + 1

    @property
    def size(self) -> int:
        """Surviving thresholds."""
        return self.hi - self.lo + 1

    def predict_one(self, x: Example) -> Label:
        return self._predict(encode.index(x, self.n + 1))

    def _predict(self, i: int) -> Label:
        return 1 if 2 * i + 1 >= self.lo + self.hi else -1

    def play_one(self, x: Example, y: Outcome) -> Label:
        i = encode.index(x, self.n + 1)
        y = check_label(y, self.labels)
        prediction = self._predict(i)
        self.rounds += 1
        if self.conservative and prediction == y:
            return prediction
        if y == 1:
            self.hi = min(self.hi, i)
        else:
            self.lo = max(self.lo, i + 1)
        if self.lo > self.hi:
            self.restarts += 1
            self.emptied_at = self.emptied_at or self.rounds
            self.lo, self.hi = 0, self.n + 1
        return prediction

    def learn_many(self, batch: Batch) -> NDArray[np.int8] | None:
        """Predict and learn every row in order, compiled; return None and do nothing for numbers beyond int64."""
        x, y = np.asarray(batch.x).reshape(-1), signs(batch)
        if self.n > LARGEST_COMPILED or x.dtype != np.int64:
            return None
        wrong = _loops.threshold_halving.first_outside(x, self.n)
        if wrong >= 0:
            raise InputError(f"x must be from 0 to {self.n}", f"got {x[wrong]}", round=batch.first + int(wrong))
        state = np.array([getattr(self, name) for name in MOVING], dtype=np.int64)
        predictions = np.empty(len(x), dtype=np.int8)
        _loops.threshold_halving.learn_many(x, y, self.n, state, self.conservative, predictions)
        self.lo, self.hi, self.restarts, self.emptied_at, self.rounds = state.tolist()
        return predictions

    def survivor(self) -> str:
        """Return the surviving thresholds as text."""
        if self.lo == self.hi:
            return f"x >= {brief(self.lo)}" if self.lo <= self.n else "always -1"
        return f"x >= k for k in {brief(self.lo)} .. {brief(self.hi)}"

    def textbook(self) -> dict[str, object]:
        return {"rule": "halving", "conservative": self.conservative, "class": {"class": "thresholds", "n": self.n}}

    def proof(self) -> HalvingProof:
        return HalvingProof(self.facts())

    def facts(self) -> VersionSpaceFacts:
        whole = self.n + 2
        return VersionSpaceFacts(whole, self.size, whole, self.size, 1, self.restarts, self.emptied_at, self.rounds)
