"""Models of River and scikit-learn as learners: in games, teams and comparisons, with promises around them.

Algorithm
    The model's own. In each round it says what it thinks of x, then learns the label: `predict_one` and `learn_one` of
    River, `predict` and `partial_fit` of scikit-learn. Every call is given a copy of x: the model may write into it.
    Before it knows anything it says +1 (0 where labels are many, 0.0 of numbers). A model of River is given a dict:
    numbered features are {0: ..., 1: ...}. One of scikit-learn is given arrays, all of one width.
    Its labels are False and True; where they are many, 0, 1, 2, ... as they first come.
Promise
    None of its own. What is proved around any learner holds around it: the regret of a team that it is in
    (experts/hedge.py), the risk of what `nk.keep` keeps, the coverage of the sets of conformal/conformal.py.
Cost
    The model's. It is copied where hypotheses are kept, and cannot be saved in a model file: it is no plain data.
Reference
    [freund1997], for the team.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from novikoff.core import encode
from novikoff.core.errors import InputError, shown
from novikoff.core.feature_places import Features
from novikoff.core.learner import Learner
from novikoff.core.types import Domain, Example, Label, Outcome, State, StepResult, Theorem, check_label


@dataclass(frozen=True, slots=True)
class WrappedFacts:
    """Which model it is, and how many rounds it learned from."""

    model: str
    rounds: int


class Wrapped(Learner):
    """A model that is the caller's no longer.

    model      of River (`predict_one`, `learn_one`) or scikit-learn (`predict`, `partial_fit`), not yet taught
    outcomes   "labels" or "numbers"
    many       labels are many, numbered as they first come
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

    @property
    def labels(self) -> int | None:
        """How many are known, where they are many."""
        return self._known if self.task == "multiclass" else None

    def _argument(self, name: str, default: Any) -> Any:
        return type(self.model).__name__ if name == "model" else super()._argument(name, default)

    def _x(self, x: Example, learn: bool) -> Any:
        """x as the model takes it, checked."""
        if self.river and isinstance(x, Mapping):
            return dict(x)  # texts and all: what it takes is its own affair
        row = self.features.row(x, learn)
        if not isinstance(row, tuple):
            return dict(enumerate(row.tolist())) if self.river else row[np.newaxis]
        if self.river:
            return dict(zip(row[0].tolist(), row[1].tolist(), strict=True))
        raise InputError("a scikit-learn model needs arrays: this x is sparse, or has names. Pass columns.")

    def predict_one(self, x: Example) -> Any:
        return self._say(self._x(x, learn=False))

    def _say(self, x: Any) -> Any:
        said = None
        if self.river or self.rounds:
            said = self.model.predict_one(x.copy()) if self.river else self.model.predict(x.copy())[0]
        if self.task == "regression":
            return 0.0 if said is None else float(said)
        if self.task == "multiclass":
            return 0 if said is None else int(said)
        return -1 if said is not None and not said else 1

    def play_one(self, x: Example, y: Outcome) -> Any:
        y = self._outcome(y)
        given = self._x(x, learn=True)
        said = self._say(given)
        result = self._result(given, said, y)
        truth = y if self.task != "binary" else bool(y == 1)
        if self.river:
            self.model.learn_one(given.copy(), truth)
        elif self.task == "regression":
            self.model.partial_fit(given.copy(), [truth])
        else:
            self._fit_label(given.copy(), truth)
        self.rounds += 1
        if self.task == "multiclass" and isinstance(y, (int, np.integer)):
            self._known = max(self._known, int(y) + 1)
        return result

    def _fit_label(self, x: Any, y: Any) -> None:
        """scikit-learn must know all labels in the first round."""
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

    def _result(self, x: Any, said: Any, y: Any) -> Any:
        if self.learns_labels:
            return said
        lost = (said - y) ** 2
        return StepResult(said, lost, lost)

    def facts(self) -> WrappedFacts:
        return WrappedFacts(type(self.model).__name__, self.rounds)

    def state(self) -> State:
        """A copy of it; the model is no plain data."""
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
    """A model of two labels with probabilities."""

    def probability_one(self, x: Example) -> float:
        """P(+1), cut off at 0 and 1; 1/2 before the model has one, and where it is not a number."""
        return self._chance(self._x(x, learn=False))

    def _chance(self, x: Any) -> float:
        if self.river:
            chances = self.model.predict_proba_one(x.copy())
            p = chances.get(True, 1.0 - chances[False] if False in chances else 0.5)
        else:
            p = self.model.predict_proba(x.copy())[0, 1] if self.rounds else 0.5
        return min(max(float(p), 0.0), 1.0) if p == p else 0.5

    def _result(self, x: Any, said: Label, y: Label) -> StepResult:
        p, wrong = self._chance(x), float(said != y)
        return StepResult(said, wrong, wrong, probabilities=p if y == 1 else 1.0 - p)


def wrap(model: Any, labels: str | None = None) -> Wrapped:
    """A model of River or scikit-learn as a learner: for `play`, `Hedge`, `compare`, `keep`, `conformal`.

    model    a classifier or regressor that was not taught yet: it is copied; pipelines too. Of scikit-learn, one with
             `partial_fit`
    labels   "multiclass" if there are more than two, or may be (River's)
    """
    river = hasattr(model, "learn_one") and hasattr(model, "predict_one")
    if isinstance(model, type) or not (river or (hasattr(model, "partial_fit") and hasattr(model, "predict"))):
        raise InputError(
            "a model must have predict_one and learn_one, as River's have, or predict and partial_fit, as "
            f"scikit-learn's: got {shown(model)}."
        )
    if labels not in (None, "multiclass"):
        raise InputError(f'labels must be None or "multiclass": got {labels!r}. Leave it out for two labels.')
    numbers = _of_numbers(model, river)
    if labels == "multiclass" and (numbers or not river):
        raise InputError('labels="many" is for River classifiers: this model is not a classifier. Leave labels out.')
    kind = WrappedProbable if labels is None and not numbers and _has_chances(model, river) else Wrapped
    return kind(copy.deepcopy(model), "numbers" if numbers else "labels", labels == "multiclass")


def _of_numbers(model: Any, river: bool) -> bool:
    """Is it a regressor?"""
    if not river:
        try:
            from sklearn.base import is_regressor
        except ImportError:
            raise InputError('a model with partial_fit needs scikit-learn: pip install "novikoff[sklearn]".') from None
        return bool(is_regressor(model))
    from river import base

    while hasattr(model, "steps"):  # the last of a pipeline
        model = [*model.steps.values()][-1]
    return isinstance(model, base.Regressor)


def _has_chances(model: Any, river: bool) -> bool:
    """Does it say probabilities?"""
    if not river:
        return hasattr(model, "predict_proba")
    if not hasattr(model, "predict_proba_one"):
        return False
    try:
        copy.deepcopy(model).predict_proba_one({})
    except NotImplementedError:  # so River says that a classifier has none
        return False
    except Exception:  # it has some, but not of this x
        return True
    return True
