"""Whole games: a learner on a stream, in one or more passes, or against an adversary.

With `hindsight` the source is read again after the game, to find the best comparators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from novikoff.core.adapt import adapt, is_learner
from novikoff.core.errors import Advice, InputError, MismatchError, Option, named
from novikoff.core.labels import alike, plain_label
from novikoff.core.learner import Learner
from novikoff.core.observer import Observer
from novikoff.core.stream import Stream, there_before
from novikoff.core.types import Adversary, Domain, Labels, OnlineLearner, Position, Source, count_at
from novikoff.core.weights import LabelWeights
from novikoff.data.as_stream import (
    Piece,
    as_stream,
    check_asked,
    check_count,
    check_many,
    check_outcomes,
    check_presence,
    for_learner,
    goes_on,
    pieces,
)
from novikoff.data.read_as import AskedTask, Reading, check_counts, read_as, table_of
from novikoff.data.tables.alignment import adopted
from novikoff.data.tables.lags import Lags
from novikoff.game.assistants import assisted
from novikoff.game.game import Game
from novikoff.game.ledger import Ledger
from novikoff.game.prepare import check_order, labels_apart, named_learner, prepare
from novikoff.game.since import After
from novikoff.game.specs import Spec, ahead, by_groups, parsed
from novikoff.game.specs import task as task_of
from novikoff.numerics.clock import clock

if TYPE_CHECKING:
    from novikoff.comparators.hindsight import Hindsight
    from novikoff.comparators.metric_hindsight import MetricHindsight
    from novikoff.game.reservoir import HypothesisReservoir
    from novikoff.kernel.comparators.hindsight import KernelHindsight

ROUNDS_BETWEEN_LOOKS = 256
"""Rounds between two calls of the observers' `rest` in games that are played row by row."""
CHANGED_TOGETHER = 8192
"""Rounds per chunk for a learner that transforms examples, so that the transformed rows stay in the cache."""


def play(
    learner: Learner | OnlineLearner | str | None,
    environment: Source | Adversary,
    rounds: int | None = None,
    passes: int = 1,
    record: bool = False,
    ledger: Ledger | None = None,
    track: bool = True,
    resume: bool = False,
    hindsight: bool = False,
    candidates: int | HypothesisReservoir = 0,
    observers: Sequence[Observer] = (),
    labels: Literal["multiclass"] | None = None,
    label: str | int | None = None,
    positive: object = None,
    task: AskedTask | None = None,
    trace: bool = False,
    after: int | None = None,
    proof: bool | str = False,
    weights: str | Sequence[float] | NDArray[np.number] | None = None,
    label_weights: LabelWeights | None = None,
    lags: int | None = None,
    lag_columns: Sequence[str] = (),
    by: str | None = None,
    horizon: int = 1,
) -> Ledger:
    """Play a whole game and return its ledger.

    Args:
        learner: A learner, used as it is; a spec ("perceptron:bias=1"), made for the environment with columns of tables
            and dense arrays scaled (prepare.py); or None for `auto` (`auto-regression` if outcomes are numbers).
        environment: A path or "demo:NAME", a stream (`nk.read(path)`), an adversary, arrays (X, y) with X dense or
            scipy.sparse, a data frame with a label column, an iterable of dicts that contain their label, or of
            (x, y); for a learner on losses, an array (rounds, experts). Dicts may have text, dates and missing values:
            they are rows of a table (data/tables/records.py).
        rounds: Maximum number of rounds; required against an adversary. A weighted row is always completed.
        passes: Number of passes over the stream.
        record: Whether to store every prediction in the ledger.
        ledger: Ledger of an earlier game to continue.
        track: Whether comparators see every round, for learners whose certificates need them.
        resume: With a ledger: continue at its position in the stream instead of the beginning.
        hindsight: Whether to read the stream again after the game, to find the best comparators.
        candidates: Number of long-lived hypotheses of the first pass to store for `nk.finalize`; or a reservoir.
        observers: Observers of the game (observer.py), such as `Calls(function)` for progress.
        labels: "multiclass" if there are or may be more than two labels, numbered by first appearance; None to decide
            from the first rows.
        label: Column of the label, by name or number, or key of dicts; None as in `nk.CSV`.
        positive: Label that is +1; every other label is -1.
        task: "classify" to predict labels, even if they are many numbers; "regress" to predict numbers; "count" for
            whole numbers from 0, which is checked. None to decide from the first rows.
        trace: Whether to follow the proof round by round: `ledger.trace` then has the rounds with its potentials, and
            the result of each of its inequalities (game/trace.py).
        after: Round after which `ledger.since()` reports on the rest of the game; None for the rounds since the game
            was resumed.
        proof: Whether to record what `ledger.write_proof` needs; a name that ends with .rows is a file to write the
            rows to, as the learner plays them.
        weights: Weights of rows: the column of a table or key of dicts, or a list with one weight per row. A row of
            weight w is learned in w rounds, a fraction rounded by a coin (core/weights.py); metrics count the rounds.
        label_weights: Weight of rows by label, such as {"spam": 5}; or "balanced".
        lags: Number of earlier rows whose labels are features of a row of a table: `sales lag 1`, `sales lag 2`
            (data/tables/lags.py); None for none.
        lag_columns: Columns that have lags too.
        by: Column of groups: lags are those of the row's group, and each group has a learner of its own next to the
            common one (experts/grouped.py), for learners given by a spec.
        horizon: Number of rows ahead: with h, a row is predicted from lags h, h+1, ... and by a learner that has
            learned the rows up to the h-th before it (conformal/delayed.py); for learners given by a spec.

    Returns:
        The ledger, with counts, metrics and `certify()`.

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.Perceptron(), [([1.0, 0.0], -1), ([0.0, 1.0], 1), ([1.0, 0.0], -1)]).mistakes
        1
    """
    check_asked(labels)
    learner = "auto" if learner is None else learner
    spec = _checked_spec(learner, environment)
    if not isinstance(learner, str):
        same = ledger is not None and ledger.learner is learner
        learner = ledger.player if ledger is not None and same else adapt(learner)
    if rounds is not None:
        check_count("rounds", rounds, 0, labels_apart("play", rounds))
    check_count("passes", passes, 1)
    if isinstance(learner, str) or learner.task in ("binary", "multiclass", "regression"):
        column, listed = (weights, False) if isinstance(weights, str) else (None, weights is not None)
        by_label = None if listed else label_weights
        environment = read_as(environment, Reading(label, positive, task, column, by_label))
    if lags is not None or by is not None or lag_columns or horizon != 1:
        check_count("horizon", horizon, 1)
        numbers = (learner.task if isinstance(learner, Learner) else task_of(spec or parsed(learner))) == "regression"
        environment = looking_back(environment, numbers, lags, lag_columns, by, passes, horizon)
        if ledger is None and (by is not None or horizon > 1):
            if not isinstance(learner, str):
                do = "Pass nk.Grouped(learner, by) or nk.Delayed(learner, delay) instead."
                raise InputError("groups and horizons need a spec", f"got {named(learner)}", do)
            spec = spec or parsed(learner)
            spec = ahead(spec if by is None else by_groups(spec, by), horizon, by)
    if isinstance(learner, str):
        learner, spec, environment = prepare(spec or learner, environment, labels == "multiclass")
        ledger = ledger or Ledger(learner, environment if isinstance(environment, Adversary) else None, spec=str(spec),
                                  source=environment.name)  # fmt: skip
    if isinstance(environment, Adversary):
        if weights is not None or label_weights is not None:
            raise InputError("weights are for the rows of a source: an adversary has none. Leave them out.")
        ledger = ledger or Ledger(learner, environment, source=environment.name, passes=1)
        return _duel(learner, environment, rounds, record, ledger, _watching(observers, ledger, trace, proof))
    stream = _for_player(as_stream(environment, learner, labels == "multiclass"), ledger or learner, learner)
    check_many(learner, stream.multiclass, type(learner.original).__name__, stream.name)
    undeclared = stream.domain == Domain("any")  # pairs of unknown objects: each x is validated when it is played
    if not undeclared and not learner.domain.admits(stream.domain):
        raise MismatchError(
            f"the learner needs examples of domain {learner.domain}: {stream.name} has {stream.domain}. "
            "Choose a learner for that domain, or the right columns."
        )
    check_outcomes(learner, stream.name, stream.outcomes, stream.loss)
    stream = _weighed(stream, None if isinstance(weights, str) else weights, label_weights)
    if passes > 1 and not stream.rereadable:
        raise InputError(f"{passes} passes need a stream that can be read again: {stream.name} cannot.")
    ledger = ledger or Ledger(learner, source=stream.name)
    ledger.read_by(stream.encoding)
    if ledger.adversary is not None:
        raise MismatchError(f"a ledger belongs to one game: this one is against {ledger.adversary.name}.")
    _record(ledger, record)
    if candidates and ledger.reservoir is None:
        from novikoff.game.reservoir import HypothesisReservoir

        if ledger.rounds:
            do = Advice("Leave out ", Option("candidates"), ", or start a new game.")
            raise InputError("candidates must be set from the first round", f"{ledger.rounds:,} were played", do)
        ledger.reservoir = HypothesisReservoir(learner, candidates) if isinstance(candidates, int) else candidates
    if after is not None:
        observers = [*observers, After.checked(after, ledger)]
    elif ledger.rounds:
        ledger.mark = ledger.marked()
    game = Game(learner, ledger, track, _watching(observers, ledger, trace, proof))
    if hindsight:
        check_hindsight(ledger, stream, resume, passes)
    with assisted(learner), _expecting(stream, game):
        _go_through(game, stream, rounds, passes, ledger.position if resume else None)
    if hindsight:
        ledger.hindsight = look_back(ledger, stream, play)
    return ledger


def _weighed(stream: Stream, weights: object, label_weights: LabelWeights | None) -> Stream:
    """Return the stream with weights, if any are given."""
    if weights is None and label_weights is None:
        return stream
    from novikoff.data.weighted import weigh

    found = weigh(stream, weights, label_weights)
    if found is not stream and stream.encoding is not None and stream.encoding.lags is not None:
        do = "Name the column of the weights: weights='column'."
        raise InputError("weights of a table with lags must be one of its columns", f"got {named(weights)}", do)
    return found


def looking_back(
    environment: Any, numbers: bool, lags: int | None, columns: Sequence[str], by: str | None,
    passes: int = 1, horizon: int = 1,
) -> Stream:  # fmt: skip
    """Return the environment as a table with lags; `numbers` is whether its outcomes are numbers for the learner."""
    table = table_of(environment, numbers)
    if table is None:
        name = f"got {named(environment)}"
        raise InputError(
            "lags and groups need a table", name, "Pass a file, a frame or dicts, whose columns have names."
        )
    if lags is None:
        if columns:
            raise InputError("lag_columns need lags: pass lags=1 too.")
        return table
    if passes > 1:
        raise InputError(f"lags are for one pass over the rows, in their order: got passes={passes}.")
    if isinstance(columns, str):
        columns = [columns]
    table.look_back(Lags(lags, horizon, by, columns))
    return table


def _watching(
    observers: Sequence[Observer], ledger: Ledger, trace: bool, proof: bool | str
) -> Sequence[Observer]:  # fmt: skip
    """Return the observers of a game, with those that trace it or record its proof if that is requested."""
    if trace:
        from novikoff.game.trace import Trace

        ledger.trace = Trace(ledger)
        observers = [*observers, ledger.trace]
    if proof:
        from novikoff.game.proof_file import ProofRecord

        ledger.proof_record = ProofRecord(ledger, None if proof is True else proof)
        observers = [*observers, ledger.proof_record]
    return observers


def _for_player(stream: Stream, known: Ledger | Learner, player: Learner) -> Stream:
    """Return the stream with its columns and names aligned to those that the learner has already learned."""
    numbered = player.features is not None and player.features.kind == "numbers"
    stream = adopted(stream, known.encoding, known.feature_names, numbered=numbered)
    player.check_hash(stream)
    check_presence(known.fingerprint if isinstance(known, Ledger) else None, stream)
    return stream


def _checked_spec(learner: object, environment: object) -> Spec | None:
    """Return the parsed spec of a learner given as text; raise an error if it is no learner, or the source."""
    if is_learner(learner):
        return None
    if isinstance(learner, str) and (spec := named_learner(learner)) is not None:
        return spec
    check_order("play", learner, environment)
    if not isinstance(learner, str):  # errors in a spec are reported when it is made
        do = f"Pass {learner.__name__}()." if isinstance(learner, type) else 'Pass "perceptron" or nk.Perceptron().'
        raise InputError("a learner must be a learner or its spec", f"got {named(learner)}", do)
    return None


@contextmanager
def _expecting(stream: Stream, game: Game) -> Iterator[None]:
    """Let the labels of a resumed game keep their meaning: a single label, or a positive label that was chosen."""
    before, labels = stream.expected, game.ledger.labels
    if labels is not None and game.numbering is None and before is None:
        stream.expected = Labels(*labels)
    try:
        yield
    finally:
        stream.expected = before


def _go_through(game: Game, stream: Stream, rounds: int | None, passes: int, position: Position | None) -> None:
    """Play every pass, from `position` on, keeping `ledger.position` up to date."""
    ledger, start, before = game.ledger, clock(), game.ledger.seconds
    alone = ledger.rounds == 0 or (ledger.fixed and position is not None and goes_on(ledger, stream))
    ledger.fixed = alone and there_before(stream)
    ledger.fingerprint = stream.fingerprint()
    if position is not None and position["at"] is None and count_at(position, "skip"):
        stream.begin_again()
    position = position or {"passes": 0, "at": None, "skip": 0}
    left = rounds
    begins, numbering = ledger.labels is None or position["at"] is not None, game.numbering
    for number in range(count_at(position, "passes"), passes):
        inside = position["at"]
        # A pass is counted when it begins, and not again if the game resumes inside it.
        ledger.passes += inside is None and position["skip"] == 0 and not position.get("begun", False)
        ledger.position = {**position, "begun": True}  # the game may be interrupted before the first batch
        ledger.repeated |= number > 0
        for observer in game._watching:
            observer.begin_pass(ledger)
        changed = CHANGED_TOGETHER if game.player.changes_examples else None
        rows = ROUNDS_BETWEEN_LOOKS if game.player.looped else changed
        for piece, at, skip in _rested(
            game, pieces(stream, inside if isinstance(inside, dict) else None, count_at(position, "skip"), left, rows)
        ):
            if numbering is None:
                _note_labels(ledger, stream, begins)
            played = ledger.rounds
            check_counts(stream, piece.y, piece.first)
            if stream.table and isinstance(piece.x, np.ndarray) and piece.x.ndim == 2:
                game.player.widen_all(piece.x.shape[1])
            try:
                game._learn_batch(for_learner(piece, stream, game.player, numbering))
            finally:
                if ledger.rounds > played:
                    stream.played(piece.first - 1 + ledger.rounds - played)
                    ledger.name_features(stream.features)
                    ledger.target = stream.target_column or ledger.target
            ledger.fixed = alone and there_before(stream)  # a list's items are known only when they are played
            left = None if left is None else max(left - len(piece), 0)
            ledger.position = {"passes": number, "at": at, "skip": skip}
            ledger.seconds = before + clock() - start
        for observer in game._watching:
            observer.end_pass(ledger, there_before(stream) or left == 0)
        if left == 0:
            return
        stream.played(None)
        end = ledger.position  # position of rows that may be appended to the source later
        ledger.position = position = {"passes": number + 1, "at": None, "skip": 0, "end": end}


def _rested(game: Game, pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Yield the pieces; call the observers' `rest` before each, and after the last."""
    while True:
        for observer in game._watching:
            observer.rest(game.ledger)
        piece = next(pieces, None)
        if piece is None:
            return
        yield piece


def _note_labels(ledger: Ledger, stream: Stream, begins: bool) -> None:
    """Store the values of -1 and +1; raise `MismatchError` if +1 stands for another value than in an earlier source.

    Args:
        ledger: Ledger of the game.
        stream: Stream being played.
        begins: Whether the stored labels come from this stream, which may have known only one of the two at first.
    """
    if stream.labels is None:
        return
    labels = [plain_label(stream.labels.negative), plain_label(stream.labels.positive)]
    ledger.labels = labels if ledger.labels is None or (begins and ledger.labels[1] == labels[1]) else ledger.labels
    if not alike(ledger.labels[1], labels[1]):
        raise MismatchError(
            f"{ledger.labels[1]!r} must stay the label that is +1",
            f"in {stream.name} it is {labels[1]!r}",
            Advice("Pass ", Option("positive", ledger.labels[1]), "."),
        )


def _duel(
    learner: Learner,
    adversary: Adversary,
    rounds: int | None,
    record: bool,
    ledger: Ledger | None,
    observers: Sequence[Observer],
) -> Ledger:
    """Play against an adversary, which chooses x, sees the distribution of the prediction, and chooses y."""
    if rounds is None:
        raise InputError("a game against an adversary needs a number of rounds: pass rounds=1000, for example.")
    if not learner.domain.admits(adversary.domain):
        raise MismatchError(
            f"the learner needs examples of domain {learner.domain}: {adversary.name} has {adversary.domain}. "
            "Choose a learner and an adversary for the same domain."
        )
    check_outcomes(learner, adversary.name)
    if learner.task == "multiclass":
        raise MismatchError(f"{adversary.name} has the labels -1 and +1: the learner has {learner.labels} labels.")
    game = Game(learner, ledger or Ledger(learner, adversary, source=adversary.name, passes=1), observers=observers)
    if game.ledger.adversary is not adversary:
        raise MismatchError("a ledger belongs to one game: this one has another adversary, or none.")
    _record(game.ledger, record)
    if game.ledger.rounds == 0:
        game.ledger.adversary_before, game.ledger.answered = adversary.facts(), 0

    start, before, probe = clock(), game.ledger.seconds, game.player.chances
    for t in range(rounds):
        x = adversary.ask(probe)
        game.ledger.answered += 1
        game.learn_one(x, adversary.answer(probe(x)))
        game.ledger.seconds = before + clock() - start
        if (t + 1) % ROUNDS_BETWEEN_LOOKS == 0:
            for observer in observers:
                observer.rest(game.ledger)
    return game.ledger


def _record(ledger: Ledger, record: bool) -> None:
    if record and ledger.predictions is None:
        if ledger.rounds:
            raise InputError(f"predictions must be recorded from the first round: {ledger.rounds:,} rounds were not.")
        ledger.predictions = []


def check_hindsight(ledger: Ledger, stream: Stream, resume: bool = False, passes: int = 1) -> None:
    """Raise `InputError`, before the game begins, if hindsight would be impossible."""
    from novikoff.comparators.linear_tracker import LinearTracker
    from novikoff.comparators.metric_tracker import MetricTracker
    from novikoff.kernel.comparators.tracker import KernelTracker

    tracker = ledger.tracker
    if tracker is None and ledger.rounds == 0:
        tracker = ledger.player.tracker()
    if isinstance(tracker, MetricTracker) and ledger.rounds_before:
        was = f"it had played {ledger.rounds_before:,} rounds"
        raise InputError(f"hindsight needs an untrained learner: {was}.")
    if not isinstance(tracker, (LinearTracker, MetricTracker, KernelTracker)):
        raise InputError("hindsight is for linear and kernel learners with comparators: this game has none.")
    if not stream.rereadable:
        raise InputError(f"hindsight needs a stream that can be read again: {stream.name} cannot. Save it in a file.")
    if ledger.rounds and not resume:
        raise InputError(f"hindsight needs all rounds of a game: {ledger.rounds:,} were played before {stream.name}.")
    if ledger.player.changes_examples and (passes > 1 or ledger.rounds_before):
        was = f"{passes} passes were requested" if passes > 1 else "the learner had seen examples before"
        raise InputError(
            f"hindsight of a scaled game needs one pass from the first example on: {was}. A row is scaled by the rows "
            "before it, so it differs from pass to pass. Turn scaling off (scale=none), or play one pass."
        )


def look_back(
    ledger: Ledger, stream: Stream, play: Callable[..., Ledger], progress: Callable[[Any], None] | None = None
) -> Hindsight | MetricHindsight | KernelHindsight:
    """Return the best comparators for a game that was played on this stream.

    Args:
        ledger: Ledger of the game.
        stream: Stream of the game.
        play: Function `play`, to play the game again if needed.
        progress: Progress callback.
    """
    from novikoff.comparators.hindsight import hindsight
    from novikoff.comparators.linear_tracker import LinearTracker
    from novikoff.comparators.metric_hindsight import look_again
    from novikoff.comparators.metric_tracker import MetricTracker
    from novikoff.kernel.comparators.hindsight import look_again as look_again_in_kernel
    from novikoff.kernel.comparators.tracker import KernelTracker

    tracker, features = ledger.tracker, ledger.player.features
    rounds = ledger.rounds if ledger.passes == 1 else None
    seen = ledger.player.again(adopted(stream, ledger.encoding, ledger.feature_names))
    if isinstance(tracker, MetricTracker):

        def again(learner: Learner, watching: MetricTracker) -> Ledger:
            ledger_again = Ledger(learner, source=stream.name, tracker=watching)
            return play(learner, seen, rounds, ledger.passes, ledger=ledger_again)

        return look_again(tracker, ledger.player.within, again, clock)
    names = None if features is None else features.names
    if isinstance(tracker, KernelTracker):
        return look_again_in_kernel(tracker, seen, ledger.passes, rounds, names, ledger.fingerprint)
    assert isinstance(tracker, LinearTracker)  # ensured by check_hindsight
    return hindsight(
        seen, tracker.bias, tracker.normalize, ledger.passes, tracker.start, progress=progress, rounds=rounds,
        names=names, played=ledger.fingerprint, tracked=tracker.facts(),
    )  # fmt: skip
