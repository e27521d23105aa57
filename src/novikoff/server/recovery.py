"""Recovery of a model from its folder: the newest usable snapshot, and a replay of every label since.

    model.sqlite       requests and answers (store.py)
    base.nk            the game that the model began with, if it was uploaded
    base-K.nk          the game that it was set back to by the K-th rollback (alternatives.py)
    snapshot-N.nk      the game after its N-th label; two are kept
    shadow-NAME-N.nk   the same of a shadow

A snapshot only saves time: one that is damaged or has a newer format is skipped. Replayed predictions are compared
with the original ones: if they differ, the model does not start.

Nor does it start if acknowledged labels are missing from the database. A sound snapshot that is ahead of it proves
that, and so does a missing write-ahead log (`playing` exists while the log has commits that the database file lacks),
or one with whole commits behind damage, of which SQLite would play none.
With `accept_loss` the model is played as far as its database goes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from novikoff.core.errors import ModelFileError
from novikoff.game import persistence
from novikoff.game.ledger import Ledger
from novikoff.server.alternatives import STALE, Branch, Shadow, branches, restored, shadow_of
from novikoff.server.model_game import Play, begin
from novikoff.server.store import DamagedError, Store, lost_commits
from novikoff.server.wire import Model, Team

AT_ONCE = 4096
"""Labels replayed per batch."""
KEPT = 2
"""Number of snapshots kept."""
DATABASE, BASE = "model.sqlite", "base.nk"
"""Names of the database, and of the uploaded game."""
PLAYING = "playing"
"""Name of the file that exists while the write-ahead log is needed."""
SNAPSHOT = re.compile(r"snapshot-(\d{1,18})\.nk")
"""Name of a snapshot."""
REMEDY = "Restore the folder from a backup, or start the service with the option accept-loss and the name {}"
"""What to do about a model whose acknowledged labels are missing."""
OPENING = "opening"
"""Name of the file that exists in the folder of an uploaded model until it was opened and certified once."""
Log = Callable[..., None]


def snapshots(folder: Path) -> list[tuple[int, Path]]:
    """Return the snapshots, the newest first."""
    found = ((SNAPSHOT.fullmatch(path.name), path) for path in folder.iterdir())
    return sorted(((int(match[1]), path) for match, path in found if match), reverse=True)


class Before(NamedTuple):
    """Counts of the game that an uploaded model begins with."""

    labelled: int
    predicted: int
    expired: int


def write_facts(store: Store, model: Model, late: Before | None = None, team: Team | None = None) -> None:
    """Record a new model; `late` has the counts of the game it begins with, if it was uploaded."""
    with store.transaction():
        if team is not None:
            store.set_facts(team=msgspec.to_builtins(team))
        store.set_facts(
            model=msgspec.to_builtins(model), form=None, uploaded=late is not None, expired_to=0,
            base=late.labelled if late else 0, predicted_before=late.predicted if late else 0,
            expired=late.expired if late else 0,
        )  # fmt: skip


def write_snapshot(what: persistence.Snapshot, folder: Path, n: int, sync: str, verify: bool = False) -> None:
    """Write the game after its n-th label, in any thread, and remove older snapshots.

    Args:
        what: Copy of the game.
        folder: Folder of the model.
        n: Number of labels.
        sync: "full" or "normal".
        verify: Read the file back first: it may become the only record of the examples it was learned from.
    """
    if sync != "full":  # a snapshot must not be ahead of the database on the disk
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


def check_present(folder: Path, accept_loss: bool = False) -> None:
    """Raise `DamagedError` if the database or commits are missing or damaged; called before the database is opened."""
    if not (folder / DATABASE).exists():
        raise DamagedError(f"{DATABASE} is missing: restore the folder from a backup, or delete the model")
    if accept_loss:
        return
    log = folder / f"{DATABASE}-wal"
    if not log.exists():
        if (folder / PLAYING).exists():
            raise DamagedError(f"{log.name} is missing, although the service was not stopped in order: acknowledged "
                               f"requests are lost, unless another program has opened the database since. "
                               f"{REMEDY.format(folder.name)}")  # fmt: skip
    elif (lost := lost_commits(log)) > 1:  # one may be that which was being written at the end
        raise DamagedError(f"{log.name} is damaged before its last {lost:,} commits: acknowledged requests would be "
                           f"lost. {REMEDY.format(folder.name)}")  # fmt: skip


def recover(
    store: Store, folder: Path, name: str, log: Log, accept_loss: bool = False, until: int | None = None
) -> tuple[Play, int]:
    """Return the game as of the last commit, and the label of the snapshot it was rebuilt from.

    Args:
        store: Database.
        folder: Folder of the model.
        name: Name of the model.
        log: Function that writes a log line.
        accept_loss: Whether to play although acknowledged labels are missing from the database.
        until: Number of labels to stop at; None for all. Counts of predictions are then those of the file.
    """
    for half in folder.glob("*.part"):  # a snapshot that was being written when the process ended
        half.unlink(missing_ok=True)
    facts = store.facts()
    model = msgspec.convert(facts["model"], Model)
    predicted, labelled = store.counts()
    end = labelled if until is None else until
    ways = branches(facts)
    way = next(one for one in reversed(ways) if one.at <= end)
    ledger, done, reasons = _newest(folder, way, labelled if until is None else end, log, accept_loss, until is None)
    if max(done, way.at) < facts.get("dropped_to", 0):
        why = "".join(f". The newest: {reason}" for reason in reasons[:1])
        raise DamagedError("no snapshot can be read, and earlier examples are no longer stored (keep_examples): "
                           f"restore the folder from a backup{why}")  # fmt: skip
    if ledger is None:
        ledger, done = _first(facts, folder, model, name, way), way.at
    play = Play(ledger, model.bits, model.schema)
    if until is None:
        play.late.predicted, play.late.expired = way.before + predicted, facts["expired"]
    else:
        play.late.predicted = max(play.late.predicted, play.late.labelled + play.late.expired) + end - done
    resets = [label for branch, label in facts.get("drift_resets", ()) if branch == ways.index(way)]
    _replay(play, store, facts["form"], done, end, way.seq, resets)
    if play.ledger.rounds != way.base + end:
        raise DamagedError(f"the database has {end:,} labels, but the game has {play.ledger.rounds - way.base:,}")
    return play, done


def recover_shadows(store: Store, folder: Path, main: Play) -> dict[str, Shadow]:
    """Return the shadows of a model as of the last commit."""
    facts, found = store.facts(), {}
    _, labelled = store.counts()
    for name, one in facts.get("shadows", {}).items():
        begun = shadow_of(msgspec.convert(facts["model"], Model), name, one["learner"], one["seed"], one["since"])
        shadow, done = restored(begun, folder, name, labelled)
        while some := store.played(done, AT_ONCE):
            rows = [one.x for _, one in some if isinstance(one.x, bytes)]
            shadow.learn(facts["form"], rows, [main.decode(arrival.y) for arrival, _ in some])
            done = some[-1][0].n
        found[name] = shadow
    return found


def _newest(
    folder: Path, way: Branch, labelled: int, log: Log, accept_loss: bool, last: bool
) -> tuple[Ledger | None, int, list[str]]:
    """Return the newest usable snapshot of a branch, its label, and why newer ones are unusable.

    Later snapshots are those of another branch, or proof of lost labels if this is the `last` one.
    """
    reasons: list[str] = []
    for n, path in snapshots(folder):
        if n < way.at or (n == way.at and way.number) or (n > labelled and not last):
            continue
        try:
            ledger = persistence.load_game(path)
            if ledger.rounds != way.base + n:
                raise ModelFileError(f"it has {ledger.rounds:,} rounds instead of {way.base + n:,}")
            if n <= labelled:
                return ledger, n, reasons
            lost = f"the database has {labelled:,} labels, but {path.name} has {n:,}: acknowledged labels are lost"
            if not accept_loss:
                raise DamagedError(f"{lost}. {REMEDY.format(folder.name)}")
            path.rename(path.with_suffix(".ahead"))  # of a game that is no longer played
            log("loss_accepted", level="warning", model=folder.name, reason=lost)
        except ModelFileError as error:
            reasons.append(str(error))
            log("snapshot_unusable", level="warning", file=path.name, reason=reasons[-1])
    return None, 0, reasons


def _first(facts: dict[str, object], folder: Path, model: Model, name: str, way: Branch) -> Ledger:
    """Return the game as a branch began."""
    if not facts["uploaded"] and not way.number:
        return begin(model, name)
    try:
        return persistence.load_game(folder / way.file)
    except ModelFileError as error:
        what = "the uploaded game" if not way.number else "the game that a rollback began with"
        raise DamagedError(f"{way.file}, {what}, cannot be read: {error}") from None


def _replay(play: Play, store: Store, form: str, done: int, end: int, stale: int, resets: Sequence[int]) -> None:
    """Replay the labels after the first `done` up to `end`.

    Args:
        play: Game.
        store: Database.
        form: Form of the rows.
        done: Labels that the game has.
        end: Labels that it is to have.
        stale: Last round that was predicted by a game that was set back since.
        resets: Labels after which the drift test begins again.
    """
    names = store.labels()
    if done in resets:  # a snapshot at that label may be older than the reset
        play.reset_drift()
    while done < end:
        stop = min([end, done + AT_ONCE, *(label for label in resets if label > done)])
        found = store.played(done, stop - done)
        if not found:
            return
        y = [arrival.y for arrival, _ in found]
        if names:
            play.name_labels(names[len(play.values) : max(y) + 1])
        versions = [STALE if one.seq <= stale else one.version for _, one in found]
        served = [(one.prediction, version, one.score, arrival.pending)
                  for (arrival, one), version in zip(found, versions, strict=True)]  # fmt: skip
        replayed = play.replay(form, [one.x for _, one in found if isinstance(one.x, bytes)], y, served)
        for (arrival, _), now in zip(found, replayed, strict=True):
            if now != arrival.prediction:
                raise DamagedError(
                    f"label {arrival.n:,}: the prediction was {arrival.prediction!r}, and is {now!r} on replay"
                )
        done = found[-1][0].n
        if done in resets:
            play.reset_drift()
