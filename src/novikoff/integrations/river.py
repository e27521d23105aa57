"""Learners as River models: for pipelines and `evaluate.progressive_val_score`, with a certificate at any time.

    from river import compose, datasets, evaluate, metrics, preprocessing
    from novikoff.integrations.river import NovikoffClassifier

    model = preprocessing.StandardScaler() | NovikoffClassifier("perceptron:bias=1")
    evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    print(model["NovikoffClassifier"].certify()[0])

Each `learn_one` is a round of the game: the prediction is recorded, then the learner learns. With an integer weight w
the row is learned in w rounds, and its prediction counts w times in the metrics. `predict_one` has no side effects.
Labels are False and True, or any two values, of which the first seen is -1; with labels="multiclass", any number.
Features have names or integers as keys, and numbers as values; new ones may appear later. If the first row has text,
dates or missing values, rows are encoded like those of a table, and scaled (data/tables/records.py). Predictions equal
those of `nk.play(learner, [(x, y), ...])`. Conversely, `novikoff.wrap(model)` turns a River model into a learner.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.core.certificate import Certificate
from novikoff.core.errors import InputError, MismatchError, SpecError, named, shown
from novikoff.core.types import Batch, Example, Outcome
from novikoff.data.as_stream import check_asked
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
    certified: bool
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
        self._game = Game(ledger.learner, ledger, track=self.certified)
        self._player: Any = ledger.player
        self._predict = ledger.learner.predict_one

    def _learn(self, x: Example, y: Any, weight: int) -> None:
        """Play a round; before the first one, the learner is made again if the row is a record of mixed values."""
        if not self.ledger.rounds and not self._player.encoding and is_record(x):
            self._make(RowShape(scaled=True, multiclass=self._player.task == "multiclass"))
        self._game.learn_one(x, y, weight=weight)

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


def _whole(w: Any) -> int:
    """Return a weight as an integer; refuse others."""
    if w == 1:
        return 1
    if not isinstance(w, (int, float, np.integer, np.floating)) or not 0 <= w < 2**53 or w != int(w):
        raise InputError(
            "a weight must be an integer from 0",
            f"got {shown(w)}",
            "Multiply all weights by one number and round them, or leave w out.",
        )
    return int(w)


class NovikoffClassifier(_Model, base.Classifier):
    """Classifier that runs a learner of the catalog.

    Parameters
    ----------
    learner
        A spec of the catalog: "auto", "perceptron:bias=1", "hedge:learners=[perceptron,arow]".
    labels
        "multiclass" if there are, or may be, more than two labels; the learner must support it.
    certified
        Feed the comparators every round, for learners whose theorems need them.
    seed
        Random seed of the learner.

    """

    def __init__(self, learner: str = "auto", labels: str | None = None, certified: bool = True, seed: int = 0) -> None:
        self.learner, self.labels, self.certified, self.seed = learner, labels, certified, seed
        check_asked(labels)
        self._begin(labels == "multiclass")
        player = self._player
        if (
            not player.learns_labels
            or player.numbered != (labels == "multiclass")
            or (player.fixed_labels and player.task == "multiclass")
        ):
            kind = "a classifier" if not player.learns_labels else "multiclass" if labels == "multiclass" else "binary"
            raise MismatchError(f"the learner must be {kind}: {learner} is not. Choose another (novikoff list).")
        self._begun = False
        self._values: list[Any] = [False, True]
        """User's labels for -1 and +1; for labels that are not booleans, the second is None until it is seen."""

    @property
    def _multiclass(self) -> bool:
        return self.labels == "multiclass"

    def learn_one(self, x: Example, y: Outcome, w: float = 1) -> None:
        """Play a round with x and y; with an integer weight `w`, play it w times."""
        weight = _whole(w)
        if self.labels is not None:
            self._learn(x, y, weight)
            return
        if y is None or y != y:
            raise InputError(f"y must be a label: got {y!r}. Leave rows without one out.")
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
            return
        self._learn(x, code, weight)
        self._values, self._begun = values, True

    def predict_one(self, x: Example, **kwargs: object) -> Any:
        """Predict the label of x; None while no label is known."""
        if self.labels is not None:
            return self._game.predict_one(x)
        if self._values[1] is None:
            return self._values[0]
        return self._values[self._predict(self._game.encoded(x)) > 0]

    def predict_proba_one(self, x: Example, **kwargs: object) -> dict[Any, float]:
        """Return the probability of each label; only for learners with probabilities, or randomised ones."""
        player = self._player
        if not (player.probable or player.draws):
            # NotImplementedError, as in River's models.
            raise NotImplementedError(f"{self.learner} has no probabilities: try ftrl or auto")
        x = self._game.encoded(x)
        if self.labels is not None:
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


class NovikoffRegressor(_Model, base.Regressor):
    """Regressor that runs a learner of the catalog.

    Parameters
    ----------
    learner
        "auto-regression", "vaw", "online-gradient", or another regression learner.
    certified
        Feed the comparators every round, for learners whose theorems need them.
    seed
        Random seed of the learner.

    """

    def __init__(self, learner: str = "auto-regression", certified: bool = True, seed: int = 0) -> None:
        self.learner, self.certified, self.seed = learner, certified, seed
        self._begin()
        if self._player.task != "regression":
            raise MismatchError(f"the learner must be for regression: {learner} is a classifier. Try auto-regression.")

    def learn_one(self, x: Example, y: float, w: float = 1) -> None:
        """Play a round with x and y; with an integer weight `w`, play it w times."""
        self._learn(x, float(y), _whole(w))

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
