"""Estimators for the most common learners, with the arguments of the learner as parameters.

X is not scaled, so that weights and scores refer to its columns: scaling is a step of the pipeline.
"""

from __future__ import annotations

from typing import Any

from novikoff.core.types import LabelWeights
from novikoff.integrations.sklearn.classifier import NovikoffClassifier
from novikoff.integrations.sklearn.regressor import NovikoffRegressor


def _spec(name: str, **arguments: Any) -> str:
    """Return the spec of a learner with these arguments."""
    given = (f"{key}={str(value).lower() if value is None else value}" for key, value in arguments.items())
    return f"{name}:{','.join(given)}"


class AutoClassifier(NovikoffClassifier):
    """Classifier `auto`: an ensemble with probabilities and no hyper-parameters (mixtures/auto.py)."""

    def __init__(
        self, fast: bool = False, bias: float = 1.0, drift: bool | None = None, *, passes: int = 1,
        shuffle: bool = True, random_state: object = None, certify: bool = True,
        class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.fast, self.bias, self.drift, self.passes, self.shuffle = fast, bias, drift, passes, shuffle
        self.random_state, self.certify, self.class_weight = random_state, certify, class_weight

    def _made_from(self) -> str:
        return _spec("auto", fast=str(self.fast).lower(), bias=self.bias, drift=str(self.drift).lower())


class PerceptronClassifier(NovikoffClassifier):
    """Classifier `perceptron`: add each misclassified example to the weights (linear/perceptron.py)."""

    def __init__(
        self, bias: float = 1.0, normalize: bool = False, *, passes: int = 1, shuffle: bool = True,
        random_state: object = None, certify: bool = True, class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.bias, self.normalize, self.passes, self.shuffle = bias, normalize, passes, shuffle
        self.random_state, self.certify, self.class_weight = random_state, certify, class_weight

    def _made_from(self) -> str:
        return _spec("perceptron", bias=self.bias, normalize=str(self.normalize).lower(), scale="none")


class KernelPerceptronClassifier(NovikoffClassifier):
    """Classifier `kernel-perceptron`: the Perceptron in the feature space of a kernel (kernel/kernel_perceptron.py)."""

    def __init__(
        self, kernel: str = "rbf", gamma: float = 1.0, degree: int = 2, constant: float = 1.0, *, passes: int = 1,
        shuffle: bool = True, random_state: object = None, certify: bool = True,
        class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.kernel, self.gamma, self.degree, self.constant = kernel, gamma, degree, constant
        self.passes, self.shuffle, self.random_state, self.certify = passes, shuffle, random_state, certify
        self.class_weight = class_weight

    def _made_from(self) -> str:
        rbf, polynomial = {"gamma": self.gamma}, {"degree": self.degree, "constant": self.constant}
        return _spec(
            "kernel-perceptron", kernel=self.kernel, **(rbf if self.kernel == "rbf" else polynomial), scale="none"
        )


class AutoRegressor(NovikoffRegressor):
    """Regressor `auto-regression`: an ensemble with no hyper-parameters (mixtures/auto_regression.py)."""

    def __init__(
        self, bias: float = 1.0, drift: bool | None = None, *, passes: int = 1, shuffle: bool = True,
        random_state: object = None, certify: bool = True,
    ) -> None:  # fmt: skip
        self.bias, self.drift, self.passes, self.shuffle = bias, drift, passes, shuffle
        self.random_state, self.certify = random_state, certify

    def _made_from(self) -> str:
        return _spec("auto-regression", bias=self.bias, drift=str(self.drift).lower())


class VAWRegressor(NovikoffRegressor):
    """Regressor `vaw`: ridge regression that includes the row to predict (convex/vaw.py)."""

    def __init__(
        self, ridge: float = 1.0, bias: float = 1.0, *, passes: int = 1, shuffle: bool = True,
        random_state: object = None, certify: bool = True,
    ) -> None:  # fmt: skip
        self.ridge, self.bias, self.passes, self.shuffle = ridge, bias, passes, shuffle
        self.random_state, self.certify = random_state, certify

    def _made_from(self) -> str:
        return _spec("vaw", ridge=self.ridge, bias=self.bias)


class OnlineGradientRegressor(NovikoffRegressor):
    """Regressor `online-gradient`: gradient descent in a ball of weights (convex/online_gradient.py)."""

    def __init__(
        self, radius: float = 1.0, bias: float = 1.0, loss: str = "squared", *, passes: int = 1, shuffle: bool = True,
        random_state: object = None, certify: bool = True,
    ) -> None:  # fmt: skip
        self.radius, self.bias, self.loss, self.passes, self.shuffle = radius, bias, loss, passes, shuffle
        self.random_state, self.certify = random_state, certify

    def _made_from(self) -> str:
        return _spec("online-gradient", radius=self.radius, bias=self.bias, loss=self.loss)
