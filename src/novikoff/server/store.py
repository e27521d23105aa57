"""The database of one model: what was asked and answered, in one SQLite file that one thread owns.

rounds     seq, id, x as bytes, or as a text, its digest, where it is no longer kept; said and score as they were
           answered; version: rounds of the game by then; at: seconds;
           state: 0 waits, n > 0 its label came as the n-th, -1 expired; sum: a checksum, since SQLite has none
arrivals   the game as it was played: the n-th label, of which round, y, what the learner said then, how many others
           waited
labels     of many labels: what the user calls each number
facts      what the model is; `expired`: how many rounds are, and `expired_to`: all up to there were looked at;
           `dropped_to`: of rounds up to that label x is no longer kept; `numbers`: features that are numbers

Nothing is answered before its transaction is committed. Sync "full" waits for the disk at each commit and survives a
loss of power; "normal" survives the death of the process. The file is locked: nobody else can play the same game.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

VERSION = 1
SCHEMA = """
CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE rounds(seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, x BLOB NOT NULL, said, score REAL,
    version INTEGER NOT NULL, at REAL NOT NULL, state INTEGER NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE arrivals(n INTEGER PRIMARY KEY, seq INTEGER NOT NULL, y NOT NULL, said, pending INTEGER NOT NULL);
CREATE TABLE labels(number INTEGER PRIMARY KEY, value TEXT NOT NULL);
"""
COLUMNS = "seq, id, x, said, score, version, at, state, sum"
AT_ONCE = 200
"""Ids that are looked up in one query."""
DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")


class DamagedError(Exception):
    """The database, or what follows from it, cannot be trusted; the message says what was seen."""


class Round(NamedTuple):
    """A round as it is kept."""

    seq: int
    id: str
    x: bytes | str
    said: Any
    score: float | None
    version: int
    at: float
    state: int
    sum: int

    @classmethod
    def new(
        cls, seq: int, id: str, x: bytes, said: object, score: float | None, version: int, at: float, state: int = 0
    ) -> Round:  # fmt: skip
        """One that has just been predicted, with its checksum."""
        return cls(seq, id, x, said, score, version, at, state, _sum(id, x, said, version))

    def of(self, x: bytes) -> bool:
        """Is it the round of this example?"""
        return self.x == (x if isinstance(self.x, bytes) else digest(x))

    def checked(self) -> Round:
        """The round, if it is as it was written."""
        x = self.x if isinstance(self.x, bytes) else self.x.encode()
        if self.sum != _sum(self.id, x, self.said, self.version):
            raise DamagedError(f"round {self.seq} is not as it was written")
        return self


class Arrival(NamedTuple):
    """A label as it is kept: the n-th that came."""

    n: int
    seq: int
    y: Any
    said: Any
    pending: int


class Store:
    """The database at `path`; made, if it is not there."""

    def __init__(self, path: Path, sync: str = "full") -> None:
        self.path = path
        self._db = sqlite3.connect(path, isolation_level=None, timeout=0.0)
        try:
            self._begin(sync)
        except BaseException:
            self.close()
            raise

    def _begin(self, sync: str) -> None:
        run = self._db.execute
        run("PRAGMA locking_mode=EXCLUSIVE")
        run("PRAGMA journal_mode=WAL")
        run(f"PRAGMA synchronous={'FULL' if sync == 'full' else 'NORMAL'}")
        run("PRAGMA cache_size=-8000")
        run("PRAGMA wal_autocheckpoint=4000")
        run("PRAGMA journal_size_limit=33554432")
        run("BEGIN EXCLUSIVE")
        (version,) = run("PRAGMA user_version").fetchone()
        if version > VERSION:
            run("ROLLBACK")
            raise DamagedError(f"it is of format {version}, and this novikoff knows {VERSION}: install a newer one")
        if version == 0:
            for statement in filter(str.strip, SCHEMA.split(";")):
                run(statement)
            run(f"PRAGMA user_version={VERSION}")
        run("COMMIT")

    def close(self) -> None:
        """Let it go; what was committed is there."""
        self._db.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All of what is written within, or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # SQLite rolls back by itself when the disk is full
                self._db.execute("ROLLBACK")
            raise

    def facts(self) -> dict[str, Any]:
        """What the model is."""
        return {name: json.loads(value) for name, value in self._db.execute("SELECT name, value FROM facts")}

    def set_facts(self, **facts: object) -> None:
        """Write down what the model is."""
        rows = [(name, json.dumps(value)) for name, value in facts.items()]
        self._db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", rows)

    def labels(self) -> list[Any]:
        """What the user calls labels 0, 1, 2, ..."""
        return [json.loads(value) for (value,) in self._db.execute("SELECT value FROM labels ORDER BY number")]

    def add_labels(self, first: int, values: Sequence[object]) -> None:
        """More of these."""
        rows = [(first + k, json.dumps(value)) for k, value in enumerate(values)]
        self._db.executemany("INSERT INTO labels VALUES (?, ?)", rows)

    def find(self, ids: Sequence[str]) -> dict[str, Round]:
        """The rounds of these ids, as far as there are any."""
        found: dict[str, Round] = {}
        for start in range(0, len(ids), AT_ONCE):
            some = ids[start : start + AT_ONCE]
            padded = [*some, *[some[-1]] * (AT_ONCE - len(some))] if len(some) > 1 else some  # two queries to prepare
            marks = ",".join("?" * len(padded))
            for row in self._db.execute(f"SELECT {COLUMNS} FROM rounds WHERE id IN ({marks})", padded):
                found[row[1]] = Round(*row).checked()
        return found

    def arrivals(self, numbers: Sequence[int]) -> dict[int, Arrival]:
        """The arrivals of these numbers."""
        query = "SELECT n, seq, y, said, pending FROM arrivals WHERE n = ?"
        return {n: Arrival(*self._db.execute(query, (n,)).fetchone()) for n in numbers}

    def add_rounds(self, rounds: Sequence[Round]) -> None:
        """New ones."""
        self._db.executemany(f"INSERT INTO rounds({COLUMNS}) VALUES ({','.join('?' * 9)})", rounds)

    def add_arrivals(self, arrivals: Sequence[Arrival]) -> None:
        """Labels that came, whose rounds wait no longer."""
        self._db.executemany("INSERT INTO arrivals VALUES (?, ?, ?, ?, ?)", arrivals)

    def settle(self, numbers: Iterable[tuple[int, int]]) -> None:
        """Rounds that waited, as (n, seq): their label came as the n-th."""
        self._db.executemany("UPDATE rounds SET state = ? WHERE seq = ?", numbers)

    def expire(self, rounds: Sequence[int]) -> None:
        """Rounds that wait no longer."""
        self.settle((-1, seq) for seq in rounds)

    def drop(self, rounds: Sequence[int]) -> None:
        """Keep no more than digests of the examples of these; written anew, since an update lets no page go."""
        rows = [Round(*self._db.execute(f"SELECT {COLUMNS} FROM rounds WHERE seq = ?", (seq,)).fetchone()).checked()
                for seq in rounds]  # fmt: skip
        short = [(digest(one.x), one) for one in rows if isinstance(one.x, bytes)]
        self._db.executemany("DELETE FROM rounds WHERE seq = ?", [(one.seq,) for _, one in short])
        self.add_rounds([one._replace(x=x, sum=_sum(one.id, x.encode(), one.said, one.version)) for x, one in short])

    def drop_labelled(self, after: int, until: int, most: int) -> int:
        """Drop examples of the next rounds after the n-th label; up to which label that was done."""
        query = "SELECT n, seq FROM arrivals WHERE n > ? AND n <= ? ORDER BY n LIMIT ?"
        found = self._db.execute(query, (after, until, most)).fetchall()
        self.drop([seq for _, seq in found])
        return int(found[-1][0]) if found else after

    def old(self, after: int, until: float, most: int = 1000) -> tuple[int, list[int]]:
        """Up to which round, after round `after`, all are as old as `until`; and which of these wait."""
        query = "SELECT seq, at, state FROM rounds WHERE seq > ? ORDER BY seq LIMIT ?"
        last, waiting = after, []
        for seq, at, state in self._db.execute(query, (after, most)):
            if at > until:
                break
            last = seq
            if state == 0:
                waiting.append(seq)
        return last, waiting

    def counts(self) -> tuple[int, int]:
        """How many rounds were predicted, and how many labels came."""
        (predicted,) = self._db.execute("SELECT coalesce(max(seq), 0) FROM rounds").fetchone()
        (labelled,) = self._db.execute("SELECT coalesce(max(n), 0) FROM arrivals").fetchone()
        return predicted, labelled

    def latest(self) -> float:
        """When the last round was predicted; 0 if none was."""
        row = self._db.execute("SELECT at FROM rounds ORDER BY seq DESC LIMIT 1").fetchone()
        return float(row[0]) if row else 0.0

    def played(self, after: int, most: int) -> list[tuple[Arrival, Round]]:
        """The next arrivals after the n-th, with their rounds."""
        columns = ", ".join(f"r.{name}" for name in COLUMNS.split(", "))
        query = f"""SELECT a.n, a.seq, a.y, a.said, a.pending, {columns} FROM arrivals a JOIN rounds r ON r.seq = a.seq
            WHERE a.n > ? ORDER BY a.n LIMIT ?"""
        return [(Arrival(*row[:5]), Round(*row[5:]).checked()) for row in self._db.execute(query, (after, most))]


def damaged(error: Exception) -> bool:
    """Is the file itself not to be trusted, rather than the disk full or not writable?"""
    return isinstance(error, DamagedError) or str(getattr(error, "sqlite_errorname", "")).startswith(DAMAGED)


def digest(x: bytes) -> str:
    """By what an example is known again that is no longer kept."""
    return blake2b(x, digest_size=16).hexdigest()


def _sum(id: str, x: bytes, said: object, version: int) -> int:
    return zlib.crc32(x, zlib.crc32(f"{id}\0{said}\0{version}".encode()))
