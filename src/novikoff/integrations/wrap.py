"""Models of River and scikit-learn as learners: in games, teams and comparisons, with guarantees around them.

Algorithm
    That of the model. In each round it predicts x, then learns the label: `predict_one` and `learn_one` of River,
    `predict` and `partial_fit` of scikit-learn. Every call gets a copy of x, as the model may write into it. Before it
    has learned, the prediction is +1 (class 0 if multiclass, 0.0 for numbers). A River model gets a dict: of a table
    its columns by name, with numbers and categories as they were and without missing values (dates as their parts);
    otherwise keys 0, 1, ... for columns without names. A scikit-learn model gets arrays of one width. Labels are False
    and True; if multiclass, 0, 1, 2, ... in order of appearance.
Promise
    None for the model itself. Guarantees that wrap any learner apply: the regret of its team (experts/hedge.py), the
    risk of a classifier kept by online-to-batch conversion, the coverage of its sets (conformal/conformal.py).
Cost
    That of the model. It is copied where hypotheses are stored. It cannot be saved to a model file, since it is not
    plain data.
Reference
    [freund1997], for the team.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.attribution import entries_of
from novikoff.core.errors import InputError, shown
from novikoff.core.feature_places import Features
from novikoff.core.learner import Learner
from novikoff.core.types import Domain, Example, Label, Outcome, State, StepResult, Theorem, check_label

if TYPE_CHECKING:
    from novikoff.data.tables.encoding import Meaning


@dataclass(frozen=True, slots=True)
class WrappedFacts:
    """Type of the model, and the number of rounds it learned from."""

    model: str
    rounds: int


class Wrapped(Learner):
    """Learner that owns a copy of a model of River or scikit-learn.

    Args:
        model: Untrained model of River (`predict_one`, `learn_one`) or scikit-learn (`predict`, `partial_fit`).
        outcomes: "labels" or "numbers".
        multiclass: Whether labels are classes, numbered in order of appearance.
    """

    domain: Domain
    features: Features

    promises: ClassVar[tuple[Theorem, ...]] = ()
    live = True

    def __init__(self, model: Any, outcomes: str = "labels", multiclass: bool = False) -> None:
        self.model = model
        self.task = "regression" if outcomes == "numbers" else "multiclass" if multiclass else "binary"
        self.river = hasattr(model, "learn_one")
        self.loss = "squared" if outcomes == "numbers" else "zero-one"
        self.domain = Domain("vector")
        self.rounds, self._known = 0, 0
        self.features = Features()
        self._meanings: list[Meaning] = []

    @property
    def labels(self) -> int | None:
        """Number of known classes of a multiclass model, else None."""
        return self._known if self.task == "multiclass" else None

    def _argument(self, name: str, default: Any) -> object:
        return type(self.model).__name__ if name == "model" else super()._argument(name, default)

    def _x(self, x: Example, learn: bool) -> Any:
        """Return x in the form that the model takes, checked."""
        if self.river and isinstance(x, Mapping):
            return dict(x)  # any values: the model decides which it accepts
        row = self.features.row(x, learn)
        if self.river and self.encoding is not None and self.encoding.bits is None:
            return self._cells(*entries_of(row))
        if not isinstance(row, tuple):
            return dict(enumerate(row.tolist())) if self.river else row[np.newaxis]
        if self.river:
            return dict(zip(row[0].tolist(), row[1].tolist(), strict=True))
        raise InputError("a scikit-learn model needs arrays: this x is sparse, or has names. Pass columns.")

    def _cells(self, places: NDArray[np.int64], values: NDArray[np.float64]) -> dict[str, object]:
        """Return the columns of an encoded row of a table, as they were before encoding."""
        assert self.encoding is not None
        if len(self._meanings) < self.encoding.width:
            self._meanings += self.encoding.meanings(len(self._meanings))
        found: dict[str, object] = {}
        missing = set()
        for place, value in zip(places.tolist(), values.tolist(), strict=True):
            if place >= len(self._meanings):  # an unseen category
                continue
            meaning = self._meanings[place]
            if meaning.kind == "number":
                found[meaning.column] = value
            elif value and meaning.kind == "missing":
                missing.add(meaning.column)
            elif value:
                found[meaning.column] = meaning.category
        return {name: value for name, value in found.items() if name not in missing}

    def predict_one(self, x: Example) -> Any:
        return self._predict(self._x(x, learn=False))

    def _predict(self, x: Any) -> Any:
        predicted = None
        if self.river or self.rounds:
            predicted = self.model.predict_one(x.copy()) if self.river else self.model.predict(x.copy())[0]
        if self.task == "regression":
            return 0.0 if predicted is None else float(predicted)
        if self.task == "multiclass":
            return 0 if predicted is None else int(predicted)
        return -1 if predicted is not None and not predicted else 1

    def play_one(self, x: Example, y: Outcome) -> Any:
        y = self._outcome(y)
        given = self._x(x, learn=True)
        prediction = self._answer(given)
        result = self._result(given, prediction, y)
        truth = y if self.task != "binary" else bool(y == 1)
        if self.river:
            self._answer(given, truth)
        elif self.task == "regression":
            self.model.partial_fit(given.copy(), [truth])
        else:
            self._fit_label(given.copy(), truth)
        self.rounds += 1
        if self.task == "multiclass" and isinstance(y, (int, np.integer)):
            self._known = max(self._known, int(y) + 1)
        return result

    def _answer(self, x: Any, truth: Any = None) -> Any:
        """Return the prediction for x, or let a River model learn its outcome; explain an error about categories."""
        try:
            return self._predict(x) if truth is None else self.model.learn_one(x.copy(), truth)
        except (TypeError, ValueError) as error:
            categories = [name for name, value in x.items() if isinstance(value, str)] if self.river else []
            if self.encoding is None or not categories:
                raise
            raise InputError(
                f"{type(self.model).__name__} must accept categories",
                f"column {categories[0]!r} raised {type(error).__name__}",
                "Put preprocessing.OneHotEncoder() before it, or compose.Select of the columns it takes.",
            ) from error

    def _fit_label(self, x: Any, y: Any) -> None:
        """Fit one row; scikit-learn must know all labels in the first round."""
        if self.task == "multiclass":
            raise InputError("a scikit-learn model needs all labels in advance: wrap it for two labels.")
        self.model.partial_fit(x, [y], **({} if self.rounds else {"classes": [False, True]}))

    def _outcome(self, y: Any) -> Any:
        if self.learns_labels:
            return check_label(y, self._known + 1 if self.task == "multiclass" else None)
        try:
            value = encode.number(y)
        except (TypeError, ValueError, OverflowError):
            value = np.nan
        if not np.isfinite(value):
            raise InputError(f"y must be a finite number: got {shown(y)}.")
        return value

    def _result(self, x: Any, prediction: Any, y: Any) -> Any:
        if self.learns_labels:
            return prediction
        lost = (prediction - y) ** 2
        return StepResult(prediction, lost, lost)

    def facts(self) -> WrappedFacts:
        return WrappedFacts(type(self.model).__name__, self.rounds)

    def state(self) -> State:
        """Return the state with a copy of the model, which is not plain data: no fields can be declared for it."""
        outcomes = "numbers" if self.task == "regression" else "labels"
        return {"outcomes": outcomes, "multiclass": self.numbered, "rounds": self.rounds, "known": self._known,
                "features": self.features.state(), "model": copy.deepcopy(self.model)}  # fmt: skip

    @classmethod
    def restore(cls, state: State) -> Self:
        learner = cls(copy.deepcopy(state["model"]), state["outcomes"], state["multiclass"])
        learner.rounds, learner._known = state["rounds"], state["known"]
        learner.features.load(state["features"])
        return learner


class WrappedProbable(Wrapped):
    """Wrapped binary classifier with probabilities."""

    def probability_one(self, x: Example) -> float:
        """Return P(+1), clipped to 0 and 1; 1/2 before the model has one, or if it is not a number."""
        return self._chance(self._x(x, learn=False))

    def _chance(self, x: Any) -> float:
        if self.river:
            chances = self.model.predict_proba_one(x.copy())
            p = chances.get(True, 1.0 - chances[False] if False in chances else 0.5)
        else:
            p = self.model.predict_proba(x.copy())[0, 1] if self.rounds else 0.5
        return min(max(float(p), 0.0), 1.0) if p == p else 0.5

    def _result(self, x: Any, prediction: Label, y: Label) -> StepResult:
        p, wrong = self._chance(x), float(prediction != y)
        return StepResult(prediction, wrong, wrong, probabilities=p if y == 1 else 1.0 - p)


def wrap(model: Any, labels: str | None = None) -> Wrapped:
    """Wrap a model of River or scikit-learn as a learner, for `play`, `Hedge`, `compare`, `Conformal` and others.

    Args:
        model: Untrained classifier, regressor or pipeline; it is copied. A scikit-learn model needs `partial_fit`.
        labels: "multiclass" if there are, or may be, more than two labels (River only).
    """
    river = hasattr(model, "learn_one") and hasattr(model, "predict_one")
    if isinstance(model, type) or not (river or (hasattr(model, "partial_fit") and hasattr(model, "predict"))):
        raise InputError(
            "a model must have predict_one and learn_one, as in River, or predict and partial_fit, as in "
            f"scikit-learn: got {shown(model)}."
        )
    if labels not in (None, "multiclass"):
        raise InputError(f'labels must be None or "multiclass": got {labels!r}. Leave it out for two labels.')
    numbers = _of_numbers(model, river)
    if labels == "multiclass" and (numbers or not river):
        raise InputError('labels="multiclass" is for River classifiers: this model is not one. Leave labels out.')
    kind = WrappedProbable if labels is None and not numbers and _has_chances(model, river) else Wrapped
    return kind(copy.deepcopy(model), "numbers" if numbers else "labels", labels == "multiclass")


def _of_numbers(model: Any, river: bool) -> bool:
    """Return whether the model is a regressor."""
    if not river:
        try:
            from sklearn.base import is_regressor
        except ImportError:
            raise InputError('a model with partial_fit needs scikit-learn: pip install "novikoff[sklearn]".') from None
        return bool(is_regressor(model))
    from river import base

    while hasattr(model, "steps"):  # a pipeline: its last step decides
        model = [*model.steps.values()][-1]
    return isinstance(model, base.Regressor)


def _has_chances(model: Any, river: bool) -> bool:
    """Return whether the model predicts probabilities."""
    if not river:
        return hasattr(model, "predict_proba")
    if not hasattr(model, "predict_proba_one"):
        return False
    try:
        copy.deepcopy(model).predict_proba_one({})
    except NotImplementedError:  # River's classifiers without probabilities
        return False
    except Exception:  # it has probabilities, but not for this x
        return True
    return True
