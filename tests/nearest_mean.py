"""A small learner for tests of the border, of two labels and of many: says the label whose mean is nearest to x."""

from dataclasses import dataclass

import numpy as np

import novikoff as nk
from novikoff.core.errors import InputError
from novikoff.core.types import StepResult, check_label


@dataclass(frozen=True)
class Facts:
    rounds: int


class NearestMeans:
    """Of many labels, numbered as they come: the mean of each; the smallest label wins ties."""

    promises = ()
    task = "multiclass"

    def __init__(self, width: int, labels: int = 0) -> None:
        self.domain = nk.Domain("vector", width)
        self.sums, self.counts = np.zeros((labels, width)), np.zeros(labels, dtype=np.int64)

    @property
    def labels(self) -> int:
        return len(self.counts)

    def distances(self, x):
        means = self.sums / np.maximum(self.counts, 1)[:, None]
        return ((means - np.asarray(x, dtype=np.float64)) ** 2).sum(axis=1)

    def predict_one(self, x):
        x = np.asarray(x, dtype=np.float64)
        if x.shape != (self.domain.width,) or not np.isfinite(x).all():
            raise InputError(f"x must be {self.domain.width} finite numbers: got {x}.")
        return int(np.argmin(self.distances(x))) if self.labels else 0

    def learn_one(self, x, y):
        self.predict_one(x)
        y = check_label(y, self.labels + 1)
        if y == self.labels:
            self.sums = np.vstack([self.sums, np.zeros(self.domain.width)])
            self.counts = np.append(self.counts, 0)
        self.sums[y] += x
        self.counts[y] += 1

    def facts(self):
        return Facts(int(self.counts.sum()))

    def state(self):
        return {"sums": self.sums.copy(), "counts": self.counts.copy()}

    @classmethod
    def restore(cls, state):
        learner = cls(state["sums"].shape[1])
        learner.sums, learner.counts = np.array(state["sums"]), np.array(state["counts"])
        return learner


class ProbableMeans(NearestMeans):
    """The same, with probabilities: those of distances, and 1/(t+1)^2 for a label that never came."""

    def probabilities_one(self, x):
        weights = np.exp(-self.distances(x) / 2)
        return weights / weights.sum()

    def play_one(self, x, y):
        said, known, rounds = self.predict_one(x), self.labels, int(self.counts.sum())
        new = 1.0 / (rounds + 2.0) ** 2
        each = (1.0 - new) * self.probabilities_one(x) if known else np.zeros(1)
        chance = float(each[y]) if check_label(y, known + 1) < known else new
        brier = float((each**2).sum() + new**2 - chance**2 + (1.0 - chance) ** 2)
        self.learn_one(x, y)
        wrong = float(said != y)
        return StepResult(said, wrong, wrong, probabilities=chance, confidences=float(each[said]), briers=brier)


class NearestMean(NearestMeans):
    """Of two labels: -1 and +1, both there from the beginning."""

    task = "binary"

    def __init__(self, width: int) -> None:
        super().__init__(width, 2)

    @property
    def labels(self):
        return None

    def predict_one(self, x):
        near = self.distances(x)
        return 1 if near[1] <= near[0] else -1

    def learn_one(self, x, y):
        y = check_label(y, None)
        self.sums[(y + 1) // 2] += x
        self.counts[(y + 1) // 2] += 1
