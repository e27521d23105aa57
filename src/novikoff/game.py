"""The game: see x, predict, see y, learn; and the ledger that remembers it.

`play` runs a whole game; `Game` is for those who drive the loop themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff import catalog
from novikoff.by_id import Answer, ById
from novikoff.environment import (
    Piece,
    as_stream,
    check_asked,
    check_many,
    check_outcomes,
    for_learner,
    goes_on,
    opened,
    pieces,
)  # fmt: skip
from novikoff.errors import Advice, InputError, MismatchError, Option, SpecError
from novikoff.kernels.clock import clock
from novikoff.late import Late
from novikoff.ledger import Ledger
from novikoff.looking_back import check_hindsight, look_back
from novikoff.numbering import Numbering, alike, one_label, plain_label
from novikoff.observer import Observer, Tracking, as_batch
from novikoff.pending import MOST, Id
from novikoff.player import Player
from novikoff.reservoir import HypothesisReservoir
from novikoff.stream import Stream, is_stream, there_before
from novikoff.tables.adopting import adopted, adopted_row, columns_of_row
from novikoff.types import (
    Adversary,
    Batch,
    Domain,
    Example,
    Label,
    Labels,
    Learner,
    Position,
    StepResult,
    check_label,
    signs,
)

ROUNDS_BETWEEN_LOOKS = 256
"""How often observers rest in games that are played row by row."""
CHANGED_TOGETHER = 8192
"""Rounds of a learner that changes examples first: what it writes fits in memory that is near, and is used again."""
SCORES_TOGETHER = 512
"""Scores of single rounds that wait to be counted together."""


class Game:
    """One learner's game, driven by the caller: `predict_one`, then `learn_one` when the label is known.

    Labels are the user's, once they are known: after a game on a source of 0 and 1, or of ham and spam, that is what is
    said and learned. In a game of its own they are -1 and +1, as they always are for the learner and in the ledger.
    Those of a learner of many labels are any values, numbered as they come; None is said before there is one.
    The prediction that counts is the one that the learner makes when the label comes.
    Where labels come late, out of order, twice or never, rounds have ids: `predict_one(x, id)`, and when its label is
    known `learn_one(id, y)`. From the first id on the game is played in the order in which labels arrive (late.py);
    what was served is counted beside it, and certified. The same again changes nothing.
    Comparators are tracked for learners whose theorems need them, unless `track` is False; `observers` watch too.

    most_pending     rounds that may wait for labels, and answered ones that are remembered, with ids
    expire_seconds   after so long a label is no longer waited for; None: never
    """

    def __init__(
        self, learner: Learner, ledger: Ledger | None = None, track: bool = True, observers: Sequence[Observer] = (),
        most_pending: int = MOST, expire_seconds: float | None = None,
    ) -> None:  # fmt: skip
        if isinstance(learner, str):
            raise SpecError(
                "a game must have a learner", f"got the spec {learner!r}", f"Pass nk.make({learner!r}, 'learner')."
            )
        self.learner = learner
        self.ledger = ledger or Ledger(learner)
        if self.ledger.learner is not learner:
            raise MismatchError("a ledger must be the learner's own: this one belongs to another.")
        self.player = self.ledger.player
        self._watching: list[Observer] = []
        for number, one in ((None, self.ledger), *enumerate(self.ledger.members)):
            if track and one.tracker is None and one.rounds == 0:
                one.tracker = one.player.tracker()
            if one.tracker is not None:
                self._watching.append(Tracking(one, number))
        if self.ledger.reservoir is not None:
            self._watching.append(self.ledger.reservoir)
        self._watching += [one for one in (self.ledger.late, self.ledger.drift) if one is not None]
        self._watching += observers
        self._by_id = ById(self, most_pending, expire_seconds)
        self._scoring: Any = self.player.within if self.ledger._signs and self.player.tells_scores else None
        self._waiting, self._waiting_labels = self.ledger.ranking.waiting, self.ledger.ranking.labels
        self._noted: list[Any] | None = None
        self._labels: Labels | Numbering | None = None

    def predict_one(self, x: Example, id: Id | None = None, at: float | None = None) -> Any:
        """What the learner says of x, in the user's labels; asking changes nothing.

        With an id the round is remembered until its label comes: `learn_one(id, y)`. at: when, in seconds; now.
        """
        if id is not None:
            return self._by_id.predict(x, id, at).prediction
        labels, said = self._users_labels(), self._say_one(x)
        return said if labels is None else labels.decode(said)

    def _say_one(self, x: Example) -> Any:
        """What the learner says of x, in its labels."""
        return self.learner.predict_one(adopted_row(x, self.ledger.encoding, self.ledger.feature_names))

    def predict_set(self, x: Example) -> tuple[Any, ...]:
        """The set that the learner says of x, in the user's labels (learners/conformal.py); asking changes nothing."""
        if not self.player.covers:
            raise InputError(f"a set is said by a conformal learner: {type(self.learner).__name__} is none.")
        learner: Any = self.learner
        ledger, labels = self.ledger, self._users_labels()
        said: tuple[Any, ...] = learner.predict_set(adopted_row(x, ledger.encoding, ledger.feature_names))
        return said if labels is None or self.player.outcomes == "numbers" else tuple(map(labels.decode, said))

    def learn_one(self, x: Example, y: Any, at: float | None = None) -> Any:
        """Play the round of x and y, a label of the user's: the prediction is written down, then the learner learns.

        In a game with ids x is the id, and what was served is told. at: when, in seconds; now.
        """
        late = self.ledger.late
        if late is not None and late.pending is not None:
            return self._by_id.learn(x, y, at).prediction
        return self._learn_one(x, y)

    def find(self, id: Id) -> Answer:
        """What is known of the round with that id."""
        return self._by_id.find(id)

    def predict_batch(self, batch: Batch) -> NDArray[Any]:
        """Serve every row of the batch, in the learner's labels (-1 before it knows one of many); ids are the caller's.

        When labels come: `learn_batch` with what was `served`, and with the `versions`, `ledger.rounds` as it is now.
        """
        said = self._say(batch)
        self._be_late().predict(len(batch))
        return said

    def _say(self, batch: Batch) -> NDArray[Any]:
        if self.player.numbered and not self.learner.labels:
            return np.full(len(batch), -1, dtype=np.int64)
        return np.asarray(self.player.predict_many(batch))

    def _be_late(self) -> Late:
        """From now on labels come late."""
        if self.ledger.late is None:
            if self.learner.domain.kind == "losses" or self.ledger.adversary is not None:
                raise MismatchError("labels may come late where examples have some: this game has none to serve.")
            self.ledger.late = Late.begin(self.ledger)
            self._watching.append(self.ledger.late)
        return self.ledger.late

    def _learn_one(self, x: Example, y: Any) -> Any:
        labels = self._users_labels()
        if isinstance(labels, Numbering):
            labels.cut(self.learner.labels or 0)  # what a round brought that was refused
            y = one_label(y)
        y = y if labels is None else labels.encode(y)
        self.ledger.fixed = False  # x and y were chosen by the caller
        if self._watching:
            self._stand_still(1)
        known = self.learner.labels
        said = self._play_round(x, y)
        return said if labels is None else None if known == 0 else labels.decode(said)

    def learn_batch(
        self, batch: Batch, served: NDArray[Any] | None = None, versions: NDArray[np.int64] | None = None
    ) -> None:
        """Play every round of the batch, compiled where the learner can. Its labels are the learner's.

        served, versions   of rounds whose labels come late: what `predict_batch` said, and `ledger.rounds` at that time
        """
        self.ledger.fixed = False
        if served is None or versions is None:
            self._learn_batch(batch)
        else:
            with self._be_late().expecting(served, versions, len(batch)):
                self._learn_batch(batch)
        if isinstance(labels := self._users_labels(), Numbering) and len(batch):
            for label in range(len(labels.values), int(np.max(batch.y)) + 1):
                labels.encode(label)

    @property
    def numbering(self) -> Numbering | None:
        """Of the labels of a learner that numbers them as they come; None of any other."""
        labels = self._users_labels()
        return labels if isinstance(labels, Numbering) else None

    def _users_labels(self) -> Labels | Numbering | None:
        """What the user calls -1 and +1, or labels that are numbered; None if just that, or not known."""
        if self.ledger.labels is not self._noted:
            self._noted = self.ledger.labels
            self._labels = users_labels(self.learner, self._noted)
        return self._labels

    def _stand_still(self, rounds: int) -> int:
        """Let observers look that want to now; how many of the next so many rounds to play until one does again."""
        left = rounds
        for observer in self._watching:
            if not observer.waits:
                continue
            due = observer.due(self.ledger, rounds)
            if due == 0:
                observer.look(self.ledger)
                due = observer.due(self.ledger, rounds)
            left = min(left, due)
        return left

    def _play_round(self, x: Example, y: Any) -> Label:
        player, ledger = self.player, self.ledger
        names = columns_of_row(x, ledger.encoding)
        if names is not None:
            x = adopted_row(x, ledger.encoding, ledger.feature_names, learn=True)
            if ledger.encoding is not None:
                names = ledger.encoding.features
                if isinstance(x, np.ndarray):
                    player.widen(len(x))
        chance = None
        if player.draws and not (player.pays or player.members):
            y = check_label(y, self.learner.labels)
            chance = player.chances(x).get(y, 0.0)
        played = player.play_one(x, y)
        if isinstance(played, StepResult):
            result = played
            ledger.write_results(as_batch(result), np.asarray(y)[np.newaxis])
        else:
            result = StepResult(played, None, None)
            ledger.write(played, y, chance)
        if self._scoring is not None and (score := self._scoring.scored) is not None:
            self._scoring.scored = None  # who says none next time has none
            self._waiting.append(score)
            self._waiting_labels.append(int(y))
            if len(self._waiting) == SCORES_TOGETHER:
                ledger.ranking.settle()
        if names is not None:
            ledger.name_features(names)
        for observer in self._watching:
            observer.see_one(ledger, x, y, result)
        prediction: Label = result.predictions
        return prediction

    def _learn_batch(self, batch: Batch) -> None:
        start = 0
        while start < len(batch):
            stop = start + self._stand_still(len(batch) - start)
            part = batch if stop - start == len(batch) else batch.part(start, stop)
            if not self._learn_many(part):
                self._learn_rows(part)
            start = stop

    def _learn_rows(self, batch: Batch) -> None:
        for x, y in batch.rows():
            try:
                self._play_round(x, y)
            except InputError as error:
                error.at(round=self.ledger.rounds + 1)
                raise

    def _learn_many(self, batch: Batch) -> bool:
        """Play every round, compiled; False, having done nothing, if the learner cannot."""
        if self.player.looped or isinstance(batch.x, list):
            return False
        if not self.player.pays and self.learner.labels is None:
            y = signs(batch)
            batch = batch if y is batch.y else replace(batch, y=y)
        played = self.player.learn_many(batch)
        if played is None:
            return False
        if isinstance(played, StepResult):
            self.ledger.write_results(played, batch.y)
        else:
            self.ledger.write_batch(played, batch.y)
            played = StepResult(played, None, None)
        if self._scoring is not None and (scores := self._scoring.scored) is not None:
            self._scoring.scored = None
            self.ledger.ranking.add(scores, batch.y)
        for observer in self._watching:
            observer.see(batch, played)
        return True


def users_labels(learner: Learner, known: list[Any] | None) -> Labels | Numbering | None:
    """What the user calls the labels; None if these are -1 and +1, if it is not known, and for whole numbers."""
    if Player(learner).numbered:
        return Numbering(known, learner.labels or 0)
    return None if known is None or learner.labels is not None or known == [-1, 1] else Labels(*known)


def play(
    learner: Learner | str | None,
    environment: Any,
    rounds: int | None = None,
    passes: int = 1,
    record: bool = False,
    ledger: Ledger | None = None,
    track: bool = True,
    resume: bool = False,
    hindsight: bool = False,
    keep: int | HypothesisReservoir = 0,
    observers: Sequence[Observer] = (),
    labels: str | None = None,
) -> Ledger:
    """Play a whole game and return its ledger.

    learner       a learner, or its spec ("perceptron:bias=1"), which is made for the environment and scaled on a table;
                  None is `auto`, or `auto-regression` where outcomes are numbers
    environment   a path or "demo:NAME", a stream (`nk.read(path)`), an adversary, arrays (X, y) (X may be of
                  scipy.sparse), a data frame with a label column, or any iterable of (x, y); for a learner on losses,
                  an array (rounds, experts)
    rounds        stop after so many; needed against an adversary
    passes        how often to go through the stream
    record        keep every prediction in the ledger
    ledger        go on writing in this one (a game that was stopped)
    track         let comparators see every round, for learners whose certificates need them
    resume        with a ledger: go on in the stream where it stands, not from the beginning
    hindsight     read the stream again after the game, for the best comparators there are
    keep          remember so many hypotheses of the first pass that predicted long, for `nk.keep`; or a reservoir
    observers     they watch the game (observer.py): a function that is called with the ledger now and then is `Calls`
    labels        "many" if there are more than two, or may be: of any kind, numbered as they first come. Where the
                  first rows show three it need not be said
    """
    check_asked(labels)
    learner = "auto" if learner is None else learner
    if rounds is not None and rounds < 0:
        raise InputError(f"rounds must be at least 0: got {rounds}.")
    if passes < 1:
        raise InputError(f"passes must be at least 1: got {passes}.")
    if isinstance(learner, str):
        environment, spec, learner = _made(learner, environment, labels == "many")
        ledger = ledger or Ledger(learner, environment if isinstance(environment, Adversary) else None, spec=spec,
                                  source=environment.name)  # fmt: skip
    if isinstance(environment, Adversary):
        return _duel(learner, environment, rounds, record, ledger, observers)
    stream = _for_player(as_stream(environment, learner, labels == "many"), ledger or Player(learner), learner)
    check_many(learner, stream, type(learner).__name__)
    undeclared = stream.domain == Domain("any")  # pairs of who knows what: each x is checked as it comes
    if not undeclared and not learner.domain.admits(stream.domain):
        raise MismatchError(
            f"the learner plays on {learner.domain}: {stream.name} shows {stream.domain}. "
            "Choose a learner for that domain, or the right columns."
        )
    check_outcomes(learner, stream.name, stream.outcomes, stream.loss)
    if passes > 1 and not stream.rereadable:
        raise InputError(f"{passes} passes need a stream that can be read again: {stream.name} cannot.")
    ledger = ledger or Ledger(learner, source=stream.name)
    ledger.read_by(stream.encoding)
    if ledger.adversary is not None:
        raise MismatchError(f"a ledger must be of one kind of game: this one is against {ledger.adversary.name}.")
    _record(ledger, record)
    if keep and ledger.reservoir is None:
        if ledger.rounds:
            do = Advice("Leave out ", Option("keep"), ", or begin anew.")
            raise InputError("hypotheses must be kept from the first round", f"{ledger.rounds:,} were played", do)
        ledger.reservoir = HypothesisReservoir(learner, keep) if isinstance(keep, int) else keep
    game = Game(learner, ledger, track, observers)
    if hindsight:
        check_hindsight(ledger, stream, resume, passes)
    _go_through(game, stream, rounds, passes, ledger.position if resume else None)
    if hindsight:
        ledger.hindsight = look_back(ledger, stream, play)
    return ledger


def _for_player(stream: Stream, known: Ledger | Player, learner: Learner) -> Stream:
    """The stream as this learner must see it, which may have learned before."""
    features = Player(learner).features
    numbered = features is not None and features.kind == "numbers"
    return adopted(stream, known.encoding, known.feature_names, numbered=numbered)


def _made(spec: str, environment: Any, many: bool) -> tuple[Any, str, Learner]:
    """The environment, as a stream if it is no adversary; the spec with its scale; and the learner that it names.

    many   labels are many, also where the first rows show two
    """
    if isinstance(environment, Adversary):
        return environment, spec, catalog.make(spec, "learner", domain=environment.domain)
    if catalog.for_numbers(spec) != spec and not many:
        environment = opened(environment)
        numbers = is_stream(environment) and environment.outcomes == "numbers"
        spec = catalog.for_numbers(spec) if numbers else spec
    stream = stream_for(spec, environment, many)
    spec = catalog.with_scale(spec, None, stream.table)
    learner = catalog.make(spec, "learner", domain=stream.domain, many=stream.many)
    check_many(learner, stream, spec)
    return stream, spec, learner


def stream_for(spec: str, environment: Any, many: bool = False) -> Stream:
    """The environment as a stream, for a learner that is still to be made.

    many   labels are many, also where the first rows show two
    """
    try:
        about = catalog.make(spec, "learner", many=many)
    except SpecError:  # it must know the domain first
        about = catalog.make("constant", "learner")
    return as_stream(environment, about, many or None)


def _go_through(game: Game, stream: Stream, rounds: int | None, passes: int, position: Position | None) -> None:
    """Every pass, from `position` on. `ledger.position` always says where to go on."""
    ledger, start, before = game.ledger, clock(), game.ledger.seconds
    alone = ledger.rounds == 0 or (ledger.fixed and position is not None and goes_on(ledger, stream))
    ledger.fixed = alone and there_before(stream)
    ledger.fingerprint = stream.fingerprint()
    position = position or {"passes": 0, "at": None, "skip": 0}
    left = rounds
    begins, numbering = ledger.labels is None or position["at"] is not None, game.numbering
    for number in range(position["passes"], passes):
        ledger.passes += position["at"] is None and position["skip"] == 0 and not position.get("begun", False)
        ledger.position = {**position, "begun": True}  # the game may be left before the first batch
        ledger.repeated |= number > 0
        for observer in game._watching:
            observer.begin_pass(ledger)
        changed = CHANGED_TOGETHER if game.player.changes_examples else None
        rows = ROUNDS_BETWEEN_LOOKS if game.player.looped else changed
        for piece, at, skip in _rested(game, pieces(stream, position["at"], position["skip"], left, rows)):
            if numbering is None:
                _note_labels(ledger, stream, begins)
            played = ledger.rounds
            if stream.table and isinstance(piece.x, np.ndarray) and piece.x.ndim == 2:
                game.player.widen(piece.x.shape[1])
            try:
                game._learn_batch(for_learner(piece, stream, game.player, numbering))
            finally:
                if ledger.rounds > played:
                    ledger.name_features(stream.features)
            ledger.fixed = alone and there_before(stream)  # what a list holds is seen as it is played
            left = None if left is None else left - len(piece)
            ledger.position = {"passes": number, "at": at, "skip": skip}
            ledger.seconds = before + clock() - start
        for observer in game._watching:
            observer.end_pass(ledger, there_before(stream) or left == 0)
        if left == 0:
            return
        end = ledger.position  # where rows go on that may be added to the source later
        ledger.position = position = {"passes": number + 1, "at": None, "skip": 0, "end": end}


def _rested(game: Game, pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The pieces; observers rest before each, and after the last."""
    while True:
        for observer in game._watching:
            observer.rest(game.ledger)
        piece = next(pieces, None)
        if piece is None:
            return
        yield piece


def _note_labels(ledger: Ledger, stream: Stream, begins: bool) -> None:
    """Remember what stands for -1 and +1; a source where another value is +1 may not follow.

    begins   they are those of this stream: it may have known only one of the two when it began
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
    """The adversary asks, hears the prediction, and answers."""
    if rounds is None:
        raise InputError("a game against an adversary must have an end: pass rounds=1000, say.")
    if not learner.domain.admits(adversary.domain):
        raise MismatchError(
            f"the learner plays on {learner.domain}: {adversary.name} shows {adversary.domain}. "
            "Choose a learner and an adversary for the same domain."
        )
    check_outcomes(learner, adversary.name)
    if learner.labels is not None:
        raise MismatchError(f"{adversary.name} answers -1 and +1: the learner has {learner.labels} labels.")
    game = Game(learner, ledger or Ledger(learner, adversary, source=adversary.name, passes=1), observers=observers)
    if game.ledger.adversary is not adversary:
        raise MismatchError("a ledger must be of one game: this one has another adversary, or none.")
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
            raise InputError(f"predictions must be recorded from the first round: {ledger.rounds:,} were not.")
        ledger.predictions = []
