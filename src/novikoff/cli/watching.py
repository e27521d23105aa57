"""Games with progress on the terminal, which Ctrl-C stops between two batches."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from novikoff.cli.opening import size_of
from novikoff.cli.saving import Keeper, Saving
from novikoff.core.observer import Calls, Observer
from novikoff.core.stream import Stream
from novikoff.game.ledger import Ledger
from novikoff.game.play import play
from novikoff.reports.progress import Progress


class InterruptedGame(BaseException):
    """Ctrl-C, noticed between two batches."""


def play_watched(
    ledger: Ledger, stream: Stream, source: str, saving: Saving, quiet: bool, rounds: int | None = None,
    passes: int = 1, observers: Sequence[Observer] = (), ended: Callable[[Ledger], None] | None = None, **more: Any,
) -> bool:  # fmt: skip
    """Play a game with progress and checkpoints; return True if Ctrl-C ended it early.

    `ended` is called before the last checkpoint; `more` goes to `play`.
    """
    keeper = Keeper(ledger, saving, quiet)
    known = None if stream.rows is None else stream.rows * passes

    def game(watching: list[Observer]) -> None:
        play(ledger.learner, stream, rounds, passes, ledger=ledger, observers=[keeper, *observers, *watching], **more)

    with keeper:
        stopped = watched(game, Progress(rounds or known, size_of(source)), quiet)
    if ended is not None:
        ended(ledger)
    keeper.finish()
    return stopped


def watched(game: Callable[[list[Observer]], None], progress: Progress, quiet: bool) -> bool:
    """Play with progress; return True if Ctrl-C ended the game early (a second Ctrl-C ends at once)."""
    interrupts = Interrupts()
    with interrupts:
        try:
            game([interrupts] if quiet else [Calls(progress), interrupts])
        except InterruptedGame:
            return True
        finally:
            progress.done()
    return False


class Interrupts(Observer):
    """Observer that delays the first Ctrl-C to the end of the batch, so that learner and ledger agree."""

    def __init__(self) -> None:
        self._noted = self._resting = False

    def __enter__(self) -> None:
        self._before = signal.signal(signal.SIGINT, self._note)

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._noted:
            raise KeyboardInterrupt
        self._noted = True
        if self._resting:
            raise InterruptedGame

    def rest(self, ledger: Ledger) -> None:
        self._resting = True
        if self._noted:
            raise InterruptedGame

    def due(self, ledger: Ledger, rounds: int) -> int:
        self._resting = False
        return rounds

    def end_pass(self, ledger: Ledger, whole: bool) -> None:
        self._resting = False
