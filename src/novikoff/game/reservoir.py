"""Reservoir of hypotheses, from which `nk.finalize` chooses a classifier after the game.

Notation
    H_t is the hypothesis after t examples: H_0 is the initial one, H_{t-1} predicts example t. Only the first pass
    counts: in a second one the hypotheses have seen the examples that they predict.
Reservoir
    One hypothesis drawn uniformly from H_0 .. H_{n-1}, for any n: before example t is learned, H_{t-1} replaces the
    drawn one with probability 1/t. The next t is drawn directly, floor(t/U) + 1 with U uniform: about ln n copies are
    made.
Survivors
    The hypotheses that predicted most examples, each with its first index and the number of these examples. They are
    found from the mistakes alone, as the longest intervals between them, for learners that change on mistakes only
    (`conservative`); for other learners, indices at equal distances are used.
Average
    The mean of the weights w_0 .. w_{n-1} of a linear learner that adds y x on mistakes: w_n - (1/n) sum of t y_t x_t
    over its mistakes t. A round without a mistake costs nothing. A regression learner computes its average itself
    (`averaged`), and no hypotheses are stored for it.
Horizon
    `fixed` is True if the first pass reached the end of its source or the requested number of rounds. Rounds after that
    were not fixed in advance.
Cost
    One or two nanoseconds per round; the average costs one step per mistake. Three hypotheses in memory (the first, the
    drawn one and the sum of the average).
Reference
    the ensemble: [cesabianchi2004]; skipping: [vitter1985]; the average: [freund1999].
"""

from __future__ import annotations

import dataclasses
import heapq
import math
import secrets
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from novikoff.core.adapt import adapt
from novikoff.core.errors import Advice, InputError, Option
from novikoff.core.feature_places import Features
from novikoff.core.learner import Learner
from novikoff.core.observer import Observer
from novikoff.core.state import MOST_ROUNDS, array, flag, integer, require
from novikoff.core.types import Batch, Sparse, State, StepResult, signs
from novikoff.game import _loops
from novikoff.numerics.coins import uniform
from novikoff.numerics.total import Total

if TYPE_CHECKING:
    from novikoff.game.ledger import Ledger

CANDIDATES, MOST_CANDIDATES = 50, 10_000
"""Default and maximum number of survivors."""
PLAIN = ("conservative", "initial", "rounds", "drawn", "index", "final")
"""Attributes that are saved as they are."""


class HypothesisReservoir(Observer):
    """Observer of the first pass of a game that remembers hypotheses.

    Args:
        learner: The learner before its first round here; its present state is H_0.
        candidates: Number of survivors to remember.
        seed: Seed of the draws; None for a random seed. A constant seed would draw the same index in all games of the
            same length, and a bound in expectation over the draw would not apply to them.
        averaging: Whether to compute the average too, which costs one step per mistake.
    """

    def __init__(
        self, learner: Learner, candidates: int = CANDIDATES, seed: int | None = None, averaging: bool = False
    ) -> None:
        if not 1 <= candidates <= MOST_CANDIDATES:
            raise InputError(f"candidates must be from 1 to {MOST_CANDIDATES:,}: got {candidates:,}.")
        player = adapt(learner)
        self.labelled = player.counts_mistakes
        self.probable = player.probable and not player.numbered  # multiclass: (1 - P(y))^2 is not the Brier score
        self._brier = Total()
        if not self.labelled and not player.averages:
            raise InputError(
                "candidates need a classifier",
                f"{type(player.original).__name__} pays {player.loss} loss",
                Advice("Play without ", Option("candidates"), "."),
            )
        self.candidates, self.seed = int(candidates), secrets.randbits(63) if seed is None else int(seed)
        self.conservative = player.conservative
        self.initial: State = player.state()
        self.rounds = 0
        self.drawn: State = self.initial
        self.index = 0  # index of the drawn hypothesis
        self._copies = 0
        self._next = 0  # round after which the next hypothesis is drawn
        self._at = -1  # round of the pending draw in the present batch; -1 for none
        self._lengths = np.zeros(self.candidates, np.int64)  # rounds that each survivor predicted
        self._firsts = np.zeros(self.candidates, np.int64)  # first index of each survivor
        self._counts = np.zeros(3, np.int64)  # mistakes, first index of the present hypothesis, number of survivors
        self.average = Average(player.original) if averaging and player.sums_mistakes else None
        self.final: State | None = None  # hypothesis after the first pass, once a second begins
        self._fixed = self._exceeded = False

    @property
    def fixed(self) -> bool:
        """Whether the number of rounds of the first pass was fixed in advance: by the source or by the caller."""
        return self._fixed

    @fixed.setter
    def fixed(self, reached: bool) -> None:
        if self.final is None:  # the end of a later pass does not matter
            self._fixed = reached and not self._exceeded

    def begin_pass(self, ledger: Ledger) -> None:
        if ledger.passes > 1:
            self.close(ledger.player)

    def end_pass(self, ledger: Ledger, whole: bool) -> None:
        self.fixed = whole

    def due(self, ledger: Ledger, rounds: int) -> int:
        """Return the rounds until the next draw; of several draws within these rounds only the last is made."""
        while self.labelled and self.final is None and self._next < self.rounds + rounds:
            self._at = self._next
            self._copies += 1
            t = self._next + 1  # H_{t-1} was drawn; the next will be H_{_next}
            self._next = int(t / (1.0 - uniform(self.seed, "reservoir", self._copies)))
        return self._at - self.rounds if self._at >= self.rounds else rounds

    def look(self, ledger: Ledger) -> None:
        """Draw the present hypothesis."""
        self._at = -1
        if self.rounds:
            self.drawn, self.index = ledger.player.state(), self.rounds

    def see(self, batch: Batch, result: StepResult) -> None:
        if self.final is not None:
            return
        predictions = result.predictions
        self._exceeded |= self._fixed
        self._fixed = False
        if not self.labelled:
            self.rounds += len(batch)
            return
        if self.conservative:
            self._find(predictions, batch.y)
        else:
            self._counts[0] += np.count_nonzero(predictions != batch.y)
        if self.average is not None:
            wrong = np.flatnonzero(predictions != batch.y)
            if len(wrong):
                self.average.add(batch, wrong, self.rounds)
        if result.probabilities is not None:
            self._brier.add_all((1.0 - result.probabilities) ** 2)
        self.rounds += len(batch)

    def _find(self, predictions: NDArray[np.generic], y: NDArray[np.generic]) -> None:
        """Count mistakes and update the survivors."""
        if predictions.dtype.hasobject or y.dtype.hasobject:  # labels of a third-party learner
            predictions, y = np.asarray(predictions != y, np.int8), np.zeros(len(y), np.int8)
        _loops.survivors.see(predictions, y, self.rounds, self._lengths, self._firsts, self._counts)

    @property
    def mistakes(self) -> int:
        """Mistakes of the first pass."""
        return int(self._counts[0])

    @property
    def brier(self) -> int | None:
        """Sum of the Brier scores of the first pass, rounded up; None without probabilities."""
        return min(math.ceil(float(self._brier) * (1.0 + 2.0**-50)), self.rounds) if self.probable else None

    @property
    def _since(self) -> int:
        """First index of the present hypothesis."""
        return int(self._counts[1])

    def close(self, learner: Learner) -> None:
        """Store the final hypothesis of the first pass when another begins."""
        if self.final is None:
            self.final = learner.state()

    def _found(self) -> list[tuple[int, int]]:
        """Return the survivors, sorted: rounds that each predicted, and minus its first index."""
        found = int(self._counts[2])
        return sorted(zip(self._lengths[:found].tolist(), (-self._firsts[:found]).tolist(), strict=True))

    def indices(self) -> list[int]:
        """Return the sorted first indices of the candidates: the longest survivors, the present one among them."""
        if not self.conservative:
            marks = np.linspace(0, self.rounds, self.candidates, endpoint=False).astype(np.int64)
            return sorted(set(marks.tolist()))
        found = self._found()
        if self.rounds > self._since:
            found.append((self.rounds - self._since, -self._since))
        return sorted(-first for _, first in heapq.nlargest(self.candidates, found))

    def state(self) -> State:
        return {
            **{name: getattr(self, name) for name in ("candidates", "seed", *PLAIN)},
            "mistakes": self.mistakes, "copies": self._copies, "next": self._next, "since": self._since,
            "brier": dataclasses.astuple(self._brier), "fixed": self._fixed, "exceeded": self._exceeded,
            "survivors": [list(item) for item in self._found()],
            "average": None if self.average is None else self.average.total.copy(),
        }  # fmt: skip

    @classmethod
    def restore(cls, state: State, learner: Learner) -> Self:
        """Return the reservoir of `learner` with this saved state.

        Written by hand, because the constructor needs the learner, whose class restores the hypotheses, and because
        arrays are not saved as they are in memory.
        """
        candidates = integer(state, "candidates", 1, MOST_CANDIDATES)
        reservoir = cls(learner, candidates, integer(state, "seed", -(2**64), 2**64), state["average"] is not None)
        same = state["conservative"] is reservoir.conservative
        require(same, "hypotheses must be stored as the learner needs them", state["conservative"])
        for name in PLAIN:
            setattr(reservoir, name, state[name])
        for hypothesis in (reservoir.initial, reservoir.drawn, reservoir.final):
            if hypothesis is not None:
                adapt(learner).from_state(hypothesis)
        reservoir._copies, reservoir._next = state["copies"], state["next"]
        reservoir._fixed, reservoir._exceeded = flag(state, "fixed"), flag(state, "exceeded")
        mistakes, since = state["mistakes"], state["since"]
        counts = (reservoir.rounds, mistakes, reservoir.index, reservoir._copies, since, reservoir._next)
        sound = all(type(count) is int and count >= 0 for count in counts) and (
            max(mistakes, reservoir.index, since) <= reservoir.rounds <= min(reservoir._next, MOST_ROUNDS)
            if reservoir.labelled
            else max(counts) <= MOST_ROUNDS
        )
        require(sound, "counts of the reservoir must fit its rounds", counts)
        brier = state["brier"]
        fits = len(brier) == 2 and 0.0 <= brier[0] + brier[1] <= reservoir.rounds
        require(fits, "Brier scores must fit its rounds", brier)
        reservoir._brier = Total(*map(float, brier))
        found = _survivors(state["survivors"], reservoir.candidates, since)
        for place, survivor in enumerate(found):
            reservoir._lengths[place], reservoir._firsts[place] = survivor
        reservoir._counts[:] = mistakes, since, len(found)
        if reservoir.average is not None:
            total = reservoir.average.total = array(state, "average", (None,), of="an average")
            features = adapt(learner).features
            fits = 1 <= len(total) <= (0 if features is None else features.count) + 1
            require(fits, "an average must have a number for each feature", total.shape)
        return reservoir


def _survivors(saved: Any, candidates: int, since: int) -> list[tuple[int, int]]:
    """Return the validated survivors of a saved state: rounds that each predicted, and its first index."""
    must = "survivors must be pairs of integers, within the rounds, and no more than the candidates"
    require(isinstance(saved, list) and len(saved) <= candidates, must, saved)
    pairs = [one for one in saved if isinstance(one, list) and len(one) == 2 and all(type(n) is int for n in one)]
    sound = all(rounds >= 1 and first <= 0 and rounds - first <= since for rounds, first in pairs)
    distinct = len({first for _, first in pairs}) == len(saved)
    require(len(pairs) == len(saved) and sound and distinct, must, saved)
    return [(rounds, -first) for rounds, first in pairs]


class SumsMistakes(Protocol):
    """A linear learner that adds y x~ on mistakes, as `Learner.sums_mistakes` states."""

    features: Features
    bias: float
    normalize: bool

    def less(self, weights: NDArray[np.float64]) -> Learner:
        """Return a copy with these weights subtracted."""


class Average:
    """Sum of t y_t x~_t over the mistakes of a linear learner; the bias is the last entry."""

    def __init__(self, learner: object) -> None:
        self._learner = cast(SumsMistakes, learner)  # it declares sums_mistakes
        self.total: NDArray[np.float64] = np.zeros(1)

    def add(self, batch: Batch, wrong: NDArray[np.int64], before: int) -> None:
        """Add the mistakes of a batch.

        Args:
            batch: Batch whose first round is number `before` + 1.
            wrong: (mistakes,) rows with a mistake.
            before: Number of earlier rounds.
        """
        from novikoff.game._loops import averaging

        learner = self._learner
        self._grow(learner.features.count)
        x = batch.x
        if isinstance(x, list):
            for row in wrong.tolist():
                self._add_row(learner.features.row(x[row], learn=False), int(batch.y[row]), before + row + 1)
        elif isinstance(x, Sparse):
            averaging.add_sparse(self.total, *x.arrays, signs(batch), wrong, before, learner.bias, learner.normalize)
        else:
            averaging.add_dense(self.total, batch.table(), signs(batch), wrong, before, learner.bias, learner.normalize)

    def _add_row(self, row: Any, y: int, t: int) -> None:
        from novikoff.game._loops import averaging

        only, label, learner = np.zeros(1, np.int64), np.array([y], np.int8), self._learner
        if isinstance(row, tuple):
            ends = np.array([0, len(row[0])], np.uint64)
            entries = (ends, row[0], row[1])
            averaging.add_sparse(self.total, *entries, label, only, t - 1, learner.bias, learner.normalize)
        else:
            averaging.add_dense(self.total, row[None, :], label, only, t - 1, learner.bias, learner.normalize)

    def _grow(self, features: int) -> None:
        missing = features + 1 - len(self.total)
        if missing > 0:
            self.total = np.concatenate([self.total[:-1], np.zeros(missing), self.total[-1:]])
