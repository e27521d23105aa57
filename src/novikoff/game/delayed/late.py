"""Counts of served answers in a game with delayed labels, in addition to the ledger of the game of arrivals.

The game is played in the order in which labels arrive, and its ledger is that of an ordinary game. Served answers, in
the order of predictions, are counted here: their metrics (`ServedMetrics` in game/metrics.py), wrong answers, answers
that changed before their label arrived, waiting rounds (game/delayed/theorems/late_facts.py). Row by row or in batches,
the counts are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError
from novikoff.core.observer import Observer
from novikoff.core.state import Count, Part, Stateful, Tuples, Value
from novikoff.core.types import Batch, State, StepResult
from novikoff.game.delayed.pending import Pending
from novikoff.game.delayed.theorems.delayed_conservative import delayed_conservative
from novikoff.game.delayed.theorems.delayed_drawn import delayed_drawn
from novikoff.game.delayed.theorems.delayed_mistakes import delayed_mistakes
from novikoff.game.delayed.theorems.late_facts import LateFacts
from novikoff.game.ledger_checks import next_mark, require
from novikoff.game.metrics import Forecast, ServedMetrics

if TYPE_CHECKING:
    from novikoff.game.ledger import Ledger

PROMISES = (delayed_mistakes, delayed_conservative, delayed_drawn)
"""Theorems on served answers."""

COUNTS = (
    "predicted", "labelled", "expired", "mistakes", "arrival_mistakes", "changed", "others", "unexplained",
    "last_mistake",
)  # fmt: skip
"""Names of the saved counts."""


@dataclass(eq=False)
class Late(Stateful, Observer):
    """Counts of served answers.

    Attributes `predicted`, `labelled`, `expired`, `mistakes`, `changed`, `others` and `unexplained` are as in
    game/delayed/theorems/late_facts.py.

    Attributes:
        arrival_mistakes: Mistakes of the game of arrivals.
        last_mistake: Number of the label that arrived with the last of these mistakes; 0 if there is none.
        pending: Rounds by id; None if the caller keeps the ids.
        labels: Whether outcomes are labels; in regression there are no mistakes.
        curve: (t, mistakes of the served answers after t labels) at the marks of the ledger's curve.
        served: Metrics of the served answers, saved with the ledger; None if an earlier version saved it.
        noted: Scores on arrival of the rounds that were learned last; None without scores.
    """

    fields = (
        *map(Count, COUNTS),
        Value("labels", bool),
        Part("pending", Pending, optional=True),
        Tuples("curve", (int, int)),
    )
    described = "delayed labels"

    predicted: int = 0
    labelled: int = 0
    expired: int = 0
    mistakes: int = 0
    arrival_mistakes: int = 0
    changed: int = 0
    others: int = 0
    unexplained: int = 0
    last_mistake: int = 0
    pending: Pending | None = None
    labels: bool = True
    curve: list[tuple[int, int]] = field(default_factory=list)
    served: ServedMetrics | None = None
    noted: NDArray[np.float64] | None = field(default=None, init=False)
    _served: NDArray[Any] | None = field(default=None, init=False)
    _versions: NDArray[np.int64] | None = field(default=None, init=False)
    _forecasts: list[Forecast | None] = field(default_factory=list, init=False)
    _scores: NDArray[np.float64] | None = field(default=None, init=False)
    _weights: NDArray[np.int64] | None = field(default=None, init=False)

    @classmethod
    def begin(cls, ledger: Ledger) -> Self:
        """Return the counts of a game whose labels came without delay so far and are delayed from now on."""
        rounds, mistakes = ledger.rounds, ledger.mistakes
        curve = [(t, int(paid)) for t, paid in ledger.curve]
        last = rounds if mistakes else 0  # an upper limit: the ledger does not store the round of the last mistake
        served = ServedMetrics.following(ledger.metrics)
        served.coverage = ledger.coverage
        return cls(
            rounds, rounds, 0, mistakes, mistakes, last_mistake=last, labels=ledger.counts, curve=curve, served=served
        )

    @property
    def waiting(self) -> int:
        """Number of rounds that wait for their label."""
        return self.predicted - self.labelled - self.expired

    def predict(self, rounds: int) -> None:
        """Count served answers."""
        self.predicted += rounds

    def expire(self, rounds: int) -> None:
        """Count expired labels."""
        self.expired += rounds

    @contextmanager
    def expecting(
        self, served: object, versions: object, count: int, forecasts: Sequence[Forecast | None] | None = None
    ) -> Iterator[None]:
        """Declare the served answers of the labels that are learned in this context.

        Args:
            served: Served answer of each round.
            versions: Number of labels that had arrived when each was served.
            count: Number of rounds.
            forecasts: Score or probabilities served with each; None if they were not recorded.
        """
        self._forecasts = [None] * count if forecasts is None else list(forecasts)
        self._served, self._versions = np.asarray(served), np.asarray(versions, dtype=np.int64)
        try:
            if not len(self._served) == len(self._versions) == count <= self.waiting:
                got = f"{count:,} labels, {len(self._served):,} answers and {len(self._versions):,} versions"
                must = f"labels, answers and versions must be equally many, at most the {self.waiting:,} waiting rounds"
                raise InputError(f"{must}: got {got}.")
            yield
        finally:
            self._served = self._versions = None
            self._forecasts = []

    def note(self, scores: NDArray[np.float64] | None, weights: NDArray[np.int64] | None) -> None:
        """Note the scores on arrival (rows,) and the weights (rows,) of the rounds that `see` gets next."""
        self._scores, self._weights = scores, weights
        self.noted = scores

    def see(self, batch: Batch, result: StepResult) -> None:
        predictions, y = np.asarray(result.predictions), np.asarray(batch.y)
        count = len(y)
        served, versions, forecasts = self._served, self._versions, self._forecasts[:count]
        self._forecasts = self._forecasts[count:]
        if served is None or versions is None:  # labels without delay
            self.predicted += count
            served, versions = predictions, np.arange(self.labelled, self.labelled + count)
            others = np.full(count, self.waiting - count)
        else:
            self._served, self._versions = served[count:], versions[count:]
            served, versions = served[:count], versions[:count]
            others = self.waiting - 1 - np.arange(count)
        if self.served is not None:
            now = versions == np.arange(self.labelled, self.labelled + count)
            self._measure(self.served, y, result, served, forecasts, now)
        wrong, changed = (predictions != y) & self.labels, served != predictions
        numbers = np.arange(self.labelled + 1, self.labelled + count + 1)
        # last[k] is the arrival of the last mistake before round k of the batch. If it is no later than the version
        # that served the round, the learner made no mistake in between, and a changed answer is unexplained.
        last = np.maximum.accumulate(np.append(self.last_mistake, np.where(wrong, numbers, 0)))
        missed = np.cumsum((served != y) & self.labels)
        while count and (mark := next_mark(self.curve[-1][0] if self.curve else 0)) <= self.labelled + count:
            self.curve.append((mark, self.mistakes + int(missed[mark - self.labelled - 1])))
        self.mistakes += int(missed[-1]) if count else 0
        self.arrival_mistakes += int(np.count_nonzero(wrong))
        self.changed += int(np.count_nonzero(changed))
        self.unexplained += int(np.count_nonzero(changed & (last[:-1] <= versions)))
        self.others = max(self.others, int(others.max(initial=0)))
        self.last_mistake = int(last[-1])
        self.labelled += count

    def _measure(
        self, metrics: ServedMetrics, y: NDArray[Any], result: StepResult, served: NDArray[Any],
        forecasts: list[Forecast | None], now: NDArray[np.bool_],
    ) -> None:  # fmt: skip
        """Count the served answers.

        Args:
            metrics: Metrics of the served answers.
            y: (rows,) labels.
            result: Result of the game of arrivals.
            served: (rows,) served answers.
            forecasts: What was served with each; empty if labels are not delayed.
            now: (rows,) whether no label arrived between an answer and its label: the arrival is what was served.
        """
        scores, weighed = self._scores, self._weights
        self._scores = self._weights = None
        given = forecasts or [None] * len(now)
        kinds = [2 if one is not None else int(here) for one, here in zip(given, now, strict=True)]
        start = 0
        while start < len(kinds):
            stop = next((t for t in range(start, len(kinds)) if kinds[t] != kinds[start]), len(kinds))
            here = slice(start, stop)
            weights = None if weighed is None else weighed[here]
            if kinds[start] == 1:
                played = StepResult(*(None if part is None else np.asarray(part)[here] for part in result[:-1]))
                some = None if scores is None else scores[here]
                if metrics.counts and (other := served[here] != played.predictions).any():
                    played = _predicting(played, served[here], y[here], other)  # drawn again, or before any label
            else:
                known = [one for one in forecasts[here] if one is not None]
                played = metrics.served(served[here], y[here], known)
                some = np.array([one.score for one in known]) if known and known[0].score is not None else None
            metrics.score(played, y[here], weights)
            if some is not None and metrics.player.tells_scores:
                metrics.rank(some, y[here], weights)
            start = stop

    def facts(self, conservative: bool) -> LateFacts:
        """Return the facts for the theorems."""
        return LateFacts(self.predicted, self.labelled, self.expired, self.mistakes, self.changed, self.others,
                         self.unexplained, conservative, self.labels)  # fmt: skip

    def check(self, ledger: Ledger) -> None:
        """Raise `ModelFileError` if the counts contradict each other or the ledger of the game of arrivals."""
        got = [self.labelled, self.arrival_mistakes]
        must = f"delayed labels must have its {ledger.rounds:,} rounds and {ledger.mistakes:,} mistakes"
        require(got == [ledger.rounds, ledger.mistakes], must, got)
        sound = self.waiting >= 0 and self.unexplained <= self.changed <= self.labelled
        sound &= self.mistakes <= self.arrival_mistakes + self.changed and self.last_mistake <= self.labelled
        last, paid = self.curve[-1] if self.curve else (0, 0)
        sound &= last <= self.labelled < next_mark(last) and paid <= self.mistakes
        require(sound, "counts of served answers must agree", self._counts())
        if self.pending is not None:
            waiting = len(self.pending.waiting)
            require(waiting == self.waiting, f"{self.waiting:,} rounds must wait for labels", waiting)

    def without_rows(self) -> Self:
        """Return a copy without examples, in which waiting rounds have expired."""
        pending = None if self.pending is None else Pending(self.pending.most, self.pending.expire_seconds)
        if pending is not None and self.pending is not None:
            pending.clock = self.pending.clock
        return replace(self, expired=self.expired + (0 if pending is None else self.waiting), pending=pending)

    def _counts(self) -> State:
        return {name: getattr(self, name) for name in COUNTS}


def _predicting(played: StepResult, served: NDArray[Any], y: NDArray[Any], other: NDArray[np.bool_]) -> StepResult:
    """Return a result with the served labels as predictions; `other` marks those that differ."""
    wrong = (served != y).astype(np.float64)
    sure = None if played.confidences is None else np.where(other, np.nan, played.confidences)
    losses = {} if played.losses is None else {"losses": wrong, "expected": wrong}
    return played._replace(predictions=served, confidences=sure, **losses)
