"""Errors of the hypotheses of a game on the examples after them, counted in stretches of its stream in parallel.

The replay of a game records positions from which its stream can be read (`Batch.end`). From there every stretch is read
once more, on Ray by a separate stream (executors.py), and scored by every hypothesis that began before its end. Errors
are integers: their sums depend neither on the executor nor on where the stream was cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.core.adapt import adapt
from novikoff.core.errors import InputError
from novikoff.core.executors import Executor, Over
from novikoff.core.labels import Numbering
from novikoff.core.learner import Learner
from novikoff.core.stream import Stream
from novikoff.core.types import LabelValue, Position, State
from novikoff.data.as_stream import for_learner

STRETCHES = 16
"""Maximum number of stretches, regardless of the number of rows."""

Place = tuple[int, Position | None]
"""Number of rows before a position, and the position in the stream; None for its beginning."""


@dataclass(frozen=True)
class Stretch:
    """Rows `first` to `last - 1` of a stream, counted from 0, that are read from the position `start`."""

    start: Position | None
    first: int
    last: int


def stretches(places: Sequence[Place], rows: int) -> list[Stretch]:
    """Cut `rows` rows into stretches of about equal size, each from one of `places`, the first from the beginning."""
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
    stream: Stream, hypotheses: Sequence[tuple[int, Learner]], labels: Sequence[LabelValue], pieces: Sequence[Stretch],
    workers: Executor,
) -> list[int]:  # fmt: skip
    """Return the errors of each hypothesis on the rows from its index on.

    Args:
        stream: Stream as the learner of the game saw it.
        hypotheses: Index (number of rows learned) and learner of each hypothesis, in order.
        labels: Original values of numbered labels.
        pieces: Stretches of the stream.
        workers: Executor that reads the stretches.
    """
    states = [(index, type(learner.original), learner.state()) for index, learner in hypotheses]
    found = workers.map(_errors, pieces, stream, states, list(labels))
    return [sum(errors) for errors in zip(*found, strict=True)]


def _errors(
    over: Over, piece: Stretch, stream: Stream, states: Sequence[tuple[int, Any, State]], labels: list[LabelValue]
) -> list[int]:
    """Return the errors of each hypothesis on one stretch."""
    begun = [(index, adapt(make.restore(state))) for index, make, state in states if index < piece.last]
    errors, row = [0] * len(states), piece.first
    numbering = Numbering(list(labels)) if begun and begun[0][1].numbered else None
    for whole in stream.batches(piece.start) if begun else ():
        if over():
            raise InterruptedError
        batch = for_learner(whole.part(0, min(len(whole), piece.last - row)), stream, begun[0][1], numbering)
        for k, (index, player) in enumerate(begun):
            some = batch.part(min(max(index - row, 0), len(batch)), len(batch))
            if len(some):
                errors[k] += int(np.count_nonzero(player.predict_many(some) != some.y))
        row += len(batch)
        if row == piece.last:
            break
    if begun and row != piece.last:
        raise InputError(f"the stream has changed since the game: {stream.name}. Play again.")
    return errors
