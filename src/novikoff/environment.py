"""What a game is given: anything as a stream, and a stream in pieces for one learner."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.errors import POSITIVE, Advice, MismatchError, Option
from novikoff.player import Player
from novikoff.sources.arrays import Arrays
from novikoff.sources.pairs import Pairs
from novikoff.stream import Stream, adapted, is_stream
from novikoff.types import Batch, Labels, Learner, Position

if TYPE_CHECKING:
    from novikoff.ledger import Ledger

Piece = tuple[Batch, Position | None, int]
"""Rows, and where they end: a position of the stream, and rows after it."""


def as_stream(environment: Any, learner: Learner) -> Stream:
    """A path, arrays, a sparse matrix and labels, a data frame, or any iterable of (x, y) as a stream; or as it is."""
    if is_stream(environment):
        return adapted(environment)
    if isinstance(environment, (str, os.PathLike)):
        return _read(environment, learner)
    if learner.domain.kind in ("advice", "losses"):
        from novikoff.sources.advice import advice

        return advice(environment, learner.domain.kind == "losses")
    from novikoff.sources.frames import SparseMatrix, is_frame, is_sparse

    if is_frame(environment):
        from novikoff.tables.formats import Frame

        return Frame(environment, many=learner.labels, outcomes=Player(learner).outcomes)
    if Player(learner).pays:
        from novikoff.sources.targets import targets

        return targets(environment)
    if isinstance(environment, tuple) and len(environment) == 2 and is_sparse(environment[0]):
        return SparseMatrix(*environment, many=learner.labels)
    if isinstance(environment, tuple) and len(environment) == 2 and hasattr(environment[1], "__len__"):
        x, y = environment
        if not (isinstance(x, tuple) and isinstance(y, tuple)):  # those are two pairs (x, y)
            return Arrays(x, y, many=learner.labels)
    if isinstance(environment, Iterable):
        return Pairs(environment, domain=learner.domain, many=learner.labels)
    raise MismatchError(
        f"an environment must be a stream, an adversary, arrays (X, y) or an iterable of (x, y): "
        f"got {type(environment).__name__}."
    )


def opened(environment: Any) -> Any:
    """For a learner that is one of labels or of numbers as the outcomes ask: numbers as a stream that shows them.

    Paths and frames are opened; what is no table, no arrays and no stream is left as it is.
    """
    from novikoff.sources.frames import is_frame
    from novikoff.tables.table import Table, are_numbers

    if isinstance(environment, (str, os.PathLike)):
        from novikoff.sources.reader import read

        environment = read(environment)
    elif not is_stream(environment) and is_frame(environment):
        from novikoff.tables.formats import Frame

        environment = Frame(environment)
    if isinstance(environment, Table) and environment.numeric:
        show_numbers(environment)
    elif isinstance(environment, tuple) and len(environment) == 2 and hasattr(environment[1], "__array__"):
        y = np.asarray(environment[1])
        if y.ndim == 1 and y.dtype.kind in "iuf" and are_numbers(set(y.astype(np.float64).tolist())):
            from novikoff.sources.targets import targets

            return targets(environment)
    return environment


def show_numbers(table: Any) -> None:
    """Let a table show its labels as numbers to be predicted, and say so."""
    table.outcomes = "numbers"
    told = f"{table.label} of {table.name} is a number to be predicted; if it is a label, pass "
    table.notes.append(Advice(told, Option("positive"), "."))


def _read(path: Any, learner: Learner) -> Stream:
    """The file, or demo:NAME, as the learner needs it."""
    if learner.domain.kind in ("advice", "losses"):
        raise MismatchError(
            f"a table for experts must be read for a loss: got {path}. Pass nk.expert_table(path, loss=…)."
        )
    from novikoff.sources.reader import read

    numbers = Player(learner).outcomes == "numbers"
    return read(path, outcomes="numbers") if numbers else read(path, many=learner.labels)


def goes_on(ledger: Ledger, stream: Stream) -> bool:
    """Is this the file that the ledger's rounds came from, as it was then? Of other sources it is not known."""
    known = stream.fingerprint() or {}
    return "mtime_ns" in known and ledger.source == stream.name and ledger.fingerprint == known


def check_outcomes(learner: Learner, name: str, shown: str = "labels", read_for: str | None = None) -> None:
    """Labels for a learner of labels, numbers for one of numbers, advice for its loss: they are easily confused."""
    player = Player(learner)
    if player.outcomes != shown:
        raise MismatchError(
            f"the learner learns {player.outcomes}: {name} shows {shown}. "
            "Pass arrays (X, y), or choose a learner for what it shows."
        )
    if learner.domain.kind in ("advice", "losses") and read_for is not None and player.loss != read_for:
        raise MismatchError(
            f"the learner must pay the loss that the table is read for: it pays {player.loss}, {name} is read for "
            f"{read_for}. Pass the same loss to both."
        )


def pieces(stream: Stream, at: Position | None, skip: int, rounds: int | None, rows: int | None) -> Iterator[Piece]:
    """One pass, from `skip` rows after `at` on: at most `rounds` rounds, in batches of at most `rows`."""
    left, behind = rounds, 0  # behind: rows between `at` and this batch
    for batch in stream.batches(at):
        start = max(skip - behind, 0)
        while start < len(batch) and left != 0:
            stop = min(start + (rows or len(batch)), len(batch), len(batch) if left is None else start + left)
            whole = stop == len(batch) and batch.end is not None
            yield batch.part(start, stop), batch.end if whole else at, 0 if whole else behind + stop
            left = None if left is None else left - (stop - start)
            start = stop
        if left == 0:
            return
        if batch.end is None:
            behind += len(batch)
        else:
            at, skip, behind = batch.end, max(skip - behind - len(batch), 0), 0


def for_learner(batch: Batch, labels: Labels | None, player: Player) -> Batch:
    """The batch in the learner's labels: -1/+1, or 0 .. k-1 for a learner with many; outcomes as they are."""
    learner = player.learner
    if player.pays or (labels is None) == (learner.labels is not None):
        return batch
    if labels is None:
        raise MismatchError("the learner has two labels", "the stream has many", POSITIVE)
    values = [labels.negative, labels.positive]
    if not all(isinstance(value, (int, np.integer)) and 0 <= value < (learner.labels or 0) for value in values):
        raise MismatchError(f"the learner has labels 0 .. {(learner.labels or 0) - 1}: the stream has {values}.")
    return replace(batch, y=np.where(batch.y == 1, values[1], values[0]).astype(np.int32))
