"""Hypotheses of a game, judged by the examples after them: stretches of its stream, by whoever reads them.

A game that is replayed comes by places from which its stream can be read (`Batch.end`). From there every stretch is
read once more, on Ray, by a stream of its own (executors.py), and every hypothesis that began before is asked about it.
Errors are whole numbers: they are the same whoever counts them, and wherever the stream was cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.core.errors import InputError
from novikoff.core.executors import Executor, Over
from novikoff.core.labels import Numbering
from novikoff.core.learner import Learner, adapt
from novikoff.core.stream import Stream
from novikoff.core.types import Position, State
from novikoff.data.as_stream import for_learner

STRETCHES = 16
"""At most, however many rows there are."""

Place = tuple[int, Position | None]
"""Rows before, and from where the stream goes on; None: from its beginning."""


@dataclass(frozen=True)
class Stretch:
    """Rows `first` to before `last` of a stream, counted from 0, which are reached from `start`."""

    start: Position | None
    first: int
    last: int


def stretches(places: Sequence[Place], rows: int) -> list[Stretch]:
    """So many rows in stretches of about one size, each from one of the places; the first place is the beginning."""
    wanted = [rows * k // STRETCHES for k in range(1, STRETCHES)]
    chosen, at = [places[0]], 0
    for row in wanted:
        while at + 1 < len(places) and places[at + 1][0] <= row:
            at += 1
        if places[at][0] > chosen[-1][0]:
            chosen.append(places[at])
    lasts = [row for row, _ in chosen[1:]] + [rows]
    return [Stretch(start, row, last) for (row, start), last in zip(chosen, lasts, strict=True)]


def judged(
    stream: Stream, hypotheses: Sequence[tuple[int, Learner]], labels: Sequence[Any], pieces: Sequence[Stretch],
    who: Executor,
) -> list[int]:  # fmt: skip
    """The errors of each hypothesis on the rows from its index on.

    stream   as the learner of the game saw it; labels: what numbered ones stand for
    """
    told = [(index, type(learner.original), learner.state()) for index, learner in hypotheses]
    found = who.map(_errors, pieces, stream, told, list(labels))
    return [sum(errors) for errors in zip(*found, strict=True)]


def _errors(
    over: Over, piece: Stretch, stream: Stream, told: Sequence[tuple[int, Any, State]], labels: list[Any]
) -> list[int]:
    """Of each hypothesis on a stretch."""
    mine = [(index, adapt(make.restore(state))) for index, make, state in told if index < piece.last]
    errors, row = [0] * len(told), piece.first
    numbering = Numbering(list(labels)) if mine and mine[0][1].numbered else None
    for whole in stream.batches(piece.start) if mine else ():
        if over():
            raise InterruptedError
        batch = for_learner(whole.part(0, min(len(whole), piece.last - row)), stream, mine[0][1], numbering)
        for k, (index, player) in enumerate(mine):
            some = batch.part(min(max(index - row, 0), len(batch)), len(batch))
            if len(some):
                errors[k] += int(np.count_nonzero(player.predict_many(some) != some.y))
        row += len(batch)
        if row == piece.last:
            break
    if mine and row != piece.last:
        raise InputError(f"a stream must stay as it was in the game: {stream.name} is not what it was. Play again.")
    return errors
