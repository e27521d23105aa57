"""Observers of a game: comparators, a reservoir of hypotheses, plots, metrics, checkpoints, progress.

A game processes its rows in chunks. It pauses before each round that an observer requested with `due` and calls
`look`; after the rounds of a chunk, or of a part of it, it calls `see`. Between two chunks the learner and the ledger
have the same rounds, so the game can be interrupted there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.core.types import Batch, Example, Label, StepResult, as_batch

if TYPE_CHECKING:
    from novikoff.game.ledger import Ledger


class Observer:
    """Base class of observers; every method does nothing by default.

    Example:
        >>> import novikoff as nk
        >>> class Print(nk.Observer):
        ...     def see_one(self, ledger, x, y, result):
        ...         print(x, y, result.predictions)
        >>> game = nk.Game(nk.ThresholdHalving(10), observers=[Print()])
        >>> prediction = game.learn_one(5, -1)
        5 -1 1
    """

    waits = True
    """Whether `due` and `look` are called."""
    sees_copies = True
    """Whether `see_one` is called for every round of a weighted row or only for the first; `see` gets all rounds."""

    def begin_pass(self, ledger: Ledger) -> None:
        """Handle the start of pass `ledger.passes`, or its continuation."""

    def due(self, ledger: Ledger, rounds: int) -> int:
        """Return the number of rounds until the next `look`, at most `rounds`."""
        return rounds

    def look(self, ledger: Ledger) -> None:
        """Inspect the game, paused at a round that was `due`."""

    def see(self, batch: Batch, result: StepResult) -> None:
        """Process rounds that were played."""

    def see_one(self, ledger: Ledger, x: Example, y: Label, result: StepResult) -> None:
        """Process one round that was played."""
        self.see(Batch([x], np.array([y]), ledger.rounds), as_batch(result))

    def rest(self, ledger: Ledger) -> None:
        """Handle the pause between two chunks, before the game waits for the next one."""

    def end_pass(self, ledger: Ledger, whole: bool) -> None:
        """Handle the end of a pass.

        Args:
            ledger: Ledger of the game.
            whole: Whether the source was exhausted or the requested number of rounds was reached.
        """


class Tracking(Observer):
    """Passes the rounds that a learner saw to its comparators.

    Args:
        ledger: Ledger of the learner.
        number: Index of the learner in its ensemble; None if it plays alone.
    """

    def __init__(self, ledger: Ledger, number: int | None = None) -> None:
        tracker: Any = ledger.tracker
        self._tracker, self._player, self._number = tracker, ledger.player, number
        self.waits = bool(tracker.scored)
        if not self.waits and self._player.features is not None:
            tracker.names = self._player.features.names

    def due(self, ledger: Ledger, rounds: int) -> int:
        found: int = self._tracker.due(rounds)
        return found

    def look(self, ledger: Ledger) -> None:
        self._tracker.look(self._player.within.original)

    def see(self, batch: Batch, result: StepResult) -> None:
        if self._tracker.scored:
            self._tracker.see(self._player.seen_batch(batch), self._own(result).scores)
            return
        predictions = result.predictions if self._number is None else result.members[:, self._number]
        features = self._player.features
        if isinstance(batch.x, list) and features is not None:
            for (x, y), prediction in zip(batch.rows(), predictions.tolist(), strict=True):
                self._tracker.see_row(features.row(x, learn=False), y, bool(prediction != y))
        else:
            self._tracker.see(self._player.seen_batch(batch), predictions != batch.y)

    def see_one(self, ledger: Ledger, x: Example, y: Label, result: StepResult) -> None:
        row = self._player.seen_row(x, later=not self._tracker.scored)
        if self._tracker.scored:
            self._tracker.see_row(row, y, self._own(result).scores)
            return
        prediction = result.predictions if self._number is None else result.members[self._number]
        self._tracker.see_row(row, y, bool(prediction != y))

    def _own(self, result: StepResult) -> StepResult:
        """Return the part of the result that belongs to the tracked learner."""
        return result if self._number is None else result.of(self._number) or result


class Calls(Observer):
    """Calls a function with the ledger between chunks, to report progress."""

    def __init__(self, function: Callable[[Ledger], None]) -> None:
        self._function = function

    def rest(self, ledger: Ledger) -> None:
        if ledger.rounds:
            self._function(ledger)
