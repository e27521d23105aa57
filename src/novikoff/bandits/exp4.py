"""EXP4: a bandit that follows the best of several experts or contextual learners, observing one loss per round.

Algorithm
    Each of N experts gives every arm a probability q_j(i); E_j = 0. In round t expert j has the weight w_j,
    proportional to exp(-eta_t E_j), and arm I is drawn with probability
    p(i) = (1 - eps_t) * (the sum of w_j q_j(i)) + eps_t / K. Observe its loss l in [0, 1], and add
        q_j(I) l / (p(I) + gamma_t)   to every E_j,      gamma_t = eta_t / 2.
    The exploration eps_t is as given (`explore`), from 0 to below 1; by default 0 for experts, whose advice is fixed,
    and t^(-1/3)/2 for learners, which would never observe the loss of an arm that none of them predicts.
    The rate eta_t
        fixed      as given (`eta`); or sqrt(2 ln N / (K T)) for a `horizon` of T rounds
        otherwise  sqrt(ln N / (K t)), without knowing T
    `implicit=false` leaves gamma out: the EXP4 of the literature. With one expert per arm it is exp3-ix. With
    exploration, N counts as at least 2.
Experts
    `experts=N`: x is their advice, one arm each (0 .. K-1), or a row of K probabilities each.
    `learners=[...]`: x is an example, and each learner predicts an arm: its label. K labels, or for two arms -1 (arm 0)
    and +1 (arm 1). A learner is trained with the arm that was played as label if its loss was below 1/2; with two arms,
    with the other one if it was above. With more arms, frequently played arms would be learned too often, so the
    example is weighted by inverse propensity: it is repeated 1/p(I) times, rounded at random, at most 100 times. The
    bounds are against the learners' predictions.
Promise
    bandits/theorems/ix_pathwise.py, observable_regret.py and ix_regret.py, against the best expert: in advance at most
    2 sqrt(2 K T ln N) + (sqrt(K T / (2 ln N)) + 1) ln(2/delta) without exploration; exploration adds at least the sum
    of eps_t.
Cost
    O(N K) per round, and that of the learners: on average one example per round and arm, if there are more than two.
Reference
    [auer2002]; [neu2015] for gamma.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from novikoff.bandits import _loops
from novikoff.bandits._loops.bandit_layout import Rates, Results
from novikoff.bandits.bandit_learner import BanditLearner, Vector
from novikoff.bandits.exp3_ix import fixed_rate
from novikoff.bandits.theorems.bandit_facts import BanditFacts
from novikoff.bandits.theorems.ix_pathwise import ix_pathwise
from novikoff.bandits.theorems.ix_regret import ix_regret
from novikoff.bandits.theorems.observable_regret import observable_regret
from novikoff.core.adapt import adapt, is_learner
from novikoff.core.batch import still
from novikoff.core.errors import InputError, shown
from novikoff.core.learner import Learner
from novikoff.core.nesting import Team
from novikoff.core.sizes import integer
from novikoff.core.state import Argument
from novikoff.core.types import Batch, Domain, Example, Outcome, StepResult, Task, Theorem
from novikoff.experts.panel import is_number
from novikoff.experts.team import common_domain
from novikoff.numerics.coins import uniform
from novikoff.numerics.records import astuple

CELLS = 2**20
"""Number of probabilities of advice held in memory at once."""
LARGEST = 1_000_000
"""Largest number of experts."""
SLACK = 1e-10
"""Largest distance of the sum of an expert's probabilities from 1."""
MOST_LESSONS = 100
"""Largest number of times that a learner is trained on one example."""


class Exp4(BanditLearner):
    """Bandit that follows the best of several experts or contextual learners.

    Args:
        arms: Number of arms K.
        experts: Number of experts N, if x is their advice.
        learners: Learners that predict an arm from x, instead of `experts`; the bandit owns them from now on.
        eta: Fixed learning rate; None for one that decreases with the rounds.
        horizon: Number of rounds for which to tune a fixed rate; not together with `eta`.
        implicit: Whether estimates use implicit exploration; False is the EXP4 of the literature.
        explore: Probability of a uniform draw; None for t^(-1/3)/2 with learners and 0 with experts.
        seed: Seed of the draws.

    Guarantee:
        Without exploration, with probability 1 - delta, regret against the best expert at most
        4 sqrt(K T ln N) + (sqrt(K T / ln N) + 1) ln(2/delta) (`ix_regret`).

    Example:
        >>> import novikoff as nk
        >>> bandit = nk.Exp4(arms=2, experts=3)
        >>> for _ in range(20):
        ...     step = bandit.play_one([0, 1, 1], [0.2, 0.8])
        >>> bandit.weights().round(2).tolist()
        [0.57, 0.21, 0.21]
    """

    domain: Domain

    promises: ClassVar[tuple[Theorem, ...]] = (observable_regret, ix_pathwise, ix_regret)
    fields = (
        Argument("arms", int),
        Argument("experts", int | None),
        Argument("eta", float | None),
        Argument("horizon", int | None),
        Argument("implicit", bool),
        Argument("explore", float | None),
        Argument("seed", int),
        Team("learners", argument=True, at="_team"),
        *BanditLearner.fields,
    )

    def __init__(
        self, arms: int, experts: int | None = None, learners: Sequence[Learner] | None = None,
        eta: float | None = None, horizon: int | None = None, implicit: bool = True, explore: float | None = None,
        seed: int = 0,
    ) -> None:  # fmt: skip
        if (experts is None) == (learners is None):
            raise InputError("either experts or learners must be given: got both, or neither.")
        count = len(learners) if learners is not None else experts
        must = "the number of experts must be an integer"
        super().__init__(arms, seed, integer(count, "experts", must, 1, LARGEST))
        self.experts, self.eta, self.horizon, self.implicit = experts, eta, horizon, implicit
        if explore is not None and not (is_number(explore) and 0.0 <= explore < 1.0):
            raise InputError(f"explore must be from 0 to below 1: got {shown(explore)}. Leave it out for the default.")
        self.explore = explore
        self._explore = float(explore) if explore is not None else 0.0 if learners is None else -1.0
        self._rated = self._policies if self._explore == 0.0 else max(self._policies, 2)
        self._fixed = fixed_rate(eta, horizon, self._rated, self.arms)
        self._team = [] if learners is None else self._checked_team(learners)
        self.domain = common_domain(self._team) if self._team else Domain("advice", self._policies)
        self.task = "regression" if self._team else "advice"  # the losses of the arms of one example are its outcome

    @classmethod
    def task_of(cls, given: Mapping[str, object]) -> Task:
        return "advice" if given["learners"] is None else "regression"

    def _checked_team(self, learners: Sequence[Learner]) -> list[Learner]:
        for k, learner in enumerate(learners):
            if not is_learner(learner):
                raise InputError(f"learners must be learners: number {k + 1} is {shown(learner)}.")
            player = adapt(learner)
            labels = 2 if player.task == "binary" else player.labels or 0
            if labels != self.arms or player.task in ("advice", "losses"):
                raise InputError(
                    f"a learner must have a label for each of {self.arms:,} arms: number {k + 1} has {labels:,}, and "
                    f"plays on {player.domain}. With two arms the labels are -1 and +1."
                )
            if any(learner is other for other in learners[:k]):
                raise InputError(
                    f"learners must be different objects: number {k + 1} is repeated. Make another instance."
                )
        return [adapt(learner) for learner in learners]

    def _checked(self, x: Any, rows: int) -> Any:
        """Return the probability that each expert gives each arm: (rounds, experts, arms)."""
        if self._team:
            return self._one_hot(np.array([[self._arm(learner, x) for learner in self._team]]))
        each = f"an arm from 0 to {self.arms - 1:,} each, or {self.arms:,} probabilities each"
        must = f"x must be the advice of {self._policies:,} experts, {each}"
        given = self._numbers_of(x, must)
        given = given[np.newaxis] if rows == 1 and given.ndim in (1, 2) and len(given) == self._policies else given
        if given.ndim == 2 and given.shape == (rows, self._policies):
            if not (np.isin(given, np.arange(self.arms))).all():
                raise InputError(f"{must}: got {shown(given[~np.isin(given, np.arange(self.arms))][0])}.")
            return self._one_hot(given.astype(np.int64))
        if given.shape != (rows, self._policies, self.arms):
            raise InputError(f"{must}: got shape {np.shape(x)}.")
        if not ((given >= 0.0) & (given <= 1.0)).all() or not (np.abs(given.sum(axis=2) - 1.0) <= SLACK).all():
            raise InputError(f"{must}: got probabilities that are not from 0 to 1, or do not sum to 1.")
        return still(np.ascontiguousarray(given))

    def _numbers_of(self, x: object, must: str) -> Vector:
        from novikoff.core import encode

        try:
            return encode.doubles(x)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{must}: got {shown(x)}.") from None

    def _one_hot(self, arms: Any) -> Vector:
        return still(np.eye(self.arms)[arms])

    def _arm(self, learner: Learner, x: Example) -> int:
        predicted = learner.predict_one(x)
        return int(predicted == 1) if learner.task == "binary" else int(predicted)

    def weights(self) -> Vector:  # type: ignore[override] # computed, not stored
        """Return the weights of the experts in the next round."""
        found = np.empty(self._policies)
        rate = _loops.bandits.falling(self._rated, self.arms, self._fixed, self.rounds + 1)
        _loops.bandits.weigh(self._estimates, rate, found)
        return found

    def _chances(self, x: Any) -> Vector:
        chances = np.empty(self.arms)
        explore = _loops.bandits.exploring(self._explore, self.rounds + 1)
        _loops.bandits.advised(self.weights(), x[0], explore, chances)
        return chances

    def play_one(self, x: Example, y: Outcome) -> StepResult:
        """Draw an arm by the experts' advice, learn its loss, and train the learners."""
        chances = self._chances(self._checked(x, 1)) if self._team else None
        result = super().play_one(x, y)
        if chances is not None:
            arm = int(result.predictions)
            self._teach(x, arm, float(result.losses), float(chances[arm]))
        return result

    def _teach(self, x: Example, arm: int, loss: float, chance: float) -> None:
        """Train the learners with the right arm, if the loss identifies it, weighted by inverse propensity."""
        if loss == 0.5 or (loss > 0.5 and self.arms != 2):
            return
        right, lessons = (arm if loss < 0.5 else 1 - arm), 1
        if self.arms > 2:  # with two arms every loss identifies the right arm, so neither is learned too often
            lessons = int(min(1.0 / chance, MOST_LESSONS) + uniform(self.seed, "lessons", self.rounds))
        for learner in self._team:
            for _ in range(lessons):
                learner.learn_one(x, 2 * right - 1 if learner.task == "binary" else right)

    def learn_many(self, batch: Batch) -> StepResult | None:  # type: ignore[override]
        """Play every row in order, compiled; return None with learners, which take one x at a time."""
        size = max(1, CELLS // (self._policies * self.arms))
        if self._team or len(batch) <= size:
            return None if self._team else super().learn_many(batch)
        parts = [super(Exp4, self).learn_many(batch.part(k, k + size)) for k in range(0, len(batch), size)]
        return StepResult(*(np.concatenate(some) for some in zip(*((p[:3]) for p in parts), strict=True)))

    def _play(self, x: Any, rows: Vector, whole: bool, results: Results) -> None:
        rates = Rates(self._fixed, 0.5 if self.implicit else 0.0, self._explore)
        weights, chances = np.empty(self._policies), np.empty(self.arms)
        _loops.bandits.exp4(
            x, rows, whole, astuple(self._next_coins()), astuple(rates), astuple(self._all_sums()), weights, chances,
            astuple(results),
        )  # fmt: skip

    def facts(self) -> BanditFacts:
        return self._facts(rule="ix", horizon=self.horizon or 0, halved=self.implicit)
