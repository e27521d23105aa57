"""Models of a directory, each with a folder and an actor."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, BinaryIO

import msgspec

from novikoff.core.errors import InputError, NovikoffError
from novikoff.game import persistence
from novikoff.server import inspection
from novikoff.server.actor import Actor, Job, Look
from novikoff.server.alternatives import MOST_MEMBERS, team
from novikoff.server.backup import ADDRESS, Backup, back_up, looked
from novikoff.server.model_game import begin, certified
from novikoff.server.recovery import DATABASE, OPENING, Before, write_facts
from novikoff.server.store import Lock, Store
from novikoff.server.wire import NAME, Model, RefusedError, Team

MOST_MODELS = 256
"""Largest number of models."""
FRESH = 15.0
"""Seconds for which a certificate is fresh enough for metrics."""
BETWEEN = 1.0
"""Smallest number of seconds between two looks at a model."""
AGAIN = 0.5
"""Seconds between two attempts to get a directory that another process serves."""
SHARE = 0.2
"""Largest fraction of the time that goes into the evaluation of bounds for metrics."""
STARTED = 120.0
"""Seconds that a new model may take to open."""


def log(event: str, level: str = "info", **fields: object) -> None:
    """Write one line of JSON to standard error."""
    if level != "debug":
        line = {"at": round(time.time(), 3), "level": level, "event": event, **fields}
        print(json.dumps(line, default=str), file=sys.stderr, flush=True)


class Service:
    """Models that are served.

    One process serves a directory. Another one on the same directory waits until the first has ended, and then opens
    the models, so that a service can be replaced by a new one.

    Attributes:
        models: Actor of each model, by name.
        deliver: Function that takes answered jobs.
        free: Free bytes of the disk, when it was looked at last.
        address: Address of the service, written to the directory once this process owns it.

    Args:
        folder: Directory of the models; created if missing.
        sync: "full" survives power loss, "normal" a crash of the process.
        snapshot_every: Labels between two snapshots.
        accept_loss: Models that are played although acknowledged labels are missing from their database.
    """

    def __init__(
        self, folder: Path, sync: str = "full", snapshot_every: int = 50_000, accept_loss: Sequence[str] = ()
    ) -> None:
        self.folder, self._sync, self._every, self._accepted = folder, sync, snapshot_every, frozenset(accept_loss)
        self.models: dict[str, Actor] = {}
        self.deliver: Callable[[Sequence[Job]], None] = lambda jobs: None
        self._lock, self._inspecting, self._backing_up = threading.Lock(), threading.Lock(), threading.Lock()
        self._certificates: dict[Actor, Evaluated] = {}
        self._evaluating: dict[Actor, threading.Lock] = {}
        self._failing: dict[Actor, str] = {}
        self._sizes: dict[Actor, int] = {}
        self.free: int | None = None
        self.address = ""
        self._stopping, self._taking = threading.Event(), threading.Lock()
        self._watching = threading.Thread(target=self._watch, name="watch", daemon=True)
        try:
            (folder / "models").mkdir(0o700, parents=True, exist_ok=True)  # examples may be confidential
            self._directory = Lock(folder / "lock")
            self._owned = self._directory.acquire()
        except (OSError, sqlite3.Error) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise InputError(f"the directory {folder} is not writable: {why}.") from None

    def start(self) -> None:
        """Open every model; each becomes ready independently. If another process has the directory, wait for it."""
        if self._owned:
            self._begin()
        else:
            log("directory_in_use", level="warning", reason="another process serves it: waiting until it ends")
        self._watching.start()

    def _begin(self) -> None:
        """Open every model of the directory, which this process owns."""
        for kind in (".new-*", ".gone-*"):  # a model that was being created or deleted when the process ended
            for half in (self.folder / "models").glob(kind):
                shutil.rmtree(half, ignore_errors=True)
        for half in (self.folder / "backups").glob(".*.part"):
            shutil.rmtree(half, ignore_errors=True)
        with suppress(OSError):  # only `novikoff backup` reads it
            (self.folder / ADDRESS).write_text(f"{self.address}\n", encoding="utf-8")
        for folder in sorted((self.folder / "models").iterdir()):
            if NAME.fullmatch(folder.name):
                self._open(folder.name)

    def stop(self) -> None:
        """Let every model answer waiting requests, and close it."""
        self._stopping.set()
        with self._taking:  # a takeover has opened all models, or none
            self._stop_models()
        if self._watching.ident is not None:
            self._watching.join()
        self._directory.release()

    def _stop_models(self) -> None:
        for actor in list(self.models.values()):
            actor.stop()
        for actor in list(self.models.values()):
            actor.join()

    @property
    def opened(self) -> bool:
        """Whether every model is open, or known to be unplayable."""
        return self._owned and all(actor.state != "opening" for actor in list(self.models.values()))

    def readiness(self, failed: bool = False) -> dict[str, object]:
        """Return whether all models are ready, and how many are in each state.

        Args:
            failed: Whether models that cannot be played or written are allowed.
        """
        states = Counter(actor.state for actor in list(self.models.values()))
        wanted = states["ready"] + (states["failed"] + states["storage_failed"] if failed else 0)
        ready = self._owned and wanted == states.total()
        found: dict[str, Any] = {"ready": ready, "models": dict(sorted(states.items()))}
        return found if self._owned else {**found, "reason": "another process serves the directory"}

    def actor(self, name: str) -> Actor:
        """Return the actor of the model of that name."""
        found = self.models.get(name)
        if found is None:
            self._check_owned()
            raise RefusedError("unknown_model", "there is no model of this name: create it with PUT first.")
        return found

    def _check_owned(self) -> None:
        if not self._owned:
            raise RefusedError("not_ready", "another process serves the directory: retry once it has ended.")

    def _open(self, name: str) -> Actor:
        actor = Actor(
            name, self.folder / "models" / name, self._sync, self._every, self._answer, log, name in self._accepted
        )
        self.models[name] = actor
        self._evaluating[actor] = threading.Lock()
        actor.start()
        return actor

    def _answer(self, jobs: Sequence[Job]) -> None:
        self.deliver(jobs)

    def create(self, name: str, model: Model) -> bool:
        """Create a model; return False if the same model exists."""
        with self._lock:
            self._check_owned()
            known = self.models.get(name)
            if known is not None:
                return self._same(known, model)
            try:
                begin(model, name)
            except NovikoffError as error:
                raise RefusedError("bad_model", str(error)) from None
            except (MemoryError, OverflowError, RecursionError):
                raise RefusedError("bad_model", "the learner does not fit into memory.") from None
            self._check_free(name)
            folder = self._new_folder(name)
            try:
                self._make(name, model, folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        return True

    def _same(self, known: Actor, model: Model) -> bool:
        if known.state not in ("ready", "storage_failed"):
            raise known.refusal()
        if known.model == model:
            return False
        raise RefusedError("model_differs", "another model has this name: choose another name, or delete it first.")

    def upload(self, name: str, file: BinaryIO, options: Model, bits: int | None, team: Team | None = None) -> None:
        """Create a model from a saved game.

        Args:
            name: Name of the model.
            file: Model file.
            options: Options; those that the file has are ignored.
            bits: Bits of the feature hash; None for those of the file.
            team: Request for a team, if it is the game of one.
        """
        self._check_free(name)
        with self._inspecting:  # one child at a time
            folder = self._new_folder(name)
            try:
                model, before = inspection.accept(file, folder, options, bits)
                with self._lock:
                    self._check_free(name)
                    self._make(name, model, folder, before, team)
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def make_team(self, name: str, asked: Team) -> None:
        """Create a model that follows one of several deployed models, which are copied."""
        if not 2 <= len(set(asked.models)) == len(asked.models) <= MOST_MEMBERS:
            raise RefusedError("bad_request", f"a team must have 2 to {MOST_MEMBERS} different models.")
        self._check_free(name)
        actors = [self.actor(one) for one in asked.models]
        found = [(one.name, one.model, looked(one, Actor.copied)[1]) for one in actors]
        file, first = team(asked, found)
        options = msgspec.structs.replace(first, keep_examples=None)
        with tempfile.TemporaryFile() as where:  # a child reads it
            where.write(file)
            where.seek(0)
            self.upload(name, where, options, first.bits, asked)

    def _check_free(self, name: str) -> None:
        self._check_owned()
        if name in self.models:
            raise RefusedError("model_differs", "a model of this name exists: choose another name.")
        if len(self.models) >= MOST_MODELS:
            raise RefusedError("models_full", f"a service must have at most {MOST_MODELS} models: delete one first.")

    def _new_folder(self, name: str) -> Path:
        """Return an empty folder, to be renamed once the model in it is complete."""
        folder = self.folder / "models" / f".new-{name}-{secrets.token_hex(8)}"
        try:
            folder.mkdir()
        except OSError as error:
            raise _unwritten(name, error) from None
        return folder

    def _make(
        self, name: str, model: Model, folder: Path, before: Before | None = None, team: Team | None = None
    ) -> None:
        """Complete the folder of a model, rename it, and start the actor."""
        there = self.folder / "models" / name
        try:
            store = Store(folder / DATABASE, "full")
            try:
                write_facts(store, model, before, team)
            finally:
                store.close()
            os.rename(folder, there)
            persistence.flush(there.parent)
        except Exception as error:
            raise _unwritten(name, error) from None
        log("model_made", model=name, learner=model.learner)
        self._wait(self._open(name))

    def delete(self, name: str) -> None:
        """Delete a model after its waiting requests are answered; its name is free afterwards."""
        with self._lock:
            actor = self.actor(name)
            actor.stop()
            actor.join()
            there, gone = actor.folder, actor.folder.with_name(f".gone-{name}")
            try:
                shutil.rmtree(gone, ignore_errors=True)
                os.rename(there, gone)  # atomic
                persistence.flush(there.parent)
            except OSError as error:
                log("delete_failed", level="error", model=name, reason=str(error))
                self._open(name)
                raise RefusedError(
                    "storage_failed", "the model could not be removed. See the log of the service."
                ) from None
            with self._evaluating.pop(actor):
                for known in (self._certificates, self._failing, self._sizes):
                    known.pop(actor, None)
            del self.models[name]
        shutil.rmtree(gone, ignore_errors=True)  # leftovers are removed at the next start
        log("model_deleted", model=name)

    def back_up(self, name: str) -> Backup:
        """Write a backup of all models to the folder `backups` of the directory, one at a time."""
        self._check_owned()
        if not self._backing_up.acquire(blocking=False):
            raise RefusedError("overloaded", "another backup is being written: retry once it is complete.")
        try:
            (self.folder / "backups").mkdir(0o700, exist_ok=True)
            made = back_up([actor for _, actor in sorted(self.models.items())], self.folder / "backups" / name)
        except InputError as error:
            raise RefusedError("bad_request", str(error)) from None
        except (OSError, sqlite3.Error) as error:
            log("backup_failed", level="error", backup=name, reason=str(error))
            raise RefusedError(
                "storage_failed", "the backup could not be written. See the log of the service."
            ) from None
        finally:
            self._backing_up.release()
        log("backup_made", backup=name, models=len(made.models), left_out=made.left_out)
        return made

    def _wait(self, actor: Actor) -> None:
        end = time.monotonic() + STARTED
        while actor.state == "opening" and time.monotonic() < end:
            time.sleep(0.005)

    def proof(self, actor: Actor, copied: tuple[int, persistence.Snapshot]) -> dict[str, Any]:
        """Return the proof file of a copy of the game, in any thread; it names no data."""
        from novikoff.game.proof_file import text_of_proof

        try:
            found: dict[str, Any] = json.loads(text_of_proof(persistence.ledger_of(copied[1]), recorded=False))
        except InputError as error:
            raise RefusedError("nothing_here", str(error)) from None
        return found

    def certificate(self, actor: Actor, copied: tuple[int, persistence.Snapshot]) -> dict[str, Any]:
        """Return the certificates of a copy of the game, in any thread; the last ones are cached."""
        n, what = copied
        late = what.meta["ledger"]["late"]
        mark = (late["predicted"], late["labelled"], late["expired"])
        lock = self._evaluating.get(actor)
        if lock is None:
            raise actor.refusal()  # deleted meanwhile
        with lock:
            known = self._certificates.get(actor)
            if known is None or known.mark != mark:
                try:
                    found = certified(persistence.ledger_of(what), n)
                except Exception as error:  # a bug; the other models must not suffer from it
                    if self._failing.get(actor) != repr(error):
                        self._failing[actor] = repr(error)
                        log("certificate_failed", level="error", model=actor.name, reason=repr(error))
                    raise RefusedError("certificate_failed", f"the certificates of {actor.name} cannot be evaluated. "
                                       "See the log of the service.") from None  # fmt: skip
                self._failing.pop(actor, None)
                (actor.folder / OPENING).unlink(missing_ok=True)
                known = Evaluated(mark, found)
                if self.models.get(actor.name) is actor:
                    self._certificates[actor] = known
        return known.found

    def forget(self, actor: Actor) -> None:
        """Forget the certificates of a model that was changed."""
        self._certificates.pop(actor, None)

    def evaluated(self, actor: Actor) -> Evaluated | None:
        """Return the certificates evaluated last, or None."""
        return self._certificates.get(actor)

    def certified(self, actor: Actor) -> dict[str, Any] | None:
        """Return the certificates evaluated last, or None."""
        known = self._certificates.get(actor)
        return None if known is None else known.found

    def failing(self, actor: Actor) -> bool:
        """Return whether the last evaluation of its certificates failed."""
        return actor in self._failing

    def size(self, actor: Actor) -> int | None:
        """Return the size of the files of a model when it was looked at last."""
        return self._sizes.get(actor)

    def _watch(self) -> None:
        """Evaluate bounds and sizes of files for metrics, model by model, in a share of the time."""
        while not self._owned:
            if self._stopping.wait(AGAIN):
                return
            self._take_over()
        while True:
            begin = time.monotonic()
            for actor in list(self.models.values()):
                start = time.monotonic()
                if self._stopping.is_set():
                    return
                self._look_at(actor)
                self._stopping.wait((time.monotonic() - start) * (1.0 / SHARE - 1.0))
            with suppress(OSError):
                self.free = shutil.disk_usage(self.folder).free
            if self._stopping.wait(max(0.0, BETWEEN - (time.monotonic() - begin))):
                return

    def _take_over(self) -> None:
        """Open the models if no other process has the directory; if that fails, leave it for the next attempt."""
        with self._lock, self._taking:
            if self._stopping.is_set():
                return
            try:
                if self._directory.acquire():
                    log("directory_free", models=len(list((self.folder / "models").iterdir())))
                    self._begin()
                    self._owned = True
            except Exception as error:
                log("directory_unusable", level="error", reason=str(error))
                self._stop_models()
                self.models.clear()
                self._evaluating.clear()
                self._directory.release()

    def _look_at(self, actor: Actor) -> None:
        """Evaluate the bounds of a model if they are out of date."""
        with suppress(OSError):
            self._sizes[actor] = sum(path.stat().st_size for path in actor.folder.iterdir())
        known = self._certificates.get(actor)
        if actor.state != "ready" or (known is not None and time.monotonic() - known.at < FRESH):
            return
        try:
            late = actor.play.late
            if known is not None and known.mark == (late.predicted, late.labelled, late.expired):
                known.at = time.monotonic()  # nothing has changed: the bounds hold now
                return
            found: SimpleQueue[Any] = SimpleQueue()
            actor.look(Look(Actor.copied, found.put))
            copied = found.get(timeout=STARTED)
            if not isinstance(copied, RefusedError):
                self.certificate(actor, copied)
        except (RefusedError, Empty):  # logged where it was raised, or stopping
            pass
        except Exception as error:  # a bug: metrics of other models go on
            log("watch_failed", level="error", model=actor.name, reason=repr(error))


@dataclass(slots=True, eq=False)
class Evaluated:
    """Certificates of a model.

    Attributes:
        mark: Counts of the game that they are about.
        found: Certificates as JSON.
        at: Monotonic time at which they were last known to hold.
    """

    mark: tuple[int, int, int]
    found: dict[str, Any]
    at: float = field(default_factory=time.monotonic)


def _unwritten(name: str, error: Exception) -> RefusedError:
    log("create_failed", level="error", model=name, reason=str(error))
    return RefusedError("storage_failed", "the model could not be written. See the log of the service.")
