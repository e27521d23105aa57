"""Late: what is counted of a game whose labels come late, beside the ledger of the game of arrivals.

The game is played in the order in which labels arrive, and its ledger is that of an ordinary game. What was served, in
the order of predictions, is counted here: wrong answers, answers that changed while the label was on its way, rounds
that wait (game/delayed/theorems/late_facts.py). Row by row or in batches, the counts are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError
from novikoff.core.observer import Observer
from novikoff.core.types import Batch, State, StepResult
from novikoff.game.delayed.pending import Pending
from novikoff.game.delayed.theorems.delayed_conservative import delayed_conservative
from novikoff.game.delayed.theorems.delayed_drawn import delayed_drawn
from novikoff.game.delayed.theorems.delayed_mistakes import delayed_mistakes
from novikoff.game.delayed.theorems.late_facts import LateFacts
from novikoff.game.ledger_checks import next_mark, require

if TYPE_CHECKING:
    from novikoff.game.ledger import Ledger

PROMISES = (delayed_mistakes, delayed_conservative, delayed_drawn)
"""The theorems on what was served."""

COUNTS = (
    "predicted", "labelled", "expired", "mistakes", "arrival_mistakes", "changed", "others", "unexplained",
    "last_mistake",
)  # fmt: skip


@dataclass(eq=False)
class Late(Observer):
    """Counts of what was served.

    predicted .. unexplained   as in game/delayed/theorems/late_facts.py
    arrival_mistakes           of the game of arrivals
    last_mistake               the arrival of the last of these; 0 if there was none
    pending                    rounds by id, for games that are asked by id; None where the caller keeps them
    labels                     outcomes are labels; of numbers there are no mistakes
    curve                      (t, mistakes of the answers served after t labels) at the marks of the ledger's curve
    """

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
    _served: NDArray[Any] | None = field(default=None, init=False)
    _versions: NDArray[np.int64] | None = field(default=None, init=False)

    @classmethod
    def begin(cls, ledger: Ledger) -> Self:
        """For a game whose labels come late from now on: those that came so far came at once."""
        rounds, mistakes = ledger.rounds, ledger.mistakes
        curve = [(t, int(paid)) for t, paid in ledger.curve]
        last = rounds if mistakes else 0
        return cls(rounds, rounds, 0, mistakes, mistakes, last_mistake=last, labels=ledger.counts, curve=curve)

    @property
    def waiting(self) -> int:
        """Rounds whose label is still waited for."""
        return self.predicted - self.labelled - self.expired

    def predict(self, rounds: int) -> None:
        """So many answers were served."""
        self.predicted += rounds

    def expire(self, rounds: int) -> None:
        """So many labels are no longer waited for."""
        self.expired += rounds

    @contextmanager
    def expecting(self, served: Any, versions: Any, count: int) -> Iterator[None]:
        """The labels that come now are of rounds whose answers were these, each served after so many arrivals."""
        self._served, self._versions = np.asarray(served), np.asarray(versions, dtype=np.int64)
        try:
            if not len(self._served) == len(self._versions) == count <= self.waiting:
                told = f"{count:,} labels, {len(self._served):,} answers and {len(self._versions):,} versions"
                raise InputError(f"late labels must be of rounds that wait: {self.waiting:,} do, and got {told}.")
            yield
        finally:
            self._served = self._versions = None

    def see(self, batch: Batch, result: StepResult) -> None:
        said, y = np.asarray(result.predictions), np.asarray(batch.y)
        count = len(y)
        served, versions = self._served, self._versions
        if served is None or versions is None:  # predicted and labelled at once
            self.predicted += count
            served, versions = said, np.arange(self.labelled, self.labelled + count)
            others = np.full(count, self.waiting - count)
        else:
            self._served, self._versions = served[count:], versions[count:]
            served, versions = served[:count], versions[:count]
            others = self.waiting - 1 - np.arange(count)
        wrong, changed = (said != y) & self.labels, served != said
        numbers = np.arange(self.labelled + 1, self.labelled + count + 1)
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

    def facts(self, conservative: bool) -> LateFacts:
        """What theorems are told."""
        return LateFacts(self.predicted, self.labelled, self.expired, self.mistakes, self.changed, self.others,
                         self.unexplained, conservative, self.labels)  # fmt: skip

    def check(self, ledger: Ledger) -> None:
        """Refuse what contradicts the ledger of the game of arrivals, or itself."""
        told = [self.labelled, self.arrival_mistakes]
        must = f"labels that came late must be of its {ledger.rounds:,} rounds and {ledger.mistakes:,} mistakes"
        require(told == [ledger.rounds, ledger.mistakes], must, told)
        sound = self.waiting >= 0 and self.unexplained <= self.changed <= self.labelled
        sound &= self.mistakes <= self.arrival_mistakes + self.changed and self.last_mistake <= self.labelled
        last, paid = self.curve[-1] if self.curve else (0, 0)
        sound &= last <= self.labelled < next_mark(last) and paid <= self.mistakes
        require(sound, "counts of what was served must agree", self._counts())
        if self.pending is not None:
            waiting = len(self.pending.waiting)
            require(waiting == self.waiting, f"{self.waiting:,} rounds must wait for labels", waiting)

    def without_rows(self) -> Self:
        """A copy that holds no examples: rounds that wait for their labels have expired."""
        pending = None if self.pending is None else Pending(self.pending.most, self.pending.expire_seconds)
        if pending is not None and self.pending is not None:
            pending.clock = self.pending.clock
        return replace(self, expired=self.expired + (0 if pending is None else self.waiting), pending=pending)

    def _counts(self) -> State:
        return {name: getattr(self, name) for name in COUNTS}

    def state(self) -> State:
        pending, curve = None if self.pending is None else self.pending.state(), [list(point) for point in self.curve]
        return {**self._counts(), "labels": self.labels, "pending": pending, "curve": curve}

    @classmethod
    def restore(cls, state: State) -> Self:
        for name in COUNTS:
            require(type(state[name]) is int and state[name] >= 0, f"{name} must be a whole number", state[name])
        pending = None if state["pending"] is None else Pending.restore(state["pending"])
        curve = [(t, paid) for t, paid in state["curve"]]
        return cls(**{name: state[name] for name in COUNTS}, pending=pending, labels=bool(state["labels"]), curve=curve)
