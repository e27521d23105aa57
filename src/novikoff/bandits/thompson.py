"""Thompson sampling: play each arm with the posterior probability that it is the best.

Algorithm
    The prior on the mean loss of each arm is uniform on [0, 1]. In every round sample a mean for each arm from its
    posterior, Beta(1 + ones, 1 + zeros), and play the arm whose sample is least. A loss l between 0 and 1 counts as a
    one with probability l, by a coin, and as a zero otherwise, which keeps its mean; losses 0 and 1 are counted as they
    are. The samples of a round are functions of the seed and the round. `chances` computes the probability of each arm
    by quadrature, to about ten digits.
Promise
    bandits/theorems/thompson_regret.py: if the means are draws of the prior, expected pseudo-regret at most
    sqrt(K T ln K / 2).
Cost
    Two gamma samples per arm and round, about six coins; 32 bytes per arm. Ten arms: about 0.8 million rounds per
    second.
Reference
    [thompson1933]; [agrawal2012] for losses between 0 and 1; [marsaglia2000] for the samples.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from novikoff.bandits import _loops
from novikoff.bandits._loops.bandit_layout import Results, Starts
from novikoff.bandits.bandit_learner import Vector
from novikoff.bandits.stochastic_bandit import StochasticBandit
from novikoff.bandits.theorems.bandit_facts import BanditFacts
from novikoff.bandits.theorems.thompson_regret import thompson_regret
from novikoff.core.state import Argument, Array, require
from novikoff.core.types import Example, State, Theorem
from novikoff.numerics.coins import start
from novikoff.numerics.records import astuple


class Thompson(StochasticBandit):
    """Bandit that plays each arm with the posterior probability that its mean loss is the least.

    Args:
        arms: Number of arms K.
        seed: Seed of the samples.

    Guarantee:
        Expected pseudo-regret at most sqrt(K T ln K / 2), if the means are draws of the uniform prior
        (`thompson_regret`).

    Example:
        >>> import novikoff as nk
        >>> bandit = nk.Thompson(arms=2)
        >>> for _ in range(100):
        ...     step = bandit.play_one(None, [0.0, 1.0])
        >>> bandit.plays
        [98, 2]
    """

    draws = True
    promises: ClassVar[tuple[Theorem, ...]] = (thompson_regret,)
    fields = (
        Argument("arms", int),
        Argument("seed", int),
        *StochasticBandit.fields,
        Array("ones", ("arms",), nonnegative=True, at="_ones"),
    )

    def __init__(self, arms: int, seed: int = 0) -> None:
        super().__init__(arms, seed)
        self._ones = np.zeros(self.arms)
        samples: Any = np.uint64(start(self.seed, "posterior"))
        rounding: Any = np.uint64(start(self.seed, "rounded loss"))
        self._starts = Starts(samples, rounding)

    def _arm(self) -> int:
        return int(_loops.stochastic.thompson_arm(self._plays, self._ones, self._starts.samples, self.rounds))

    def _chances(self, x: Example) -> Vector:
        return least_of_betas(1.0 + self._ones, 1.0 + self._plays - self._ones)

    def _play(self, x: object, rows: Vector, whole: bool, results: Results) -> None:
        _loops.stochastic.thompson(
            rows, whole, self.rounds, astuple(self._starts), self._ones, astuple(self._counts()), astuple(results)
        )

    def facts(self) -> BanditFacts:
        return self._facts(rule="thompson")

    def after_restoring(self, found: State) -> None:
        super().after_restoring(found)
        whole = bool(((self._ones <= self._plays) & (self._ones == np.floor(self._ones))).all())
        require(whole, "ones must be whole numbers, at most the plays", self._ones)


def least_of_betas(ones: Vector, zeros: Vector) -> Vector:
    """Return for each of several independent Beta(ones, zeros) variables the probability that it is the least.

    The density of one times the survival functions of the others is integrated by Gauss's rule between points that are
    placed around the mean of each variable.
    """
    from scipy.special import betaincc, betaln

    total = ones + zeros
    mean = ones / total
    deviation = np.sqrt(mean * (1.0 - mean) / (total + 1.0))
    likely = np.flatnonzero(mean - 40.0 * deviation <= (mean + 40.0 * deviation).min())
    a, b = ones[likely], zeros[likely]
    steps = np.array([-12.0, -8.0, -6.0, -4.5, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.5, 6.0, 8.0, 12.0, 40.0])
    points = np.clip(mean[likely, None] + steps * deviation[likely, None], 0.0, 1.0)
    points = np.unique(np.concatenate((points.ravel(), np.linspace(0.0, 1.0, 5))))
    nodes, weights = np.polynomial.legendre.leggauss(16)
    half = 0.5 * np.diff(points)
    x = (points[:-1, None] + half[:, None] * (1.0 + nodes)).ravel()
    weight = (half[:, None] * weights).ravel()
    survival = np.stack([betaincc(a[i], b[i], x) for i in range(len(a))])
    found = np.zeros(len(ones))
    for i, arm in enumerate(likely.tolist()):
        density = np.exp((a[i] - 1.0) * np.log(x) + (b[i] - 1.0) * np.log1p(-x) - betaln(a[i], b[i]))
        found[arm] = float(weight @ (density * np.delete(survival, i, axis=0).prod(axis=0)))
    chances: Vector = found / found.sum()
    return chances
