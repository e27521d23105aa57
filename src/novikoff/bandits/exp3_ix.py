"""EXP3-IX: a bandit with exponential weights on estimated losses and implicit exploration.

Algorithm
    E_i = 0. In round t draw arm I with probabilities p(i) proportional to exp(-eta_t E_i), observe its loss l in
    [0, 1], and add
        l / (p(I) + gamma_t)   to E_I,      gamma_t = eta_t / 2.
    Gamma (implicit exploration) limits estimates where p is small: they are too small on average, and rarely far too
    large. The rate eta_t
        fixed      as given (`eta`); or sqrt(2 ln K / (K T)) for a `horizon` of T rounds (more rounds are allowed)
        otherwise  sqrt(ln K / (K t)) on all estimates so far, without knowing T
    `implicit=false` leaves gamma out: that is EXP3, whose loss varies much more; bandits/theorems/ix_regret.py does
    not cover it. Only the loss of the arm drawn is used, also in a simulation, which provides a whole row
    (bandits/bandit_learner.py).
Promise
    bandits/theorems/ix_pathwise.py: loss <= least E_i + ln K / eta + the sum of (eta/2 + gamma) e, on every stream.
    bandits/theorems/observable_regret.py: a limit on the regret from observed losses, at all rounds at once.
    bandits/theorems/ix_regret.py: regret <= 2 sqrt(2 K T ln K) + (sqrt(K T / (2 ln K)) + 1) ln(2/delta), known in
    advance.
Cost
    O(K) per round, one exp per arm; 80 bytes per arm. Ten arms: about 3 million rounds per second.
Reference
    [neu2015]; [auer2002] for EXP3.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from novikoff.bandits import _loops
from novikoff.bandits._loops.bandit_layout import Rates, Results
from novikoff.bandits.bandit_learner import BanditLearner, Vector
from novikoff.bandits.theorems.bandit_facts import BanditFacts
from novikoff.bandits.theorems.ix_pathwise import ix_pathwise
from novikoff.bandits.theorems.ix_regret import ix_regret
from novikoff.bandits.theorems.observable_regret import observable_regret
from novikoff.core.errors import InputError
from novikoff.core.sizes import integer
from novikoff.core.state import Argument
from novikoff.core.types import Example, Theorem
from novikoff.experts.panel import positive
from novikoff.numerics.records import astuple


class Exp3IX(BanditLearner):
    """Bandit that draws arms by weights that fall exponentially with their estimated losses.

    Args:
        arms: Number of arms K.
        eta: Fixed learning rate; None for one that decreases with the rounds.
        horizon: Number of rounds for which to tune a fixed rate; not together with `eta`.
        implicit: Whether estimates use implicit exploration; False is EXP3.
        seed: Seed of the draws.

    Guarantee:
        With probability 1 - delta, regret at most 4 sqrt(K T ln K) + (sqrt(K T / ln K) + 1) ln(2/delta)
        (`ix_regret`); a limit from observed losses holds at all rounds at once (`observable_regret`).

    Example:
        >>> import novikoff as nk
        >>> bandit = nk.Exp3IX(arms=2)
        >>> for _ in range(20):
        ...     step = bandit.play_one(None, [0.2, 0.8])
        >>> round(bandit.chances()[0], 2)
        0.75
    """

    promises: ClassVar[tuple[Theorem, ...]] = (observable_regret, ix_pathwise, ix_regret)
    fields = (
        Argument("arms", int),
        Argument("eta", float | None),
        Argument("horizon", int | None),
        Argument("implicit", bool),
        Argument("seed", int),
        *BanditLearner.fields,
    )

    def __init__(
        self, arms: int, eta: float | None = None, horizon: int | None = None, implicit: bool = True, seed: int = 0
    ) -> None:
        super().__init__(arms, seed)
        self.eta, self.horizon, self.implicit = eta, horizon, implicit
        self._fixed = fixed_rate(eta, horizon, self.arms, self.arms)

    def _chances(self, x: Example) -> Vector:
        chances = np.empty(self.arms)
        rate = _loops.bandits.falling(self.arms, self.arms, self._fixed, self.rounds + 1)
        _loops.bandits.weigh(self._estimates, rate, chances)
        return chances

    def _play(self, x: object, rows: Vector, whole: bool, results: Results) -> None:
        rates, chances = Rates(self._fixed, 0.5 if self.implicit else 0.0), np.empty(self.arms)
        coins, sums = self._next_coins(), self._all_sums()
        _loops.bandits.exp3_ix(rows, whole, astuple(coins), astuple(rates), astuple(sums), chances, astuple(results))

    def _gammas_played(self) -> tuple[float, float]:
        share, last = 0.5 if self.implicit else 0.0, max(self.rounds, 1)
        first, least = (_loops.bandits.falling(self.arms, self.arms, self._fixed, t) for t in (1, last))
        return share * least, share * first

    def facts(self) -> BanditFacts:
        return self._facts(rule="ix", horizon=self.horizon or 0, halved=self.implicit)


def fixed_rate(eta: float | None, horizon: int | None, policies: int, arms: int) -> float:
    """Return the rate if it is constant; 0 if it falls with the rounds."""
    if eta is not None and horizon is not None:
        raise InputError("eta and horizon must not both be given: got both. Leave one of them out.")
    if eta is not None:
        return positive(eta, "eta", " Leave it out for a rate that decreases.")
    if horizon is None:
        return 0.0
    rounds = integer(horizon, "horizon", "a horizon must be a positive whole number of rounds", 1)
    return math.sqrt(2.0 * math.log(policies) / (arms * rounds))
