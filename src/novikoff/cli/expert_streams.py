"""A table of predictions on its way to the learner: cut where something is to be seen, and mixed in hindsight.

`Sampled` ends batches where a plot wants to look. `Mixing` adds up what the best mixture of the experts depends on, for
squared loss and few experts (comparators/mixture.py): O(N^2) a round.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from novikoff.comparators.mixture import Mixture, MixtureSums
from novikoff.ledger import Ledger
from novikoff.types import Batch, Position

if TYPE_CHECKING:
    from novikoff.report.regret import History

MIXED = 50
"""The most experts of which the best mixture is looked for: it costs a few microseconds a round."""


class Sampled:
    """The stream in smaller batches, which end where something is to be seen."""

    def __init__(self, stream: Any, history: History) -> None:
        self._stream, self._history = stream, history

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        for batch in self._stream.batches(start):
            done = 0
            while done < len(batch):
                due = self._history.due(batch.first - 1 + done)
                stop = min(due - batch.first + 1, len(batch))
                yield batch.part(done, stop)
                done = stop


class Mixing:
    """The stream as it is, with the sums of the rounds that were played."""

    def __init__(self, stream: Any, ledger: Ledger) -> None:
        self._stream, self._ledger = stream, ledger
        self._sums = MixtureSums(len(stream.experts))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        for batch in self._stream.batches(start):
            before = self._ledger.rounds
            try:
                yield batch
            finally:  # the game may end within a batch
                played = self._ledger.rounds - before
                self._sums.see(batch.x[:played], batch.y[:played])

    def best(self) -> Mixture | None:
        """The best mixture of all rounds of the game; None if some were not seen."""
        return self._sums.best() if 0 < self._sums.rounds == self._ledger.rounds else None


def can_be_mixed(stream: Any, ledger: Ledger) -> bool:
    """Is the best mixture to be looked for: squared loss, few experts, none asleep, a game from its first round?"""
    awake = ledger.learner.facts().rule != "sleeping"
    return stream.loss == "squared" and 1 < len(stream.experts) <= MIXED and awake and ledger.rounds == 0
