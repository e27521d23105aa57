"""Actor of one model: a thread that owns the game and its database, and answers requests in groups.

All waiting single requests form a group. They are reordered, predictions before labels; none of them has been
answered yet, so they could have arrived in that order. Bulk requests keep their order, and form groups of their own
after the single ones. A group is committed once, and then answered. If the commit fails, nothing in the group has
happened: all its requests are refused, and the game is rebuilt from the disk.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from novikoff.core.errors import ModelFileError
from novikoff.game import persistence
from novikoff.game.persistence import Snapshot, snapshot
from novikoff.server.alternatives import shadow_file, shadow_files
from novikoff.server.handlers import Answering, Item
from novikoff.server.inspection import check_files
from novikoff.server.model_game import Play
from novikoff.server.prometheus import Histogram
from novikoff.server.recovery import BASE, DATABASE, KEPT, OPENING, PLAYING, Log, check_present, write_snapshot
from novikoff.server.store import Store, damaged
from novikoff.server.wire import Label, Model, Predict, RefusedError, RoundRequest, encode

MOST_TOGETHER = 1024
"""Largest number of requests per group."""
MOST_WAITING, MOST_OF_BULK = 20_000, 15_000
"""Largest number of waiting requests, and the number from which those of bulk are refused."""
BETWEEN = 1.0
"""Seconds between two checks for expired rounds, and for a failed disk that works again."""


@dataclass(slots=True, eq=False)
class Job:
    """Items of one request; `future` is resolved once they are on the disk."""

    items: list[Item]
    future: Any = None
    single: bool = True


@dataclass(slots=True, eq=False)
class Look:
    """Request for a read-only view of the game, taken between two groups."""

    at: Callable[[Actor], Any]
    done: Callable[[Any], None]


class Actor:
    """Model that is being served.

    Attributes:
        state: opening; ready; storage_failed (writes fail and are retried); failed (the stored game cannot be played);
            or closed.
        reason: Why it is not ready.
        alarmed: Monotonic time at which an alarm of the drift test was seen.
        commit_seconds: Histogram of the seconds per group.
        commit_ops: Histogram of the requests per group.
        label_seconds: Histogram of the seconds from a prediction to its label.

    Args:
        name: Name of the model.
        folder: Folder of the model.
        sync: "full" or "normal".
        snapshot_every: Labels between two snapshots.
        deliver: Callback, in the actor's thread, for jobs whose items have their replies.
        log: Function that writes a log line.
        accept_loss: Whether to play although acknowledged labels are missing from the database.
    """

    def __init__(
        self, name: str, folder: Path, sync: str, snapshot_every: int, deliver: Callable[[Sequence[Job]], None],
        log: Log, accept_loss: bool = False,
    ) -> None:  # fmt: skip
        self._accepts = accept_loss
        self.name, self.folder, self._sync, self._every = name, folder, sync, snapshot_every
        self._deliver, self._log = deliver, log
        self.state, self.reason = "opening", ""
        self._queue: deque[Job | Look] = deque()
        self._bulk: deque[Job] = deque()
        self._held: Sequence[Job | Look] = []  # taken from the queues, and not answered yet
        self._wake = threading.Condition()
        self._waiting = 0
        self._closing = False
        self._store: Any = None
        self.table: Answering
        self._snapped = 0
        self._sound: deque[int] = deque(maxlen=KEPT)  # last label of each snapshot that was read back successfully
        self._writer: threading.Thread | None = None
        self.commit_seconds = Histogram((0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0))
        self.commit_ops = Histogram((1, 2, 5, 10, 20, 50, 100, 200, 500, 1000))
        self.label_seconds = Histogram((1, 10, 60, 600, 3600, 21600, 86400, 604800))
        self.alarmed: float | None = None
        self._thread = threading.Thread(target=self._run, name=f"model {name}", daemon=True)

    @property
    def play(self) -> Play:
        """Game of the model."""
        return self.table.play

    @property
    def model(self) -> Model:
        """Options that the model was created with."""
        return self.table.model

    @property
    def store(self) -> Store:
        """Database, for the actor's thread."""
        assert isinstance(self._store, Store)
        return self._store

    @property
    def waiting(self) -> int:
        """Number of waiting requests."""
        return self._waiting

    @property
    def snapped(self) -> int:
        """Label of the last snapshot."""
        return self._snapped

    def start(self) -> None:
        """Open the model, in the actor's thread."""
        self._thread.start()

    def stop(self) -> None:
        """Answer waiting requests, write a snapshot, and close the database."""
        with self._wake:
            self._closing = True
            self._wake.notify()

    def join(self) -> None:
        """Wait until the actor has stopped."""
        self._thread.join()
        if self.state == "closed":
            (self.folder / OPENING).unlink(missing_ok=True)
        if self._writer is not None:
            self._writer.join()

    def submit(self, job: Job) -> None:
        """Queue a job, from any thread, or refuse it."""
        with self._wake:
            if self._closing or not (self.state == "ready" or self.answers([item.request for item in job.items])):
                raise self.refusal()
            if self._waiting + len(job.items) > (MOST_WAITING if job.single else MOST_OF_BULK):
                raise RefusedError("overloaded", f"too many requests are waiting for {self.name}: retry in a moment.")
            self._waiting += len(job.items)
            (self._queue if job.single else self._bulk).append(job)
            self._wake.notify()

    def answers(self, requests: Sequence[RoundRequest]) -> bool:
        """Return whether these requests are answered although the disk fails: nothing is recorded."""
        return self.state == "storage_failed" and all(
            isinstance(one, Predict) and (not one.record or self.table.frozen) for one in requests
        )

    def look(self, look: Look) -> None:
        """Queue a read-only view, from any thread; works while the disk fails too."""
        with self._wake:
            if self.state not in ("ready", "storage_failed") or self._closing:
                raise self.refusal()
            self._queue.append(look)
            self._wake.notify()

    def refusal(self) -> RefusedError:
        """Return why requests are refused now."""
        if self.state == "failed":
            return RefusedError(
                "storage_failed", f"{self.name} cannot be played: {self.reason}. See the log of the service."
            )
        if self.state == "storage_failed":
            message = f"{self.name} cannot be written: {self.reason}. Nothing was lost; retry once there is room."
            return RefusedError("storage_failed", message)
        return RefusedError("not_ready", f"{self.name} is {'closing' if self._closing else self.state}: retry.")

    # Everything below runs in the actor's thread.

    def _run(self) -> None:
        try:
            if not self._open():
                return
            while self._take():
                pass
            self._close()
        except Exception as error:  # a bug: other models continue
            self._fail("failed", error)
        finally:
            if self._store is not None:
                if self._store.empty_log():
                    (self.folder / PLAYING).unlink(missing_ok=True)
                    persistence.flush(self.folder)  # the mark is gone before the log is
                self._store.close()
            self._refuse_all()

    def _open(self) -> bool:
        """Rebuild the game from the disk."""
        begin = time.monotonic()
        try:
            check_present(self.folder, self._accepts)
            if (self.folder / OPENING).exists():  # the process has ended while it was being opened
                check_files(self.folder)
            elif (self.folder / BASE).exists():
                (self.folder / OPENING).touch()
            self._store = Store(self.folder / DATABASE, self._sync)
            self._recover()
            self._store.empty_log()  # frames behind a torn commit do not stay
            persistence.flush(self.folder)  # the log is there before the mark that it must be
            (self.folder / PLAYING).touch()
            for play in (self.play, *(one.play for one in self.table.shadows.values())):
                play.warm_up(self.table.form)
        except Exception as error:
            self._fail("failed", error)
            return False
        self.state = "ready"
        self._log("model_ready", model=self.name, rounds=self.table.rounds, labels=self.table.labels,
                  seconds=round(time.monotonic() - begin, 3))  # fmt: skip
        return True

    def _recover(self) -> None:
        self.table = Answering(self._store, self.folder, self.name, self._log, self._accepts)
        self._snapped = self.table.snapped
        self._sound = deque([self._snapped] if self._snapped else [], maxlen=KEPT)

    def _fail(self, state: str, error: Exception) -> None:
        kind = getattr(error, "sqlite_errorname", "")
        self.reason = "another process has it open" if kind == "SQLITE_BUSY" else str(error) or type(error).__name__
        if kind.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_IOERR")):
            self.reason += ": the disk must be writable"
        self.state = state
        self._log(state, level="error", model=self.name, reason=self.reason, kind=type(error).__name__)

    def _take(self) -> bool:
        """Process one group of waiting requests; return False when it is time to stop."""
        with self._wake:
            if not self._queue and not self._bulk and not self._closing and not self._droppable:
                self._wake.wait(BETWEEN)
            looks: list[Look] = []
            jobs: list[Job] = []
            count = 0
            while self._queue and count < MOST_TOGETHER:
                one = self._queue.popleft()
                if isinstance(one, Look):
                    looks.append(one)
                else:
                    jobs.append(one)
                    count += len(one.items)
            bulk: list[Job] = []
            lines = 0
            while self._bulk and lines < MOST_TOGETHER and not (bulk and count):  # one block, if single ones wait
                bulk.append(self._bulk.popleft())
                lines += len(bulk[-1].items)
            self._waiting -= count + lines
            if self._closing and not looks and not jobs and not bulk:
                return False
        self._held = [*jobs, *bulk, *looks]
        if jobs or not bulk:
            self._play(jobs, count)
        self._held = [*bulk, *looks]
        if bulk:
            self._play(bulk, lines)
        self._held = looks
        if self.state == "storage_failed":
            self._try_again()
        while looks:
            self._show(looks[0])
            del looks[0]
        if self.state == "ready" and self.table.labels - self._snapped >= self._every:
            self._snapshot()
        if until := self._droppable:
            self._drop(until)
        return self.state != "failed"

    def _play(self, jobs: Sequence[Job], count: int) -> None:
        """Answer jobs, or refuse them while the model cannot be played."""
        if self.state == "ready":
            self._group(jobs, count)
            return
        peeks = [job for job in jobs if self.answers([item.request for item in job.items])]
        self._refuse([job for job in jobs if job not in peeks])
        items = [item for job in peeks for item in job.items]
        try:
            self.table.unrecorded(items)
            for item in items:
                item.body = b"" if isinstance(item.reply, RefusedError) else encode(item.reply)
        except Exception as error:
            self._fail("failed", error)
            self._refuse(peeks)
            return
        self._deliver(peeks)

    @property
    def _droppable(self) -> int:
        """Last label up to which examples can be dropped now; 0 if there are none."""
        known = self.state == "ready" and len(self._sound) == KEPT
        until = self.table.to_drop(self._sound[0]) if known else 0
        return until if until > self.table.dropped_to else 0

    def _drop(self, until: int) -> None:
        """Drop some examples in a separate commit."""
        try:
            with self._store.transaction():
                self.table.drop(until)
        except Exception as error:
            self._fail("failed" if damaged(error) else "storage_failed", error)
            self._rebuild()

    def _show(self, look: Look) -> None:
        try:
            found = look.at(self)
        except Exception as error:
            self._log("look_failed", level="error", model=self.name, reason=repr(error))
            found = RefusedError("storage_failed", f"{self.name} cannot be read now.")
        look.done(found)

    def _refuse(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            for item in job.items:
                item.reply = refusal = self.refusal()
                refusal.id = item.request.id
        self._deliver(jobs)

    def _refuse_all(self) -> None:
        """Refuse all waiting requests, so that no caller waits forever."""
        with self._wake:
            if self.state == "ready":
                self.state = "closed"
            left, self._queue, self._bulk = [*self._held, *self._queue, *self._bulk], deque(), deque()
        self._refuse([one for one in left if isinstance(one, Job)])
        for look in (one for one in left if isinstance(one, Look)):
            look.done(self.refusal())

    def _group(self, jobs: Sequence[Job], count: int) -> None:
        """Answer all jobs in one commit; refuse all if it fails."""
        begin = time.monotonic()
        try:
            if not jobs and not self.table.any_old():
                return
            with self._store.transaction():
                self.table.expire()
                for run in _runs(jobs):
                    self.table.answer(run)
                for job in jobs:
                    for item in job.items:
                        item.body = b"" if isinstance(item.reply, RefusedError) else encode(item.reply)
        except Exception as error:
            self._fail("failed" if damaged(error) else "storage_failed", error)
            self._refuse(jobs)
            self._rebuild()
            return
        if count:
            self.commit_seconds.observe(time.monotonic() - begin)
            self.commit_ops.observe(count)
            self._deliver(jobs)
            for seconds in self.table.delays:
                self.label_seconds.observe(seconds)
            self.table.delays.clear()
            drift = self.play.ledger.drift
            if self.alarmed is None and drift is not None and drift.test.alarm:
                self.alarmed = time.monotonic()

    def _rebuild(self) -> None:
        """Rebuild the game, which is ahead of the disk after a failed commit."""
        if self.state != "failed":
            try:
                self._recover()
            except Exception as error:
                self._fail("failed", error)

    def _try_again(self) -> None:
        """Return to the state ready if there is room on the disk again."""
        try:
            with self._store.transaction():
                # Write and delete 100 kB: a commit of a few bytes may succeed on a full disk.
                self._store.set_facts(room="." * 100_000)
                self._store.set_facts(room="")
        except sqlite3.Error:
            return
        self.state, self.reason = "ready", ""
        self._log("storage_works", model=self.name)

    def copied(self) -> tuple[int, Snapshot]:
        """Return the number of labels and a copy of the game."""
        return self.table.labels, snapshot(self.play.ledger, checked=True)

    def change(self, act: Callable[[Answering], Any], rebuild: bool = False) -> Any:
        """Change the model in a commit of its own, in the actor's thread; return what `act` returns, or a refusal.

        Args:
            act: Change; it refuses before it changes anything.
            rebuild: Whether the game is then recovered from the disk.
        """
        if self.state != "ready":
            return self.refusal()
        if self._writer is not None:
            self._writer.join()
        try:
            with self._store.transaction():
                found = act(self.table)
            if rebuild:
                self._recover()
        except RefusedError as refusal:
            return refusal
        except Exception as error:
            self._fail("failed" if damaged(error) else "storage_failed", error)
            self._rebuild()
            return self.refusal()
        return found

    def _snapshot(self) -> None:
        """Write a snapshot in another thread while the game continues; at most one at a time."""
        if self._writer is not None and self._writer.is_alive():
            return
        begin = time.monotonic()
        n, what = self.copied()
        self._snapped = n
        self._log("snapshot", level="debug", model=self.name, label=n, stood=round(time.monotonic() - begin, 4))
        more = (n, what, self._shadows_now())
        self._writer = threading.Thread(target=self._write, args=more, name=f"snapshot {self.name}", daemon=True)
        self._writer.start()

    def _shadows_now(self) -> dict[str, Snapshot]:
        return {name: snapshot(one.play.ledger, checked=True) for name, one in self.table.shadows.items()}

    def _write(self, n: int, what: Snapshot, shadows: dict[str, Snapshot]) -> None:
        try:
            for name, one in shadows.items():
                persistence.write(one, self.folder / shadow_file(name, n))
                for _, path in shadow_files(self.folder, name)[KEPT:]:
                    path.unlink(missing_ok=True)
            verify = self.model.keep_examples is not None
            write_snapshot(what, self.folder, n, self._sync, verify)
            if verify and n > max(self._sound, default=0):
                self._sound.append(n)
        except (ModelFileError, OSError) as error:  # a snapshot only saves time at the next start
            self._log("snapshot_failed", level="warning", model=self.name, reason=str(error))

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.join()
        if self.state == "ready" and self.table.labels > self._snapped:
            self._write(*self.copied(), self._shadows_now())
        if self.state == "ready":
            with suppress(sqlite3.Error), self._store.transaction():
                self.table.note_time()
        self.state = "closed"
        self._log("model_closed", model=self.name, labels=self.table.labels)


def _runs(jobs: Sequence[Job]) -> Iterator[list[Item]]:
    """Yield the items in processing order, in runs of predictions, of labels, of `learn`, or of pairs.

    In bulk, a prediction and the next line are a pair if that labels it. No id occurs twice in a run, but in a pair.
    """
    singles = [item for job in jobs if job.single for item in job.items]
    # Two stable sorts: predictions first, then `learn`, then labels.
    singles.sort(key=lambda item: isinstance(item.request, Label))
    singles.sort(key=lambda item: not isinstance(item.request, Predict))
    units = [[item] for item in singles]
    for job in jobs:
        for item in () if job.single else job.items:
            last = units[-1][-1].request if units and len(units[-1]) == 1 else None
            pair = isinstance(item.request, Label) and isinstance(last, Predict) and last.record
            if pair and last is not None and last.id == item.request.id:
                units[-1].append(item)
            else:
                units.append([item])
    run: list[Item] = []
    kind: object = None
    ids: set[str] = set()
    for unit in units:
        request = unit[0].request
        recorded = not isinstance(request, Predict) or request.record
        if run and ((type(request), len(unit), recorded) != kind or request.id in ids):
            yield run
            run, ids = [], set()
        run += unit
        kind = type(request), len(unit), recorded
        ids.add(request.id)
    if run:
        yield run
