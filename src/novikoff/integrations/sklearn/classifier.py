"""NovikoffClassifier: a learner as a classifier of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from novikoff.core.errors import InputError, MismatchError, NovikoffError, shown
from novikoff.core.labels import plain_label
from novikoff.core.learner import Learner
from novikoff.core.types import Batch, LabelWeights
from novikoff.core.weights import BALANCED, MOST_WEIGHT, Balance, check_weight
from novikoff.game.prepare import Made
from novikoff.integrations.sklearn.estimator import Estimator, given_weights, some_weight, weights_unless_one
from novikoff.linear.perceptron import Perceptron


def _has_scores(estimator: Estimator) -> bool:
    player = estimator._player()
    return player is not None and player.scores_rows


def _has_probabilities(estimator: Estimator) -> bool:
    player = estimator._player()
    return player is not None and player.probable


class NovikoffClassifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """Classifier that runs a learner of the catalog, with its guarantees in `certificates_`.

    Args:
        learner: Spec ("perceptron:bias=1", "auto"), an untrained learner, or a function from a seed to a learner.
        passes: Number of passes of `fit` over the rows.
        shuffle: Play the rows of `fit` in a random order.
        random_state: Seed of the order and of a randomised learner.
        track: Feed the comparators every round, for learners whose theorems need them.
        class_weight: Weight of the rows of each class, such as {"spam": 5}, 1 for classes not named; or "balanced": the
            count of the most frequent class over that of the class, in all of y for `fit`, so far for `partial_fit`.

    Attributes:
        classes_: Labels.
        n_features_in_: Number of features.
        feature_names_in_: Names of the features, if X has them.
        ledger_: Ledger of the game: mistakes, baselines, curve.
        certificates_: Certificates of the game, the tightest first.
        feature_importances_: Importance of the features, if the learner knows it.
        coef_: Weights of the features, if the learner is linear on unscaled features.
        intercept_: Score of a row of zeros, likewise.

    Examples:
        >>> from sklearn.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = NovikoffClassifier("perceptron:bias=1", random_state=0).fit(X, y)
        >>> model.certificates_[0].status
        'valid'
    """

    def __init__(
        self, learner: Made | Learner = "auto", *, passes: int = 1, shuffle: bool = True, random_state: object = None,
        track: bool = True, class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.learner, self.passes, self.shuffle = learner, passes, shuffle
        self.random_state, self.track, self.class_weight = random_state, track, class_weight

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self._poor()
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Play the rows, in a random order if `shuffle`; anything learned before is forgotten."""
        self._check_passes()
        self._check_columns(X)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        check_classification_targets(y)
        self.__dict__.pop("_balance", None)
        weights = self._weights(X, y, np.unique(y), sample_weight, whole=True)
        self._classes(X, np.unique(y if weights is None else y[weights > 0]))
        if weights is not None:
            X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        self._fit(X, self._ys(np.searchsorted(self.classes_, y)), weights)
        return self

    def partial_fit(self, X: Any, y: Any, classes: object = None, sample_weight: Any = None) -> Self:
        """Play these rows in order, after earlier ones. The first call must name all `classes`."""
        first = "_ledgers" not in self.__dict__
        self._check_columns(X)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], reset=first)
        check_classification_targets(y)
        if first:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            self._classes(X, unique_labels(classes))
        elif classes is not None and not np.array_equal(self.classes_, unique_labels(classes)):
            raise ValueError(f"classes must stay those of the first call, {self.classes_}: got {classes}.")
        known = np.isin(y, self.classes_)
        if not known.all():
            raise ValueError(f"y must be one of the classes {self.classes_}: got {np.asarray(y)[~known][0]!r}.")
        weights = self._weights(X, y, self.classes_, sample_weight, whole=False)
        self._play(X, self._ys(np.searchsorted(self.classes_, y)), self._rounds(weights))
        return self

    def _weights(
        self, X: Any, y: NDArray[Any], classes: NDArray[Any], sample_weight: Any, whole: bool
    ) -> NDArray[np.float64] | None:
        """Return the weight of each row times that of its class; None if all are 1.

        Args:
            X: Rows.
            y: Labels.
            classes: Classes.
            sample_weight: Weights of rows, or None.
            whole: Whether balanced weights are those of all of y, which are known in advance; otherwise of the labels
                so far.
        """
        weights = given_weights(sample_weight, X)
        by: Any = self.class_weight
        each = None
        codes, names = np.searchsorted(classes, y), classes.tolist()
        if isinstance(by, str) and by == BALANCED:
            if whole:
                counts = np.maximum(np.bincount(codes, minlength=len(names)), 1)
                each = np.minimum(counts.max() / counts, MOST_WEIGHT)[codes]
            else:
                each = self.__dict__.setdefault("_balance", Balance()).weights(codes)
        elif by is not None:
            if not isinstance(by, Mapping) or (not by.keys() >= {*names} and not by.keys() <= {*names}):
                must = f'class_weight must be "balanced", or a dict whose keys are among the classes {names}'
                raise InputError(must, f"got {shown(by)}")
            each = np.array([check_weight(by.get(name, 1.0)) for name in names])[codes]
        if each is not None:
            weights = each if weights is None else each * weights
        if weights is not None and whole:
            some_weight(weights)
        return weights_unless_one(weights)

    def _classes(self, X: Any, classes: NDArray[Any]) -> None:
        """Start with these classes: one binary game, one multiclass game, or one game per class."""
        self.classes_ = classes
        coin, width, recipe = check_random_state(self.random_state).randint(2**31), X.shape[1], self._recipe(X)
        names = [plain_label(value) for value in classes.tolist()]
        if len(names) <= 2:
            learner = self._make(recipe, width, coin)
            self._check(learner)
            self._begin(X, recipe, [learner], [[names[0], names[-1]] if len(names) == 2 else None])
            return
        try:
            learner = self._make(recipe, width, coin, labels=len(names))
        except NovikoffError:  # for example a team with a binary learner
            learner = self._make(recipe, width, coin)
        self._check(learner)
        if learner.numbered:
            self._begin(X, recipe, [learner], [names])
        else:
            learners = [self._make(recipe, width, coin + k) for k in range(len(names))]
            self._begin(X, recipe, learners, [[f"not {name}", name] for name in names])

    def _check(self, learner: Learner) -> None:
        if not learner.learns_labels or (learner.task == "multiclass" and learner.fixed_labels):
            learned = "numbers" if learner.task == "regression" else "labels"
            raise MismatchError(
                f"a classifier needs a learner for labels: {self._made_from()} learns {learned}. "
                "Use NovikoffRegressor for numbers."
            )

    def _ys(self, codes: NDArray[np.intp]) -> list[NDArray[Any]]:
        """Return the labels of each game."""
        if self._ledgers[0].player.numbered:
            return [codes.astype(np.int64)]
        if len(self._ledgers) == 1:
            return [np.where(codes == len(self.classes_) - 1, np.int8(1), np.int8(-1))]
        return [np.where(codes == k, np.int8(1), np.int8(-1)) for k in range(len(self._ledgers))]

    def predict(self, X: Any) -> NDArray[np.generic]:
        """Predict the class of every row, by the threshold of `nk.choose_threshold(model.ledger_, ...)` if any.

        `score`, searches and scikit-learn's meta-estimators then use it too; `fit` forgets it.
        """
        numbers = np.concatenate([self._class_numbers(batch) for batch in self._parts(X)])
        found: NDArray[Any] = self.classes_[numbers]
        return found

    def _class_numbers(self, batch: Batch) -> NDArray[np.intp]:
        """Return the number of the predicted class of every row."""
        players = [ledger.player for ledger in self._ledgers]
        if len(self.classes_) == 1:
            return np.zeros(len(batch), dtype=np.intp)
        if len(players) == 1:
            threshold = self._ledgers[0].threshold
            made = players[0].predict_many(batch) if threshold is None else threshold.predict(players[0], batch)
            predictions = np.asarray(made)
            return predictions.astype(np.intp) if players[0].numbered else (predictions > 0).astype(np.intp)
        scores = [(player.scores_many if player.scores_rows else player.predict_many)(batch) for player in players]
        found: NDArray[np.intp] = np.stack(scores, axis=1).argmax(axis=1)
        return found

    @available_if(_has_scores)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of every row, positive for the later class; one score per class if there are more.

        A learner predicts the later class at a score of 0, which scikit-learn takes for the earlier one: such a score
        is returned as the smallest positive number.
        """
        check_is_fitted(self, "_ledgers")
        # The score of a Perceptron is finite only if x is: checking scores instead of X saves a pass over X.
        revealing = all(type(ledger.learner) is Perceptron for ledger in self._ledgers)
        found = []
        for batch in self._parts(X, finite=not revealing):
            scores = [ledger.player.scores_many(batch) for ledger in self._ledgers]
            several = np.stack(scores, axis=1) if len(scores) > 1 else scores[0]
            found.append(np.where(several == 0.0, np.nextafter(0.0, 1.0), several) if several.ndim == 1 else several)
        together = np.concatenate(found)
        if revealing and not np.isfinite(together).all():
            next(self._parts(X))  # raises for values that are not finite
        return together

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes for every row; with one game per class, scaled to sum to 1."""
        found = [[ledger.player.probabilities_many(batch) for ledger in self._ledgers] for batch in self._parts(X)]
        chances = np.concatenate([one[0] if len(one) == 1 else np.stack(one, axis=1) for one in found])
        if len(self.classes_) == 1:
            return np.ones((len(chances), 1))
        if chances.ndim == 1:
            return np.column_stack([1.0 - chances, chances])
        known: NDArray[np.float64] = np.where(chances.sum(axis=1, keepdims=True) > 0.0, chances, 1.0)
        shares: NDArray[np.float64] = known / known.sum(axis=1, keepdims=True)
        return shares
