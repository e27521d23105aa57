"""scikit-learn estimators: `fit` is a game, and its certificates stay with the estimator.

    from novikoff.integrations.sklearn import NovikoffClassifier

    model = NovikoffClassifier("perceptron:bias=1").fit(X, y)
    model.predict(X_new)
    print(model.certificates_[0])

Order
    `fit` shuffles the rows, since a learner does poorly on a table that is sorted by label. The permutation is drawn
    from `random_state` and does not depend on the rows, so independent rows are still played as independent rows.
    `partial_fit` plays rows in the given order; any split into batches gives the same result, to the bit.
Labels
    Two labels are -1 and +1; the later one in `classes_` is +1. More labels are passed to a multiclass learner; any
    other learner plays one game per class, one against the rest: `ledger_` and `certificates_` are then dicts by class.
Weights
    `sample_weight` and `class_weight` are integers: a row of weight 3 is three rounds, a row of weight 0 none. Theorems
    count rounds, so they hold unchanged; other weights are refused.
"""

from __future__ import annotations

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise ImportError('novikoff.integrations.sklearn needs scikit-learn: pip install "novikoff[sklearn]".') from error

from novikoff.integrations.sklearn.classifier import NovikoffClassifier
from novikoff.integrations.sklearn.named import (
    AdaGradClassifier,
    AdaGradRegressor,
    AROWClassifier,
    AutoClassifier,
    AutoRegressor,
    CrammerKandolaSingerClassifier,
    EllipsoidClassifier,
    ForestClassifier,
    ForestRegressor,
    ForgetronClassifier,
    FTRLClassifier,
    KernelPerceptronClassifier,
    LinearMixtureClassifier,
    LinearMixtureRegressor,
    LogisticClassifier,
    OnlineGradientRegressor,
    PerceptronClassifier,
    RandomizedBudgetPerceptronClassifier,
    SecondOrderPerceptronClassifier,
    TighterPerceptronClassifier,
    TreeClassifier,
    TreeRegressor,
    VAWRegressor,
)
from novikoff.integrations.sklearn.regressor import NovikoffRegressor

__all__ = [
    "AROWClassifier", "AdaGradClassifier", "AdaGradRegressor", "AutoClassifier", "AutoRegressor",
    "CrammerKandolaSingerClassifier", "EllipsoidClassifier", "FTRLClassifier", "ForestClassifier",
    "ForestRegressor", "ForgetronClassifier", "KernelPerceptronClassifier", "LinearMixtureClassifier",
    "LinearMixtureRegressor", "LogisticClassifier", "NovikoffClassifier", "NovikoffRegressor",
    "OnlineGradientRegressor", "PerceptronClassifier", "RandomizedBudgetPerceptronClassifier",
    "SecondOrderPerceptronClassifier", "TighterPerceptronClassifier", "TreeClassifier", "TreeRegressor",
    "VAWRegressor",
]  # fmt: skip
