"""Learners as River models: in pipelines, in `evaluate.progressive_val_score`, with a certificate at any time.

    from river import compose, datasets, evaluate, metrics, preprocessing
    from novikoff.integrations.river import NovikoffClassifier

    model = preprocessing.StandardScaler() | NovikoffClassifier("perceptron:bias=1")
    evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    print(model["NovikoffClassifier"].certify()[0])

Each `learn_one` is a round of the game: what the learner would say is written down, then it learns. With a weight w, a
whole number, the row is learned in w rounds, and its prediction counts w times in the metrics. `predict_one`
changes nothing. Labels are the user's: False and True, or any two values, of which the first seen is
-1; with labels="multiclass", any number of them. Features are names, or whole numbers, with numbers; new ones may come.
Predictions are those of `nk.play(learner, [(x, y), ...])`: rows that come one by one are not scaled.
The other way round: `novikoff.wrap(model)` is a model of River as a learner.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.core.certificate import Certificate
from novikoff.core.errors import InputError, MismatchError, SpecError, named, shown
from novikoff.core.types import Batch, Example, Outcome
from novikoff.data.as_stream import check_asked
from novikoff.game import specs
from novikoff.game.game import Game
from novikoff.game.ledger import Ledger
from novikoff.game.ledger_state import packed, unpacked
from novikoff.game.prepare import RowShape, learner_for

try:
    from river import base
except ImportError as error:
    raise ImportError("novikoff.integrations.river needs River: pip install 'novikoff[river]'.") from error


class _Model(base.Estimator):
    """A game that goes on as long as it is taught."""

    learner: str
    certified: bool
    seed: int
    _game: Game

    def _begin(self, multiclass: bool = False) -> None:
        made: Any = self.learner
        if not isinstance(made, str):
            do = 'Pass its spec: "logistic", or "perceptron:bias=1".'
            raise SpecError("learner must be the spec of a learner", f"got {named(made)}", do)
        learner = learner_for(specs.parse(made), RowShape(multiclass=multiclass), {"seed": self.seed})
        if learner.domain.kind not in ("vector", "any"):
            raise MismatchError(
                f"the learner must take vectors: {self.learner} needs {learner.domain}. See novikoff list."
            )
        self._open(Ledger(learner, source="River", spec=self.learner))

    def _open(self, ledger: Ledger) -> None:
        self._game = Game(ledger.learner, ledger, track=self.certified)
        self._player: Any = ledger.player
        self._asked = ledger.learner.predict_one

    @property
    def ledger(self) -> Ledger:
        """What happened in the game so far."""
        return self._game.ledger

    def certify(self) -> list[Certificate]:
        """What the theorems say of the game so far; the tightest first."""
        return self.ledger.certify()

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_game", "_player", "_asked")
        return {
            **{key: value for key, value in self.__dict__.items() if key not in left_out},
            "packed": packed(self.ledger),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({key: value for key, value in state.items() if key != "packed"})
        self._open(unpacked(state["packed"]))


def _whole(w: Any) -> int:
    """A weight as a whole number; others are refused."""
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
    """A classifier that is a learner of the catalog.

    Parameters
    ----------
    learner
        A spec of the catalog: "auto", "perceptron:bias=1", "hedge:learners=[perceptron,arow]".
    labels
        "multiclass" if there are more than two, or may be: for learners that take many.
    certified
        Let comparators see every round, for learners whose theorems need them.
    seed
        Of the coins of a learner that draws.

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
        """What -1 and +1 are called; the second of labels that are no booleans is None until it is seen."""

    @property
    def _multiclass(self) -> bool:
        return self.labels == "multiclass"

    def learn_one(self, x: Example, y: Outcome, w: float = 1) -> None:
        """Play the round of x and y; with weight `w`, a whole number, w rounds of it."""
        weight = _whole(w)
        if self.labels is not None:
            self._game.learn_one(x, y, weight=weight)
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
            two = f"{values[0]!r} or {values[1]!r}"
            raise InputError(f'labels must be {two}: got {y!r}. Pass labels="multiclass" for more than two.')
        if weight == 0:
            return
        self._game.learn_one(x, code, weight=weight)
        self._values, self._begun = values, True

    def predict_one(self, x: Example, **kwargs: object) -> Any:
        """What the learner says of x; None before any label is known that it could say."""
        if self.labels is not None:
            return self._game.predict_one(x)
        return self._values[self._asked(x) > 0] if self._values[1] is not None else self._values[0]

    def predict_proba_one(self, x: Example, **kwargs: object) -> dict[Any, float]:
        """The probability of each label; only of learners that have some, or that draw what they say."""
        player = self._player
        if not (player.probable or player.draws):
            raise NotImplementedError(f"{self.learner} has no probabilities: try ftrl or auto")  # as River's own do
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
    """A regressor that is a learner of the catalog.

    Parameters
    ----------
    learner
        "auto-regression", "vaw", "online-gradient", or another learner of numbers.
    certified
        Let comparators see every round, for learners whose theorems need them.
    seed
        Of the coins of a learner that draws.

    """

    def __init__(self, learner: str = "auto-regression", certified: bool = True, seed: int = 0) -> None:
        self.learner, self.certified, self.seed = learner, certified, seed
        self._begin()
        if self._player.task != "regression":
            raise MismatchError(f"the learner must take numbers: {learner} takes labels. Try auto-regression.")

    def learn_one(self, x: Example, y: float, w: float = 1) -> None:
        """Play the round of x and y; with weight `w`, a whole number, w rounds of it."""
        self._game.learn_one(x, float(y), weight=_whole(w))

    def predict_one(self, x: Example, *, ahead: bool = False, **kwargs: object) -> float:
        """Predict the number of x.

        ahead   x is one of several rows whose numbers are not shown in between: `auto-regression` then leaves out the
                member that repeats the last outcome. River does not say so itself, and asking must change nothing
        """
        if ahead:
            return float(self._player.predict_ahead(Batch([x], np.zeros(1), 1))[0])
        return float(self._asked(x))
