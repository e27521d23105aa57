"""NovikoffRegressor: a learner as a regressor of scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from novikoff.core.errors import MismatchError
from novikoff.core.learner import Learner
from novikoff.game.prepare import Made
from novikoff.integrations.sklearn.estimator import Estimator, given_weights, weights_unless_one


class NovikoffRegressor(RegressorMixin, Estimator):  # type: ignore[misc]
    """Regressor that runs a learner of the catalog, with its guarantees in `certificates_`.

    Args:
        learner: "auto-regression", "vaw", "online-gradient", or another regression learner.
        passes: Number of passes of `fit` over the rows.
        shuffle: Play the rows of `fit` in a random order.
        random_state: Seed of the order and of a randomised learner.
        track: Feed the comparators every round, for learners whose theorems need them.
    """

    def __init__(
        self, learner: Made | Learner = "auto-regression", *, passes: int = 1, shuffle: bool = True,
        random_state: object = None, track: bool = True,
    ) -> None:  # fmt: skip
        self.learner, self.passes, self.shuffle = learner, passes, shuffle
        self.random_state, self.track = random_state, track

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self._poor()
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Play the rows, in a random order if `shuffle`; anything learned before is forgotten."""
        self._check_passes()
        X, y, weights = self._checked(X, y, sample_weight, first=True)
        if weights is not None:
            X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        self._fit(X, [y], weights)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Play these rows in order, after earlier ones."""
        X, y, weights = self._checked(X, y, sample_weight, first="_ledgers" not in self.__dict__)
        self._play(X, [y], self._rounds(weights))
        return self

    def _checked(self, X: Any, y: Any, sample_weight: Any, first: bool) -> tuple[Any, NDArray[np.float64], Any]:
        self._check_columns(X)
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], y_numeric=True, reset=first
        )
        weights = weights_unless_one(given_weights(sample_weight, X))
        if first:
            recipe = self._recipe(X)
            learner = self._make(recipe, X.shape[1], check_random_state(self.random_state).randint(2**31))
            if learner.task != "regression":
                raise MismatchError(
                    f"a regressor needs a learner for numbers: {self._made_from()} learns labels. "
                    "Use NovikoffClassifier for labels."
                )
            self._begin(X, recipe, [learner], [None])
        return X, np.ascontiguousarray(y, dtype=np.float64), weights

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the number of every row."""
        predictions = [self._ledgers[0].player.predict_ahead(batch) for batch in self._parts(X)]
        return np.concatenate(predictions).astype(np.float64, copy=False)
