"""Full-history learner: any scikit-learn model, refitted on all rows so far.

Algorithm
    Store every row. Fit the model on all rows of the past, from scratch, in every round (`every=1`), every k rounds
    (`every=k`), or whenever the number of rows has doubled (the default). Between two fits the last one predicts. Until
    the model can be fitted (one label only, too few rows), predict the most frequent label, +1 on a tie and at first,
    or the mean outcome. `seed`, modulo 2^32, is the model's `random_state`, so that a fit is a function of the rows.
Promise
    None for the model itself. Guarantees around it are those of any learner: the regret of a team with a lightweight
    learner (experts/hedge.py), the risk of a classifier that is kept (online_to_batch/finalize.py), the coverage of
    its sets (conformal/conformal.py).
Cost
    The history grows: O(T) memory, and a fit of t rows costs at least O(t), so at least O(T^2) time for T fits; by
    doubling, about twice the last fit. `novikoff compare SOURCE -l LEARNER ... --cost cost.svg` draws the cost per
    round next to that of others. A saved model has all rows, and is fitted again when it is loaded.
Reference
    [pedregosa2011].
"""

from __future__ import annotations

import importlib
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from novikoff.core import encode
from novikoff.core.errors import InputError, shown
from novikoff.core.feature_places import Features
from novikoff.core.learner import Learner
from novikoff.core.sizes import integer
from novikoff.core.state import Argument, Array, Count, Part, require
from novikoff.core.types import Domain, Example, Outcome, Prediction, State, StepResult, Task, Theorem, check_label

MODULES = (
    "linear_model", "tree", "ensemble", "svm", "neighbors", "naive_bayes", "neural_network", "discriminant_analysis",
    "gaussian_process", "kernel_ridge", "cross_decomposition", "dummy", "isotonic",
)  # fmt: skip
"""Modules of scikit-learn that are searched for a model."""


@dataclass(frozen=True, slots=True)
class HistoryFacts:
    """Model of a full-history learner, the number of stored rows, and of fits."""

    model: str
    stored: int
    fits: int


class History(Learner):
    """Learner that refits a scikit-learn model on all rows so far.

    Args:
        model: Name of a scikit-learn classifier or regressor, such as "LogisticRegression"; or such a model, untrained,
            whose parameters are numbers and texts.
        every: Rounds between two fits; None to fit when the number of rows has doubled.
        seed: Seed of the model (`random_state`), if it draws.
        options: Parameters of a named model: "C=0.1; max_iter=500".

    Guarantee:
        None itself: guarantees for any learner apply around it, such as the regret of a team (`drawn_loss`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.History("DecisionTreeClassifier", every=1)
        >>> nk.play(learner, [([0.0], -1), ([1.0], 1)] * 10).mistakes
        2
    """

    domain: Domain
    features: Features
    seed: int

    promises: ClassVar[tuple[Theorem, ...]] = ()
    fields = (
        Argument("model", str, at="name"),
        Argument("every", int | None),
        Argument("seed", int),
        Argument("options", str),
        Count("rounds"),
        Count("fits", most="rounds"),
        Count("fitted", most="rounds"),
        Part("features"),
        Array("rows", ("rounds", "features.count"), at="rows"),
        Array("outcomes", ("rounds",), at="outcomes"),
    )

    def __init__(
        self, model: list[str] | str | object = "LogisticRegression", every: int | None = None, seed: int = 0,
        options: str = "",
    ) -> None:  # fmt: skip
        given: Any = model[0] if isinstance(model, list) and len(model) == 1 else model
        if not isinstance(given, str):
            if options:
                raise InputError("options are for a model that is named: set those of this model itself.")
            options = _options_of(given)
            given = type(given).__name__
        self.name, self.options = given, options
        self._kind = _found(given)
        self._parameters = _parsed(options)
        self.every = None if every is None else integer(every, "every", "every must be a positive whole number", 1)
        self.seed = integer(seed, "seed", "a seed must be an integer", -(2**63))
        self._made()  # refuse wrong parameters now
        self.task = self.task_of({"model": given})
        self.loss = "squared" if self.task == "regression" else "zero-one"
        self.domain, self.features = Domain("vector"), Features()
        self.rounds = self.fits = self.fitted = 0
        self._x: list[NDArray[np.float64]] = []
        self._y: list[float] = []
        self._model: Any = None

    @classmethod
    def task_of(cls, given: Any) -> Task:
        model = given["model"][0] if isinstance(given["model"], list) and given["model"] else given["model"]
        kind = _found(model) if isinstance(model, str) else type(model)
        return "regression" if _is_regressor(kind) else "binary"

    def _made(self) -> Any:
        """Return an untrained model."""
        try:
            model = self._kind(**self._parameters)
        except TypeError as error:
            raise InputError(f"options must be parameters of {self.name}: {error}.") from None
        if "random_state" in model.get_params(deep=False) and "random_state" not in self._parameters:
            model.set_params(random_state=self.seed % 2**32)
        return model

    @property
    def rows(self) -> NDArray[np.float64]:
        """(T, d) all rows."""
        return np.array(self._x, np.float64).reshape(len(self._x), self.features.count)

    @rows.setter
    def rows(self, rows: NDArray[np.float64]) -> None:
        self._x = list(rows)

    @property
    def outcomes(self) -> NDArray[np.float64]:
        """(T,) all outcomes."""
        return np.array(self._y, np.float64)

    @outcomes.setter
    def outcomes(self, outcomes: NDArray[np.float64]) -> None:
        self._y = outcomes.tolist()

    @property
    def size(self) -> int:
        """Number of stored rows."""
        return len(self._y)

    @property
    def rows_held(self) -> int:
        """Training rows in the saved model: all of them."""
        return len(self._y)

    def _row(self, x: Example, learn: bool) -> NDArray[np.float64]:
        row = self.features.row(x, learn)
        if isinstance(row, tuple):
            raise InputError("a scikit-learn model needs arrays: this x is sparse, or has names. Pass columns.")
        return np.array(row, np.float64)

    def predict_one(self, x: Example) -> Prediction:
        return self._predict(self._row(x, learn=False))

    def _predict(self, row: NDArray[np.float64]) -> Prediction:
        if self._model is not None:
            found = self._model.predict(row[np.newaxis])
            return float(np.ravel(found)[0]) if self.task == "regression" else (1 if found[0] > 0 else -1)
        if self.task == "regression":
            return float(np.mean(self._y[: self.fitted])) if self.fitted else 0.0
        return 1 if sum(self._y[: self.fitted]) >= 0 else -1

    def play_one(self, x: Example, y: Outcome) -> Prediction | StepResult:
        """Predict, store the row, and refit if it is time."""
        label = float(check_label(y, None)) if self.task == "binary" else _number(y)
        row = self._row(x, learn=True)
        predicted = self._predict(row)
        self._x.append(row)
        self._y.append(label)
        self.rounds += 1
        due = self.rounds >= 2 * self.fitted if self.every is None else self.rounds % self.every == 0
        if due:
            self.fits += 1
            self._fit(self.rounds)
        if self.task == "binary":
            return predicted
        lost = (cast(float, predicted) - label) ** 2
        return StepResult(predicted, lost, lost)

    def _fit(self, rows: int) -> None:
        """Fit a new model on the first rows; there is none if it cannot be fitted on them."""
        self.fitted, self._model = rows, None
        x, y = np.array(self._x[:rows]), np.array(self._y[:rows])
        if self.task == "binary" and len(np.unique(y)) < 2:
            return
        model = self._made()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as slow convergence: the result is what predicts
            try:
                model.fit(x, y)
                model.predict(x[:1])
            except ValueError:  # too few rows
                return
        self._model = model

    def facts(self) -> HistoryFacts:
        return HistoryFacts(self.name, self.rounds, self.fits)

    def after_restoring(self, found: State) -> None:
        if self.task == "binary":
            require(bool(np.isin(self.outcomes, (-1.0, 1.0)).all()), "labels must be -1 or +1", self.outcomes[:3])
        if self.fitted:
            self._fit(self.fitted)


def _number(y: Outcome) -> float:
    try:
        value = encode.number(y)
    except (TypeError, ValueError, OverflowError):
        value = np.nan
    if not np.isfinite(value):
        raise InputError(f"y must be a finite number: got {shown(y)}.")
    return float(value)


def _found(name: str) -> Any:
    """Return the classifier or regressor of scikit-learn with this name."""
    if find_spec("sklearn") is None:
        raise InputError('history needs scikit-learn: pip install "novikoff[sklearn]".')
    if name.isidentifier() and not name.startswith("_"):
        for module in MODULES:
            kind = getattr(importlib.import_module(f"sklearn.{module}"), name, None)
            if isinstance(kind, type) and (_is_regressor(kind) or _of_type(kind, "classifier")):
                return kind
    raise InputError(
        f"model must be the name of a scikit-learn classifier or regressor, such as LogisticRegression: got {name!r}."
    )


def _of_type(kind: Any, wanted: str) -> bool:
    from sklearn.base import ClassifierMixin, RegressorMixin

    return issubclass(kind, ClassifierMixin if wanted == "classifier" else RegressorMixin)


def _is_regressor(kind: Any) -> bool:
    return _of_type(kind, "regressor")


def _options_of(model: Any) -> str:
    """Return the parameters of a model that differ from the defaults, as options."""
    from sklearn.base import BaseEstimator

    name = type(model).__name__
    if isinstance(model, type) or not isinstance(model, BaseEstimator) or _found(name) is not type(model):
        raise InputError(
            f"model must be a classifier or regressor of scikit-learn itself: got {shown(model)}. Scale with "
            "scale=standard in the spec instead of a pipeline; nk.wrap takes any model with partial_fit."
        )
    default = type(model)().get_params(deep=False)
    changed = {key: value for key, value in model.get_params(deep=False).items() if value != default[key]}
    for key, value in changed.items():
        plain = value is None or isinstance(value, (bool, int, float, str))
        if not plain or (isinstance(value, str) and _value(value) != value):
            raise InputError(f"parameters of the model must be numbers or texts: {key} of {name} is {shown(value)}.")
    return "; ".join(f"{key}={value}" for key, value in changed.items())


def _parsed(options: str) -> dict[str, Any]:
    """Return the options as a dict."""
    found: dict[str, Any] = {}
    for part in options.split(";") if options.strip() else []:
        key, equals, value = part.partition("=")
        if not equals or not key.strip().isidentifier():
            raise InputError(f'options must be "name=value; name=value": got {options!r}.')
        found[key.strip()] = _value(value.strip())
    return found


def _value(text: str) -> Any:
    words: dict[str, Any] = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
