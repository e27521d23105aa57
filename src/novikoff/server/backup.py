"""Backups of the models of a directory, taken while they are played, and their restoration.

A backup is a folder like that of the service:

    backup.json               format, version, time; for each model its files with size and SHA-256, and its counts
    models/NAME/model.sqlite  the database as of one commit, with all ids and waiting rounds
    models/NAME/*.nk          the games that a model began with or was set back to, and the newest snapshot

The database is copied by SQLite itself, in the thread that writes it, between two commits; the snapshot is older than
the copy. backup.json is written last: a folder without it is an unfinished backup. Restoring checks every file, copies
the models to a directory where none of them exists, and replays each game in a child process: the same recovery as at
every start, which compares each replayed prediction with the one that was served.

`lock` and tokens are not in a backup. A directory of an earlier version is backed up and restored alike.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import msgspec

from novikoff import __version__
from novikoff.core.errors import InputError, ModelFileError
from novikoff.game import persistence
from novikoff.server import inspection
from novikoff.server.actor import Actor, Look
from novikoff.server.recovery import DATABASE, check_present, snapshots
from novikoff.server.store import Lock, Store
from novikoff.server.wire import NAME, RefusedError

FORMAT = 1
"""Format of backups."""
LISTED = "backup.json"
"""File that describes a backup."""
ADDRESS = "address"
"""File in the directory of a service with its address."""
SLOWEST = 3600.0
"""Seconds that a running service may take to write a backup."""
PAGES = 4096
"""Pages of a database that are copied at once."""


class File(msgspec.Struct, forbid_unknown_fields=True):
    """One file of a model."""

    name: str
    size: int
    sha256: str


class Saved(msgspec.Struct, forbid_unknown_fields=True):
    """One model of a backup."""

    name: str
    predicted: int
    labelled: int
    waiting: int
    files: list[File]


class Backup(msgspec.Struct, forbid_unknown_fields=True):
    """Description of a backup."""

    format: int
    version: str
    at: float
    models: list[Saved]
    left_out: dict[str, str]


def back_up(actors: Sequence[Actor], to: Path) -> Backup:
    """Back up models that are being played; those that cannot be played are left out, with the reason.

    Args:
        actors: Actors of the models.
        to: Folder of the backup, which must not exist.
    """
    models, left_out = [], {}
    with _unfinished(to) as folder:
        for actor in actors:
            try:
                there = folder / "models" / actor.name
                there.mkdir(parents=True)
                found = looked(actor, partial(_copy_live, there))
                models.append(_described(there, *found))
            except RefusedError as refusal:
                if actor.state in ("ready", "storage_failed"):
                    raise  # the disk of the backup is full, or not writable
                left_out[actor.name] = refusal.message
                shutil.rmtree(there)
        return _finish(folder, to, models, left_out)


def back_up_directory(directory: Path, to: Path) -> Backup:
    """Back up the models of a directory that no service plays."""
    if not (directory / "models").is_dir():
        raise InputError(f"{directory} has no models: choose the folder of a service.")
    lock = Lock(directory / "lock")
    if not lock.acquire():
        raise InputError(f"a service plays the models of {directory}: ask it for the backup.")
    models, left_out = [], {}
    try:
        with _unfinished(to) as folder:
            for source in sorted((directory / "models").iterdir()):
                if not NAME.fullmatch(source.name):
                    continue
                there = folder / "models" / source.name
                there.mkdir(parents=True)
                try:
                    check_present(source)
                    store = Store(source / DATABASE)
                    with closing(store):
                        found = _copy(store, source, there)
                    models.append(_described(there, *found))
                except Exception as error:  # a damaged model does not keep others from being backed up
                    left_out[source.name] = str(error)
                    shutil.rmtree(there)
            return _finish(folder, to, models, left_out)
    finally:
        lock.release()


def back_up_service(directory: Path, to: Path, tokens: Path | None = None) -> Backup:
    """Back up the models of a directory that a service on this machine plays: it writes the backup, which is moved."""
    from novikoff.server.client import Client

    if to.exists():
        raise InputError(f"{to} exists: pass a new folder.")
    try:
        token = (tokens or directory / "token").read_text(encoding="utf-8").strip()
        address = (directory / ADDRESS).read_text(encoding="utf-8").strip()
    except OSError as error:
        do = f"POST {{address}}/v1/backups/NAME writes a backup to {directory / 'backups'}."
        raise InputError(f"{error.filename} cannot be read: {error.strerror}. {do}") from None
    if "\n" in token:
        raise InputError("the token file has several tokens: pass a file with one, of an administrator.")
    name = f"moving-{os.getpid()}-{time.time_ns()}"
    with Client(address, token, timeout=SLOWEST, retries=0) as client:
        client.back_up(name)
    made = directory / "backups" / name
    try:
        with _unfinished(to) as half:
            shutil.copytree(made, half, dirs_exist_ok=True)
            found = read(half)
            for path in sorted(half.rglob("*")):
                persistence.flush(path)
            os.rename(half, to)
            persistence.flush(to.absolute().parent)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return found


def in_use(directory: Path) -> bool:
    """Return whether a service plays the models of a directory."""
    lock = Lock(directory / "lock")
    free = lock.acquire()
    lock.release()
    return not free


def restore(backup: Path, directory: Path) -> Backup:
    """Restore all models of a backup to a directory in which none of them exists; each game is replayed and compared.

    Args:
        backup: Folder of the backup.
        directory: Directory of the service, which must not be running.
    """
    found = read(backup)
    (directory / "models").mkdir(0o700, parents=True, exist_ok=True)
    lock = Lock(directory / "lock")
    if not lock.acquire():
        raise InputError(f"a service plays the models of {directory}: stop it first.")
    try:
        known = [one.name for one in found.models if (directory / "models" / one.name).exists()]
        if known:
            raise InputError(f"{directory} has {known[0]} already: restore to another directory, or remove it first.")
        for one in found.models:
            _restore_one(one, backup, directory / "models")
    finally:
        lock.release()
    return found


def read(backup: Path) -> Backup:
    """Return the description of a backup after checking every file."""
    try:
        found = msgspec.json.decode((backup / LISTED).read_bytes(), type=Backup)
    except OSError as error:
        raise InputError(f"{backup} is not a finished backup: {LISTED}: {error.strerror}.") from None
    except msgspec.DecodeError as error:
        raise InputError(f"{LISTED} of {backup} is damaged: {error}.") from None
    if found.format > FORMAT:
        raise InputError(f"{backup} has format {found.format}, and this novikoff knows {FORMAT}: install a newer one.")
    for one in found.models:
        sound = NAME.fullmatch(one.name) and all(Path(file.name).name == file.name for file in one.files)
        if not sound:
            raise InputError(f"{LISTED} of {backup} is damaged: {one.name!r} is not a model.")
        for file in one.files:
            path = backup / "models" / one.name / file.name
            if not path.is_file() or path.stat().st_size != file.size or _digest(path) != file.sha256:
                raise InputError(f"{path} is damaged or missing: use another backup.")
    return found


def _restore_one(one: Saved, backup: Path, models: Path) -> None:
    """Copy one model, replay it, and give it its name."""
    half = models / f".new-{one.name}"
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir()
    try:
        for file in one.files:
            shutil.copyfile(backup / "models" / one.name / file.name, half / file.name)
            persistence.flush(half / file.name)
        try:
            counts = inspection.replayed(half)
        except ModelFileError as error:
            raise InputError(f"{one.name} of {backup} cannot be played: {error}") from None
        if counts != (one.predicted, one.labelled, one.waiting):
            raise InputError(f"{one.name} of {backup} has other counts than {LISTED} states: {counts}.")
        os.rename(half, models / one.name)
        persistence.flush(models)
    finally:
        shutil.rmtree(half, ignore_errors=True)


class _unfinished:  # noqa: N801 - used like a function
    """Folder in which a backup is written; removed if it is not finished."""

    def __init__(self, to: Path) -> None:
        self._to, self._half = to, to.with_name(f".{to.name}.part")

    def __enter__(self) -> Path:
        if self._to.exists():
            raise InputError(f"{self._to} exists: pass a new folder.")
        try:
            self._half.mkdir(0o700)  # two backups to one folder at once: one is refused
        except FileExistsError:
            why = f"another backup is being written to {self._to}, or was ended before it was complete"
            raise InputError(f"{self._half} exists: {why}. Remove it.") from None
        except OSError as error:
            raise InputError(f"{self._half} cannot be created: {error.strerror}.") from None
        return self._half

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._half, ignore_errors=True)


def _finish(folder: Path, to: Path, models: list[Saved], left_out: dict[str, str]) -> Backup:
    found = Backup(FORMAT, __version__, time.time(), models, left_out)
    (folder / LISTED).write_bytes(msgspec.json.format(msgspec.json.encode(found)))
    persistence.flush(folder / LISTED)
    persistence.flush(folder)
    os.rename(folder, to)
    persistence.flush(to.absolute().parent)
    return found


def looked(actor: Actor, at: Callable[[Actor], Any]) -> Any:
    """Return what `at` returns in the thread of an actor; wait for it."""
    found: SimpleQueue[Any] = SimpleQueue()
    actor.look(Look(at, found.put))
    result = found.get()
    if isinstance(result, RefusedError):
        raise result
    return result


def _copy_live(there: Path, actor: Actor) -> tuple[int, int, int]:
    """Copy a model in the thread of its actor, between two commits."""
    return _copy(actor.store, actor.folder, there)


def _copy(store: Store, source: Path, there: Path) -> tuple[int, int, int]:
    """Copy the database, as of its last commit, and the files that the game is rebuilt from; return its counts."""
    predicted, labelled = store.counts()
    waiting = store.waiting()
    with closing(sqlite3.connect(there / DATABASE)) as target:
        store.copy_to(target, PAGES)
    names = [path for n, path in snapshots(source) if n <= labelled][:1]
    for path in [*names, *sorted(source.glob("base*.nk"))]:
        shutil.copyfile(path, there / path.name)
    return predicted, labelled, waiting


def _described(there: Path, predicted: int, labelled: int, waiting: int) -> Saved:
    """Flush the files of a model, and return their digests."""
    files = []
    for path in sorted(there.iterdir()):
        persistence.flush(path)
        files.append(File(path.name, path.stat().st_size, _digest(path)))
    return Saved(there.name, predicted, labelled, waiting, files)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
