"""replay: play the first pass of a game again, to recover hypotheses that were not stored during the game.

The learner starts from its initial state and sees the same rows, so its predictions repeat, random draws included. A
stream that has changed is an error; it is recognised by its fingerprint if it has one, by the number of mistakes, or by
the final state of the learner, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
"""Maximum number of replayed rows that are played and scored at a time."""

Tell = Callable[[int], None]
"""Callback that receives the number of rows done in a further pass."""


def replay(
    ledger: Ledger, reservoir: HypothesisReservoir, stream: Stream, stops: list[int], tell: Tell | None = None,
    places: list[tuple[int, Position | None]] | None = None,
) -> Iterator[tuple[Batch, Learner | None, NDArray[np.number]]]:  # fmt: skip
    """Play the first pass again, in parts that do not cross any of `stops`.

    Args:
        ledger: Ledger of the game.
        reservoir: Reservoir of the game.
        stream: Stream of the game, opened again.
        stops: Rounds at which a part must end.
        tell: Callback that receives the number of rounds done.
        places: List that is filled with pairs of rounds done and the stream position after them.

    Yields:
        Each part, the learner as it was before the part if the part is the first or begins at one of `stops` (else
        None), and the predictions of the game.

    Raises:
        InputError: If the stream is not the same as in the game.
    """
    known = ledger.fingerprint if reservoir.final is None else None  # else it may belong to a later source
    if known is not None and stream.fingerprint() not in (None, known):
        raise InputError(f"the stream has changed since the game: {stream.name}. Play again.")
    stream = adopted(stream, ledger.encoding, ledger.feature_names)
    learner = ledger.player.from_state(reservoir.initial)
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
            before = learner.copy() if game.ledger.rounds in marks else None
            game.ledger.predictions = []
            game.learn_batch(part)
            yield part, before, game.ledger.recorded()
            start = stop
            if tell:
                tell(game.ledger.rounds)
        if places is not None and whole.end is not None and end == len(batch):
            places.append((game.ledger.rounds, whole.end))
        if game.ledger.rounds == reservoir.rounds:
            break
    if (game.ledger.rounds, game.ledger.mistakes) != (reservoir.rounds, reservoir.mistakes):
        raise InputError(
            f"the stream has changed since the game: {stream.name} now gives {game.ledger.mistakes:,} mistakes in "
            f"{game.ledger.rounds:,} rounds, and gave {reservoir.mistakes:,} in {reservoir.rounds:,}. Play again."
        )
    then = ledger.player.state() if reservoir.final is None and ledger.rounds == reservoir.rounds else reservoir.final
    if then is not None and not _same(then, learner.state()):
        raise InputError(f"the stream has changed since the game: on {stream.name} the learner now ends in another "
                         "state, with the same number of mistakes. Play again.")  # fmt: skip


def _same(one: object, other: object) -> bool:
    """Return whether two states are equal to the last bit; a list equals a tuple, as files do not distinguish them."""
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, (list, tuple)):
        return isinstance(other, (list, tuple)) and len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.shape == other.shape and one.tobytes() == other.tobytes()
    if one is not None and not isinstance(one, (bool, int, float, str, type, np.generic)):
        return type(one) is type(other)  # a model of another library (integrations/wrap.py) cannot be compared
    return bool(one == other or (one != one and other != other))
