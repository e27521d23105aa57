"""Observer: who watches a game. Comparators, a reservoir of hypotheses, a plot, sums, a file to save to, progress.

A game goes through its rows in pieces. Before each round that an observer asked for it stands still and lets it look;
after the rounds of each piece, or of a part of it, it shows them. Between two pieces the learner and the ledger agree,
and the game can be left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.core.types import Batch, Example, Label, StepResult, as_batch

if TYPE_CHECKING:
    from novikoff.game.ledger import Ledger


class Observer:
    """Does nothing: a kind of observer overrides what it needs."""

    waits = True
    """May it be `due` for a look?"""
    sees_copies = True
    """Is it shown every round of a weighted row, or the first alone? Of a batch it is shown all (`Batch.weights`)."""

    def begin_pass(self, ledger: Ledger) -> None:
        """A pass begins, or goes on: `ledger.passes` says which."""

    def due(self, ledger: Ledger, rounds: int) -> int:
        """After how many of the next so many rounds it wants to `look`; `rounds` if not before then."""
        return rounds

    def look(self, ledger: Ledger) -> None:
        """The game stands still at a round that was `due`."""

    def see(self, batch: Batch, result: StepResult) -> None:
        """Rounds that were played."""

    def see_one(self, ledger: Ledger, x: Example, y: Label, result: StepResult) -> None:
        """One round that was played."""
        self.see(Batch([x], np.array([y]), ledger.rounds), as_batch(result))

    def rest(self, ledger: Ledger) -> None:
        """The game is between two pieces, about to wait for the next one."""

    def end_pass(self, ledger: Ledger, whole: bool) -> None:
        """A pass has ended. whole: with the source's last row, or after as many rounds as were asked for."""


class Tracking(Observer):
    """Shows comparators what a learner saw.

    number   of the learner in its team; None if it plays alone
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
        """The result of the learner that is tracked."""
        return result if self._number is None else result.of(self._number) or result


class Calls(Observer):
    """Calls a function with the ledger now and then: for progress."""

    def __init__(self, function: Callable[[Ledger], None]) -> None:
        self._function = function

    def rest(self, ledger: Ledger) -> None:
        if ledger.rounds:
            self._function(ledger)
