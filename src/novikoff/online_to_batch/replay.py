"""replay: the first pass of a game again, to look at hypotheses that were not kept while it was played.

The learner begins where it began in the game and meets the same rows, so it says the same again, coins included. A
stream that changed is refused: by its fingerprint, if it has one, by its mistakes, or by where the learner ends, to the
last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError
from novikoff.core.labels import Numbering
from novikoff.core.learner import Learner
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Position
from novikoff.data.as_stream import for_learner
from novikoff.data.tables.alignment import adopted
from novikoff.game.game import Game
from novikoff.game.ledger import Ledger
from novikoff.game.reservoir import HypothesisReservoir

ROWS_TOGETHER = 65_536
"""Rows of a replay that are played and judged at a time, at most."""

Tell = Callable[[int], None]
"""Called with the rows that a further pass has done."""


def frozen(learner: Learner) -> Learner:
    """A copy that is not taught any more."""
    return type(learner).restore(learner.state())


def replay(
    ledger: Ledger, reservoir: HypothesisReservoir, stream: Stream, stops: list[int], tell: Tell | None = None,
    places: list[tuple[int, Position]] | None = None,
) -> Iterator[tuple[Batch, Learner | None, NDArray[Any]]]:  # fmt: skip
    """The first pass again, in parts that end at each of `stops` (rounds) at the latest.

    Each part comes with what the learner said in the game; the first, and each that begins at one of `stops`, with the
    learner as it was before it, too.
    places   to be filled in: rounds done, and from where the stream goes on
    """
    known = ledger.fingerprint if reservoir.final is None else None  # else it may be that of a source that followed
    if known is not None and stream.fingerprint() not in (None, known):
        raise InputError(f"a stream must stay as it was in the game: {stream.name} is not what it was. Play again.")
    stream = adopted(stream, ledger.encoding, ledger.feature_names)
    learner = type(ledger.learner).restore(reservoir.initial)
    game = Game(learner, track=False)
    numbering = Numbering(list(ledger.labels or ())) if game.player.numbered else None
    marks = {0, *stops}
    waiting = sorted(stop for stop in marks if 0 < stop < reservoir.rounds)
    for whole in stream.batches():
        batch = for_learner(whole, stream, game.player, numbering)
        start, end = 0, min(len(batch), reservoir.rounds - game.ledger.rounds)
        while start < end:
            stop = min(start + ROWS_TOGETHER, end)
            if waiting and waiting[0] - game.ledger.rounds <= stop - start:
                stop = start + waiting.pop(0) - game.ledger.rounds
            part = batch.part(start, stop)
            before = frozen(learner) if game.ledger.rounds in marks else None
            game.ledger.predictions = []
            game.learn_batch(part)
            yield part, before, game.ledger.said()
            start = stop
            if tell:
                tell(game.ledger.rounds)
        if places is not None and whole.end is not None and end == len(batch):
            places.append((game.ledger.rounds, whole.end))
        if game.ledger.rounds == reservoir.rounds:
            break
    if (game.ledger.rounds, game.ledger.mistakes) != (reservoir.rounds, reservoir.mistakes):
        raise InputError(
            f"a stream must stay as it was in the game: {stream.name} now gives {game.ledger.mistakes:,} mistakes in "
            f"{game.ledger.rounds:,} rounds, and gave {reservoir.mistakes:,} in {reservoir.rounds:,}. Play again."
        )
    then = ledger.learner.state() if reservoir.final is None and ledger.rounds == reservoir.rounds else reservoir.final
    if then is not None and not _same(then, learner.state()):
        raise InputError(f"a stream must stay as it was in the game: on {stream.name} the learner now ends otherwise, "
                         "though with as many mistakes. Play again.")  # fmt: skip


def _same(one: Any, other: Any) -> bool:
    """Are two states equal to the last bit? (A list may come back from a file for a tuple.)"""
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, (list, tuple)):
        return isinstance(other, (list, tuple)) and len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.shape == other.shape and one.tobytes() == other.tobytes()
    if one is not None and not isinstance(one, (bool, int, float, str, type, np.generic)):
        return type(one) is type(other)  # a model of another library (integrations/wrap.py): nobody can tell
    return bool(one == other or (one != one and other != other))
