"""`--save`, `--save-every` and `--resume`: where a game is kept, and when it is written there.

While a game goes on, what is to be saved is copied, which is quick, and written by a thread. At most one save is being
written: one that is due before that is done waits until it is, and is then of the round the game has come to. An error
of the thread ends the game at the next look. The last save is written by the game itself, and on the disk when it ends.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from novikoff.core.errors import AbsentLabelError, InputError, ModelFileError, NovikoffError, counted
from novikoff.core.observer import Observer
from novikoff.game import persistence
from novikoff.game.ledger import Ledger

if TYPE_CHECKING:
    from novikoff.online_to_batch.keep import OnlineToBatch


@dataclass(frozen=True)
class Saving:
    """Where a game is kept, how often, and where it was kept before.

    force          replace whatever file is there
    same, again    with `resume`: the source is the one that was played, or rows that follow
    without_rows   leave training rows out of the file
    """

    path: str | None = None
    every: int | None = None
    resume: str | None = None
    force: bool = False
    same: bool = False
    again: bool = False
    without_rows: bool = False

    def check(self) -> None:
        """Refuse what cannot work before the game begins."""
        if self.every and not self.path:
            raise InputError("--save-every needs a file to write: pass --save FILE too.")
        if self.without_rows and not self.path:
            raise InputError("--without-rows is for a file that is written: pass --save FILE too.")
        if self.path and not Path(self.path).absolute().parent.is_dir():
            raise ModelFileError(f"a model file must go into a folder that exists: {Path(self.path).parent} does not.")
        if self.path:
            persistence.check_place(self.path, self.force)
        if self.same and self.again:
            raise InputError("a source is the one that was played or it is not: got --same and --again. Leave one out.")
        if (self.same or self.again) and self.resume is None:
            option = "--same" if self.same else "--again"
            raise InputError(f"{option} is for a game that goes on: pass --resume FILE too.")

    def write(self, what: Ledger | OnlineToBatch, quiet: bool, note: str = "") -> None:
        """Write the file, and print which kind it is unless `quiet`, with a note."""
        if self.path is None:
            return
        rows = persistence.save(what, self.path, self.force, self.without_rows)
        if not quiet:
            resumes = isinstance(what, Ledger) and not self.without_rows
            print(f"saved {self.path}: {kind_of_file(rows, resumes)}{note}", file=sys.stderr, flush=True)


def kind_of_file(rows: int, resumes: bool) -> str:
    """Name the kind of file that was written, with its training rows. resumes: a game goes on from it to the bit."""
    if resumes:
        hint = " (--without-rows leaves them out)" if rows else ""
        return f"a checkpoint, with {counted(rows, 'training row')}{hint}"
    if not rows:
        return "a model, without training rows"
    return f"a model, with {counted(rows, 'training row')} that its learner is made of"


class Keeper(Observer):
    """Saves the game every so many rounds, at its end, and when an error ends it."""

    def __init__(self, ledger: Ledger, saving: Saving, quiet: bool = False) -> None:
        self._ledger, self._saving, self._quiet, self._begun = ledger, saving, quiet, ledger.rounds
        self._next = ledger.rounds + (saving.every or 0)
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None

    def rest(self, ledger: Ledger) -> None:
        if self._thread is not None and not self._thread.is_alive():
            self._wait()
        if not self._saving.every or ledger.rounds < self._next or self._thread is not None:
            return
        what = persistence.snapshot(ledger, without_rows=self._saving.without_rows)
        self._thread = threading.Thread(target=self._write, args=(what,), name="saving")
        self._thread.start()
        self._next = ledger.rounds + self._saving.every

    def __enter__(self) -> Keeper:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Let a save that is being written end; where an error ended the game, save the rounds played before it.

        Rounds whose labels turn out to be other ones than those asked for are not saved.
        """
        if self._thread is not None:
            self._thread.join()
        if kind is None or not issubclass(kind, Exception) or issubclass(kind, AbsentLabelError):
            return
        if self._ledger.rounds > self._begun:
            with contextlib.suppress(NovikoffError):  # the error that ended the game is the one to report
                rounds = counted(self._ledger.rounds, "round")
                self._saving.write(self._ledger, False, f"; it ends after {rounds}, before the error")

    def finish(self) -> None:
        """Save the game as it is now."""
        self._wait()
        kept = self._ledger.reservoir is not None  # the classifier that is kept replaces the file
        self._saving.write(self._ledger, self._quiet or kept)

    def _write(self, what: persistence.Snapshot) -> None:
        try:
            persistence.write(what, str(self._saving.path), self._saving.force)
        except Exception as error:  # told to the game, which is in another thread
            self._error = error

    def _wait(self) -> None:
        """Let the save that is being written come to its end; raise what went wrong."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._error is not None:
            error, self._error = self._error, None
            raise error
