"""A model from its folder: the newest snapshot that can be used, and every label since then, learned again.

    model.sqlite       what was asked and answered (store.py)
    base.nk            the game that the model began with, if it was uploaded
    snapshot-N.nk      the game after its N-th label; two are kept

A snapshot only saves time: one that is damaged, of a newer format, or ahead of the database is passed over. What the
learner says when labels are learned again is compared with what it said then: on a difference the model does not start.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from novikoff.core.errors import ModelFileError
from novikoff.game import persistence
from novikoff.game.ledger import Ledger
from novikoff.server.model_game import Play, begin
from novikoff.server.store import DamagedError, Store
from novikoff.server.wire import Model

AT_ONCE = 4096
KEPT = 2
DATABASE, BASE = "model.sqlite", "base.nk"
SNAPSHOT = re.compile(r"snapshot-(\d{1,18})\.nk")
Log = Callable[..., None]


def snapshots(folder: Path) -> list[tuple[int, Path]]:
    """Those there are, the newest first."""
    found = ((SNAPSHOT.fullmatch(path.name), path) for path in folder.iterdir())
    return sorted(((int(match[1]), path) for match, path in found if match), reverse=True)


def write_facts(store: Store, asked: Model, play: Play | None = None) -> None:
    """Write down what a new model is; `play` is the game it begins with, if it was uploaded."""
    late = None if play is None else play.late
    with store.transaction():
        store.set_facts(
            model=msgspec.to_builtins(asked), form=None, uploaded=late is not None, expired_to=0,
            base=late.labelled if late else 0, predicted_before=late.predicted if late else 0,
            expired=late.expired if late else 0,
        )  # fmt: skip


def write_snapshot(what: persistence.Snapshot, folder: Path, n: int, sync: str, verify: bool = False) -> None:
    """Write the game after its n-th label, in any thread, and remove those that are too old.

    verify   read it again first: it may be all that is left of what it was learned from
    """
    if sync != "full":  # what a snapshot knows must not be newer than what the disk has
        persistence.flush(folder / DATABASE)
        persistence.flush(folder / f"{DATABASE}-wal")
    there = folder / f"snapshot-{n}.nk"
    persistence.write(what, there)
    if verify:
        try:
            persistence.load_game(there)
        except ModelFileError:
            there.unlink(missing_ok=True)
            raise
    for _, path in snapshots(folder)[KEPT:]:
        path.unlink(missing_ok=True)


def recover(store: Store, folder: Path, name: str, log: Log) -> tuple[Play, int]:
    """The game as it was when the last commit was made, and after which label the snapshot was that it is made from."""
    for half in folder.glob("*.part"):  # a snapshot that was being written when the service died
        half.unlink(missing_ok=True)
    facts = store.facts()
    asked, base = msgspec.convert(facts["model"], Model), int(facts["base"])
    predicted, labelled = store.counts()
    ledger, done, reasons = _newest(folder, base, labelled, log)
    if done < facts.get("dropped_to", 0):
        why = "".join(f". The newest: {reason}" for reason in reasons[:1])
        raise DamagedError("no snapshot can be read, and examples before them are no longer kept (keep_examples): put "
                           f"back a copy of the folder{why}")  # fmt: skip
    if ledger is None:
        ledger, done = _first(facts, folder, asked, name), 0
    play = Play(ledger, asked.bits)
    play.late.predicted, play.late.expired = facts["predicted_before"] + predicted, facts["expired"]
    _replay(play, store, facts["form"], done)
    if play.ledger.rounds != base + labelled:
        raise DamagedError(f"{labelled:,} labels must be there, and {play.ledger.rounds - base:,} are")
    return play, done


def _newest(folder: Path, base: int, labelled: int, log: Log) -> tuple[Ledger | None, int, list[str]]:
    """The newest snapshot that can be used, its label, and why newer ones cannot."""
    reasons: list[str] = []
    for n, path in snapshots(folder):
        try:
            if n > labelled:
                raise ModelFileError(f"it is ahead of the database, which has {labelled:,} labels")
            ledger = persistence.load_game(path)
            if ledger.rounds != base + n:
                raise ModelFileError(f"it has {ledger.rounds:,} rounds: {base + n:,} must be there")
            return ledger, n, reasons
        except ModelFileError as error:
            reasons.append(str(error))
            log("snapshot_unusable", level="warning", file=path.name, reason=reasons[-1])
    return None, 0, reasons


def _first(facts: dict[str, Any], folder: Path, asked: Model, name: str) -> Ledger:
    """The game as it began."""
    if not facts["uploaded"]:
        return begin(asked, name)
    try:
        return persistence.load_game(folder / BASE)
    except ModelFileError as error:
        raise DamagedError(f"{BASE}, which the model began with, cannot be read: {error}") from None


def _replay(play: Play, store: Store, form: str, done: int) -> None:
    """Learn again what came after the first `done` labels."""
    names = store.labels()
    while found := store.played(done, AT_ONCE):
        y = [arrival.y for arrival, _ in found]
        if names:
            play.name_labels(names[len(play.values) : max(y) + 1])
        served = [(one.said, one.version, arrival.pending) for arrival, one in found]
        said = play.replay(form, [one.x for _, one in found if isinstance(one.x, bytes)], y, served)
        for (arrival, _), now in zip(found, said, strict=True):
            if now != arrival.said:
                raise DamagedError(f"label {arrival.n:,}: the learner said {arrival.said!r} then, and says {now!r} now")
        done = found[-1][0].n
