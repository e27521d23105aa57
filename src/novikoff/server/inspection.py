"""Model files from outside are opened in a child process first, with limits on memory, time and size.

State is validated when it is loaded (core/state.py). Should a file nevertheless end the process that opens it, it ends
the child, and not the service with all its models. The child plays a few rounds and evaluates the certificates, as the
service will, and rewrites the file.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO, Literal

import msgspec

from novikoff.core.errors import ModelFileError, NovikoffError
from novikoff.core.registry import learner_name
from novikoff.game import persistence
from novikoff.server.model_game import Play, bits_of, certified, check_options
from novikoff.server.recovery import BASE, DATABASE, Before, check_present, recover, snapshots
from novikoff.server.store import DamagedError, Store
from novikoff.server.wire import Model, RefusedError

MOST_UNPACKED = 1_000_000_000
"""Largest size in bytes of an uploaded file, decompressed."""
MOST_DESCRIBED = 16_000_000
"""Largest size in bytes of its meta.json."""
MOST_VALUES = 2_000_000
"""Largest number of values in its meta.json: parsing more would hold up all requests for seconds."""
MOST_MEMORY = 8_000_000_000
"""Largest address space of the child in bytes, most of which compiled code reserves and does not use."""
MOST_SECONDS = 600
"""Seconds, and seconds of processor time, that the child may take; compiling for the first time takes minutes."""
PROGRAM = """import json, sys
try:
    import resource
    for kind, most in ((resource.RLIMIT_AS, {memory}), (resource.RLIMIT_CPU, {seconds}), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (most, most))
except (ImportError, ValueError, OSError):
    pass
sys.path[:] = json.loads(sys.argv[1])
from novikoff.server.inspection import main
main()
"""
"""Program of the child; limits are set before anything else."""


class Request(msgspec.Struct):
    """What the child is to do: open standard input as a new model in `folder`, or else the files that are there.

    With `replay` it recovers the model in `folder`, as the service does at its start.
    """

    folder: str
    options: Model | None = None
    bits: int | None = None
    replay: bool = False


class Found(msgspec.Struct):
    """An uploaded model: complete options, and the counts it begins with; or why it is refused.

    Of a replayed model, `counts` has the numbers of rounds, labels and waiting rounds.
    """

    model: Model | None = None
    before: Before | None = None
    refused: str | None = None
    counts: tuple[int, int, int] | None = None


def accept(file: BinaryIO, folder: Path, options: Model, bits: int | None) -> tuple[Model, Before]:
    """Write an uploaded game to `folder`, checked by a child; return its options and counts.

    Args:
        file: Model file.
        folder: Folder of the new model.
        options: Options; those that the file has are ignored.
        bits: Bits of the feature hash; None for those of the file.
    """
    check_size(file)
    found = in_child(Request(str(folder), options, bits), file)
    if found.model is None or found.before is None:
        raise RefusedError("bad_model", found.refused or "the file cannot be played.")
    return found.model, found.before


def check_files(folder: Path) -> None:
    """Open the files of a model in a child; raise `ModelFileError` if that ends it."""
    try:
        in_child(Request(str(folder)), None)
    except RefusedError as refusal:
        raise ModelFileError(refusal.message) from None


def replayed(folder: Path) -> tuple[int, int, int]:
    """Recover a model in a child; return its rounds, labels and waiting rounds, or raise `ModelFileError`."""
    try:
        found = in_child(Request(str(folder), replay=True), None)
    except RefusedError as refusal:
        raise ModelFileError(refusal.message) from None
    if found.counts is None:
        raise ModelFileError(found.refused or "it cannot be replayed.")
    return found.counts


def check_size(file: BinaryIO) -> None:
    """Refuse a file that is too large once decompressed, or has too many values."""
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            size = sum(one.file_size for one in entries)
            if size > MOST_UNPACKED:
                must = f"a model file must have at most {MOST_UNPACKED:,} bytes, decompressed."
                raise RefusedError("too_large", must)
            for one in entries:
                if one.filename == "meta.json":
                    _check_described(archive, one)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError, EOFError) as error:
        raise RefusedError("bad_model", f"the file is not a model file: {error}.") from None
    file.seek(0)


def _check_described(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    if entry.file_size > MOST_DESCRIBED:
        raise RefusedError("too_large", f"meta.json of a model file must have at most {MOST_DESCRIBED:,} bytes.")
    with archive.open(entry) as part:
        text = part.read(MOST_DESCRIBED + 1)  # the stated size may be wrong
    if len(text) > MOST_DESCRIBED or sum(map(text.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise RefusedError("too_large", f"meta.json of a model file must have at most {MOST_VALUES:,} values.")


def in_child(request: Request, file: BinaryIO | None) -> Found:
    """Do what is requested in a child; refuse a file that ends it."""
    program = PROGRAM.format(memory=MOST_MEMORY, seconds=MOST_SECONDS)
    command = [sys.executable, "-c", program, json.dumps(sys.path), msgspec.json.encode(request).decode()]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL if file is None else file, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, timeout=MOST_SECONDS, check=False, env={**os.environ, **threads},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise RefusedError("bad_model", f"opening the file takes more than {MOST_SECONDS} seconds.") from None
    except OSError as error:
        raise RefusedError("overloaded", f"no process could be started to open the file: {error.strerror}.") from None
    if done.returncode != 0:
        code = done.returncode
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        raise RefusedError("bad_model", f"the file ended the process that opened it ({how}): it is damaged or was "
                           "edited, or needs too much memory or time.")  # fmt: skip
    return msgspec.json.decode(done.stdout, type=Found)


def main() -> None:
    """Do what is requested on the command line, and print the result; in the child."""
    request = msgspec.json.decode(sys.argv[2], type=Request)
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with replies, open(0, "rb", closefd=False) as file:
        replies.write(msgspec.json.encode(done(request, file)))


def done(request: Request, file: BinaryIO | None) -> Found:
    """Do what is requested."""
    folder = Path(request.folder)
    try:
        if request.replay:
            return _replayed(folder)
        if request.options is None:
            for path in [*(path for _, path in snapshots(folder)), folder / BASE]:
                if path.exists():
                    _try_out(Play(persistence.load_game(path), Model("").bits))
            return Found()
        assert file is not None
        return _written(file, folder, request.options, request.bits)
    except MemoryError:
        return Found(refused="the file does not fit into memory.")
    except RefusedError as refusal:
        return Found(refused=refusal.message)
    except (NovikoffError, ArithmeticError, UnicodeError) as error:
        return Found(refused=str(error))


def _replayed(folder: Path) -> Found:
    try:
        check_present(folder)
        with closing(Store(folder / DATABASE)) as store:
            play, _ = recover(store, folder, folder.name, lambda *_, **__: None)
            waiting = store.waiting()
            if play.late.waiting != waiting:
                return Found(refused=f"{waiting:,} rounds wait in the database, and {play.late.waiting:,} in the game.")
            return Found(counts=(*store.counts(), waiting))
    except (DamagedError, sqlite3.Error) as error:
        return Found(refused=str(error))


def _written(file: BinaryIO, folder: Path, options: Model, bits: int | None) -> Found:
    """Write an uploaded game to the folder of its model."""
    ledger = persistence.load_game(file)
    options = msgspec.structs.replace(options, bits=bits_of(ledger, bits))
    check_options(options)
    play = Play(ledger, options.bits, options.schema)
    if ledger.player.task == "losses":
        raise RefusedError("bad_model", "the game was learned from losses: the service needs examples.")
    play.late.expire(play.late.waiting)  # their rounds are not in the file
    play.late.pending = None
    two: Any = ledger.labels if ledger.labels is not None and not ledger.player.numbered else [None, None]
    spec = ledger.spec or learner_name(type(ledger.learner))
    multiclass: Literal["multiclass"] | None = "multiclass" if ledger.player.numbered else None
    model = msgspec.structs.replace(options, learner=spec, negative=two[0], positive=two[1], labels=multiclass, seed=0)
    msgspec.json.encode([model, play.values])  # names of labels may have no UTF-8
    _try_out(play)
    persistence.save(ledger, folder / BASE)
    late = play.late
    return Found(model, Before(late.labelled, late.predicted, late.expired))


def _try_out(play: Play) -> None:
    """Do with a game what the service will."""
    play.warm_up(None)
    copy = persistence.ledger_of(persistence.snapshot(play.ledger))
    msgspec.json.encode(certified(copy, 0), enc_hook=str)
