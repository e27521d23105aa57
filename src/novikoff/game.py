"""The game: see x, predict, see y, learn; and the ledger that remembers it.

`play` runs a whole game; `Game` is for those who drive the loop themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.environment import Piece, as_stream, check_outcomes, for_learner, goes_on, pays, pieces, there_before
from novikoff.errors import InputError, MismatchError
from novikoff.kernels.clock import clock
from novikoff.ledger import Ledger
from novikoff.reservoir import HypothesisReservoir
from novikoff.sources.arrays import alike
from novikoff.sources.matched import matched, matched_row, names_of_row
from novikoff.types import (
    Adversary,
    Batch,
    Distribution,
    Domain,
    Example,
    Label,
    Labels,
    Lasting,
    Learner,
    Position,
    StepResult,
    Stream,
    check_label,
    signs,
)

if TYPE_CHECKING:
    from novikoff.comparators.hindsight import Hindsight

Progress = Callable[[Ledger], None]

ROUNDS_BETWEEN_LOOKS = 256
"""How often `progress` is called for learners that play row by row."""


class Game:
    """One learner's game, driven by the caller: `predict_one`, then `learn_one` when the label is known.

    Labels are the user's, once they are known: after a game on a source of 0 and 1, or of ham and spam, that is what is
    said and learned. In a game of its own they are -1 and +1, as they always are for the learner and in the ledger.
    The prediction that counts is the one that the learner makes when the label comes: with labels that come late, it
    may know more by then than when it was asked.
    Comparators are tracked for learners whose theorems need them, unless `track` is False.
    """

    def __init__(self, learner: Learner, ledger: Ledger | None = None, track: bool = True) -> None:
        self.learner = learner
        self.ledger = ledger or Ledger(learner)
        if self.ledger.learner is not learner:
            raise MismatchError("a ledger must be the learner's own: this one belongs to another.")
        for one in (self.ledger, *self.ledger.members):
            if track and one.tracker is None and one.rounds == 0 and hasattr(one.learner, "tracker"):
                one.tracker = one.learner.tracker()
        self._play_one = getattr(learner, "play_one", None)
        self.looped = not hasattr(learner, "learn_many")
        self._draws = bool(getattr(learner, "draws", False))
        self._pays = pays(learner)
        self._noted: list[Any] | None = None
        self._labels: Labels | None = None

    def predict_one(self, x: Example) -> Label:
        """What the learner says of x, in the user's labels; asking changes nothing."""
        said, labels = self.learner.predict_one(matched_row(x, self.ledger.feature_names)), self._users_labels()
        return said if labels is None else labels.decode(said)

    def learn_one(self, x: Example, y: Label) -> Label:
        """Play the round of x and y, a label of the user's: the prediction is written down, then the learner learns."""
        labels = self._users_labels()
        y = y if labels is None else labels.encode(y)
        self.ledger.fixed = False  # x and y were chosen by the caller
        if self._draw_in(1) == 0:
            self._reservoir().take(self.learner)
        said = self._learn_one(x, y)
        return said if labels is None else labels.decode(said)

    def _users_labels(self) -> Labels | None:
        """What the user calls -1 and +1; None if just that, or not known."""
        if self.ledger.labels is not self._noted:
            self._noted = self.ledger.labels
            self._labels = users_labels(self.learner, self._noted)
        return self._labels

    def _learn_one(self, x: Example, y: Label) -> Label:
        names = names_of_row(x)
        x = x if names is None else matched_row(x, self.ledger.feature_names)
        prediction = self._play_round(x, y)
        if names is not None:
            self.ledger.name_features(names)
        if self.ledger.reservoir is not None:
            self._keep(Batch([x], np.array([y]), self.ledger.rounds), np.array([prediction]))
        return prediction

    def _play_round(self, x: Example, y: Label) -> Label:
        if self._pays or self.ledger.members:
            return self._pay_one(x, y)
        chance = None
        if self._draws:
            y = check_label(y, self.learner.labels)
            chance = chances(self.learner, x).get(y, 0.0)
        if self._play_one is not None:
            prediction: Label = self._play_one(x, y)
        else:
            prediction = self.learner.predict_one(x)
            self.learner.learn_one(x, y)
        self.ledger.write(prediction, y, chance)
        if self.ledger.tracker is not None:
            self._see_row(self.ledger, x, y, prediction)
        return prediction

    def _pay_one(self, x: Example, y: Any) -> Label:
        """The same for a learner that answers with what it `StepResult`."""
        played: StepResult = self._play_one(x, y)  # type: ignore[misc]
        self.ledger.write_results(_rows_of_one(played), np.asarray(y)[np.newaxis])
        for k, one in enumerate(self.ledger.members):
            if one.tracker is not None:
                self._see_row(one, x, y, played.members[k])
        prediction: Label = played.predictions
        return prediction

    @staticmethod
    def _see_row(ledger: Ledger, x: Example, y: Label, prediction: Label) -> None:
        row = ledger.learner.features.row(x, learn=False)  # type: ignore[attr-defined]
        ledger.tracker.see_row(row, y, bool(prediction != y))  # type: ignore[union-attr]

    def learn_batch(self, batch: Batch, behind: Lasting = False) -> None:
        """Play every round of the batch, compiled where the learner can.

        behind   comparators may look at the batch later, in a second thread: its arrays will stay as they are
                 ("mapped": they lie in a mapped file)
        """
        self.ledger.fixed = False
        self._learn_batch(batch, behind)

    def _learn_batch(self, batch: Batch, behind: Lasting) -> None:
        start, draw = 0, self._draw_in(len(batch))
        while start < len(batch) and not self.looped and not isinstance(batch.x, list):
            stop = draw if start < draw else len(batch)
            if start == draw:
                self._reservoir().take(self.learner)
            if not self._learn_many(batch.part(start, stop), behind):
                break
            start = stop
        for row, (x, y) in enumerate(batch.part(start, len(batch)).rows() if start < len(batch) else (), start):
            if row == draw:
                self._reservoir().take(self.learner)
            try:
                self._learn_one(x, y)
            except InputError as error:
                raise type(error)(f"round {self.ledger.rounds + 1}: {error}") from error

    def _learn_many(self, batch: Batch, behind: Lasting) -> bool:
        """Play every round, compiled; False, having done nothing, if the learner cannot."""
        if not self._pays and self.learner.labels is None:
            y = signs(batch)
            batch = batch if y is batch.y else Batch(batch.x, y, batch.first, batch.end)
        played = self.learner.learn_many(batch)  # type: ignore[attr-defined]
        if played is None:
            return False
        write = self.ledger.write_results if isinstance(played, StepResult) else self.ledger.write_batch
        write(played, batch.y)
        predictions = played.predictions if isinstance(played, StepResult) else played
        self._keep(batch, predictions)
        if self.ledger.tracker is not None:
            self.ledger.tracker.see(batch, predictions != batch.y, behind)
        for k, one in enumerate(self.ledger.members):
            if one.tracker is not None:
                one.tracker.see(batch, played.members[:, k] != batch.y, behind)
        return True

    def _reservoir(self) -> HypothesisReservoir:
        assert self.ledger.reservoir is not None
        return self.ledger.reservoir

    def _draw_in(self, rounds: int) -> int:
        """Of so many rounds to come, after how many a hypothesis is to be kept; -1: after none."""
        if self.ledger.reservoir is None or self.ledger.passes > 1:
            return -1
        return self.ledger.reservoir.draw_in(rounds)

    def _keep(self, batch: Batch, predictions: NDArray[Any]) -> None:
        if self.ledger.reservoir is not None and self.ledger.passes <= 1:
            self.ledger.reservoir.see(batch, predictions)


def _rows_of_one(played: StepResult) -> StepResult:
    """One round as a batch."""
    return StepResult(*(None if value is None else np.asarray(value)[np.newaxis] for value in played))


def users_labels(learner: Learner, known: list[Any] | None) -> Labels | None:
    """What the user calls -1 and +1; None if just that, if it is not known, and for a learner of many labels."""
    return None if known is None or learner.labels is not None or known == [-1, 1] else Labels(*known)


def labels_of(learner: Learner, batch: Batch) -> NDArray[Any]:
    """What the learner says of every row, learning nothing."""
    if hasattr(learner, "predict_many") and not isinstance(batch.x, list):
        said: NDArray[Any] = learner.predict_many(batch)
        return said
    return np.array([learner.predict_one(x) for x, _ in batch.rows()])


def chances(learner: Learner, x: Example) -> Distribution:
    """The distribution of the learner's prediction on x."""
    if getattr(learner, "draws", False):
        distribution: Distribution = learner.chances(x)  # type: ignore[attr-defined]
        return distribution
    return {learner.predict_one(x): 1.0}


def play(
    learner: Learner,
    environment: Any,
    rounds: int | None = None,
    passes: int = 1,
    record: bool = False,
    progress: Progress | None = None,
    ledger: Ledger | None = None,
    track: bool = True,
    resume: bool = False,
    hindsight: bool = False,
    keep: int | HypothesisReservoir = 0,
) -> Ledger:
    """Play a whole game and return its ledger.

    environment   a stream (`nk.read(path)`), an adversary, arrays (X, y) (X may be of scipy.sparse), a data frame with
                  a label column, or any iterable of (x, y); for a learner on losses, an array (rounds, experts)
    rounds        stop after so many; needed against an adversary
    passes        how often to go through the stream
    record        keep every prediction in the ledger
    progress      called with the ledger now and then
    ledger        go on writing in this one (a game that was stopped)
    track         let comparators see every round, for learners whose certificates need them
    resume        with a ledger: go on in the stream where it stands, not from the beginning
    hindsight     read the stream again after the game, for the best comparators there are
    keep          remember so many hypotheses of the first pass that predicted long, for `nk.keep`; or a `Keeping`
    """
    if rounds is not None and rounds < 0:
        raise InputError(f"rounds must be at least 0: got {rounds}.")
    if passes < 1:
        raise InputError(f"passes must be at least 1: got {passes}.")
    if isinstance(environment, Adversary):
        return _duel(learner, environment, rounds, record, progress, ledger)
    names = ledger.feature_names if ledger is not None else None
    stream = matched(as_stream(environment, learner), names or getattr(learner, "feature_names", None))
    undeclared = stream.domain == Domain("any")  # pairs of who knows what: each x is checked as it comes
    if not undeclared and not learner.domain.admits(stream.domain):
        raise MismatchError(
            f"the learner plays on {learner.domain}: {stream.name} shows {stream.domain}. "
            "Choose a learner for that domain, or the right columns."
        )
    check_outcomes(learner, stream)
    if passes > 1 and not stream.rereadable:
        raise InputError(f"{passes} passes need a stream that can be read again: {stream.name} cannot.")
    game = Game(learner, ledger or Ledger(learner, source=stream.name), track)
    if game.ledger.adversary is not None:
        raise MismatchError(f"a ledger must be of one kind of game: this one is against {game.ledger.adversary.name}.")
    _record(game.ledger, record)
    if keep and game.ledger.reservoir is None:
        if game.ledger.rounds:
            raise InputError(f"hypotheses must be kept from the first round: {game.ledger.rounds:,} were played.")
        game.ledger.reservoir = HypothesisReservoir(learner, keep) if isinstance(keep, int) else keep
    if hindsight:
        check_hindsight(game.ledger, stream, resume)
    _go_through(game, stream, rounds, passes, game.ledger.position if resume else None, progress)
    if hindsight:
        game.ledger.hindsight = look_back(game.ledger, stream)
    return game.ledger


def look_back(ledger: Ledger, stream: Stream, tell: Callable[[Any], None] | None = None) -> Hindsight:
    """The best comparators for a game that was played on this stream; `tell` is called now and then."""
    from novikoff.comparators.hindsight import hindsight
    from novikoff.comparators.tracker import LinearTracker

    tracker, features = ledger.tracker, getattr(ledger.learner, "features", None)
    assert isinstance(tracker, LinearTracker)  # check_hindsight
    return hindsight(
        matched(stream, ledger.feature_names), tracker.bias, tracker.normalize, ledger.passes, tracker.start,
        progress=tell, rounds=ledger.rounds if ledger.passes == 1 else None, names=getattr(features, "names", None),
        played=ledger.fingerprint, tracked=tracker.facts(),
    )  # fmt: skip


def check_hindsight(ledger: Ledger, stream: Stream, resume: bool = False) -> None:
    """Refuse a game that could not be looked back on, before it begins."""
    from novikoff.comparators.tracker import LinearTracker

    tracker = ledger.tracker
    if tracker is None and ledger.rounds == 0 and hasattr(ledger.learner, "tracker"):
        tracker = ledger.learner.tracker()
    if not isinstance(tracker, LinearTracker):
        raise InputError("hindsight is for linear learners whose comparators are tracked: this game has none.")
    if not stream.rereadable:
        raise InputError(f"hindsight needs a stream that can be read again: {stream.name} cannot. Save it in a file.")
    if ledger.rounds and not resume:
        raise InputError(f"hindsight needs all rounds of a game: {ledger.rounds:,} were played before {stream.name}.")


def _go_through(
    game: Game, stream: Stream, rounds: int | None, passes: int, position: Position | None, progress: Progress | None
) -> None:
    """Every pass, from `position` on. `ledger.position` always says where to go on."""
    ledger, start, before = game.ledger, clock(), game.ledger.seconds
    alone = ledger.rounds == 0 or (ledger.fixed and position is not None and goes_on(ledger, stream))
    ledger.fixed = alone and there_before(stream)
    ledger.fingerprint = stream.fingerprint() if hasattr(stream, "fingerprint") else None
    position = position or {"passes": 0, "at": None, "skip": 0}
    left, behind = rounds, getattr(stream, "lasting", False)
    own = ledger.labels is None or position["at"] is not None
    for number in range(position["passes"], passes):
        ledger.passes += position["at"] is None and position["skip"] == 0 and not position.get("begun", False)
        ledger.position = {**position, "begun": True}  # the game may be left before the first batch
        ledger.repeated |= number > 0
        if ledger.reservoir is not None and ledger.passes > 1:
            ledger.reservoir.close(game.learner)
        rows = ROUNDS_BETWEEN_LOOKS if game.looped else None
        for piece, at, skip in _attended(ledger, pieces(stream, position["at"], position["skip"], left, rows)):
            _note_labels(ledger, stream, own)
            played = ledger.rounds
            try:
                game._learn_batch(for_learner(piece, stream.labels, game.learner), behind)
            finally:
                if ledger.rounds > played:
                    ledger.name_features(getattr(stream, "features", None))
            ledger.fixed = alone and there_before(stream)  # what a list holds is seen as it is played
            left = None if left is None else left - len(piece)
            ledger.position = {"passes": number, "at": at, "skip": skip}
            ledger.seconds = before + clock() - start
            if progress:
                progress(ledger)
        if ledger.reservoir is not None:
            ledger.reservoir.fixed = there_before(stream) or left == 0
        if left == 0:
            return
        end = ledger.position  # where rows go on that may be added to the source later
        ledger.position = position = {"passes": number + 1, "at": None, "skip": 0, "end": end}


def _attended(ledger: Ledger, pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The pieces; while the next is waited for, the ledger says so: learner and ledger agree then."""
    while True:
        ledger.waiting = True
        try:
            piece = next(pieces, None)
        finally:
            ledger.waiting = False
        if piece is None:
            return
        yield piece


def _note_labels(ledger: Ledger, stream: Stream, own: bool) -> None:
    """Remember what stands for -1 and +1; a source where another value is +1 may not follow.

    own   they are those of this stream: it may have known only one of the two when it began
    """
    if stream.labels is None:
        return
    labels = [plain_label(stream.labels.negative), plain_label(stream.labels.positive)]
    ledger.labels = labels if ledger.labels is None or (own and ledger.labels[1] == labels[1]) else ledger.labels
    if not alike(ledger.labels[1], labels[1]):
        raise MismatchError(
            f"{ledger.labels[1]!r} must stay the label that is +1: in {stream.name} it is {labels[1]!r}. "
            "Name the positive one."
        )


def plain_label(value: Any) -> Any:
    """A label as a model file holds it."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def _duel(
    learner: Learner,
    adversary: Adversary,
    rounds: int | None,
    record: bool,
    progress: Progress | None,
    ledger: Ledger | None,
) -> Ledger:
    """The adversary asks, hears the prediction, and answers."""
    if rounds is None:
        raise InputError("a game against an adversary must have an end: pass rounds=1000, say.")
    if not learner.domain.admits(adversary.domain):
        raise MismatchError(
            f"the learner plays on {learner.domain}: {adversary.name} shows {adversary.domain}. "
            "Choose a learner and an adversary for the same domain."
        )
    check_outcomes(learner, adversary)
    if learner.labels is not None:
        raise MismatchError(f"{adversary.name} answers -1 and +1: the learner has {learner.labels} labels.")
    game = Game(learner, ledger or Ledger(learner, adversary, source=adversary.name, passes=1))
    if game.ledger.adversary is not adversary:
        raise MismatchError("a ledger must be of one game: this one has another adversary, or none.")
    _record(game.ledger, record)
    if game.ledger.rounds == 0:
        game.ledger.adversary_before, game.ledger.answered = adversary.facts(), 0

    def probe(x: Example) -> Distribution:
        return chances(learner, x)

    start, before = clock(), game.ledger.seconds
    for t in range(rounds):
        x = adversary.ask(probe)
        game.ledger.answered += 1
        game.learn_one(x, adversary.answer(probe(x)))
        game.ledger.seconds = before + clock() - start
        if progress and (t + 1) % ROUNDS_BETWEEN_LOOKS == 0:
            progress(game.ledger)
    return game.ledger


def _record(ledger: Ledger, record: bool) -> None:
    if record and ledger.predictions is None:
        if ledger.rounds:
            raise InputError(f"predictions must be recorded from the first round: {ledger.rounds:,} were not.")
        ledger.predictions = []
