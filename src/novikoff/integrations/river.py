"""Learners as River models: for pipelines and `evaluate.progressive_val_score`, with a certificate at any time.

    from river import compose, datasets, evaluate, metrics, preprocessing
    from novikoff.integrations.river import NovikoffClassifier

    model = preprocessing.StandardScaler() | NovikoffClassifier("perceptron:bias=1")
    evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    print(model["NovikoffClassifier"].certify()[0])

Each `learn_one` is a round of the game: the prediction is recorded, then the learner learns. With a weight w the row is
learned in w rounds, a fraction rounded by a coin (core/weights.py), and its prediction counts as often in the metrics.
`predict_one` has no side effects.
Labels are False and True if the first is one of them, as in River's binary data sets. Others are of any kind and
number, and new ones may appear at any time, if the learner has a multiclass form; other learners take two values, of
which the first seen is -1.
Features have names or integers as keys, and numbers as values; new ones may appear later. If the first row has text,
dates or missing values, rows are encoded like those of a table, and scaled (data/tables/records.py). Predictions equal
those of `nk.play(learner, [(x, y), ...])`, and `learn_many` of a frame equals `learn_one` of its rows, to the bit.
Conversely, `novikoff.wrap(model)` turns a River model into a learner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from novikoff.core.certificate import Certificate
from novikoff.core.errors import InputError, MismatchError, SpecError, named, shown
from novikoff.core.registry import for_multiclass
from novikoff.core.types import Batch, Example, Outcome
from novikoff.core.weights import check_weight
from novikoff.data.tables.records import is_record
from novikoff.game import specs
from novikoff.game.game import Game
from novikoff.game.ledger import Ledger
from novikoff.game.ledger_state import packed, unpacked
from novikoff.game.prepare import RowShape, learner_for, scaled

try:
    from river import base
except ImportError as error:
    raise ImportError("novikoff.integrations.river needs River: pip install 'novikoff[river]'.") from error


class _Model(base.Estimator):
    """Base class of both estimators: a game that continues with every labelled row."""

    learner: str
    track: bool
    seed: int
    _game: Game

    def _begin(self, multiclass: bool = False) -> None:
        made: Any = self.learner
        if not isinstance(made, str):
            do = 'Pass its spec: "logistic", or "perceptron:bias=1".'
            raise SpecError("learner must be the spec of a learner", f"got {named(made)}", do)
        self._make(RowShape(multiclass=multiclass))

    def _make(self, rows: RowShape) -> None:
        """Start a game with a new learner for such rows."""
        learner = learner_for(scaled(specs.parse(self.learner), rows), rows, {"seed": self.seed})
        if learner.domain.kind not in ("vector", "any"):
            raise MismatchError(
                f"the learner must take vectors: {self.learner} needs {learner.domain}. See novikoff list."
            )
        self._open(Ledger(learner, source="River", spec=self.learner))

    def _open(self, ledger: Ledger) -> None:
        self._game = Game(ledger.learner, ledger, track=self.track)
        self._player: Any = ledger.player
        self._predict = ledger.learner.predict_one

    def _learn(self, x: Example, y: Any, weight: float) -> None:
        """Play a round; before the first one, the learner is made again if the row is a record of mixed values."""
        if not self.ledger.rounds and not self._player.encoding and is_record(x):
            weighed = self.ledger.weighed
            self._make(RowShape(scaled=True, multiclass=self._player.task == "multiclass"))
            self.ledger.weighed = weighed  # rows with a weight, none of them learned, keep their coins
        self._game.learn_one(x, y, weight=weight)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Play the rows of a frame in order, as `learn_one` does.

        Args:
            X: Frame of features: numbers, categories, texts, dates, with missing values.
            y: Series or list of outcomes.
            w: Series or list of weights; None for 1.
        """
        rows, outcomes = _rows(X), [*y]
        weights = [1.0] * len(rows) if w is None else [*w]
        if not len(rows) == len(outcomes) == len(weights):
            found = f"got {len(rows):,}, {len(outcomes):,} and {len(weights):,}"
            raise InputError(f"X, y and w must have one row each per example: {found}.")
        model: Any = self
        for x, one, weight in zip(rows, outcomes, weights, strict=True):
            model.learn_one(x, one, w=weight)

    def predict_many(self, X: Any) -> Any:
        """Predict the rows of a frame; return a series with its index."""
        pandas = import_module("pandas")  # of the frame
        model: Any = self
        found = [model.predict_one(x) for x in _rows(X)]
        return pandas.Series(found, index=getattr(X, "index", None), dtype=None if found else object)

    @property
    def ledger(self) -> Ledger:
        """Ledger of the game so far."""
        return self._game.ledger

    def certify(self) -> list[Certificate]:
        """Return the certificates of the game so far, the tightest first."""
        return self.ledger.certify()

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_game", "_player", "_predict")
        return {
            **{key: value for key, value in self.__dict__.items() if key not in left_out},
            "packed": packed(self.ledger),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({key: value for key, value in state.items() if key != "packed"})
        self._open(unpacked(state["packed"]))


def _rows(X: Any) -> Sequence[Mapping[Any, Any]]:
    """Return the rows of a frame as dicts; names may be integers, as in frames made of arrays."""
    if hasattr(X, "to_dict") and hasattr(X, "index"):
        found: list[Mapping[Any, Any]] = X.to_dict("records")
        return found
    if isinstance(X, (list, tuple)):
        return X
    import narwhals as nw

    try:
        return [*nw.from_native(X, eager_only=True).iter_rows(named=True)]
    except TypeError:
        raise InputError("X must be a frame, or a list of dicts", f"got {named(X)}") from None


class NovikoffClassifier(_Model, base.MiniBatchClassifier):
    """Classifier that runs a learner of the catalog.

    Parameters
    ----------
    learner
        A spec of the catalog: "auto", "perceptron:bias=1", "hedge:learners=[perceptron,arow]".
    labels
        Two labels, negative first; or "multiclass". None to decide from the first label: False and True are two labels,
        all others multiclass if the learner has such a form.
    track
        Feed the comparators every round, for learners whose theorems need them.
    seed
        Random seed of the learner.

    """

    def __init__(
        self, learner: str = "auto", labels: str | Sequence[Any] | None = None, track: bool = True, seed: int = 0
    ) -> None:
        self.learner, self.labels, self.track, self.seed = learner, labels, track, seed
        two = None if labels is None or isinstance(labels, str) else [*labels]
        if (isinstance(labels, str) and labels != "multiclass") or (two is not None and len({*map(repr, two)}) != 2):
            raise InputError(
                'labels must be two values, "multiclass" or None', f"got {shown(labels)}", 'Write ("ham", "spam").'
            )
        self._many = labels == "multiclass"
        self._begin(self._many)
        player = self._player
        if (
            not player.learns_labels
            or player.numbered != self._many
            or (player.fixed_labels and player.task == "multiclass")
        ):
            kind = "a classifier" if not player.learns_labels else "multiclass" if self._many else "binary"
            raise MismatchError(f"the learner must be {kind}: {learner} is not. Choose another (novikoff list).")
        self._begun = two is not None
        self._values: list[Any] = two or [False, True]
        """User's labels for -1 and +1; the second is None until it is seen, unless both are known in advance."""

    @property
    def _multiclass(self) -> bool:
        return self._many or (not self._begun and for_multiclass(specs.parse(self.learner).name) is not None)

    def learn_one(self, x: Example, y: Outcome, w: float = 1) -> None:
        """Play a round with x and y; with a weight `w`, play it w times, a fraction rounded by a coin."""
        weight = check_weight(w)
        if y is None or y != y:
            raise InputError(f"y must be a label: got {y!r}. Leave rows without one out.")
        if not self._begun and not isinstance(y, (bool, np.bool_)) and self._multiclass and weight:
            if not self._many:
                self._many = True
                self._make(RowShape(multiclass=True))
            self._begun = True
        if self._many:
            self._learn(x, y, weight)
            return
        values = self._values if self._begun or isinstance(y, (bool, np.bool_)) else [y, None]
        if y == values[0]:
            code = -1
        elif values[1] is None:
            values, code = [values[0], y], 1
        elif y == values[1]:
            code = 1
        else:
            known = f"{values[0]!r} or {values[1]!r}"
            raise InputError(f'labels must be {known}: got {y!r}. Pass labels="multiclass" for more than two.')
        if weight == 0:
            self.ledger.weighed += 1  # the row has a coin, as in a table
            return
        self._learn(x, code, weight)
        self._values, self._begun = values, True

    def predict_one(self, x: Example, **kwargs: object) -> Any:
        """Predict the label of x; None while no label is known.

        If `nk.choose_threshold(model.ledger, ...)` chose a threshold for two labels, it is used; the metrics of
        `ledger` remain those of the learner's own predictions.
        """
        if self._many:
            return self._game.predict_one(x)
        if not self._begun:
            return None
        if self._values[1] is None:
            return self._values[0]
        return self._values[self._sign(self._game.encoded(x)) > 0]

    def _sign(self, x: Example) -> int:
        """Return the prediction of an encoded row: by the threshold, if one was chosen."""
        threshold = self.ledger.threshold
        return int(self._predict(x)) if threshold is None else threshold.predict_one(self._player, x)

    def predict_proba_one(self, x: Example, **kwargs: object) -> dict[Any, float]:
        """Return the probability of each label; only for learners with probabilities, or randomised ones."""
        player = self._player
        if not (player.probable or player.draws):
            # NotImplementedError, as in River's models.
            raise NotImplementedError(f"{self.learner} has no probabilities: try ftrl or auto")
        if not self._begun and not self._many:
            return {} if self._multiclass else {False: 0.5, True: 0.5}
        x = self._game.encoded(x)
        if self._many:
            numbering = self._game.numbering
            assert numbering is not None
            if player.probable:
                chances = dict(enumerate(player.probabilities_one(x).tolist()))
            else:
                drawn = player.chances(x) if player.labels else {}
                chances = {label: drawn.get(label, 0.0) for label in range(player.labels or 0)}
            total = sum(chances.values())
            return {numbering.decode(label): chance / total for label, chance in chances.items()}
        p = player.probability_one(x) if player.probable else float(player.chances(x).get(1, 0.0))
        p = min(max(p, 0.0), 1.0)
        return {self._values[0]: 1.0 - p, self._values[1]: p} if self._values[1] is not None else {self._values[0]: 1.0}

    def predict_proba_many(self, X: Any) -> Any:
        """Return the probability of each label for the rows of a frame, as a frame with a column per label."""
        pandas = import_module("pandas")  # of the frame
        return pandas.DataFrame([self.predict_proba_one(x) for x in _rows(X)], index=getattr(X, "index", None))


class NovikoffRegressor(_Model, base.MiniBatchRegressor):
    """Regressor that runs a learner of the catalog.

    Parameters
    ----------
    learner
        "auto-regression", "vaw", "online-gradient", or another regression learner.
    track
        Feed the comparators every round, for learners whose theorems need them.
    seed
        Random seed of the learner.

    """

    def __init__(self, learner: str = "auto-regression", track: bool = True, seed: int = 0) -> None:
        self.learner, self.track, self.seed = learner, track, seed
        self._begin()
        if self._player.task != "regression":
            raise MismatchError(f"the learner must be for regression: {learner} is a classifier. Try auto-regression.")

    def learn_one(self, x: Example, y: float, w: float = 1) -> None:
        """Play a round with x and y; with a weight `w`, play it w times, a fraction rounded by a coin."""
        self._learn(x, float(y), check_weight(w))

    def predict_one(self, x: Example, *, ahead: bool = False, **kwargs: object) -> float:
        """Predict the number of x.

        Args:
            x: Features.
            ahead: Whether x is one of several rows whose numbers are not revealed in between; `auto-regression` then
                leaves out the member that repeats the last outcome. River does not pass this, so the caller must.
            kwargs: Ignored.
        """
        x = self._game.encoded(x)
        if ahead:
            return float(self._player.predict_ahead(Batch([x], np.zeros(1), 1))[0])
        return float(self._predict(x))
