"""Hedge over learners: follow one of several, with few more mistakes than the best of them.

Algorithm
    Each of K learners plays every round by itself and learns every label, whether it was followed or not. Hedge repeats
    the prediction of one of them: learner i with probability w_i, drawn afresh in each round. A rule on losses (a
    mistake costs 1) updates the weights w, which start equal:
    by = exponential-weights   w_i is proportional to exp(-eta * mistakes of i), eta = sqrt(8 ln K / horizon); without a
                               `horizon`, 2 sqrt(ln K / t) in round t
    by = ada-hedge             the same, with eta set by the cost of mixing so far
    by = fixed-share           a share of the weights is redistributed in each round, so that the best learner may
                               change, up to `switches` times in `horizon` rounds
    by = a learner on losses   of K experts, with loss "table", that draws: experts/exponential_weights.py and others
    Labels are -1 and +1. A team may not contain a team: put all learners in one.
Coins
    The rule draws the learner to follow with separate coins (numerics/coins.py): `seed` is mapped to a seed that no
    learner has, and a rule with the seed of a learner is refused: with shared coins Hedge could follow a learner
    exactly when it errs. Learners may share coins with each other: given all their coins, the mistakes are a fixed
    table. All learners draw before Hedge does, and none of them sees which one is followed.
Promise
    experts/theorems/hedge_mistakes.py: expected mistakes <= the bound of any learner + the regret of the rule, on every
    stream; experts/theorems/hedge_expected.py for learners whose bounds are expectations. The rule's theorems,
    against the learner with the fewest mistakes on this stream: fixed_rate_regret, anytime_regret, doubling_regret,
    mixability_gaps, small_losses, ada_hedge_regret, fixed_share_regret; drawn_loss for the actual draws. In an
    environment that reacts, the mistakes of a learner are those it made here, not those it would have made had it been
    followed alone.
Cost
    That of all the learners, and O(K) per round.
Reference
    [freund1997]; [littlestone1994]; [cesabianchi2006], chapter 2.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, shown
from novikoff.core.learner import Learner
from novikoff.core.nesting import Nested, Team
from novikoff.core.registry import made
from novikoff.core.sizes import integer
from novikoff.core.state import Argument
from novikoff.core.types import (
    Batch,
    Distribution,
    Domain,
    Example,
    Label,
    Outcome,
    Prediction,
    State,
    StepResult,
    Theorem,
    check_label,
    signs,
    stacked,
)
from novikoff.experts.team import checked_rule, common_domain, narrowness, team, word
from novikoff.experts.theorems.ada_hedge_regret import ada_hedge_regret
from novikoff.experts.theorems.anytime_regret import anytime_regret
from novikoff.experts.theorems.doubling_regret import doubling_regret
from novikoff.experts.theorems.drawn_loss import drawn_loss
from novikoff.experts.theorems.experts_facts import ExpertsFacts
from novikoff.experts.theorems.fixed_rate_regret import fixed_rate_regret
from novikoff.experts.theorems.fixed_share_regret import fixed_share_regret
from novikoff.experts.theorems.hedge_expected import hedge_expected
from novikoff.experts.theorems.hedge_mistakes import hedge_mistakes
from novikoff.experts.theorems.mixability_gaps import mixability_gaps
from novikoff.experts.theorems.small_losses import small_losses
from novikoff.numerics.coins import coin


class Hedge(Learner):
    """Team of learners of which one, drawn afresh in each round, is followed.

    Args:
        learners: Distinct learners on the same examples, or their specs; the team owns them from now on.
        horizon: Number of rounds, if known.
        by: Rule that moves the weights: "exponential-weights", "ada-hedge", "fixed-share" or a learner on losses.
        switches: Expected changes of the best learner, for "fixed-share".
        seed: Seed of the draws.
        names: Names of the learners in reports; None for their class names.

    Guarantee:
        Expected mistakes at most the bound of any of the K learners plus sqrt(T ln K), or plus sqrt(T ln K / 2) with a
        known horizon T (`hedge_mistakes`).

    Example:
        >>> import novikoff as nk
        >>> team = nk.Hedge([nk.Perceptron(), nk.Logistic()], horizon=20)
        >>> ledger = nk.play(team, [([1.0, 0.0], -1), ([0.0, 1.0], 1)] * 10)
        >>> team.weights.round(2).tolist()
        [0.63, 0.37]
    """

    domain: Domain
    learners: list[Learner]
    names: list[str]
    seed: int

    promises: ClassVar[tuple[Theorem, ...]] = (
        hedge_mistakes, hedge_expected, fixed_rate_regret, anytime_regret, doubling_regret, mixability_gaps,
        small_losses, ada_hedge_regret, fixed_share_regret, drawn_loss,
    )  # fmt: skip
    draws = True
    fields = (
        Team("learners", argument=True),
        Nested("rule", argument=True),
        Argument("seed", int),
        Argument("names"),
    )

    def __init__(
        self,
        learners: Sequence[Learner | str],
        horizon: int | None = None,
        by: str | Learner = "exponential-weights",
        switches: int | None = None,
        seed: int = 0,
        names: Sequence[str] | None = None,
    ) -> None:
        specs = isinstance(learners, (list, tuple)) and any(isinstance(one, str) for one in learners)
        if specs and names is None:
            names = [one if isinstance(one, str) else type(one).__name__ for one in learners]
        players: Any = [made(one) if isinstance(one, str) else one for one in learners] if specs else learners
        self.learners = team(players)
        self.domain, self.task = common_domain(self.learners), self.learners[0].task
        self._kind = np.int64 if self.task == "multiclass" else np.int8  # of labels
        self.seed = integer(seed, "seed", "a seed must be an integer")
        self.rule = self._rule(by, horizon, switches)
        self.names = [type(learner.original).__name__ for learner in self.learners] if names is None else list(names)
        if len(self.names) != len(self.learners) or not all(type(name) is str for name in self.names):
            raise InputError(f"names must be texts, one for each of {len(self.learners)} learners: got {shown(names)}.")
        self._draw = [learner.draws for learner in self.learners]
        # The strictest learner goes first, so that it refuses a batch before any other has learned from it.
        self._order = sorted(range(len(self.learners)), key=lambda k: narrowness(self.learners[k].domain))
        # Whether a learner has learned in this call; why the learners no longer have played the same rounds.
        self._begun, self._torn = False, ""

    def _rule(self, by: str | Learner, horizon: int | None, switches: int | None) -> Any:
        """Return the learner on losses that moves the weights; it shares its coins with no learner."""
        experts, taken = len(self.learners), {word(learner) for learner in self.learners}
        if not isinstance(by, str):
            if horizon is not None or switches is not None:
                raise InputError("horizon and switches must be left out if `by` is a learner: pass them to it.")
            return checked_rule(by, experts, taken)
        seeds = (coin(self.seed, "hedge", k) for k in range(len(taken) + 1))
        given: dict[str, Any] = {"loss": "table", "seed": next(seed for seed in seeds if seed not in taken)}
        if switches is not None and by != "fixed-share":
            raise InputError(f"switches need by = fixed-share: got by = {by}. Leave them out.")
        if by == "exponential-weights":
            from novikoff.experts.exponential_weights import ExponentialWeights

            return ExponentialWeights(experts, horizon=horizon, play="draw", **given)
        if by == "ada-hedge":
            if horizon is not None:
                raise InputError("by = ada-hedge needs no horizon: leave it out.")
            from novikoff.experts.ada_hedge import AdaHedge

            return AdaHedge(experts, play="draw", **given)
        if by == "fixed-share":
            if horizon is None or switches is None:
                raise InputError("by = fixed-share needs horizon and switches: pass both.")
            from novikoff.experts.fixed_share import FixedShare

            return FixedShare(experts, switches=switches, horizon=horizon, play="draw", **given)
        raise InputError(
            f"by must be exponential-weights, ada-hedge, fixed-share or a learner on losses: got {shown(by)}."
        )

    @property
    def labels(self) -> int | None:
        """Number of labels of the learners; None for -1 and +1."""
        return self.learners[0].labels

    @property
    def weights(self) -> NDArray[np.float64]:
        """Probability that each learner is followed in the next round."""
        weights: NDArray[np.float64] = self.rule.weights
        return weights

    @property
    def size(self) -> int:
        """Total size of the learners."""
        return sum(player.size or 0 for player in self.learners)

    def chances(self, x: Example) -> Distribution:
        """Return the probability of each label, over the coins of Hedge and of learners that draw."""
        total: dict[int, float] = {}
        for player, weight in zip(self.learners, self.weights.tolist(), strict=True):
            for label, chance in player.chances(x).items():
                total[label] = total.get(label, 0.0) + weight * chance
        return total

    def predict_one(self, x: Example) -> Prediction:
        return self.learners[int(self.rule.predict_one(None))].predict_one(x)

    def play_one(self, x: Example, y: Outcome) -> StepResult:
        """Let every learner predict, then learn; the prediction is that of the learner followed."""
        y = check_label(y, None if self.task == "binary" else (self.labels or 0) + 1)
        self._check_intact()
        risks = np.zeros(len(self.learners)) if any(self._draw) else None
        for k, player in enumerate(self.learners):  # a learner that refuses x does so before any has learned
            if player.draws and risks is not None:
                risks[k] = 1.0 - player.chances(x).get(y, 0.0)
            elif k:
                player.predict_one(x)
        predicted = np.zeros(len(self.learners), dtype=self._kind)
        results: list[StepResult | None] = [None] * len(self.learners)
        with self._together():
            for k, player in enumerate(self.learners):
                predicted[k], results[k] = self._play(player, x, y)
            wrong = (predicted != y).astype(np.float64)
            paid = self.rule.play_one(None, wrong)
        risks = None if risks is None else np.where(self._draw, risks, wrong)
        return StepResult(
            int(predicted[int(paid.predictions)]), paid.losses, paid.expected, predicted, risks, results=results
        )

    def learn_many(self, batch: Batch) -> StepResult:
        """Play every row in order: learner after learner, compiled where possible, then the rule."""
        self._check_intact()
        y = batch.y if self.task == "multiclass" else signs(batch)
        batch = Batch(batch.x, y, batch.first, weights=batch.weights)
        shape = (len(batch), len(self.learners))
        predicted, risks = np.empty(shape, dtype=self._kind), np.empty(shape) if any(self._draw) else None
        results: list[StepResult | None] = [None] * len(self.learners)
        with self._together():
            for k in self._order:
                predicted[:, k], risk, results[k] = self._learn_many(self.learners[k], batch)
                if risks is not None:
                    risks[:, k] = predicted[:, k] != batch.y if risk is None else risk
            wrong = (predicted != batch.y[:, np.newaxis]).astype(np.float64)
            paid = self.rule.learn_many(Batch(None, wrong, batch.first))
        followed = np.asarray(paid.predictions).astype(np.int64)
        chosen = predicted[np.arange(len(batch)), followed]
        return StepResult(chosen, paid.losses, paid.expected, predicted, risks, results=results)

    def _play(self, player: Learner, x: Example, y: Label) -> tuple[Label, StepResult | None]:
        """Return a learner's prediction before learning, and its result where it holds more (`_own`)."""
        played = player.play_one(x, y)
        self._begun = True
        if isinstance(played, StepResult):
            return int(played.predictions), _own(player, played)
        return int(played), None

    def _learn_many(self, player: Learner, batch: Batch) -> tuple[Any, Any, StepResult | None]:
        """Return a learner's predictions, its error probabilities if it draws, and its result as `_play` does."""
        played = player.learn_many(batch)
        if played is not None:
            self._begun = True
            if not isinstance(played, StepResult):
                return played, None, None
            return played.predictions, played.expected, _own(player, played)
        predicted, risks = np.empty(len(batch), dtype=self._kind), np.empty(len(batch)) if player.draws else None
        results: list[StepResult | None] = [None] * len(batch)
        copies = None if batch.copies is None else batch.copies.tolist()
        for t, ((x, _), y) in enumerate(zip(batch.rows(), batch.y.tolist(), strict=True)):
            try:
                if copies is not None:
                    player.repeat(copies[t])
                if risks is not None:
                    risks[t] = 1.0 - player.chances(x).get(y, 0.0)
                predicted[t], results[t] = self._play(player, x, y)
            except InputError as error:
                error.at(round=batch.first + t)
                raise
        if copies is not None:
            player.repeat(False)
        return predicted, risks, stacked([one for one in results if one is not None])

    @contextmanager
    def _together(self) -> Iterator[None]:
        """Mark the team as broken if a learner fails after another has learned."""
        self._begun = False
        try:
            yield
        except BaseException as error:
            if self._begun:
                self._torn = str(error) or type(error).__name__
            raise

    def _check_intact(self) -> None:
        """Raise an error if an earlier failure left the learners in different rounds."""
        if self._torn:
            raise InputError(
                f"the learners of a team must have played the same rounds: one failed after others had learned "
                f"({self._torn}). Start again, or resume a saved game."
            )

    def facts(self) -> ExpertsFacts:
        """Return the facts of the rule, and whether its coins are separate (unknown if a learner has no seed)."""
        seeds = [word(player) for player in self.learners if player.draws]
        apart = False if word(self.rule) in seeds else None if None in seeds else True
        facts: ExpertsFacts = self.rule.facts()
        return dataclasses.replace(facts, apart=apart)

    def state(self) -> State:
        self._check_intact()
        return super().state()

    @classmethod
    def arguments(cls, state: State) -> dict[str, object]:
        given = super().arguments(state)
        given["by"] = given.pop("rule")
        return given


def _own(player: Learner, played: StepResult) -> StepResult | None:
    """Return the result if it has probabilities or scores, which comparators may need; otherwise None."""
    return played if player.probable or player.task == "multiclass" or played.scores is not None else None
