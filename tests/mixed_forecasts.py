"""Learners whose examples are the forecasts themselves, mixed by tops of novikoff.mixtures; and how to break them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from novikoff.core.learner import Learner
from novikoff.core.state import Argument, Part
from novikoff.core.types import Domain, StepResult
from novikoff.mixtures.theorems.mixture_regret import mixture_regret
from novikoff.mixtures.theorems.numbers_regret import numbers_regret
from novikoff.mixtures.theorems.numbers_switching_regret import numbers_switching_regret
from novikoff.mixtures.theorems.switching_regret import switching_regret
from novikoff.mixtures.top_tracker import BayesTracker, NumbersTracker, SwitchingTracker
from novikoff.mixtures.tops import AdaHedgeTop, BayesTop, FixedShareTop


@dataclass(frozen=True)
class Played:
    rounds: int


class MixedOdds(Learner):
    """Two labels; x are the log-odds of the forecasters."""

    promises: ClassVar = (switching_regret, mixture_regret)
    fields = (Argument("prior", list), Argument("shared", bool), Part("top"))
    bend = 0.0
    """Part of the forecast that is replaced by 1/2: 0 for a learner that is not broken."""

    def __init__(self, prior, shared=True):
        self.prior, self.shared, self.top = list(prior), shared, (FixedShareTop if shared else BayesTop)(prior)
        self.domain = Domain("vector")

    @property
    def rounds(self):
        return self.top.rounds

    @property
    def names(self):
        return [f"forecaster {i}" for i in range(len(self.prior))]

    def _bent(self, z):
        if not self.bend:
            return z
        p = (1.0 - self.bend) / (1.0 + np.exp(-z)) + self.bend / 2.0
        return np.log(p) - np.log1p(-p)

    def predict_one(self, x):
        return -1 if self.score_one(x) < 0.0 else 1

    def score_one(self, x):
        return float(self._bent(self.top.look([x]))[0])

    def probability_one(self, x):
        return float(1.0 / (1.0 + np.exp(-self.score_one(x))))

    def play_one(self, x, y):
        result = self._played(np.array([x]), np.array([y], dtype=np.int8))
        return StepResult(*(None if value is None else value[0] for value in result))

    def learn_many(self, batch):
        return self._played(np.asarray(batch.x, dtype=float), np.asarray(batch.y, dtype=np.int8))

    def _played(self, odds, y):
        z = self._bent(self.top.play(odds, y))
        said = np.where(z < 0.0, -1, 1).astype(np.int8)
        wrong = (said != y).astype(float)
        return StepResult(said, wrong, wrong, probabilities=np.exp(-np.logaddexp(0.0, -y * z)), scores=np.c_[odds, z])

    def seen_batch(self, batch):
        return batch

    def seen_row(self, x, later=False):
        return np.array(x)

    def tracker(self):
        return (SwitchingTracker if self.shared else BayesTracker)(self.prior)

    def facts(self):
        return Played(self.rounds)


class MixedNumbers(Learner):
    """Numbers; x are the forecasts."""

    promises: ClassVar = (numbers_regret, numbers_switching_regret)
    fields = (Argument("prior", list), Argument("shared", bool), Part("top"))
    task = "regression"
    loss = "squared"
    bend = 0.0
    """What is added to every forecast: 0 for a learner that is not broken."""

    def __init__(self, prior, shared=False):
        self.prior, self.shared, self.top = list(prior), shared, AdaHedgeTop(prior, shared)
        self.domain = Domain("vector")

    @property
    def rounds(self):
        return self.top.rounds

    @property
    def names(self):
        return [f"forecaster {i}" for i in range(len(self.prior))]

    def predict_one(self, x):
        return float(self.top.look([x])[0]) + self.bend

    def play_one(self, x, y):
        result = self._played(np.array([x]), np.array([float(y)]))
        return StepResult(*(None if value is None else value[0] for value in result))

    def learn_many(self, batch):
        return self._played(np.asarray(batch.x, dtype=float), np.asarray(batch.y, dtype=float))

    def _played(self, forecasts, y):
        said = self.top.play(forecasts, y) + self.bend
        lost = (said - y) ** 2
        return StepResult(said, lost, lost, scores=np.c_[forecasts, said])

    def seen_batch(self, batch):
        return batch

    def seen_row(self, x, later=False):
        return np.array(x)

    def tracker(self):
        return NumbersTracker(self.prior, self.shared)

    def facts(self):
        return Played(self.rounds)
