"""scikit-learn estimators: `fit` is a game, and its certificates stay with the estimator.

    from novikoff.integrations.sklearn import NovikoffClassifier

    model = NovikoffClassifier("perceptron:bias=1").fit(X, y)
    model.predict(X_new)
    print(model.certificates_[0])

Order
    `fit` shuffles: a sorted table teaches little. The order is a permutation drawn from `random_state`, whatever the
    rows hold: independent rows are played as independent rows.
    `partial_fit` plays rows as they come; any chunks are the whole, to the bit.
Labels
    Two are -1 and +1, the later in `classes_` +1. More are announced to a learner that takes many; any other learner
    plays one game a class, that class against the rest: `ledger_` and `certificates_` are then dicts by class.
Weights
    `sample_weight` and `class_weight` are whole numbers: a row of weight 3 is three rounds, one of weight 0 is none. So
    every theorem holds as it stands; of other weights it says nothing, and they are refused.
"""

from __future__ import annotations

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise ImportError('novikoff.integrations.sklearn needs scikit-learn: pip install "novikoff[sklearn]".') from error

from novikoff.integrations.sklearn.classifier import NovikoffClassifier
from novikoff.integrations.sklearn.named import (
    AutoClassifier,
    AutoRegressor,
    KernelPerceptronClassifier,
    OnlineGradientRegressor,
    PerceptronClassifier,
    VAWRegressor,
)
from novikoff.integrations.sklearn.regressor import NovikoffRegressor

__all__ = [
    "AutoClassifier", "AutoRegressor", "KernelPerceptronClassifier", "NovikoffClassifier", "NovikoffRegressor",
    "OnlineGradientRegressor", "PerceptronClassifier", "VAWRegressor",
]  # fmt: skip
