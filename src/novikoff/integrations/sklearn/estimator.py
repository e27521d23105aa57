"""Base class of both estimators: order of rows, games, and ledgers that can be pickled."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from novikoff.core.batch import weights_of_copies
from novikoff.core.certificate import Certificate
from novikoff.core.errors import InputError, MismatchError, NovikoffError, shown
from novikoff.core.learner import Learner
from novikoff.core.registry import entry
from novikoff.core.types import Batch, Domain, LabelValue, Sparse
from novikoff.core.weights import check_weights, rounds_of
from novikoff.data.arrays import is_sparse, matrix_rows
from novikoff.game import specs
from novikoff.game.explanation import Explanation
from novikoff.game.game import Game
from novikoff.game.ledger import Ledger
from novikoff.game.ledger_state import packed, unpacked
from novikoff.game.prepare import Made, Recipe, RowShape, learner_for, scaled
from novikoff.game.specs import Spec

ROWS = 65_536
"""Prediction batch size."""
POOR = ("perceptron", "cks", "ellipsoid", "hedge", "constant")
"""Learners that may score below 0.83 after one pass in scikit-learn's check on three blobs; their tags declare it."""


UNKNOWN = object()
"""Stands for an argument that a learner does not keep, such as the name of its kernel."""
PREFIX = "learner__"
"""Prefix of parameters that are arguments of the learner."""

T = TypeVar("T")


def arguments_of(made: object) -> dict[str, object]:
    """Return the arguments of a spec or a learner by name, defaults included; {} for anything else."""
    if isinstance(made, Learner):
        own = {name: made._argument(name, UNKNOWN) for name in inspect.signature(type(made)).parameters}
        return {} if any(value is UNKNOWN for value in own.values()) else own
    if not isinstance(made, (str, Spec)):
        return {}
    try:
        spec = specs.parsed(made)
        signature = inspect.signature(entry(spec.name, "learner").load())
        given = signature.bind_partial(*spec.positional, **{
            name: value for name, value in (spec.named or {}).items() if name in signature.parameters
        })  # fmt: skip
    except (NovikoffError, TypeError):  # `fit` will raise an error about the spec
        return {}
    given.apply_defaults()
    return {"scale": None} | given.arguments | dict(spec.named or {})


def with_arguments(made: Any, changed: dict[str, object]) -> Any:
    """Return a spec, or an untrained learner, with other arguments."""
    if isinstance(made, Learner):
        return type(made)(**{**arguments_of(made), **changed})
    spec = specs.parsed(made)
    signature = inspect.signature(entry(spec.name, "learner").load())
    positional = dict(zip(signature.parameters, spec.positional, strict=False))
    given = {**positional, **(spec.named or {}), **changed}
    defaults = {name: one.default for name, one in signature.parameters.items()}
    return str(Spec(spec.name, (), {
        name: value for name, value in given.items() if value is not None or defaults.get(name) is not None
    }))  # fmt: skip


class Estimator(BaseEstimator):  # type: ignore[misc]
    """Base class of both estimators.

    Args:
        learner: Spec, untrained learner, or function from a seed to a learner.
        passes: Number of passes of `fit` over the rows.
        shuffle: Play the rows of `fit` in a random order.
        random_state: Seed of the order and of a randomised learner.
        track: Feed the comparators every round, for learners whose theorems need them.
    """

    learner: Made | Learner

    def _made_from(self) -> Made | Learner:
        return self.learner

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters; with `deep` also the arguments of the learner, as `learner__bias`."""
        found: dict[str, object] = super().get_params(deep=False)
        own = arguments_of(found["learner"]) if deep and "learner" in found else {}
        return found | {f"{PREFIX}{name}": value for name, value in own.items()}

    def set_params(self, **params: object) -> Self:
        """Set parameters; `learner__bias=1` sets an argument of the learner."""
        inner = {name: value for name, value in params.items() if name.startswith(PREFIX)}
        super().set_params(**{name: value for name, value in params.items() if name not in inner})
        if inner:
            own = arguments_of(getattr(self, "learner", None))
            for name in inner:
                if name.removeprefix(PREFIX) not in own:
                    raise ValueError(
                        f"Invalid parameter {name!r}. Valid parameters are: {sorted(self.get_params())!r}."
                    )
            self.learner = with_arguments(
                self.learner, {name.removeprefix(PREFIX): value for name, value in inner.items()}
            )
        return self

    def _recipe(self, X: object = None) -> Recipe:
        """Return the recipe of learners: a spec with the scaling that `nk.play` would use on X, or a function."""
        made = self._made_from()
        if isinstance(made, Learner):
            return lambda seed: copy.deepcopy(made)
        if isinstance(made, (str, Spec)):
            return scaled(specs.parsed(made), RowShape(scaled=X is not None and not is_sparse(X)))
        if isinstance(made, type) or not callable(made):
            raise InputError(
                f"learner must be a spec, a learner, or a function from a seed to a learner: got {shown(made)}. Pass "
                '"perceptron:bias=1" or nk.Perceptron(bias=1), for example.'
            )
        return made

    def _make(self, recipe: Recipe, width: int | None = None, seed: int = 0, **labels: object) -> Learner:
        """Create a learner for rows of this width; `labels` is the number of classes of a multiclass learner."""
        rows = RowShape(None if width is None else Domain("vector", width), multiclass="labels" in labels)
        learner = learner_for(recipe, rows, {"seed": seed, **labels})
        if isinstance(recipe, Spec) and not learner.domain.admits(Domain("vector", width)):
            raise MismatchError(
                f"the learner must play on rows of numbers: {recipe} plays on {learner.domain}. See novikoff list."
            )
        return learner

    def _check_columns(self, X: Any) -> None:
        """Refuse dates, which an array of numbers cannot hold, before scikit-learn converts X."""
        framed = hasattr(X, "columns") and hasattr(X, "dtypes")
        for name, kind in zip(X.columns, X.dtypes, strict=True) if framed else ():
            if str(kind).lower().startswith(("date", "time", "duration", "period")):
                raise InputError(
                    "X must be numbers",
                    f"column {name!r} is {kind}",
                    f'Pass X[{name!r}].astype("int64"), or play the frame itself: nk.play("auto", frame).',
                )

    def _player(self) -> Learner | None:
        """Return the present learner, or the one that would be created; None if that fails."""
        ledgers = self.__dict__.get("_ledgers")
        if ledgers:
            return ledgers[0].player  # type: ignore[no-any-return]
        try:
            return self._make(self._recipe())
        except Exception:  # `fit` will raise the same error
            return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _poor(self) -> bool:
        made = self._made_from()
        return isinstance(made, str) and made.partition(":")[0].strip() in POOR

    def _begin(self, X: Any, recipe: Recipe, learners: list[Learner], labels: list[Any]) -> None:
        """Create the ledgers of these learners."""
        names = getattr(self, "feature_names_in_", None)
        self._sparse = is_sparse(X) and learners[0].domain.width is None  # a learner of fixed width may need arrays
        self._ledgers = [
            Ledger(learner, source="X", spec=str(recipe) if isinstance(recipe, Spec) else "", labels=one,
                   feature_names=None if names is None else list(names))
            for learner, one in zip(learners, labels, strict=True)
        ]  # fmt: skip

    def _x(self, X: Any) -> NDArray[Any] | Sparse:
        """Return rows in the form in which they are learned."""
        if is_sparse(X):
            rows = matrix_rows(X, "X")
            return rows if self._sparse else rows.dense(X.shape[1])
        return Sparse.of_dense(X) if self._sparse else np.ascontiguousarray(X)

    def _fit(self, X: Any, ys: list[NDArray[Any]], weights: NDArray[np.float64] | None) -> None:
        """Play all rows `passes` times, each pass in a new random order if `shuffle`.

        The order depends on `random_state` alone, never on the rows: independent rows stay independent.
        """
        order = np.arange(X.shape[0])
        coins = check_random_state(self.random_state)
        for number in range(self.passes):
            if self.shuffle:
                order = coins.permutation(X.shape[0])
            rounds = None if weights is None else rounds_of(weights, number * len(weights))
            if weights is not None and rounds is not None and number == 0 and not rounds.any():
                raise InputError(
                    "weights must let a row be learned", f"their sum is {weights.sum():.4g}",
                    "Multiply all weights by one number, so that their mean is 1, for example.",
                )  # fmt: skip
            self._play(X, ys, rounds, order)
            for ledger in self._ledgers:
                ledger.passes, ledger.repeated, ledger.fixed = number + 1, number > 0, True

    def _rounds(self, weights: NDArray[np.float64] | None) -> NDArray[np.int64] | None:
        """Return the number of rounds of the next rows of `partial_fit`."""
        if weights is None:
            return None
        first = self._ledgers[0].weighed
        for ledger in self._ledgers:
            ledger.weighed += len(weights)
        return rounds_of(weights, first)

    def _play(
        self, X: Any, ys: list[NDArray[Any]], weights: NDArray[np.int64] | None, order: NDArray[np.intp] | None = None
    ) -> None:
        """Play the rows in this order, each as often as its weight; metrics count its first prediction."""
        copies = None
        if weights is not None:
            order = np.arange(len(weights)) if order is None else order
            counts = weights[order]
            order, copies = np.repeat(order, counts), weights_of_copies(counts)
        x = self._x(X if order is None else X[order])
        for ledger, y in zip(self._ledgers, ys, strict=True):
            game = Game(ledger.learner, ledger, track=self.track)
            game.learn_batch(Batch(x, y if order is None else y[order], ledger.rounds + 1, None, "owned", copies))

    def _parts(self, X: Any, finite: bool = True) -> Iterator[Batch]:
        """Yield batches to predict, validated; `finite` also checks that all values are finite."""
        check_is_fitted(self, "_ledgers")
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False, ensure_all_finite=finite
        )
        for start in range(0, X.shape[0], ROWS):
            some = self._x(X[start : start + ROWS])
            yield Batch(some, np.zeros(len(some), dtype=np.int8), start + 1, memory="owned")

    def _check_passes(self) -> None:
        if not isinstance(self.passes, (int, np.integer)) or self.passes < 1:
            raise InputError(f"passes must be an integer from 1: got {self.passes!r}.")

    @property
    def certificates_(self) -> list[Certificate] | dict[LabelValue, list[Certificate]]:
        """Certificates of the game, the tightest first; a dict by class with one game per class."""
        check_is_fitted(self, "_ledgers")
        return self._by_class([ledger.certify() for ledger in self._ledgers])

    @property
    def ledger_(self) -> Ledger | dict[LabelValue, Ledger]:
        """Ledger of the game; a dict by class with one game per class."""
        check_is_fitted(self, "_ledgers")
        return self._by_class(self._ledgers)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importance of each feature by what the learner holds, as `ledger_.importance()`; the mean of several games.

        `ledger_.importance().unit` states what the numbers are. Not there if the learner holds nothing of the kind.
        """
        found = [self._wide(one.values) for one in self._held("importances")]
        return np.asarray(np.mean(found, axis=0), dtype=np.float64)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights (classes, features) of a linear learner; one row for two classes, (features,) for numbers."""
        rows = np.vstack([self._wide(one.weights) for one in self._held("linear_weights")])
        return rows[0] if self._ledgers[0].player.task == "regression" else rows

    @property
    def intercept_(self) -> object:
        """Score of a row of zeros by a linear learner, for each row of `coef_`; a number for numbers."""
        found = np.concatenate([one.intercepts for one in self._held("linear_weights")])
        return float(found[0]) if self._ledgers[0].player.task == "regression" else found

    def _held(self, name: Literal["importances", "linear_weights"]) -> list[Any]:
        """Return what the learner of each game holds; raise AttributeError if it holds nothing of the kind."""
        check_is_fitted(self, "_ledgers")
        players = [ledger.player for ledger in self._ledgers]
        found = [player.importances() if name == "importances" else player.linear_weights() for player in players]
        if any(one is None for one in found):
            kind = type(players[0].within.original).__name__
            what = "importance of features" if name == "importances" else "weights of unscaled features"
            raise AttributeError(f"{kind} has no {what} on these rows.")
        return found

    def _wide(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of features, 0 for those that never occurred."""
        missing = self.n_features_in_ - values.shape[-1]
        return np.pad(values, [*[(0, 0)] * (values.ndim - 1), (0, max(missing, 0))])

    def why(self, X: object) -> list[Explanation | dict[LabelValue, Explanation]]:
        """Explain the prediction of every row (game/explanation.py); with one game per class, a dict by class."""
        rows = [x for batch in self._parts(X) for x, _ in batch.rows()]
        return [self._by_class([ledger.why(x) for ledger in self._ledgers]) for x in rows]

    def _by_class(self, found: list[T]) -> T | dict[LabelValue, T]:
        """Return the only element, or a dict by class."""
        return found[0] if len(found) == 1 else dict(zip(self.classes_.tolist(), found, strict=True))

    def __getstate__(self) -> dict[str, object]:
        state: dict[str, object] = super().__getstate__()
        if "_ledgers" in state:
            state = {**state, "_ledgers": [packed(ledger, without_rows=True) for ledger in self._ledgers]}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_ledgers" in self.__dict__:
            self._ledgers = [unpacked(one) for one in state["_ledgers"]]


def given_weights(sample_weight: object, X: Any) -> NDArray[np.float64] | None:
    """Return the weights of rows; None without weights."""
    if sample_weight is None:
        return None
    return some_weight(check_weights(_check_sample_weight(sample_weight, X, dtype=np.float64), X.shape[0]))


def some_weight(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights if one is positive; refuse them otherwise."""
    if not weights.any():
        raise InputError("weights must not all be 0.")
    return weights


def weights_unless_one(weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Return the weights; None if all are 1."""
    return None if weights is None or (weights == 1.0).all() else weights
