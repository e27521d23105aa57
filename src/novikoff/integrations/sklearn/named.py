"""An estimator for each learner, with the arguments of the learner as parameters.

X is not scaled, so that weights and scores refer to its columns: scaling is a step of the pipeline.
"""

from __future__ import annotations

import inspect
from typing import ClassVar

from novikoff.core.types import LabelWeights
from novikoff.game.specs import Spec, parse, with_scale
from novikoff.integrations.sklearn.classifier import NovikoffClassifier
from novikoff.integrations.sklearn.regressor import NovikoffRegressor

SHARED = ("passes", "shuffle", "random_state", "track", "class_weight")
"""Parameters of every estimator; the others are arguments of its learner."""


class Named:
    """Estimator for one learner."""

    spec_name: ClassVar[str]

    def _made_from(self) -> str:
        """Return the spec of the learner with these arguments, unscaled."""
        own = [one for one in inspect.signature(type(self)).parameters.values() if one.name not in SHARED]
        values = ((one.name, getattr(self, one.name), one.default) for one in own)
        given = {name: value for name, value, default in values if value is not None or default is not None}
        scale = {} if with_scale(parse(self.spec_name), None, True) == parse(self.spec_name) else {"scale": "none"}
        return str(Spec(self.spec_name, (), given | scale))


class AutoClassifier(Named, NovikoffClassifier):
    """Classifier `auto`: an ensemble with probabilities and no hyper-parameters (mixtures/auto.py)."""

    spec_name = "auto"

    def __init__(
        self, fast: bool = False, bias: float = 1.0, drift: bool | None = None, *, passes: int = 1,
        shuffle: bool = True, random_state: object = None, track: bool = True,
        class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.fast, self.bias, self.drift, self.passes = fast, bias, drift, passes
        self.shuffle, self.random_state, self.track, self.class_weight = shuffle, random_state, track, class_weight


class LinearMixtureClassifier(Named, NovikoffClassifier):
    """Classifier `linear-mixture`: a mixture of linear learners, with probabilities (mixtures/linear_mixture.py)."""

    spec_name = "linear-mixture"

    def __init__(
        self, fast: bool = False, bias: float = 1.0, *, passes: int = 1, shuffle: bool = True,
        random_state: object = None, track: bool = True, class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.fast, self.bias, self.passes, self.shuffle = fast, bias, passes, shuffle
        self.random_state, self.track, self.class_weight = random_state, track, class_weight


class TreeClassifier(Named, NovikoffClassifier):
    """Classifier `tree`: the mixture over all prunings of a growing tree (trees/tree.py)."""

    spec_name = "tree"

    def __init__(
        self, threshold: float = 10.0, rows: int = 131072, *, passes: int = 1, shuffle: bool = True,
        random_state: object = None, track: bool = True, class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.threshold, self.rows, self.passes, self.shuffle = threshold, rows, passes, shuffle
        self.random_state, self.track, self.class_weight = random_state, track, class_weight


class ForestClassifier(Named, NovikoffClassifier):
    """Classifier `forest`: trees that are regrown during the stream (trees/forest.py)."""

    spec_name = "forest"

    def __init__(
        self, trees: int = 10, rows: int = 131072, *, passes: int = 1, shuffle: bool = True,
        random_state: object = None, track: bool = True, class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.trees, self.rows, self.passes, self.shuffle = trees, rows, passes, shuffle
        self.random_state, self.track, self.class_weight = random_state, track, class_weight


class LogisticClassifier(Named, NovikoffClassifier):
    """Classifier `logistic`: second-order logistic regression (convex/logistic.py)."""

    spec_name = "logistic"

    def __init__(
        self, ridge: float = 0.1, radius: float = 6.0, scale_free: bool = True, bias: float = 1.0, *,
        passes: int = 1, shuffle: bool = True, random_state: object = None, track: bool = True,
        class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.ridge, self.radius, self.scale_free, self.bias = ridge, radius, scale_free, bias
        self.passes, self.shuffle, self.random_state, self.track = passes, shuffle, random_state, track
        self.class_weight = class_weight


class FTRLClassifier(Named, NovikoffClassifier):
    """Classifier `ftrl`: follow the regularised leader with the logistic loss (convex/ftrl.py)."""

    spec_name = "ftrl"

    def __init__(
        self, metric: str = "sqrt", rate: float = 1.0, bias: float = 1.0, *, passes: int = 1, shuffle: bool = True,
        random_state: object = None, track: bool = True, class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.metric, self.rate, self.bias, self.passes = metric, rate, bias, passes
        self.shuffle, self.random_state, self.track, self.class_weight = shuffle, random_state, track, class_weight


class AdaGradClassifier(Named, NovikoffClassifier):
    """Classifier `adagrad`: gradient descent with a rate per coordinate (convex/adagrad.py)."""

    spec_name = "adagrad"

    def __init__(
        self, loss: str = "hinge", rate: float = 1.0, tau: float = 0.5, delta: float = 1.0, bias: float = 1.0, *,
        passes: int = 1, shuffle: bool = True, random_state: object = None, track: bool = True,
        class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.loss, self.rate, self.tau, self.delta = loss, rate, tau, delta
        self.bias, self.passes, self.shuffle, self.random_state = bias, passes, shuffle, random_state
        self.track, self.class_weight = track, class_weight


class AROWClassifier(Named, NovikoffClassifier):
    """Classifier `arow`: adaptive regularisation of weights (linear/arow.py)."""

    spec_name = "arow"

    def __init__(
        self, ridge: float = 1.0, diagonal: bool = False, scale_free: bool = True, bias: float = 1.0, *,
        passes: int = 1, shuffle: bool = True, random_state: object = None, track: bool = True,
        class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.ridge, self.diagonal, self.scale_free, self.bias = ridge, diagonal, scale_free, bias
        self.passes, self.shuffle, self.random_state, self.track = passes, shuffle, random_state, track
        self.class_weight = class_weight


class SecondOrderPerceptronClassifier(Named, NovikoffClassifier):
    """Classifier `second-order-perceptron`: the Perceptron on whitened rows (linear/second_order_perceptron.py)."""

    spec_name = "second-order-perceptron"

    def __init__(
        self, ridge: float = 1.0, diagonal: bool = False, scale_free: bool = True, bias: float = 1.0, *,
        passes: int = 1, shuffle: bool = True, random_state: object = None, track: bool = True,
        class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.ridge, self.diagonal, self.scale_free, self.bias = ridge, diagonal, scale_free, bias
        self.passes, self.shuffle, self.random_state, self.track = passes, shuffle, random_state, track
        self.class_weight = class_weight


class PerceptronClassifier(Named, NovikoffClassifier):
    """Classifier `perceptron`: add each misclassified example to the weights (linear/perceptron.py)."""

    spec_name = "perceptron"

    def __init__(
        self, bias: float = 1.0, normalize: bool = False, *, passes: int = 1, shuffle: bool = True,
        random_state: object = None, track: bool = True, class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.bias, self.normalize, self.passes, self.shuffle = bias, normalize, passes, shuffle
        self.random_state, self.track, self.class_weight = random_state, track, class_weight


class EllipsoidClassifier(Named, NovikoffClassifier):
    """Classifier `ellipsoid`: cut an ellipsoid of classifiers at each mistake (linear/ellipsoid.py)."""

    spec_name = "ellipsoid"

    def __init__(
        self, bias: float = 1.0, normalize: bool = False, cuts: str = "centre", margin: float = 0.0, grid: int = 0,
        *, passes: int = 1, shuffle: bool = True, random_state: object = None, track: bool = True,
        class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.bias, self.normalize, self.cuts, self.margin = bias, normalize, cuts, margin
        self.grid, self.passes, self.shuffle, self.random_state = grid, passes, shuffle, random_state
        self.track, self.class_weight = track, class_weight


class KernelPerceptronClassifier(Named, NovikoffClassifier):
    """Classifier `kernel-perceptron`: the Perceptron in the feature space of a kernel (kernel/kernel_perceptron.py)."""

    spec_name = "kernel-perceptron"

    def __init__(
        self, kernel: str = "rbf", gamma: float = 1.0, degree: int = 2, constant: float = 1.0, *, passes: int = 1,
        shuffle: bool = True, random_state: object = None, track: bool = True,
        class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.kernel, self.gamma, self.degree, self.constant = kernel, gamma, degree, constant
        self.passes, self.shuffle, self.random_state, self.track = passes, shuffle, random_state, track
        self.class_weight = class_weight

    def _made_from(self) -> str:
        """Return the spec with the parameters of this kernel."""
        spec = parse(super()._made_from())
        unused = ("degree", "constant") if self.kernel == "rbf" else ("gamma",)
        return str(
            Spec(spec.name, (), {name: value for name, value in (spec.named or {}).items() if name not in unused})
        )


class RandomizedBudgetPerceptronClassifier(Named, NovikoffClassifier):
    """Classifier `rbp`: a kernel Perceptron that forgets at random (kernel/randomized_budget.py)."""

    spec_name = "rbp"

    def __init__(
        self, budget: int = 100, kernel: str | None = None, gamma: float | None = None, degree: int | None = None,
        constant: float | None = None, normalize_kernel: bool = False, bias: float = 0.0, *, passes: int = 1,
        shuffle: bool = True, random_state: object = None, track: bool = True,
        class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.budget, self.kernel, self.gamma, self.degree = budget, kernel, gamma, degree
        self.constant, self.normalize_kernel, self.bias, self.passes = constant, normalize_kernel, bias, passes
        self.shuffle, self.random_state, self.track, self.class_weight = shuffle, random_state, track, class_weight


class ForgetronClassifier(Named, NovikoffClassifier):
    """Classifier `forgetron`: a kernel Perceptron that forgets the oldest example (kernel/forgetron.py)."""

    spec_name = "forgetron"

    def __init__(
        self, budget: int = 100, kernel: str | None = None, gamma: float | None = None, degree: int | None = None,
        constant: float | None = None, normalize_kernel: bool = False, bias: float = 0.0,
        radius: float | None = None, basic: bool = False, *, passes: int = 1, shuffle: bool = True,
        random_state: object = None, track: bool = True, class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.budget, self.kernel, self.gamma, self.degree = budget, kernel, gamma, degree
        self.constant, self.normalize_kernel, self.bias, self.radius = constant, normalize_kernel, bias, radius
        self.basic, self.passes, self.shuffle, self.random_state = basic, passes, shuffle, random_state
        self.track, self.class_weight = track, class_weight


class CrammerKandolaSingerClassifier(Named, NovikoffClassifier):
    """Classifier `cks`: a kernel Perceptron that removes redundant examples (kernel/crammer_kandola_singer.py)."""

    spec_name = "cks"

    def __init__(
        self, budget: int | None = 100, kernel: str | None = None, gamma: float | None = None,
        degree: int | None = None, constant: float | None = None, normalize_kernel: bool = False, bias: float = 0.0,
        beta: float = 0.0, distill: bool = False, *, passes: int = 1, shuffle: bool = True,
        random_state: object = None, track: bool = True, class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.budget, self.kernel, self.gamma, self.degree = budget, kernel, gamma, degree
        self.constant, self.normalize_kernel, self.bias, self.beta = constant, normalize_kernel, bias, beta
        self.distill, self.passes, self.shuffle, self.random_state = distill, passes, shuffle, random_state
        self.track, self.class_weight = track, class_weight


class TighterPerceptronClassifier(Named, NovikoffClassifier):
    """Classifier `tighter`: a kernel Perceptron that removes the least harmful example (kernel/tighter.py)."""

    spec_name = "tighter"

    def __init__(
        self, budget: int = 100, kernel: str | None = None, gamma: float | None = None, degree: int | None = None,
        constant: float | None = None, normalize_kernel: bool = False, bias: float = 0.0, beta: float = 0.0, *,
        passes: int = 1, shuffle: bool = True, random_state: object = None, track: bool = True,
        class_weight: LabelWeights | None = None,
    ) -> None:  # fmt: skip
        self.budget, self.kernel, self.gamma, self.degree = budget, kernel, gamma, degree
        self.constant, self.normalize_kernel, self.bias, self.beta = constant, normalize_kernel, bias, beta
        self.passes, self.shuffle, self.random_state, self.track = passes, shuffle, random_state, track
        self.class_weight = class_weight


class AutoRegressor(Named, NovikoffRegressor):
    """Regressor `auto-regression`: an ensemble with no hyper-parameters (mixtures/auto_regression.py)."""

    spec_name = "auto-regression"

    def __init__(
        self, bias: float = 1.0, drift: bool | None = None, *, passes: int = 1, shuffle: bool = True,
        random_state: object = None, track: bool = True,
    ) -> None:  # fmt: skip
        self.bias, self.drift, self.passes, self.shuffle = bias, drift, passes, shuffle
        self.random_state, self.track = random_state, track


class LinearMixtureRegressor(Named, NovikoffRegressor):
    """Regressor `linear-mixture-regression`: a mixture of linear learners (mixtures/linear_mixture_regression.py)."""

    spec_name = "linear-mixture-regression"

    def __init__(
        self, bias: float = 1.0, *, passes: int = 1, shuffle: bool = True, random_state: object = None,
        track: bool = True,
    ) -> None:  # fmt: skip
        self.bias, self.passes, self.shuffle, self.random_state = bias, passes, shuffle, random_state
        self.track = track


class TreeRegressor(Named, NovikoffRegressor):
    """Regressor `tree-regression`: the mixture over all prunings of a growing tree (trees/tree_regression.py)."""

    spec_name = "tree-regression"

    def __init__(
        self, threshold: float = 10.0, rows: int = 131072, middle: float = 0.0, *, passes: int = 1,
        shuffle: bool = True, random_state: object = None, track: bool = True,
    ) -> None:  # fmt: skip
        self.threshold, self.rows, self.middle, self.passes = threshold, rows, middle, passes
        self.shuffle, self.random_state, self.track = shuffle, random_state, track


class ForestRegressor(Named, NovikoffRegressor):
    """Regressor `forest-regression`: trees that are regrown during the stream (trees/forest_regression.py)."""

    spec_name = "forest-regression"

    def __init__(
        self, trees: int = 10, rows: int = 131072, *, passes: int = 1, shuffle: bool = True,
        random_state: object = None, track: bool = True,
    ) -> None:  # fmt: skip
        self.trees, self.rows, self.passes, self.shuffle = trees, rows, passes, shuffle
        self.random_state, self.track = random_state, track


class VAWRegressor(Named, NovikoffRegressor):
    """Regressor `vaw`: ridge regression that includes the row to predict (convex/vaw.py)."""

    spec_name = "vaw"

    def __init__(
        self, ridge: float = 1.0, low: float | None = None, high: float | None = None, scale_free: bool = True,
        bias: float = 1.0, *, passes: int = 1, shuffle: bool = True, random_state: object = None, track: bool = True,
    ) -> None:  # fmt: skip
        self.ridge, self.low, self.high, self.scale_free = ridge, low, high, scale_free
        self.bias, self.passes, self.shuffle, self.random_state = bias, passes, shuffle, random_state
        self.track = track


class AdaGradRegressor(Named, NovikoffRegressor):
    """Regressor `adagrad`: gradient descent with a rate per coordinate (convex/adagrad.py)."""

    spec_name = "adagrad"

    def __init__(
        self, loss: str = "absolute", rate: float = 1.0, tau: float = 0.5, delta: float = 1.0, bias: float = 1.0, *,
        passes: int = 1, shuffle: bool = True, random_state: object = None, track: bool = True,
    ) -> None:  # fmt: skip
        self.loss, self.rate, self.tau, self.delta = loss, rate, tau, delta
        self.bias, self.passes, self.shuffle, self.random_state = bias, passes, shuffle, random_state
        self.track = track


class OnlineGradientRegressor(Named, NovikoffRegressor):
    """Regressor `online-gradient`: gradient descent in a ball of weights (convex/online_gradient.py)."""

    spec_name = "online-gradient"

    def __init__(
        self, radius: float = 1.0, limit: float | None = None, low: float | None = None, high: float | None = None,
        loss: str = "squared", bias: float = 1.0, normalize: bool = False, horizon: int | None = None,
        rate: str | None = None, *, passes: int = 1, shuffle: bool = True, random_state: object = None,
        track: bool = True,
    ) -> None:  # fmt: skip
        self.radius, self.limit, self.low, self.high = radius, limit, low, high
        self.loss, self.bias, self.normalize, self.horizon = loss, bias, normalize, horizon
        self.rate, self.passes, self.shuffle, self.random_state = rate, passes, shuffle, random_state
        self.track = track
