"""Database of one model: requests and answers in one SQLite file that one thread owns.

rounds     seq; id; x as bytes, or its digest as text once the example is dropped; said and score: the served
           prediction; version: rounds of the game at that time; at: seconds;
           state: 0 waiting, n > 0 labelled as the n-th, -1 expired; sum: a checksum, since SQLite has none
arrivals   the game in order: the n-th label, its round, y, said (the prediction on arrival), and the number of other
           waiting rounds
labels     names of the classes of a multiclass model, by number
followed   of teams only: the model that the prediction of a round followed
facts      the model; `expired`: number of expired rounds; `expired_to`: round up to which expiry was checked;
           `dropped_to`: label up to which x is dropped; `numbers`: features that are numbers

Answers are sent only after their transaction is committed. Sync "full" waits for the disk at each commit and survives
power loss; "normal" survives a crash of the process. The file is locked, so that no other process plays the same game.
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

import numpy as np
from numpy.typing import NDArray

VERSION = 1
"""Version of the schema."""
SCHEMA = """
CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE rounds(seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, x BLOB NOT NULL, said, score REAL,
    version INTEGER NOT NULL, at REAL NOT NULL, state INTEGER NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE arrivals(n INTEGER PRIMARY KEY, seq INTEGER NOT NULL, y NOT NULL, said, pending INTEGER NOT NULL);
CREATE TABLE labels(number INTEGER PRIMARY KEY, value TEXT NOT NULL);
"""
COLUMNS = "seq, id, x, said, score, version, at, state, sum"
"""Columns of `rounds`, in the order of the fields of Round."""
AT_ONCE = 200
"""Ids per query."""
HEAD, FRAME = 32, 24 + 4096
"""Sizes of the header of a write-ahead log, and of a frame, which has a header and a page."""
DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
"""Prefixes of SQLite's error names for a damaged file."""


class DamagedError(Exception):
    """A database, or a game replayed from it, that cannot be trusted; the message has the reason."""


class Round(NamedTuple):
    """A stored round."""

    seq: int
    id: str
    x: bytes | str
    prediction: Any
    score: float | None
    version: int
    at: float
    state: int
    sum: int

    @classmethod
    def new(
        cls, seq: int, id: str, x: bytes, prediction: object, score: float | None, version: int, at: float,
        state: int = 0,
    ) -> Round:  # fmt: skip
        """Return a newly predicted round, with its checksum."""
        return cls(seq, id, x, prediction, score, version, at, state, _sum(id, x, prediction, version))

    def of(self, x: bytes) -> bool:
        """Return whether the round has this example."""
        return self.x == (x if isinstance(self.x, bytes) else digest(x))

    def checked(self) -> Round:
        """Return the round if its checksum is right; raise otherwise."""
        x = self.x if isinstance(self.x, bytes) else self.x.encode()
        if self.sum != _sum(self.id, x, self.prediction, self.version):
            raise DamagedError(f"round {self.seq} has a wrong checksum")
        return self


class Arrival(NamedTuple):
    """A stored label: the n-th that arrived."""

    n: int
    seq: int
    y: Any
    prediction: Any
    pending: int


class Store:
    """Database at `path`; created if missing."""

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
        run("PRAGMA page_size=4096")
        run("PRAGMA journal_mode=WAL")
        run(f"PRAGMA synchronous={'FULL' if sync == 'full' else 'NORMAL'}")
        run("PRAGMA cache_size=-8000")
        run("PRAGMA wal_autocheckpoint=4000")
        run("PRAGMA journal_size_limit=33554432")
        run("BEGIN EXCLUSIVE")
        (version,) = run("PRAGMA user_version").fetchone()
        if version > VERSION:
            run("ROLLBACK")
            raise DamagedError(f"it has format {version}, and this novikoff knows {VERSION}: install a newer one")
        if version == 0:
            for statement in filter(str.strip, SCHEMA.split(";")):
                run(statement)
            run(f"PRAGMA user_version={VERSION}")
        run("COMMIT")

    def close(self) -> None:
        """Close the file; committed data are safe."""
        self._db.close()

    def empty_log(self) -> bool:
        """Move all commits from the write-ahead log to the file itself; return whether that was possible."""
        with contextlib.suppress(sqlite3.Error):
            busy, *_ = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy
        return False

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything inside, or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # SQLite rolls back by itself when the disk is full
                self._db.execute("ROLLBACK")
            raise

    def facts(self) -> dict[str, Any]:
        """Return the facts of the model."""
        return {name: json.loads(value) for name, value in self._db.execute("SELECT name, value FROM facts")}

    def set_facts(self, **facts: object) -> None:
        """Write facts of the model."""
        rows = [(name, json.dumps(value)) for name, value in facts.items()]
        self._db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", rows)

    def labels(self) -> list[Any]:
        """Return the names of the classes, by number."""
        return [json.loads(value) for (value,) in self._db.execute("SELECT value FROM labels ORDER BY number")]

    def add_labels(self, first: int, values: Sequence[object]) -> None:
        """Add names of classes."""
        rows = [(first + k, json.dumps(value)) for k, value in enumerate(values)]
        self._db.executemany("INSERT INTO labels VALUES (?, ?)", rows)

    def find(self, ids: Sequence[str]) -> dict[str, Round]:
        """Return the rounds of these ids, where they exist."""
        found: dict[str, Round] = {}
        for start in range(0, len(ids), AT_ONCE):
            some = ids[start : start + AT_ONCE]
            # Padded to one length, so that only two statements have to be prepared.
            padded = [*some, *[some[-1]] * (AT_ONCE - len(some))] if len(some) > 1 else some
            marks = ",".join("?" * len(padded))
            for row in self._db.execute(f"SELECT {COLUMNS} FROM rounds WHERE id IN ({marks})", padded):
                found[row[1]] = Round(*row).checked()
        return found

    def arrivals(self, numbers: Sequence[int]) -> dict[int, Arrival]:
        """Return the arrivals of these numbers."""
        query = "SELECT n, seq, y, said, pending FROM arrivals WHERE n = ?"
        return {n: Arrival(*self._db.execute(query, (n,)).fetchone()) for n in numbers}

    def add_rounds(self, rounds: Sequence[Round]) -> None:
        """Add rounds."""
        self._db.executemany(f"INSERT INTO rounds({COLUMNS}) VALUES ({','.join('?' * 9)})", rounds)

    def followed(self) -> list[int]:
        """Return how many rounds followed each model of a team; create the table that counts them."""
        self._db.execute("CREATE TABLE IF NOT EXISTS followed(seq INTEGER PRIMARY KEY, member INTEGER NOT NULL)")
        members = len(self.facts()["team"]["models"])
        counts = dict(self._db.execute("SELECT member, count(*) FROM followed GROUP BY member"))
        return [counts.get(k, 0) for k in range(members)]

    def add_followed(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Add rounds with the number of the model that each followed."""
        if pairs:
            self._db.executemany("INSERT INTO followed VALUES (?, ?)", pairs)

    def member(self, seq: int) -> int | None:
        """Return the model that a round followed; None if it was learned at once."""
        row = self._db.execute("SELECT member FROM followed WHERE seq = ?", (seq,)).fetchone()
        return None if row is None else int(row[0])

    def add_arrivals(self, arrivals: Sequence[Arrival]) -> None:
        """Add labels; `settle` marks their rounds as labelled."""
        self._db.executemany("INSERT INTO arrivals VALUES (?, ?, ?, ?, ?)", arrivals)

    def settle(self, numbers: Iterable[tuple[int, int]]) -> None:
        """Mark rounds (n, seq) as labelled: their label was the n-th."""
        self._db.executemany("UPDATE rounds SET state = ? WHERE seq = ?", numbers)

    def expire(self, rounds: Sequence[int]) -> None:
        """Mark rounds as expired."""
        self.settle((-1, seq) for seq in rounds)

    def drop(self, rounds: Sequence[int]) -> None:
        """Replace the examples of these rounds by digests; rows are rewritten, since an update would free no page."""
        rows = [Round(*self._db.execute(f"SELECT {COLUMNS} FROM rounds WHERE seq = ?", (seq,)).fetchone()).checked()
                for seq in rounds]  # fmt: skip
        short = [(digest(one.x), one) for one in rows if isinstance(one.x, bytes)]
        self._db.executemany("DELETE FROM rounds WHERE seq = ?", [(one.seq,) for _, one in short])
        self.add_rounds(
            [one._replace(x=x, sum=_sum(one.id, x.encode(), one.prediction, one.version)) for x, one in short]
        )

    def drop_labelled(self, after: int, until: int, most: int) -> int:
        """Drop examples of the next rounds after the n-th label; return the last label done."""
        query = "SELECT n, seq FROM arrivals WHERE n > ? AND n <= ? ORDER BY n LIMIT ?"
        found = self._db.execute(query, (after, until, most)).fetchall()
        self.drop([seq for _, seq in found])
        return int(found[-1][0]) if found else after

    def old(self, after: int, before: int, until: float, most: int = 1000) -> tuple[int, list[int]]:
        """Return the last of the rounds `after` + 1 to `before` up to which all are older than `until`.

        The second result has the rounds among these that wait.
        """
        query = "SELECT seq, at, state FROM rounds WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
        last, waiting = after, []
        for seq, at, state in self._db.execute(query, (after, before, most)):
            if at > until:
                break
            last = seq
            if state == 0:
                waiting.append(seq)
        return last, waiting

    def waiting(self) -> int:
        """Return the number of rounds that wait for their labels."""
        return int(self._db.execute("SELECT count(*) FROM rounds WHERE state = 0").fetchone()[0])

    def copy_to(self, target: sqlite3.Connection, pages: int) -> None:
        """Copy the database, as of its last commit, to another one."""
        self._db.backup(target, pages=pages)

    def counts(self) -> tuple[int, int]:
        """Return the number of predicted rounds, and of labels."""
        (predicted,) = self._db.execute("SELECT coalesce(max(seq), 0) FROM rounds").fetchone()
        (labelled,) = self._db.execute("SELECT coalesce(max(n), 0) FROM arrivals").fetchone()
        return predicted, labelled

    def wrong(self, most: int, labels: int) -> list[tuple[Arrival, Round]]:
        """Return the latest of the last labels whose served prediction was wrong."""
        return self._joined("a.n > (SELECT coalesce(max(n), 0) FROM arrivals) - ? AND r.said IS NOT a.y "
                            "ORDER BY a.n DESC LIMIT ?", labels, most)  # fmt: skip

    def furthest(self, most: int, labels: int) -> list[tuple[Arrival, Round]]:
        """Return those of the last outcomes that were furthest from the served prediction."""
        return self._joined("a.n > (SELECT coalesce(max(n), 0) FROM arrivals) - ? "
                            "ORDER BY abs(r.said - a.y) DESC LIMIT ?", labels, most)  # fmt: skip

    def latest(self) -> float:
        """Return the time of the last prediction; 0 if there is none."""
        row = self._db.execute("SELECT at FROM rounds ORDER BY seq DESC LIMIT 1").fetchone()
        return float(row[0]) if row else 0.0

    def played(self, after: int, most: int) -> list[tuple[Arrival, Round]]:
        """Return the next arrivals after the n-th, with their rounds."""
        return self._joined("a.n > ? ORDER BY a.n LIMIT ?", after, most)

    def _joined(self, where: str, *given: int) -> list[tuple[Arrival, Round]]:
        columns = ", ".join(f"r.{name}" for name in COLUMNS.split(", "))
        query = f"""SELECT a.n, a.seq, a.y, a.said, a.pending, {columns} FROM arrivals a JOIN rounds r ON r.seq = a.seq
            WHERE {where}"""
        return [(Arrival(*row[:5]), Round(*row[5:]).checked()) for row in self._db.execute(query, given)]


def lost_commits(path: Path) -> int:
    """Return the number of whole commits in a write-ahead log behind damage, of which SQLite would play none.

    SQLite plays a log up to its first frame whose checksum is wrong, and ignores the rest. A crash leaves at most the
    commit that was being written there, which was not acknowledged. Checksums are chained: each frame continues that of
    the frame before it, and the first one continues that of the header.
    """
    content = path.read_bytes()
    if len(content) <= HEAD:
        return 0
    order = np.dtype(np.uint32).newbyteorder(">" if content[3] & 1 else "<")
    frames = np.frombuffer(content, np.uint8, (len(content) - HEAD) // FRAME * FRAME, HEAD).reshape(-1, FRAME)
    parts = np.ascontiguousarray(frames[:, :24]).view(">u4").astype(np.uint32)
    size, salts, stated = parts[:, 1], parts[:, 2:4], parts[:, 4:]  # size of the database in a commit's last frame
    begin = np.frombuffer(content, ">u4", 2, 24).astype(np.uint32)[None]
    head = np.frombuffer(content, order, 6)[None]
    if (_continued(np.zeros((1, 2), np.uint32), head) == begin).all():
        ours = (salts == np.frombuffer(content, ">u4", 2, 16)).all(axis=1)  # not of an earlier log in the same file
        words = np.concatenate([frames[:, :8], frames[:, 24:]], axis=1).view(order)
        right = ours & (_continued(np.concatenate([begin, stated[:-1]]), words) == stated).all(axis=1)
        sound = len(right) if right.all() else int(right.argmin())
    else:
        ours, sound = (salts == salts[:1]).all(axis=1), 0
    return int((ours & (size > 0))[sound:].sum())


def _continued(sums: NDArray[np.uint32], words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the checksum of each row of words, an even number of them, continued from the sums before the row."""
    a, b = sums.T
    columns = np.ascontiguousarray(words.astype(np.uint32).T)
    for x, y in zip(columns[0::2], columns[1::2], strict=True):
        a = a + b + x  # modulo 2^32
        b = b + a + y
    return np.stack([a, b], axis=1)


class Lock:
    """Lock of a directory, for the service that plays its models; released when the process ends, however it does."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db: sqlite3.Connection | None = None

    @property
    def held(self) -> bool:
        """Whether this service has the lock."""
        return self._db is not None

    def acquire(self) -> bool:
        """Take the lock; return False if another process has it."""
        db = sqlite3.connect(self._path, isolation_level=None, timeout=0.0, check_same_thread=False)
        try:
            db.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            db.close()
            if error.sqlite_errorname.startswith("SQLITE_BUSY"):
                return False
            raise
        self._db = db
        return True

    def release(self) -> None:
        """Release the lock."""
        if self._db is not None:
            self._db.close()
            self._db = None


def damaged(error: Exception) -> bool:
    """Return whether the file itself is damaged, rather than the disk full or not writable."""
    return isinstance(error, DamagedError) or str(getattr(error, "sqlite_errorname", "")).startswith(DAMAGED)


def digest(x: bytes) -> str:
    """Return a digest that identifies a dropped example."""
    return blake2b(x, digest_size=16).hexdigest()


def _sum(id: str, x: bytes, prediction: object, version: int) -> int:
    return zlib.crc32(x, zlib.crc32(f"{id}\0{prediction}\0{version}".encode()))
