"""Looking back: after a game its source is read again, for the best comparators there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from novikoff.core.errors import InputError
from novikoff.core.player import rounds_learned
from novikoff.core.stream import Stream
from novikoff.core.types import Learner
from novikoff.data.tables.alignment import adopted
from novikoff.game.ledger import Ledger
from novikoff.numerics.clock import clock

if TYPE_CHECKING:
    from novikoff.comparators.hindsight import Hindsight
    from novikoff.comparators.metric_hindsight import MetricHindsight


def check_hindsight(ledger: Ledger, stream: Stream, resume: bool = False, passes: int = 1) -> None:
    """Refuse a game that could not be looked back on, before it begins."""
    from novikoff.comparators.linear_tracker import LinearTracker
    from novikoff.comparators.metric_tracker import MetricTracker

    tracker = ledger.tracker
    if tracker is None and ledger.rounds == 0:
        tracker = ledger.player.tracker()
    if isinstance(tracker, MetricTracker) and rounds_learned(ledger.before):
        was = f"it had played {rounds_learned(ledger.before):,} rounds"
        raise InputError(f"hindsight needs a learner that begins with nothing learned: {was}.")
    if not isinstance(tracker, (LinearTracker, MetricTracker)):
        raise InputError("hindsight is for linear learners whose comparators are tracked: this game has none.")
    if not stream.rereadable:
        raise InputError(f"hindsight needs a stream that can be read again: {stream.name} cannot. Save it in a file.")
    if ledger.rounds and not resume:
        raise InputError(f"hindsight needs all rounds of a game: {ledger.rounds:,} were played before {stream.name}.")
    if ledger.player.changes_examples and (passes > 1 or rounds_learned(ledger.before)):
        was = f"{passes} passes are asked for" if passes > 1 else "the learner had met others before"
        raise InputError(
            f"hindsight of a scaled game needs one pass from the first example on: {was}. A row is scaled by all that "
            "came before it, so it is another one in each pass. Leave out the scale (scale=none), or play one pass."
        )


def look_back(
    ledger: Ledger, stream: Stream, play: Callable[..., Ledger], tell: Callable[[Any], None] | None = None
) -> Hindsight | MetricHindsight:
    """The best comparators for a game that was played on this stream.

    play   `playing.play`, where the game must be played again
    tell   called now and then
    """
    from novikoff.comparators.hindsight import hindsight
    from novikoff.comparators.linear_tracker import LinearTracker
    from novikoff.comparators.metric_hindsight import look_again
    from novikoff.comparators.metric_tracker import MetricTracker

    tracker, features = ledger.tracker, ledger.player.features
    rounds = ledger.rounds if ledger.passes == 1 else None
    seen = ledger.player.again(adopted(stream, ledger.encoding, ledger.feature_names))
    if isinstance(tracker, MetricTracker):

        def again(learner: Learner, watching: MetricTracker) -> Ledger:
            ledger_again = Ledger(learner, source=stream.name, tracker=watching)
            return play(learner, seen, rounds, ledger.passes, ledger=ledger_again)

        return look_again(tracker, ledger.player.within, again, clock)
    assert isinstance(tracker, LinearTracker)  # check_hindsight
    return hindsight(
        seen, tracker.bias, tracker.normalize, ledger.passes, tracker.start, progress=tell, rounds=rounds,
        names=None if features is None else features.names, played=ledger.fingerprint, tracked=tracker.facts(),
    )  # fmt: skip
