"""`--save`, `--save-every` and `--resume`: write checkpoints, and decide where a resumed game continues.

During a game the state is copied, which is quick, and written by a thread. At most one checkpoint is being written: one
that falls due meanwhile waits, and then has the state of a later round. An error in the thread ends the game at the
next batch. The last checkpoint is written by the game itself, and is on the disk when it ends.

A resumed game either continues in the middle of its source, or reads a source of new rows from its beginning. The
decision depends on the kind of source:

Files
    A file is the same if it is at the same place, however its path is spelled, and has the same bytes, judged by its
    size and a sample. A file to which whole lines were appended is the same too: the game continues with them. A file
    at another place with other bytes has new rows. If only one of the two differs, or if the source was played before
    the last one, an error asks the user: `--same` continues where the game stopped, `--again` reads the source from its
    beginning, as new rows.
Pipes
    A pipe cannot be recognised. If it was read to its end, the next one has new rows; otherwise an error asks the user,
    and `--same` skips the rows that were played.
Others
    demo:NAME and stream:NAME are the same if their names are equal.

The sample misses some changes. That is harmless: no round is played twice, and no certificate depends on the sample.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from novikoff.core.errors import AbsentLabelError, InputError, ModelFileError, NovikoffError, counted
from novikoff.core.observer import Observer
from novikoff.core.stream import Stream
from novikoff.data.formats.byte_reader import LONGEST_MAGIC, MAGIC
from novikoff.data.formats.origin import sample
from novikoff.game import persistence
from novikoff.game.ledger import Ledger

if TYPE_CHECKING:
    from novikoff.online_to_batch.finalize import OnlineToBatch


@dataclass(frozen=True)
class Saving:
    """Checkpoint to write, its interval, and the checkpoint to resume.

    Attributes:
        path: File to write.
        every: Rounds between two checkpoints.
        resume: File to resume.
        force: Replace any file at `path`.
        same: With `resume`: the source is the one played last.
        again: With `resume`: the source has new rows that follow.
        without_rows: Leave training rows out of the file.
    """

    path: str | None = None
    every: int | None = None
    resume: str | None = None
    force: bool = False
    same: bool = False
    again: bool = False
    without_rows: bool = False

    def check(self) -> None:
        """Refuse impossible options before the game begins."""
        if self.every and not self.path:
            raise InputError("--save-every needs a file: pass --save FILE too.")
        if self.without_rows and not self.path:
            raise InputError("--without-rows needs a file: pass --save FILE too.")
        if self.path and not Path(self.path).absolute().parent.is_dir():
            raise ModelFileError(f"the folder {Path(self.path).parent} does not exist. Create it, or choose another.")
        if self.path:
            persistence.check_place(self.path, self.force)
        if self.same and self.again:
            raise InputError("--same and --again cannot be combined: leave one of them out.")
        if (self.same or self.again) and self.resume is None:
            option = "--same" if self.same else "--again"
            raise InputError(f"{option} needs a game to resume: pass --resume FILE too.")

    def write(self, what: Ledger | OnlineToBatch, quiet: bool, note: str = "") -> None:
        """Write the file, and print which kind it is unless `quiet`, with a note."""
        if self.path is None:
            return
        rows = persistence.save(what, self.path, self.force, self.without_rows)
        if not quiet:
            resumes = isinstance(what, Ledger) and not self.without_rows
            print(f"saved {self.path}: {kind_of_file(rows, resumes)}{note}", file=sys.stderr, flush=True)


def kind_of_file(rows: int, resumes: bool) -> str:
    """Return the kind of file that was written, with its number of training rows; `resumes`: it is a checkpoint."""
    if resumes:
        hint = " (--without-rows leaves them out)" if rows else ""
        return f"a checkpoint, with {counted(rows, 'training row')}{hint}"
    if not rows:
        return "a model, without training rows"
    return f"a model that contains {counted(rows, 'training row')}"


class Keeper(Observer):
    """Observer that saves the game at intervals, at its end, and when an error ends it."""

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
        """Wait for a save in progress; if an error ended the game, save the rounds before it.

        Rounds whose labels turn out to differ from the requested ones are not saved.
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
        except Exception as error:  # raised again in the thread of the game
            self._error = error

    def _wait(self) -> None:
        """Wait for a save in progress, and raise its error."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._error is not None:
            error, self._error = self._error, None
            raise error


Bytes = Literal["same", "grown", "other"]

SAME = "Pass --same to continue where the game stopped, or"
"""First half of the advice for an uncertain source."""
AGAIN = "--again to read the source from its beginning, as new rows."
"""Second half of the advice for an uncertain source."""


def continues(ledger: Ledger, stream: Stream, source: str, saving: Saving) -> bool:
    """Return True if the game continues in this source at `ledger.position`, False if the source has new rows."""
    if saving.resume is None or ledger.position is None:
        return False
    now = {"source": stream.name, **(stream.fingerprint() or {})}
    then = {"source": ledger.source, **(ledger.fingerprint or {})}
    found = _bytes(then, now, source)
    played = [one for one in ledger.earlier if _bytes(one, now, source) != "other" or _here(one, now)]
    if saving.same or (not saving.again and _same(ledger, stream, then, now, found)):
        if found == "grown" and ledger.position.get("end"):
            ledger.position = dict(ledger.position["end"])
        return True
    if played and stream.rereadable and not saving.again:
        raise InputError(f"{stream.name} was used before in this game. Pass {AGAIN}")
    ledger.repeated |= stream.rereadable and (found != "other" or bool(played))
    ledger.earlier = [*ledger.earlier, {key: then[key] for key in ("source", "place", "size", "sample") if key in then}]
    return False


def _same(ledger: Ledger, stream: Stream, then: dict[str, object], now: dict[str, object], found: Bytes) -> bool:
    """Return whether it is the source that was played last; raise if that is uncertain."""
    at, passes = f"after round {ledger.rounds:,}, in {ledger.source}", (ledger.position or {})["passes"]
    here = _here(then, now)
    if here and not stream.rereadable:
        if passes:  # the earlier pipe was read to its end, so this is another one
            return False
        raise InputError(
            f"it is unclear whether the pipe continues or starts again: the game stopped {at}. {SAME} {AGAIN}"
        )
    again = passes > 1 or ledger.repeated or (ledger.position or {}).get("begun", False)
    if here and (found == "same" or (found == "grown" and not again)):
        return True
    if here:
        how = "rows were added to it after several passes" if found == "grown" else "its content differs"
        raise InputError(f"the source has changed: the game stopped {at}, and {how}. {SAME} {AGAIN}")
    if found != "other":
        raise InputError(
            f"the source is another file: the game stopped {at}, and {stream.name} "
            f"{'has' if found == 'same' else 'begins with'} the same bytes. {SAME} {AGAIN}"
        )
    return False


def _here(then: dict[str, object], now: dict[str, object]) -> bool:
    """Return whether two sources have the same place, or the same name if they have none."""
    key = "place" if "place" in then and "place" in now else "source"
    return ("size" in then) == ("size" in now) and bool(then[key] == now[key])


def _bytes(then: dict[str, Any], now: dict[str, Any], path: str) -> Bytes:
    """Compare the bytes of a source with those played; a source without bytes is known by its name."""
    if "size" not in then or "size" not in now:
        return "same" if "size" not in then and "size" not in now and then["source"] == now["source"] else "other"
    if "sample" not in then or "sample" not in now:
        return "other"
    if then["size"] == now["size"]:
        return "same" if then["sample"] == now["sample"] else "other"
    if then["size"] > now["size"] or not os.path.isfile(path):
        return "other"
    return "grown" if sample(path, then["size"]) == then["sample"] and _whole(path, then["size"]) else "other"


def _whole(path: str, size: int) -> bool:
    """Return whether the first `size` bytes end with a line; compressed ones may end anywhere."""
    with open(path, "rb") as file:
        if file.read(LONGEST_MAGIC).startswith(tuple(MAGIC)):
            return True
        file.seek(size - 1)
        return file.read(1) == b"\n"
