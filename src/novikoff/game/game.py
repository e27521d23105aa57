"""A game driven by the caller: see x, predict, see y, learn; `play.py` runs whole games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from novikoff.core.adapt import is_learner
from novikoff.core.errors import InputError, MismatchError, NovikoffError, named, shown
from novikoff.core.labels import Numbering, one_label, plain_label
from novikoff.core.learner import Learner, Predictor, check_batch
from novikoff.core.observer import Observer, Tracking
from novikoff.core.registry import for_multiclass
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
from novikoff.core.weights import check_weight, rounds_of
from novikoff.data.as_stream import check_many
from novikoff.data.read_as import check_task
from novikoff.data.tables.alignment import adopted_row, columns_of_row
from novikoff.data.tables.encoding import Surprises
from novikoff.data.tables.records import checked_schema, expanded, first_encoding, is_record
from novikoff.game.delayed.pending import MOST, Answer, ById, Id
from novikoff.game.ledger import Ledger
from novikoff.game.metrics import Forecast
from novikoff.game.prepare import RowShape, learner_for, recipe, scaled
from novikoff.game.specs import Spec, for_numbers
from novikoff.game.specs import task as task_of

if TYPE_CHECKING:
    from novikoff.drift.monitor import DriftTest

if TYPE_CHECKING:
    from novikoff.game.delayed.late import Late

SCORES_TOGETHER = 512
"""Number of buffered scores of single rounds."""
ARRAYS = (np.ndarray, list, tuple)
"""Types of examples that learners take as they are."""


class FirstRound:
    """The learner of a spec before the first round, which decides about scaling and labels.

    Args:
        spec: Spec of the learner.
        labels: Two labels, "multiclass", or None.
        task: "classify", "regress", "count" or None.
        table: Whether rows are known to be those of a table.
    """

    def __init__(self, spec: str | Spec, labels: Any, task: str | None, table: bool) -> None:
        found = recipe("Game", spec, None)
        assert isinstance(found, Spec)
        self._spec: Spec = found
        check_task(task)
        self._table, self._task = table, task
        self._numbers = for_numbers(self._spec) if task in ("regress", "count") else None
        self._two: list[Any] | None = None
        self._many = labels == "multiclass" if isinstance(labels, str) else False
        if isinstance(labels, str) and not self._many:
            raise InputError(
                'labels must be two values or "multiclass"', f"got {shown(labels)}", 'Write labels=("no", "yes").'
            )
        if labels is not None and not self._many:
            values = [labels.negative, labels.positive] if isinstance(labels, Labels) else list(labels)
            self._many = len(values) > 2
            if not self._many and (len(values) < 2 or values[0] == values[1]):
                do = 'Write labels=("no", "yes"), or labels="multiclass".'
                raise InputError("labels must be two values or more", f"got {shown(labels)}", do)
            self._two = None if self._many else [plain_label(one) for one in values]
        if labels is not None and self._numbers is not None:
            raise InputError(f"labels are for classification, and task={task!r} for numbers: leave one of them out.")

    @property
    def declared(self) -> bool:
        """Whether the kind of outcomes is known before the first label."""
        return self._two is not None or self._many or self._numbers is not None or task_of(self._spec) != "binary"

    def ledger(self, x: object = None, y: object = None, by_id: bool = False) -> Ledger:
        """Return the ledger of a new game for this first row and label; of a provisional one without them."""
        spec, two, many = self._numbers or self._spec, self._two, self._many
        if by_id and not self.declared:
            raise InputError(
                "labels must be declared in a game with ids", "got none", 'Write nk.Game(spec, labels=("no", "yes")).'
            )
        if y is not None and not self.declared:
            spec, two, many = self._decided(one_label(y))
        rows = RowShape(scaled=self._table or is_record(x), multiclass=many)
        spec = scaled(spec, rows)
        learner = learner_for(spec, rows)
        if many and learner.task != "multiclass":
            check_many(learner, True, str(spec), "the game")
        ledger = Ledger(learner, source="rows", spec=str(spec))
        if two is not None:
            if learner.task != "binary":
                raise InputError(f"two labels are for a binary learner: {spec} is for {learner.task}. Leave them out.")
            ledger.labels = two
        return ledger

    def _decided(self, y: object) -> tuple[Spec, list[Any] | None, bool]:
        """Return spec, the two labels and whether there may be more, from the first label."""
        spec = self._spec
        if isinstance(y, bool):
            return spec, [False, True], False
        if y in (-1, 1) and type(y) is int:
            return spec, [-1, 1] if y == -1 else None, False
        if y == 0 and type(y) is int:
            return spec, [0, 1], False
        if isinstance(y, float) and self._task is None and not y.is_integer():
            if for_numbers(spec) != spec:
                return for_numbers(spec), None, False
            do = 'Write nk.Game("auto-regression").'
            raise InputError("labels must be text, booleans or whole numbers", f"got {y!r}", do)
        multiclass = for_multiclass(spec.name) is not None
        return spec, None, multiclass


class Game:
    """One learner's game, driven by the caller: `predict_one`, then `learn_one` when the label is known.

    Labels are the user's once they are known, from a game on a source with labels such as ham and spam; before that
    they are -1 and +1, as always for the learner and in the ledger. Multiclass labels may be any values, numbered by
    first appearance; the prediction is None before the first. The prediction that counts is made when the label
    arrives.

    If labels arrive late, out of order, twice or never, rounds have ids: `predict_one(x, id)`, and later
    `learn_one(id, y)`. From the first id on the game is played in the order in which labels arrive (late.py); served
    answers are counted separately, and certified. Repeating a call changes nothing.

    Examples may be dicts with text, dates and missing values, from the first one on: they are encoded like rows of a
    table (data/tables/records.py). Kinds of columns come from `schema`, or from the first row.

    Args:
        learner: Learner, any object with `predict_one` and `learn_one`, or a spec such as "auto". The learner of a spec
            is made for the first row and label: scaled if the row is a record, for many labels or for numbers.
        ledger: Ledger to continue; None for a new one.
        track: Whether to track comparators for learners whose theorems need them.
        observers: Observers of the game.
        most_pending: Maximum number of rounds that wait for labels, and of answered rounds that are remembered.
        expire_seconds: Seconds after which a missing label expires; None for never.
        drift: Drift test that watches from now on and is saved with the ledger: `nk.DriftTest()`.
        labels: The two labels, negative first, or "multiclass" for any labels. None to decide from the first label:
            -1 and +1, 0 and 1, or False and True are two labels; a number that is not whole is regression, if the spec
            has such a form; everything else is multiclass.
        task: "classify", "regress" or "count", as in `nk.play`; None to decide from the first label.
        schema: Kind of each column, {"age": "number", "city": "category"}, or a table, frame or ledger that has the
            columns; kinds are number, boolean, category, text and time. None to detect them from the first row.

    Example:
        >>> import novikoff as nk
        >>> game = nk.Game(nk.ThresholdHalving(10))
        >>> for x, y in [(5, -1), (8, -1), (9, 1)]:
        ...     prediction = game.predict_one(x)
        ...     _ = game.learn_one(x, y)
        >>> game.ledger.mistakes
        3
        >>> game = nk.Game("logistic", labels=("stay", "leave"))
        >>> for x, y in [({"age": 31, "city": "Rome"}, "stay"), ({"age": None, "city": "Oslo"}, "leave")] * 5:
        ...     _ = game.learn_one(x, y)
        >>> game.predict_one({"age": 40, "city": "Oslo"})
        'leave'
    """

    def __init__(
        self, learner: Learner | str, ledger: Ledger | None = None, track: bool = True,
        observers: Sequence[Observer] = (), most_pending: int = MOST, expire_seconds: float | None = None,
        drift: DriftTest | None = None, labels: object = None, task: str | None = None, schema: object = None,
    ) -> None:  # fmt: skip
        _check_observers(observers)
        self._schema = None if schema is None else checked_schema(schema)
        self._first: FirstRound | None = None
        self._only_ones = False
        if isinstance(learner, (str, Spec)):
            if ledger is not None:
                raise MismatchError("a game continues with the learner of its ledger: pass ledger.learner, not a spec.")
            self._first = FirstRound(learner, labels, task, self._schema is not None)
            ledger = self._first.ledger()
            learner = ledger.learner
        elif labels is not None or task is not None:
            what = "labels" if labels is not None else "task"
            raise InputError(
                f"{what} is for a learner made from a spec", f"got {named(learner)}", 'Write nk.Game("auto", ...).'
            )
        _check_learner(learner)
        self._drift, self._given, self._tracks = drift, observers, track
        self._most_pending, self._expire_seconds = most_pending, expire_seconds
        self._open(learner, ledger)

    def _open(self, learner: Learner, ledger: Ledger | None) -> None:
        """Set up the game of a learner."""
        track, observers, drift = self._tracks, self._given, self._drift
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
        self._by_id = ById(self, self._most_pending, self._expire_seconds)
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
            self._refuse_lags()
            self._begin(x, None, by_id=True)
            return self._by_id.predict(x, id, at).prediction
        if self._first is not None and not self._first.declared:
            return None
        labels = self._labels if self.ledger.labels is self._noted else self._users_labels()
        prediction = self._predict_one(x)
        return prediction if labels is None else labels.decode(prediction)

    def _predict_one(self, x: Example) -> Prediction:
        """Return the prediction for x in the learner's labels."""
        return self.player.predict_one(self.encoded(x))

    def _forecast_one(self, x: Example) -> tuple[Prediction, list[float] | None]:
        """Return the prediction for x, and what its metrics need: the score of two labels, or P of each label."""
        player, row = self.player, self.encoded(x)
        if player.numbered:
            return player.predict_one(row), player.probabilities_one(row).tolist() if player.probable else None
        if player.task != "binary" or not player.scores_rows:
            return player.predict_one(row), None
        score = float(player.score_one(row))
        prediction: Prediction = (-1 if score < 0.0 else 1) if player.scores else player.predict_one(row)
        return prediction, [score]

    def encoded(self, x: Example, learn: bool = False) -> Example:
        """Return x as the learner takes it: rows of a frame and dicts of mixed values are encoded.

        Args:
            x: Example.
            learn: Whether x is learned from: new columns and categories then become features.
        """
        if type(x) in ARRAYS:
            return x
        ledger = self.ledger
        encoding = ledger.encoding
        if encoding is None and isinstance(x, Mapping):
            if ledger.rounds == 0 and self._begins_table(x):
                encoding = first_encoding(x, self._schema)
                if learn:
                    ledger.read_by(encoding)
            elif is_record(x):
                features = self.player.features
                return expanded(x, () if features is None else features.names)
            else:
                return x
        live = encoding is not None and encoding.open
        return adopted_row(x, encoding, ledger.feature_names, learn=learn, surprises=Surprises(live))

    def _begins_table(self, x: Mapping[object, object]) -> bool:
        """Return whether the first row is a record, and nothing was learned before."""
        features = self.player.features
        known = features is not None and features.kind is not None
        return not known and (self._schema is not None or is_record(x))

    def _begin(self, x: Example, y: object, by_id: bool = False) -> None:
        """Make the learner of a spec for the first row and label, if that has not been done."""
        if self._first is None or (self.ledger.late is not None and self.ledger.late.pending is not None):
            return
        ledger = self._first.ledger(x, y, by_id)
        self._only_ones = not self._first.declared and type(y) is int and y == 1
        self._open(ledger.learner, ledger)
        self._first = self._first if by_id else None

    def predict_set(self, x: Example) -> tuple[LabelValue, ...]:
        """Return the prediction set for x, in the user's labels (conformal/conformal.py)."""
        if not self.player.covers:
            raise InputError(f"prediction sets need a conformal learner: {type(self.learner).__name__} is not one.")
        labels = self._users_labels()
        prediction = self.player.predict_set(self.encoded(x))
        return (
            prediction if labels is None or self.player.task == "regression" else tuple(map(labels.decode, prediction))
        )

    def learn_one(self, x: Example, y: Outcome, at: float | None = None, weight: float = 1) -> LabelValue:
        """Play the round of x and y: record the prediction, then learn. Return the prediction.

        Args:
            x: Example; in a game with ids, the id, for which the served prediction is returned.
            y: Label, in the user's values.
            at: Time in seconds; None for now.
            weight: Weight: the row is learned in that many rounds, a fraction rounded by a coin (core/weights.py), and
                its first prediction counts that many times in the metrics (metrics.py); 0 to predict without learning.
        """
        late = self.ledger.late
        by_id = late is not None and late.pending is not None
        if self._first is not None and not by_id:
            self._begin(x, y)
        lags = None if self.ledger.encoding is None else self.ledger.encoding.lags
        if lags is not None and isinstance(x, Mapping):
            x = lags.extended(x)  # the same for all copies of a weighted row
            found = self._learn_weighted(x, y, weight, by_id) if weight != 1 else self._learn_one(x, y)
            lags.push(lags.row(x, y))
        elif weight != 1:
            found = self._learn_weighted(x, y, weight, by_id)
        elif by_id:
            return self._by_id.learn(cast("Id", x), y, at).prediction
        else:
            found = self._learn_one(x, y)
        self.ledger.weighed += 1
        return found

    def _learn_weighted(self, x: Example, y: Outcome, weight: float, by_id: bool) -> LabelValue:
        """Play the rounds of a row whose weight is not 1 and return the first prediction."""
        weight = check_weight(weight)
        if by_id:
            raise InputError("a row with an id must have weight 1", f"got {weight:g}", "Omit the weight.")
        rounds = int(rounds_of(np.array([weight]), self.ledger.weighed)[0])
        if rounds == 0:
            prediction = self.predict_one(x)
        else:
            prediction = self._learn_one(x, y, rounds)
            for _ in range(rounds - 1):
                self._learn_one(x, y, 0)
        return prediction

    def find(self, id: Id) -> Answer:
        """Return the state of the round with that id."""
        return self._by_id.find(id)

    def predict_batch(self, batch: Batch, count: bool = True) -> NDArray[np.generic]:
        """Return the served predictions in the learner's labels; -1 while no multiclass label is known.

        Ids are the caller's. When labels arrive, call `learn_batch` with these predictions as `served`, and with the
        present `ledger.rounds` as `versions`.

        Args:
            batch: Examples.
            count: Whether the rounds wait for their labels.
        """
        check_batch(self.ledger.encoding, batch)
        prediction = self._predict_batch(batch)
        if count:
            self._delay_labels().predict(len(batch))
        return prediction

    def _predict_batch(self, batch: Batch) -> NDArray[np.generic]:
        if self.player.numbered and not self.player.labels:
            return np.full(len(batch), -1, dtype=np.int64)
        return np.asarray(self.player.predict_many(batch))

    def _refuse_lags(self) -> None:
        """Raise `MismatchError` if rows have lags: their labels must come in the order of the rows."""
        if self.ledger.encoding is not None and self.ledger.encoding.lags is not None:
            do = "Learn rows in their order: game.learn_one(x, y)."
            raise MismatchError("labels of a table with lags must come in the order of its rows", "got ids", do)

    def _delay_labels(self) -> Late:
        """Switch to delayed labels, if the game has not done so, and return their counts."""
        from novikoff.game.delayed.late import Late

        self._refuse_lags()
        if self.ledger.late is None:
            if self.player.task == "losses" or self.ledger.adversary is not None:
                raise MismatchError("delayed labels need examples: this game has none.")
            self.ledger.late = Late.begin(self.ledger)
            self._watching.append(self.ledger.late)
        return self.ledger.late

    def _learn_one(self, x: Example, y: Outcome, weight: int | None = None) -> LabelValue:
        if self._only_ones and type(y) is int and y != 1:  # the first labels were 1: the other one is 0 or -1
            self.ledger.labels = [0, 1] if y == 0 else None
            self._only_ones = False
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
        self, batch: Batch, served: NDArray[np.generic] | None = None, versions: NDArray[np.int64] | None = None,
        forecasts: Sequence[Forecast | None] | None = None,
    ) -> None:  # fmt: skip
        """Play every round of the batch, whose labels are encoded as the learner's; in compiled code if there is any.

        Args:
            batch: Rounds.
            served: With delayed labels: the predictions of `predict_batch`.
            versions: With delayed labels: `ledger.rounds` at the time of each prediction.
            forecasts: With delayed labels: score or probabilities served with each prediction; without them log loss,
                AUC and thresholds are unknown if labels arrived in between.
        """
        check_batch(self.ledger.encoding, batch)
        self.ledger.fixed = False
        if self.ledger.encoding is None:
            self.ledger.read_by(batch.encoding)
        if served is None or versions is None:
            self._learn_batch(batch)
        else:
            with self._delay_labels().expecting(served, versions, len(batch), forecasts):
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

    def _play_round(self, x: Example, y: object, weight: int | None = None) -> Label:
        if type(x) is np.ndarray:
            return self._play_encoded(x, y, weight, None)
        known = self.ledger.encoding
        kept = None if known is None else known.kept()
        try:
            names = columns_of_row(x, known)
            row = self.encoded(x, learn=True)
            if (encoding := self.ledger.encoding) is not None and (names is not None or known is None):
                names = encoding.features
                if isinstance(row, np.ndarray):
                    self.player.widen_all(len(row))
            return self._play_encoded(row, y, weight, names)
        except NovikoffError:
            if known is None:
                self.ledger.encoding = self.player.encoding = None
            elif kept is not None:
                known.forget(kept)
            raise

    def _play_encoded(self, x: Example, y: Any, weight: int | None, names: Sequence[str] | None) -> Label:
        """Play the round of an encoded row; `names` are those of its features."""
        player, ledger = self.player, self.ledger
        chance = None  # probability of the label y, which must be read before the learner sees y
        if player.draws and player.learns_labels and not player.learners:
            y = check_label(y, player.labels)
            chance = player.chances(x).get(y, 0.0)
        if weight == 0:
            player.repeat(True)
            try:
                played = player.play_one(x, y)
            finally:
                player.repeat(False)
        else:
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
        if ledger.late is not None:
            scores = None if score is None else np.array([score], dtype=np.float64)
            ledger.late.note(scores, None if weight is None else np.array([weight]))
        for observer in self._watching:
            if weight != 0 or observer.sees_copies:
                observer.see_one(ledger, x, y, result)
        prediction: Label = result.predictions
        return prediction

    def _learn_batch(self, batch: Batch) -> None:
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
        if self.ledger.late is not None:
            self.ledger.late.note(scores, batch.weights)
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
    if isinstance(learner, Ledger):
        raise InputError(must, "got a ledger", "Pass its learner and the ledger: nk.Game(ledger.learner, ledger).")
    if not is_learner(learner):
        do = f"Pass {learner.__name__}()." if isinstance(learner, type) else "Pass a learner such as nk.Perceptron()."
        raise InputError(must, f"got {named(learner)}", do)


def _check_observers(observers: object) -> None:
    """Raise `InputError` if `observers` is not a list of observers."""
    if not isinstance(observers, Sequence):
        raise InputError("observers must be a list", f"got {named(observers)}", "Write observers=[...].")
    for one in observers:
        if not isinstance(one, Observer):
            do = "Wrap a function of the ledger: novikoff.core.observer.Calls(function)."
            raise InputError("an observer must be an Observer", f"got {named(one)}", do)
