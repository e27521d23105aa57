"""Copies of one learner, started at different times and mixed: for streams that change.

Algorithm
    Time is divided into blocks of `block` rounds, s = 1, 2, ... One copy plays from the first round on and never rests.
    With each block s an untrained copy starts. If 2^n is the largest power of two that divides s, the copy represents
    the n + 1 stretches of 1, 2, 4, ... 2^n blocks from s on, and is awake until the longest of them ends. The awake
    copies predict P_i; the mixture predicts P = sum of w_i P_i / sum of w_i, and +1 if P(+1) is 1/2 or more.
    Each w_i is then multiplied by P_i(y) / P(y). It starts at 1/2 for the steady copy, and for each stretch from s on
    at 1 / (2 s (s+1) (n+1)): these sum to 1.
Promise
    experts/theorems/specialists_regret.py: on the whole stream its log loss is at most that of the steady copy + ln 2;
    experts/theorems/specialists_promise.py: so at most that copy's bound + ln 2.
    experts/theorems/stretch_regret.py: on every stretch, at most that of the copy started there + ln 2s(s+1)(n+1). Any
    run of blocks consists of a few stretches, and `between` returns the bound there. `drift=true` in the spec of a
    learner with probabilities is this, in blocks of 256 rounds: `logistic:drift=true`.
Cost
    That of at most 2 + log2(blocks) copies; a few numbers of memory per block.
Reference
    [hazan2009]; [daniely2015]; [freund1997b].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.core.adapt import adapt
from novikoff.core.attribution import Importances
from novikoff.core.certificate import bound_text, outward
from novikoff.core.errors import POSITIVE, Advice, InputError, shown
from novikoff.core.feature_places import Features, Row
from novikoff.core.learner import Learner
from novikoff.core.nesting import restored, saved
from novikoff.core.state import array, integer, number, pair, require
from novikoff.core.types import (
    Batch,
    CountsRounds,
    Domain,
    Example,
    Label,
    Outcome,
    State,
    StepResult,
    Theorem,
    check_label,
    signs,
)
from novikoff.experts import _loops
from novikoff.experts.theorems.specialists_facts import EPS, SpecialistsFacts
from novikoff.experts.theorems.specialists_promise import specialists_promise
from novikoff.experts.theorems.specialists_regret import specialists_regret
from novikoff.experts.theorems.stretch_regret import stretch_regret
from novikoff.numerics.total import Total

if TYPE_CHECKING:
    from novikoff.data.tables.encoding import Encoding

STEADY = 0
"""Start block of the copy that never rests."""


class Between(NamedTuple):
    """Result and bound between two rounds, both included.

    Attributes:
        first: First round.
        last: Last round.
        mistakes: Mistakes of the mixture.
        log_loss: Log loss of the mixture.
        bound: Upper bound on that log loss: that of the copies started there, plus their price.
        begun: Log loss of the copies started there, each on its stretch.
        steady: Log loss of the copy that started in the first round.
        constant: Least log loss and fewest mistakes of a constant prediction.
    """

    first: int
    last: int
    mistakes: int
    log_loss: float
    bound: float
    begun: float
    steady: float
    constant: tuple[float, int]

    @property
    def rows(self) -> int:
        """Number of rounds."""
        return self.last - self.first + 1

    def __str__(self) -> str:
        rate, most = f"{100 * self.mistakes / self.rows:.3g} %", bound_text(self.bound / self.rows, "upper")
        return (
            f"Rounds {self.first:,} to {self.last:,}: {self.mistakes:,} mistakes in {self.rows:,} ({rate}), "
            f"log loss {self.log_loss / self.rows:.4f} per round; the theorem guarantees at most {most}. "
            f"Best constant of these rounds: {self.constant[0] / self.rows:.4f}, and {self.constant[1]:,} mistakes. "
            f"Copies started there: {self.begun / self.rows:.4f}; the copy started in the first round: "
            f"{self.steady / self.rows:.4f}."
        )


def doublings(start: int) -> int:
    """Return how often 2 divides `start`."""
    return (start & -start).bit_length() - 1


def price(start: int) -> float:
    """Return ln(1 / prior weight) of each stretch of the copy started with this block."""
    return math.log(2.0 * start * (start + 1) * (doublings(start) + 1))


def place(start: int) -> int:
    """Return the index at which the stretch losses of the copy started with this block begin."""
    return 2 * (start - 1) - (start - 1).bit_count()


@dataclass(slots=True)
class Copy:
    """Copy of the learner that started with block `start`.

    Attributes:
        start: Block in which it started.
        learner: The learner.
        log: Log of the probability given to all labels: by the mixture before it started, by the copy since.
        loss: Its log loss.
        before: Log loss of the mixture when it started.
    """

    start: int
    learner: Learner
    log: float
    loss: Total
    before: float

    def play_one(self, x: Example, y: Label) -> StepResult:
        """Predict, then learn."""
        played = self.learner.play_one(x, y)
        assert isinstance(played, StepResult)  # it has probabilities
        return played

    def ends(self) -> int:
        """Return the last block of its longest stretch."""
        return self.start + (self.start & -self.start) - 1

    def mass(self, block: int) -> float:
        """Return the prior weight of its stretches that reach into `block`."""
        if self.start == STEADY:
            return 0.5
        over = (block - self.start).bit_length()
        return (doublings(self.start) + 1 - over) * math.exp(-price(self.start))


class Specialists(Learner):
    """Mixture of copies of one learner that start at different times, for streams that change.

    Args:
        learner: Untrained learner with probabilities for the labels -1 and +1.
        block: Number of rounds after which another copy starts.

    Guarantee:
        Log loss at most that of the copy that plays all rounds plus ln 2 (`specialists_regret`), and on every stretch
        at most that of the copy started there plus a logarithmic price (`stretch_regret`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.Specialists(nk.Logistic(), block=8)
        >>> ledger = nk.play(learner, [([1.0, 0.0], -1), ([0.0, 1.0], 1)] * 40)
        >>> learner.between(1, 16).mistakes
        2
    """

    names: ClassVar[list[str]] = ["steady copy"]
    replaces = True
    promises: ClassVar[tuple[Theorem, ...]] = (specialists_regret, specialists_promise, stretch_regret)

    def __init__(self, learner: Learner, block: int = 64) -> None:
        learner = adapt(learner)
        if not learner.probable or learner.within is not learner:
            raise InputError(
                f"a specialist must predict probabilities: {type(learner.original).__name__} does not. "
                "Use auto, logistic, ftrl or vaw, for labels."
            )
        if learner.task == "multiclass":
            advice = Advice("Play the learner without specialists (auto without drift). Or: ", POSITIVE)
            got = f"{type(learner.original).__name__} is multiclass"
            raise InputError("a specialist must be a binary classifier", got, advice)
        if type(block) is not int or not 1 <= block <= 2**40:
            raise InputError(f"a block must be a positive whole number of rounds: got {shown(block)}.")
        facts = learner.facts()
        if isinstance(facts, CountsRounds) and facts.rounds:
            raise InputError("a specialist must be untrained: this learner is not. Pass a new one.")
        self.block = block
        self._fresh = learner.copy()
        self._copies = [Copy(STEADY, learner, 0.0, Total(), 0.0)]
        self._paid, self.rounds, self._mistakes, self._positives = Total(), 0, 0, 0
        self._worst, self._stretches = 0.0, 0
        # After each block: loss of the mixture and of the steady copy, mistakes, positives. Losses of completed
        # stretches, indexed by `place`; NaN until complete.
        self._marks: list[tuple[float, float, int, int]] = [(0.0, 0.0, 0, 0)]
        self._over: list[float] = []
        self._begin()

    @property
    def domain(self) -> Domain:
        """Domain of the copies."""
        return self.steady.domain

    @property
    def steady(self) -> Learner:
        """The copy that plays all rounds."""
        return self._copies[0].learner

    @property
    def learners(self) -> tuple[Learner, ...]:
        """The steady copy, whose theorems cover all rounds."""
        return (self.steady,)

    @property
    def encoding(self) -> Encoding | None:
        """Encoding of the table that was learned from: that of every copy."""
        return self._fresh.encoding

    @encoding.setter
    def encoding(self, encoding: Encoding | None) -> None:
        for learner in (self._fresh, *(copy.learner for copy in self._copies)):
            learner.encoding = encoding

    @property
    def features(self) -> Features | None:
        """Features of the steady copy, which has seen all rows."""
        return self.steady.features

    @property
    def size(self) -> int:
        """Total size of the copies."""
        return sum(copy.learner.size or 0 for copy in self._copies)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weight of the steady copy; the rest is shared by the other copies."""
        return self.awake()[1][:1]

    def awake(self) -> tuple[list[int], NDArray[np.float64]]:
        """Return the first round and the weight of each copy that is awake."""
        masses, logs = self._standing()
        weights: NDArray[np.float64] = masses * np.exp(logs - logs.max()) if logs.max() > -math.inf else masses
        return [max(copy.start - 1, 0) * self.block + 1 for copy in self._copies], weights / weights.sum()

    def _standing(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return prior weight and `log` of each copy that is awake."""
        block = self.rounds // self.block + 1
        return np.array([copy.mass(block) for copy in self._copies]), np.array([copy.log for copy in self._copies])

    def importances(self) -> Importances | None:
        """Return the importance of each feature to the copy that plays from the first round on."""
        return self.steady.importances()

    def reference(self) -> Row | None:
        return self.steady.reference()

    def last_rows(self, most: int) -> Batch | None:
        return self.steady.last_rows(most)

    def probability_one(self, x: Example) -> float:
        """Return P(+1)."""
        chances = np.array([[copy.learner.probability_one(x) for copy in self._copies]])
        return float(_loops.specialists.mix(*self._standing(), chances, np.empty((1, len(self._copies) + 1)))[0])

    def score_one(self, x: Example) -> float:
        """Return the log-odds of +1."""
        p = self.probability_one(x)
        return math.log(p) - math.log1p(-p) if 0.0 < p < 1.0 else math.copysign(math.inf, p - 0.5)

    def predict_one(self, x: Example) -> Label:
        return 1 if self.probability_one(x) >= 0.5 else -1

    def repeat(self, repeats: bool) -> None:
        self.repeats = repeats
        for copy in self._copies:
            copy.learner.repeat(repeats)

    def play_one(self, x: Example, y: Outcome) -> StepResult:
        y = check_label(y, None)
        played = [copy.play_one(x, y) for copy in self._copies]  # the first copy refuses whatever any of them refuses
        mixed = self._mixed(np.array([[one.probabilities for one in played]]), np.array([y], dtype=np.int8))
        predicted, wrong, _, chance = (value[0].item() for value in (*mixed[:3], mixed.probabilities))
        steady = np.array([played[0].predictions])
        return StepResult(predicted, wrong, wrong, steady, probabilities=chance, results=played[:1])

    def learn_many(self, batch: Batch) -> StepResult | None:
        """Play every row in order: copy after copy, each on the rows for which it is awake, then the mixture."""
        y = signs(batch)
        batch = replace(batch, y=y)
        steady = self.steady.learn_many(batch)
        if steady is None:
            return None
        assert isinstance(steady, StepResult)
        # A copy plays all rows for which it is awake at once, which is compiled; the mixture then reads its
        # probabilities block by block. Value: first row, and the probabilities from there on.
        start, ahead = 0, {STEADY: (0, steady.probabilities)}
        parts: list[StepResult] = []
        while start < len(batch):
            stop = min(len(batch), start + self.block - self.rounds % self.block)
            for copy in self._copies:
                if copy.start not in ahead:
                    ahead[copy.start] = start, self._ahead(copy, batch, start)
            rows = (ahead[copy.start] for copy in self._copies)
            chances = np.stack([chances[start - first : stop - first] for first, chances in rows], axis=1)
            parts.append(self._mixed(chances, y[start:stop]))
            start = stop
        predicted, wrong, mixed = (
            np.concatenate([one[k] for one in parts]) if parts else np.zeros(0)
            for k in map(StepResult._fields.index, ("predictions", "losses", "probabilities"))
        )
        return StepResult(predicted, wrong, wrong, steady.predictions[:, None], probabilities=mixed, results=[steady])

    def _ahead(self, copy: Copy, batch: Batch, start: int) -> NDArray[np.float64]:
        """Return P(y) of a copy for the rows from `start` on for which it is awake."""
        rows = min(len(batch) - start, copy.ends() * self.block - self.rounds)
        played = copy.learner.learn_many(batch.part(start, start + rows))
        assert isinstance(played, StepResult)
        probabilities: NDArray[np.float64] = played.probabilities
        return probabilities

    def _mixed(self, chances: NDArray[np.float64], y: NDArray[np.int8]) -> StepResult:
        """Mix the predictions of the awake copies in rounds of one block, and record the losses."""
        masses, logs = self._standing()
        losses = np.empty((len(y), len(logs) + 1))
        mixed = _loops.specialists.mix(masses, logs, chances, losses)
        for i, copy in enumerate(self._copies):
            copy.loss.add_all(losses[:, i])
            copy.log = float(logs[i])
        self._paid.add_all(losses[:, -1])
        up = np.where(y == 1, mixed >= 0.5, mixed <= 0.5)
        wrong = (up != (y == 1)).astype(np.float64)
        self.rounds += len(y)
        self._mistakes += int(wrong.sum())
        self._positives += int(np.count_nonzero(y == 1))
        if self.rounds % self.block == 0:
            self._end()
            self._begin()
        return StepResult(np.where(up, 1, -1).astype(np.int8), wrong, wrong, probabilities=mixed)

    def _end(self) -> None:
        """End a block: record completed stretches and drop copies whose longest stretch is over."""
        block, paid = self.rounds // self.block, float(self._paid)
        self._marks.append((paid, float(self._copies[0].loss), self._mistakes, self._positives))
        for copy in self._copies[1:]:
            blocks = block - copy.start + 1
            if blocks.bit_count() == 1:
                loss = float(copy.loss)
                self._over[place(copy.start) + doublings(blocks)] = loss
                beyond = paid - copy.before - loss - price(copy.start) if paid < math.inf else math.inf
                self._worst = max(self._worst, beyond) if self._stretches else beyond
                self._stretches += 1
        self._copies = [copy for copy in self._copies if copy.start == STEADY or copy.ends() > block]

    def _begin(self) -> None:
        """Begin a block with an untrained copy."""
        start, paid = self.rounds // self.block + 1, float(self._paid)
        self._over += [math.nan] * (doublings(start) + 1)
        learner = self._fresh.copy()
        learner.encoding = self._fresh.encoding  # no part of the state
        self._copies.append(Copy(start, learner, -paid, Total(), paid))

    def between(self, first: int, last: int) -> Between:
        """Return result and bound of the whole blocks within rounds `first` to `last`, counted from 1."""
        start, stop = -(-(first - 1) // self.block), min(last, self.rounds) // self.block
        if not 1 <= first <= last or start >= stop:
            raise InputError(
                f"a stretch must contain a whole block of {self.block:,} rounds: got {first:,} to {last:,} of "
                f"{self.rounds:,}. Use a longer stretch."
            )
        return self._between(start, stop)

    def stretches(self, most: int) -> list[Between]:
        """Return results on at most `most` parts of the whole blocks, cut at stretches of one length."""
        blocks, size = self.rounds // self.block, 1
        while -(-(blocks + 1) // size) > most:
            size *= 2
        cuts = sorted({0, blocks, *range(size - 1, blocks, size)})
        return [self._between(start, stop) for start, stop in pairwise(cuts)]

    def _between(self, start: int, stop: int) -> Between:
        """Return the result after block `start` up to block `stop`."""
        begun, prices, block = 0.0, 0.0, start + 1
        while block <= stop:
            size = min(doublings(block), (stop - block + 1).bit_length() - 1)
            begun += self._over[place(block) + size]
            prices += price(block)
            block += 2**size
        bound = begun + prices
        if start == 0:
            bound = min(bound, self._marks[stop][1] + math.log(2.0))
        paid, steady, mistakes, positives = np.subtract(self._marks[stop], self._marks[start]).tolist()
        rows = (stop - start) * self.block
        fewer = int(min(positives, rows - positives))
        constant = sum(count * math.log(rows / count) for count in (fewer, rows - fewer) if count)
        bound = outward(bound + EPS * self._marks[stop][0])
        ends = start * self.block + 1, stop * self.block
        return Between(*ends, int(mistakes), paid, bound, begun, steady, (constant, fewer))

    def tale(self) -> list[str]:
        """Return a sentence on the copies with the largest weights."""
        starts, weights = self.awake()
        most = sorted(zip(weights.tolist(), starts, strict=True), reverse=True)[:3]
        copies = ", ".join(f"the copy started in round {start:,} ({w:.1%})" for w, start in most)
        return [f"Largest weights: {copies}"]

    def widen(self, width: int) -> None:
        """Grow to `width` features, if the learner can."""
        for copy in self._copies:
            copy.learner.widen_all(width)

    def facts(self) -> SpecialistsFacts:
        lost = float(self._copies[0].loss)
        return SpecialistsFacts(self.rounds, float(self._paid), lost, self._stretches, self._worst)

    def state(self) -> State:
        return {
            "block": self.block,
            "fresh": saved(self._fresh),
            "rounds": self.rounds,
            "mistakes": self._mistakes,
            "positives": self._positives,
            "paid": [self._paid.sum, self._paid.lost],
            "worst": self._worst,
            "stretches": self._stretches,
            "marks": np.array(self._marks, dtype=np.float64),
            "over": np.array(self._over),
            "copies": [
                {"start": copy.start, "learner": saved(copy.learner), "log": copy.log,
                 "loss": [copy.loss.sum, copy.loss.lost], "before": copy.before}
                for copy in self._copies
            ],
        }  # fmt: skip

    @classmethod
    def restore(cls, state: State) -> Self:
        """Return the learner with this `state`; by hand, because the copies awake follow from the rounds."""
        fresh = restored(state["fresh"])
        learner = cls(fresh, integer(state, "block", 1))
        learner.rounds = rounds = integer(state, "rounds")
        learner._mistakes = integer(state, "mistakes", 0, rounds)
        learner._positives = integer(state, "positives", 0, rounds)
        learner._paid, learner._worst = Total(*pair(state, "paid")), number(state, "worst")
        learner._stretches = integer(state, "stretches", 0, 2 * rounds)
        blocks = rounds // learner.block
        marks = array(state, "marks", (blocks + 1, 4)).tolist()
        learner._marks = [(paid, steady, int(mistakes), int(positives)) for paid, steady, mistakes, positives in marks]
        learner._over = array(state, "over", (place(blocks + 2),), finite=False).tolist()
        learner._copies = [
            Copy(
                one["start"],
                restored(one["learner"]),
                number(one, "log"),
                Total(*pair(one, "loss")),
                number(one, "before"),
            )
            for one in state["copies"]
        ]
        awake = [STEADY, *sorted({(blocks + 1) >> k << k for k in range((blocks + 1).bit_length())})]
        starts = [copy.start for copy in learner._copies]
        kinds = {type(copy.learner) for copy in learner._copies}
        require(kinds == {type(fresh)}, f"copies must be of {type(fresh).__name__}", [one.__name__ for one in kinds])
        require(starts == awake, f"the copies awake after {rounds:,} rounds must have begun in {awake}", starts)
        return learner
