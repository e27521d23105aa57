"""`--save`, `--save-every` and `--resume`: where a game is kept, and when it is written there.

While a game goes on, what is to be saved is copied, which is quick, and written by a thread. At most one save is being
written: one that is due before that is done waits until it is, and is then of the round the game has come to. An error
of the thread ends the game at the next look. The last save is written by the game itself, and on the disk when it ends.

Does a resumed game go on in the middle of its source, or is that another one that follows?

Files
    A file is the same if it lies at the same place, however its path is spelled, and holds the same bytes, by its size
    and a sample of them. One to which whole lines were added since is the same too: the game goes on with them.
    A file of another place and other bytes follows. If only one of the two is as it was, or if a source was played
    before the last one, the user is asked, by an error: `--same` goes on where the game stopped, `--again` plays the
    source from its beginning, as rows that follow.
Pipes
    Nothing of a pipe can be recognised. One that came to its end is followed by the next; after one that was left in
    the middle the user is asked: `--same` skips what was played.
Others
    demo:NAME and stream:NAME are the same if their names are.

The sample does not see every byte. It need not: rounds that were played are not played again, and no certificate rests
on it.
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
    """Name the kind of file that was written, with its training rows. resumes: a game goes on from it to the bit."""
    if resumes:
        hint = " (--without-rows leaves them out)" if rows else ""
        return f"a checkpoint, with {counted(rows, 'training row')}{hint}"
    if not rows:
        return "a model, without training rows"
    return f"a model that contains {counted(rows, 'training row')}"


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


Bytes = Literal["same", "grown", "other"]

SAME = "Pass --same to continue where the game stopped, or"
AGAIN = "--again to read the source from its beginning, as new rows."


def goes_on(ledger: Ledger, stream: Stream, source: str, saving: Saving) -> bool:
    """True if the game goes on in this source, at `ledger.position`; False if the source follows. `source` as asked."""
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


def _same(ledger: Ledger, stream: Stream, then: dict[str, Any], now: dict[str, Any], found: Bytes) -> bool:
    """Is it the source that was played last? Raises if that is not certain."""
    at, passes = f"after round {ledger.rounds:,}, in {ledger.source}", (ledger.position or {})["passes"]
    here = _here(then, now)
    if here and not stream.rereadable:
        if passes:  # a pipe that came to its end is not this one
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


def _here(then: dict[str, Any], now: dict[str, Any]) -> bool:
    """Is it at the same place? What has none is known by its name."""
    key = "place" if "place" in then and "place" in now else "source"
    return ("size" in then) == ("size" in now) and bool(then[key] == now[key])


def _bytes(then: dict[str, Any], now: dict[str, Any], path: str) -> Bytes:
    """What is in the source, beside what was; a name says all of what has no bytes."""
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
    """Did the first bytes of a file end with a line? Packed ones may end anywhere."""
    with open(path, "rb") as file:
        if file.read(LONGEST_MAGIC).startswith(tuple(MAGIC)):
            return True
        file.seek(size - 1)
        return file.read(1) == b"\n"
