"""A game driven by the caller: see x, predict, see y, learn; `play.py` runs whole games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from novikoff.core.adapt import is_learner
from novikoff.core.errors import InputError, MismatchError, SpecError, named, shown
from novikoff.core.labels import Numbering, one_label
from novikoff.core.learner import Learner, Predictor, check_batch
from novikoff.core.observer import Observer, Tracking
from novikoff.core.types import (
    Batch,
    Example,
    Label,
    Labels,
    LabelValue,
    Outcome,
    Prediction,
    StepResult,
    check_label,
    signs,
)
from novikoff.data.tables.alignment import adopted_row, columns_of_row
from novikoff.game.delayed.pending import MOST, Answer, ById, Id
from novikoff.game.ledger import Ledger

if TYPE_CHECKING:
    from novikoff.drift.monitor import DriftTest

if TYPE_CHECKING:
    from novikoff.game.delayed.late import Late

SCORES_TOGETHER = 512
"""Number of buffered scores of single rounds."""


class Game:
    """One learner's game, driven by the caller: `predict_one`, then `learn_one` when the label is known.

    Labels are the user's once they are known, from a game on a source with labels such as ham and spam; before that
    they are -1 and +1, as always for the learner and in the ledger. Multiclass labels may be any values, numbered by
    first appearance; the prediction is None before the first. The prediction that counts is made when the label
    arrives.

    If labels arrive late, out of order, twice or never, rounds have ids: `predict_one(x, id)`, and later
    `learn_one(id, y)`. From the first id on the game is played in the order in which labels arrive (late.py); served
    answers are counted separately, and certified. Repeating a call changes nothing.

    Args:
        learner: Learner, or any object with `predict_one` and `learn_one`.
        ledger: Ledger to continue; None for a new one.
        track: Whether to track comparators for learners whose theorems need them.
        observers: Observers of the game.
        most_pending: Maximum number of rounds that wait for labels, and of answered rounds that are remembered.
        expire_seconds: Seconds after which a missing label expires; None for never.
        drift: Drift test that watches from now on and is saved with the ledger: `nk.DriftTest()`.

    Example:
        >>> import novikoff as nk
        >>> game = nk.Game(nk.ThresholdHalving(10))
        >>> for x, y in [(5, -1), (8, -1), (9, 1)]:
        ...     prediction = game.predict_one(x)
        ...     _ = game.learn_one(x, y)
        >>> game.ledger.mistakes
        3
    """

    def __init__(
        self, learner: Learner, ledger: Ledger | None = None, track: bool = True, observers: Sequence[Observer] = (),
        most_pending: int = MOST, expire_seconds: float | None = None, drift: DriftTest | None = None,
    ) -> None:  # fmt: skip
        _check_learner(learner)
        _check_observers(observers)
        self.ledger = ledger or Ledger(learner)
        self.player = self.ledger.player
        if learner is not self.player and learner is not self.ledger.learner:
            raise MismatchError("the ledger must belong to this learner: it belongs to another.")
        self._watching: list[Observer] = []
        for number, one in ((None, self.ledger), *enumerate(self.ledger.members)):
            if track and one.tracker is None and one.rounds == 0:
                one.tracker = one.player.tracker()
            if one.tracker is not None:
                self._watching.append(Tracking(one, number))
        if self.ledger.reservoir is not None:
            self._watching.append(self.ledger.reservoir)
        if drift is not None:
            from novikoff.drift.monitor import DriftWatch

            self.ledger.drift = DriftWatch.begin(self.ledger, drift)
        self._watching += [one for one in (self.ledger.late, self.ledger.drift) if one is not None]
        self._watching += observers
        self._by_id = ById(self, most_pending, expire_seconds)
        self._scoring = self.player.within if self.ledger._signs and self.player.tells_scores else None
        self._waiting, self._waiting_labels = self.ledger.ranking.waiting, self.ledger.ranking.labels
        self._noted: list[LabelValue] | None = None
        self._labels: Labels | Numbering | None = None

    @property
    def learner(self) -> Learner:
        """The learner, as the caller passed it."""
        return self.ledger.learner

    def __repr__(self) -> str:
        return repr(self.ledger).replace("<Ledger", "<Game", 1)

    def predict_one(self, x: Example, id: Id | None = None, at: float | None = None) -> LabelValue:
        """Return the prediction for x, in the user's labels, without changing the learner.

        Args:
            x: Example.
            id: Id under which the round waits for its label, see `learn_one(id, y)`; None for a round without an id.
            at: Time in seconds; None for now.
        """
        if id is not None:
            return self._by_id.predict(x, id, at).prediction
        labels = self._labels if self.ledger.labels is self._noted else self._users_labels()
        prediction = self._predict_one(x)
        return prediction if labels is None else labels.decode(prediction)

    def _predict_one(self, x: Example) -> Prediction:
        """Return the prediction for x in the learner's labels."""
        return self.player.predict_one(adopted_row(x, self.ledger.encoding, self.ledger.feature_names))

    def predict_set(self, x: Example) -> tuple[LabelValue, ...]:
        """Return the prediction set for x, in the user's labels (conformal/conformal.py)."""
        if not self.player.covers:
            raise InputError(f"prediction sets need a conformal learner: {type(self.learner).__name__} is not one.")
        ledger, labels = self.ledger, self._users_labels()
        prediction = self.player.predict_set(adopted_row(x, ledger.encoding, ledger.feature_names))
        return (
            prediction if labels is None or self.player.task == "regression" else tuple(map(labels.decode, prediction))
        )

    def learn_one(self, x: Example, y: Outcome, at: float | None = None, weight: int = 1) -> LabelValue:
        """Play the round of x and y: record the prediction, then learn. Return the prediction.

        Args:
            x: Example; in a game with ids, the id, for which the served prediction is returned.
            y: Label, in the user's values.
            at: Time in seconds; None for now.
            weight: Integer weight: the row is learned in that many rounds, and its first prediction counts that many
                times in the metrics (metrics.py); 0 to predict without learning.
        """
        late = self.ledger.late
        by_id = late is not None and late.pending is not None
        if weight != 1:
            return self._learn_weighted(x, y, weight, by_id)
        if by_id:
            return self._by_id.learn(cast("Id", x), y, at).prediction
        return self._learn_one(x, y)

    def _learn_weighted(self, x: Example, y: Outcome, weight: int, by_id: bool) -> LabelValue:
        """Play the rounds of a row whose weight is not 1 and return the first prediction."""
        if isinstance(weight, bool) or not isinstance(weight, (int, np.integer)) or weight < 0:
            raise InputError(
                "a weight must be an integer from 0",
                f"got {shown(weight)}",
                "Multiply all weights by one number and round them.",
            )
        if by_id:
            raise InputError("a row with an id must have weight 1", f"got {weight}", "Omit the weight.")
        if weight == 0:
            return self.predict_one(x)
        prediction = self._learn_one(x, y, int(weight))
        for _ in range(int(weight) - 1):
            self._learn_one(x, y, 0)
        return prediction

    def find(self, id: Id) -> Answer:
        """Return the state of the round with that id."""
        return self._by_id.find(id)

    def predict_batch(self, batch: Batch) -> NDArray[np.generic]:
        """Return the served predictions in the learner's labels; -1 while no multiclass label is known.

        Ids are the caller's. When labels arrive, call `learn_batch` with these predictions as `served`, and with the
        present `ledger.rounds` as `versions`.
        """
        check_batch(self.ledger.encoding, batch)
        prediction = self._predict_batch(batch)
        self._delay_labels().predict(len(batch))
        return prediction

    def _predict_batch(self, batch: Batch) -> NDArray[np.generic]:
        if self.player.numbered and not self.player.labels:
            return np.full(len(batch), -1, dtype=np.int64)
        return np.asarray(self.player.predict_many(batch))

    def _delay_labels(self) -> Late:
        """Switch to delayed labels, if the game has not done so, and return their counts."""
        from novikoff.game.delayed.late import Late

        if self.ledger.late is None:
            if self.player.task == "losses" or self.ledger.adversary is not None:
                raise MismatchError("delayed labels need examples: this game has none.")
            self.ledger.late = Late.begin(self.ledger)
            self._watching.append(self.ledger.late)
        return self.ledger.late

    def _learn_one(self, x: Example, y: Outcome, weight: int | None = None) -> LabelValue:
        labels = self._labels if self.ledger.labels is self._noted else self._users_labels()
        if isinstance(labels, Numbering):
            labels.cut(self.player.labels or 0)  # remove the label of a rejected round
            y = one_label(y)
        y = y if labels is None else labels.encode(y)
        self.ledger.fixed = False  # x and y were chosen by the caller
        for observer in self._watching:
            if observer.waits:
                self._pause(1)
                break
        if labels is None:
            return self._play_round(x, y, weight)
        known = self.player.labels
        prediction = self._play_round(x, y, weight)
        return None if known == 0 else labels.decode(prediction)

    def learn_batch(
        self, batch: Batch, served: NDArray[np.generic] | None = None, versions: NDArray[np.int64] | None = None
    ) -> None:
        """Play every round of the batch, whose labels are encoded as the learner's; in compiled code if there is any.

        Args:
            batch: Rounds.
            served: With delayed labels: the predictions of `predict_batch`.
            versions: With delayed labels: `ledger.rounds` at the time of each prediction.
        """
        check_batch(self.ledger.encoding, batch)
        self.ledger.fixed = False
        if self.ledger.encoding is None:
            self.ledger.read_by(batch.encoding)
        if served is None or versions is None:
            self._learn_batch(batch)
        else:
            with self._delay_labels().expecting(served, versions, len(batch)):
                self._learn_batch(batch)
        if isinstance(labels := self._users_labels(), Numbering) and len(batch):
            for label in range(len(labels.values), int(np.max(batch.y)) + 1):
                labels.encode(label)

    @property
    def numbering(self) -> Numbering | None:
        """Numbering of multiclass labels; None for other learners."""
        labels = self._users_labels()
        return labels if isinstance(labels, Numbering) else None

    def _users_labels(self) -> Labels | Numbering | None:
        """Return the user's values of the labels; None if they are those of the learner, or unknown."""
        if self.ledger.labels is not self._noted:
            self._noted = self.ledger.labels
            self._labels = users_labels(self.player, self._noted)
        return self._labels

    def _pause(self, rounds: int) -> int:
        """Call observers that are due; return the number of rounds, at most `rounds`, until another one is due."""
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

    def _play_round(self, x: Example, y: Any, weight: int | None = None) -> Label:
        player, ledger = self.player, self.ledger
        names = None if type(x) is np.ndarray else columns_of_row(x, ledger.encoding)
        if names is not None:
            x = adopted_row(x, ledger.encoding, ledger.feature_names, learn=True)
            if ledger.encoding is not None:
                names = ledger.encoding.features
                if isinstance(x, np.ndarray):
                    player.widen_all(len(x))
        chance = None  # probability of the label y, which must be read before the learner sees y
        if player.draws and player.learns_labels and not player.learners:
            y = check_label(y, player.labels)
            chance = player.chances(x).get(y, 0.0)
        played = player.play_one(x, y)
        if isinstance(played, StepResult):
            result = played
            ledger.write_result(result, y, weight)
        else:
            result = StepResult(played, None, None)
            ledger.write(int(played), y, chance, weight)
        score: Any = None if self._scoring is None else self._scoring.scored  # of one row
        if self._scoring is not None and score is not None:
            self._scoring.scored = None  # so that a round without a score is not given this one
            self._waiting.append(score)
            self._waiting_labels.append(int(y))
            if len(self._waiting) == SCORES_TOGETHER:
                ledger.ranking.settle()
            if ledger.weighted is not None:
                ledger.rank_one(score, int(y), weight)
        if names is not None:
            ledger.name_features(names)
        for observer in self._watching:
            if weight != 0 or observer.sees_copies:
                observer.see_one(ledger, x, y, result)
        prediction: Label = result.predictions
        return prediction

    def _learn_batch(self, batch: Batch) -> None:
        if batch.weights is not None and (batch.weights == 1).all():
            batch = replace(batch, weights=None)
        start = 0
        while start < len(batch):
            stop = start + self._pause(len(batch) - start)
            part = batch if stop - start == len(batch) else batch.part(start, stop)
            if not self._learn_many(part):
                self._learn_rows(part)
            start = stop

    def _learn_rows(self, batch: Batch) -> None:
        weights = repeat(None) if batch.weights is None else batch.weights.tolist()
        for (x, y), weight in zip(batch.rows(), weights, strict=False):
            try:
                self._play_round(x, y, weight)
            except InputError as error:
                error.at(round=self.ledger.rounds + 1)
                raise

    def _learn_many(self, batch: Batch) -> bool:
        """Play every round in compiled code; return False, without learning, if the learner has none for them."""
        if self.player.looped or isinstance(batch.x, list):
            return False
        if self.player.task == "binary":
            y = signs(batch)
            batch = batch if y is batch.y else replace(batch, y=y)
        played = self.player.learn_many(batch)
        if played is None:
            return False
        if isinstance(played, StepResult):
            self.ledger.write_results(played, batch.y, batch.weights)
        else:
            self.ledger.write_batch(played, batch.y, batch.weights)
            played = StepResult(played, None, None)
        scores: Any = None if self._scoring is None else self._scoring.scored  # of each row
        if self._scoring is not None and scores is not None:
            self._scoring.scored = None
            self.ledger.rank(scores, batch.y, batch.weights)
        for observer in self._watching:
            observer.see(batch, played)
        return True


def users_labels(learner: Predictor, known: list[LabelValue] | None) -> Labels | Numbering | None:
    """Return the user's values of the labels; None if they are -1 and +1, integers, or unknown."""
    if learner.numbered:
        return Numbering(known, learner.labels or 0)
    return None if known is None or learner.task == "multiclass" or known == [-1, 1] else Labels(*known)


def _check_learner(learner: object) -> None:
    """Raise an error if `learner` is not a learner, with advice on what to pass."""
    must = "a game must have a learner"
    if isinstance(learner, str):
        raise SpecError(must, f"got the spec {learner!r}", f"Pass nk.make({learner!r}, 'learner').")
    if isinstance(learner, Ledger):
        raise InputError(must, "got a ledger", "Pass its learner and the ledger: nk.Game(ledger.learner, ledger).")
    if not is_learner(learner):
        do = f"Pass {learner.__name__}()." if isinstance(learner, type) else "Pass a learner such as nk.Perceptron()."
        raise InputError(must, f"got {named(learner)}", do)


def _check_observers(observers: Any) -> None:
    """Raise `InputError` if `observers` is not a list of observers."""
    if not isinstance(observers, Sequence):
        raise InputError("observers must be a list", f"got {named(observers)}", "Write observers=[...].")
    for one in observers:
        if not isinstance(one, Observer):
            do = "Wrap a function of the ledger: novikoff.core.observer.Calls(function)."
            raise InputError("an observer must be an Observer", f"got {named(one)}", do)
