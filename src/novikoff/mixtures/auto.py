"""Auto: the learner to start with. No parameter, no scaling, rows and tables of any kind.

Algorithm
    Inputs, each a separate forecaster:
        the linear mixture (mixtures/linear_mixture.py)
        boosted trees (trees/boosting.py) after 15, 30 and 60 boosting rounds, and a forest of 10 trees
        (trees/regrown.py)
        boosted trees and a forest of 5 trees on the last 500 and on the last 2,000 rows, which also use lags: the
        previous label, and exponential means of earlier labels; those that in 250 rounds lost 10 nats more than trees
        without a window, which themselves lost no more than usual, are refitted less often
        second-order logistic regressions that forget 0.2 % and 1 % of the past per round, on up to 64 columns and the
        lags, and one on 96 random features of the columns (mixtures/forgetting.py)
    Stacks: second-order logistic regressions on the log-odds of the inputs (mixtures/stacks.py): one on the first five
    inputs; three on all inputs and the lags, which forget nothing, 0.2 % or 2 % of the past per round.
    Correction: a growing tree on the columns and the lags adds a number to the log-odds of the second stack, one per
    node, which forgets 2 % of the past per round (trees/residual.py).
    P(+1) is a mixture of inputs, stacks and correction by fixed share of rate 1/(t+1) (mixtures/tops.py), which follows
    the best of them and its changes; predict +1 if P(+1) is 1/2 or more. It starts with the linear mixture alone; the
    first stack joins after 32 rounds, all others after 128, so that short streams do not pay for them.
    `drift=false`, for streams that do not change: only the linear mixture, trees without a window and the first stack,
    in a Bayes mixture. `drift=true`: copies of the linear mixture that start at different times
    (experts/specialists.py) are one more input; several times the cost.
    Trees use the columns of a table as they are: numbers, categories, missing values. Rows of more than 256 columns,
    text and hashed rows are played by the linear mixture alone, as with `fast`. `bias` c adds a constant feature of
    value c to linear members. `seed` draws random features, bags and columns.
Promise
    mixtures/theorems/switching_regret.py: log loss at most that of every way of following one forecaster at a time and
    changing between them, plus its price. With `drift=false` mixtures/theorems/mixture_regret.py: at most that of each
    forecaster, plus ln of 1 over its prior. For the linear mixture alone: mixtures/theorems/linear_mixture_regret.py
    and linear_mixture_frozen.py.
Cost
    About 100 microseconds per row of 20 columns, refits included; their work is spread over rounds. 131,072 rows are
    stored, or fewer: 64 MB.
Reference
    [herbster1998] for the mixture; those of the members.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.comparators.tracker import Tracker
from novikoff.core.errors import InputError
from novikoff.core.state import Array, Count, Part, Parts
from novikoff.core.types import Batch, Example, Outcome, StepResult, Theorem, signs
from novikoff.experts.specialists import Specialists
from novikoff.mixtures.forgetting import ForgettingLogistic
from novikoff.mixtures.linear_mixture import LinearMixture
from novikoff.mixtures.stacks import Lags, LogisticStack
from novikoff.mixtures.theorems.linear_mixture_facts import LinearMixtureFacts
from novikoff.mixtures.theorems.linear_mixture_frozen import linear_mixture_frozen
from novikoff.mixtures.theorems.linear_mixture_regret import linear_mixture_regret
from novikoff.mixtures.theorems.mixture_regret import mixture_regret
from novikoff.mixtures.theorems.switching_regret import switching_regret
from novikoff.mixtures.top_tracker import BayesTracker, SwitchingTracker
from novikoff.mixtures.tops import BayesTop, FixedShareTop
from novikoff.mixtures.with_trees import AutoTracker, Vector, WithTrees, checked_drift, joins_of, rehearsed
from novikoff.trees.boosting import TWO_LABELS, WINDOW, BoostedTrees
from novikoff.trees.regrown import RegrownForest
from novikoff.trees.residual import ResidualTree

WINDOWS = (500, 2000)
"""Numbers of last rows of the trees that follow drift."""
LAGS = 4
"""Number of lag columns: the previous label, and three exponential means of earlier labels."""
MOST = 30.0
"""Largest log-odds of a forecaster."""
PLAIN = ("linear mixture", "boosted trees 15", "boosted trees 30", "boosted trees 60", "forest")
"""Names of the inputs of the first stack, which use neither windows nor lags."""
ADAPTING = (
    *(f"{kind}, last {rows:,} rows" for rows in WINDOWS for kind in ("boosted trees", "forest")),
    "logistic forgetting 0.2 %", "logistic forgetting 1 %", "random features forgetting 0.2 %",
)  # fmt: skip
"""Names of the inputs that follow drift."""
REVIEW = 250
"""Rounds after which it is decided again which trees with a window are refitted."""
REVIEWED = 2 + 2 * len(WINDOWS)
"""Number of tree models whose losses are compared: boosted trees and a forest, without a window and with each."""
BEHIND = 10.0
"""Nats by which trees with a window must have lost more in these rounds than trees without one to be left as they are;
and by which the latter may have lost more than on average: beyond it the stream may have changed."""
REST = 4
"""Multiple of the window at which they are refitted even so: their losses are then those of recent trees."""
COPIES = "copies of the linear mixture"
"""Name of the input with `drift=true`."""
STACKS = ("stack", "stack with recent labels", "stack forgetting 0.2 %", "stack forgetting 2 %")
"""Names of the stacks."""
CORRECTED = "stack with recent labels, corrected by a tree"
"""Name of the forecaster that corrects the second stack."""
CORRECTION = 0.98
"""Factor of the past of its corrections in each round."""
MOST_FORGETTING = 64
"""Largest number of columns of the regressions that forget: their cost grows with its square."""
CENTRE = (0.5, 0.1, 0.1, 0.1, 0.2)
"""Initial weights of the first stack."""
BLOCK = 256
"""Rounds after which another copy starts."""


def inputs_of(drift: bool | None) -> tuple[str, ...]:
    """Return the names of the inputs."""
    return PLAIN if drift is False else (*PLAIN, *ADAPTING, *((COPIES,) if drift else ()))


def prior_of(drift: bool | None) -> tuple[float, ...]:
    """Return the prior of inputs and stacks: short streams are best played by the linear mixture."""
    others = len(inputs_of(drift)) - 1
    stacks = (0.5,) if drift is False else (0.25, *[0.25 / 4] * 4)
    return (0.4, *[0.1 / others] * others, *stacks)


def wide_centre(drift: bool | None) -> tuple[float, ...]:
    """Return the initial weights of the stacks on all inputs."""
    others = len(inputs_of(drift)) - len(PLAIN)
    return (0.4, *[0.1] * 4, *[0.2 / others] * others)


class Auto(WithTrees, LinearMixture):
    """Binary classifier without parameters: linear learners, trees and stacks on them, mixed by fixed share.

    Args:
        fast: Whether to play two linear members only.
        seed: Seed of random features, bags and columns.
        bias: Value of a constant feature of linear members; 0 for none.
        drift: None to adapt to changes; False if the stream does not change; True to also mix copies of the linear
            mixture that start at different times.

    Guarantee:
        Log loss at most that of every way of following one of its forecasters at a time and changing between them,
        plus a price of about ln(rounds) per change (`switching_regret`). With drift=False, at most that of each of its
        forecasters plus ln of 1 over its prior (`mixture_regret`).

    Example:
        >>> import novikoff as nk
        >>> nk.play(nk.Auto(), [([1.0, 0.0], -1), ([0.0, 1.0], 1)] * 2).mistakes
        2
    """

    promises: ClassVar[tuple[Theorem, ...]] = (
        switching_regret,
        mixture_regret,
        linear_mixture_regret,
        linear_mixture_frozen,
    )
    rehearsals = rehearsed("boosted_trees", "forest", "forgetting", "stacks", "correction", "top")
    fields = (
        *LinearMixture.fields,
        *WithTrees.tree_fields,
        Part("lags", at="_lags", when="full"),
        Parts("boosted", at="_boosted", when="full"),
        Parts("forests", at="_forests", when="full"),
        Count("forgetting_width", most=MOST_FORGETTING, when="full"),
        Parts("forgetters", at="_forgetters", when="full"),
        Parts("stacks", at="_stacks", when="full"),
        Part("corrector", at="_corrector", when="_corrects"),
        Array("recent", (REVIEWED,), nonnegative=True, at="_recent", when="full", default=lambda: np.zeros(REVIEWED)),
        Array("usual", (2,), nonnegative=True, at="_usual", when="full", default=lambda: np.zeros(2)),
        Part("copies", Specialists, at="_copies", when="_mixes_copies"),
        Part("top", at="_top", when="full"),
    )

    def __init__(self, fast: bool = False, seed: int = 0, bias: float = 1.0, drift: bool | None = None) -> None:
        super().__init__(fast, seed, bias)
        self.drift = checked_drift(drift)
        if self.drift and self.fast:
            raise InputError(
                "drift=true needs trees, which fast=true leaves out. Use linear-mixture:fast=true,drift=true."
            )
        self._prepare(False if self.fast else None)

    def _create(self) -> None:
        seed = self.seed
        self._lags = Lags(0.5)
        windows = () if self.drift is False else WINDOWS
        self._boosted = [BoostedTrees(TWO_LABELS, seed, LAGS)]
        self._boosted += [BoostedTrees(replace(WINDOW, window=rows), seed) for rows in windows]
        self._forests = [RegrownForest(seed=seed, skipped=LAGS)]
        self._forests += [RegrownForest(trees=5, seed=seed, window=rows) for rows in windows]
        self._stacks, self._forgetters = [LogisticStack(CENTRE)], cast(list[ForgettingLogistic], [])
        self._corrector = None if self.drift is False else ResidualTree("labels", CORRECTION)
        self._usual = np.zeros(2)
        """Number of reviews, and the sum of the smaller loss of trees without a window between them."""
        self._recent = np.zeros(REVIEWED)
        """Losses of trees since the last review: boosted and forest without a window, then with each window."""
        if self.drift is False:
            self._top = BayesTop(prior_of(False))
            return
        centre = wide_centre(self.drift)
        self._stacks += [LogisticStack(centre, LAGS, ridge=4.0)]
        self._stacks += [LogisticStack(centre, LAGS, gamma) for gamma in (0.998, 0.98)]
        self._top = FixedShareTop(prior_of(self.drift), self._joins)
        if self.drift:
            self._copies = Specialists(LinearMixture(False, seed, self.bias), BLOCK)

    @property
    def forgetting_width(self) -> int:
        """Number of columns of the regressions that forget: those of the first row; 0 before it."""
        return self._forgetters[-1].width if self._forgetters else 0

    @forgetting_width.setter
    def forgetting_width(self, width: int) -> None:
        if width:
            self._forgetters = [ForgettingLogistic(width + LAGS, gamma, seed=self.seed) for gamma in (0.998, 0.99)]
            self._forgetters.append(ForgettingLogistic(width, 0.998, 10.0, 96, 0.5, self.seed))

    def _resume(self) -> None:
        for trees in self._boosted:
            trees.resume(self.stored)
        for forest in self._forests:
            forest.resume(self.stored)
        if self._corrector is not None:
            self._corrector.attach(self.stored)

    @property
    def size(self) -> int:
        """Number of forecasters awake."""
        return len(self.forecasters) if self.full else super().size

    @property
    def forecasters(self) -> list[str]:
        """Names of the forecasters on top, if trees play."""
        return [*inputs_of(self.drift), *(STACKS[:1] if self.drift is False else (*STACKS, CORRECTED))]

    @property
    def _joins(self) -> tuple[int, ...]:
        """Numbers of rounds after which the forecasters join."""
        return joins_of(len(STACKS) + 1, len(inputs_of(self.drift)) - 1)

    @property
    def _mixes_copies(self) -> bool:
        """Whether copies that start at different times play."""
        return bool(self.full and self.drift)

    @property
    def _corrects(self) -> bool:
        """Whether a tree corrects the second stack."""
        return bool(self.full and self.drift is not False)

    def _forecast(self, played: StepResult) -> Vector:
        return np.atleast_1d(np.asarray(self.scored, np.float64))

    def _copies_forecast(self, batch: Batch | None, x: Example | None, y: Outcome | None) -> Vector | None:
        if not self._mixes_copies:
            return None
        self._copies.encoding = self.encoding
        if batch is not None:
            played = self._copies.learn_many(batch)
            assert isinstance(played, StepResult)
            chances, labels = played.probabilities, signs(batch)
        else:
            assert x is not None
            chances, labels = np.array([self._copies.play_one(x, cast(Any, y)).probabilities]), np.array([y])
        return labels * _odds(chances)

    def _together(self, rows: int) -> int:
        rows = super()._together(rows)
        return rows if self.drift is False else min(rows, REVIEW - self.stored.count % REVIEW)

    def _review(self) -> None:
        """Postpone the refits of trees with a window that are far behind trees without one.

        It depends on round numbers and losses only, so that rows, batches and resumed games are the same to the bit.
        """
        now, best = self.stored.count, float(self._recent[:2].min())
        if not now:
            return
        blocks, total = self._usual
        steady = bool(best <= total / max(blocks, 1.0) + BEHIND)  # no sign of a change
        self._usual = np.array([blocks + 1.0, total + best])
        behind = (steady & (self._recent[2:] > best + BEHIND)).reshape(len(WINDOWS), 2).tolist()
        for rows, rests, boosted, forest in zip(WINDOWS, behind, self._boosted[1:], self._forests[1:], strict=True):
            if now % (REST * rows) == 0:
                continue
            if rests[0]:
                boosted.next = max(boosted.next, now + REVIEW)
            if rests[1]:
                forest.next = max(forest.next, now + REVIEW)
        self._recent = np.zeros(len(self._recent))

    def _mixed(
        self, x: Vector, kinds: NDArray[np.int8], y: NDArray[np.int8], linear: Vector, copies: Vector | None,
        again: NDArray[np.bool_] | None,
    ) -> StepResult:  # fmt: skip
        if self.drift is not False and self.stored.count % REVIEW == 0:
            self._review()
        outcomes, count = (y > 0).astype(np.float64), len(y)
        lags = self._lags.columns(outcomes, again)
        absent = np.append(np.full(LAGS, 0.5), self.columns.absent[: len(kinds)])
        self.stored.add(np.hstack([lags, x]), outcomes, absent, again)
        each = [kinds, *[np.append(np.zeros(LAGS, np.int8), kinds)] * (len(self._boosted) - 1)]
        boosted = [part.play(self.stored, count, some) for part, some in zip(self._boosted, each, strict=True)]
        forests = [part.play(self.stored, count, some) for part, some in zip(self._forests, each, strict=True)]
        if not self._forgetters and self.drift is not False:
            self.forgetting_width = min(len(kinds), MOST_FORGETTING)
        forgetting = [one.play(some, y) for one, some in self._views(lags, x)]
        inputs = _inputs(linear, boosted, forests, forgetting, copies)
        extras = lags - 0.5
        stacks = [self._stacks[0].play(inputs[:, : len(PLAIN)], y)]
        stacks += [stack.play(inputs, y, extras) for stack in self._stacks[1:]]
        if self._corrector is not None:
            stop, wide = self.stored.count, np.append(np.zeros(LAGS, np.int8), kinds)
            stacks.append(self._corrector.correct(self.stored, wide, stop - count, stop, stacks[1]))
        odds = np.column_stack([inputs, *stacks]).clip(-MOST, MOST)
        if self.drift is not False:
            first = len(PLAIN) - 2
            lost = np.logaddexp(0.0, -y[:, None] * odds[:, first : first + len(self._recent)])
            # cumsum adds from left to right, so that one row and a batch agree to the bit.
            self._recent = np.cumsum(np.vstack([self._recent, lost]), axis=0)[-1]
        scores = self._top.play(odds, y)
        predicted = self._predictions(scores)
        wrong = (predicted != y).astype(np.float64)
        chances = numerics.logits.chances(scores, y)
        return StepResult(predicted, wrong, wrong, probabilities=chances, scores=np.column_stack([odds, scores]))

    def _score_of(self, result: StepResult) -> Vector:
        found: Vector = result.scores[:, -1]
        return found

    def _looked(self, x: Vector, linear: Vector, copies: Vector | None) -> Vector:
        """Return the log-odds (rows,) without learning.

        Args:
            x: Columns.
            linear: (rows,) Log-odds of the linear mixture.
            copies: (rows,) Log-odds of the copies; None without them.
        """
        lags = self._lags.look(len(x))
        rows = np.hstack([lags, x])
        boosted, forests = [part.look(rows) for part in self._boosted], [part.look(rows) for part in self._forests]
        forgetting = [one.look(some) for one, some in self._views(lags, x)]
        return self._combined(_inputs(linear, boosted, forests, forgetting, copies), lags, rows)

    def _combined(self, inputs: Vector, lags: Vector, rows: Vector | None = None) -> Vector:
        """Return the log-odds (rows,) without learning.

        Args:
            inputs: (rows, inputs) Log-odds of the inputs.
            lags: (rows, LAGS) Columns of labels before.
            rows: (rows, LAGS + columns) Columns for the correction; None for no correction.
        """
        extras = lags - 0.5
        stacks = [self._stacks[0].look(inputs[:, : len(PLAIN)])]
        stacks += [stack.look(inputs, extras) for stack in self._stacks[1:]]
        if self._corrector is not None:
            wide = np.append(np.zeros(LAGS, np.int8), self.columns.kinds)
            stacks.append(stacks[1] if rows is None else self._corrector.corrected(rows, wide, stacks[1]))
        found: Vector = self._top.look(np.column_stack([inputs, *stacks]).clip(-MOST, MOST))
        return found

    leading = LAGS

    def _influences(self) -> tuple[float, list[tuple[float, Vector]]]:
        step, count, wide = 0.1, self.columns.count, len(inputs_of(self.drift))
        inputs = np.vstack([np.zeros(wide), step * np.eye(wide)])
        found = self._combined(inputs, self._lags.look(len(inputs)))
        each = np.abs(found[1:] - found[0]) / step
        trees = [(float(each[1 : len(PLAIN) - 1].sum()), self._boosted[0].gains(count)),
                 (float(each[len(PLAIN) - 1]), self._forests[0].gains(count))]  # fmt: skip
        place = len(PLAIN)
        for boosted, forest in zip(self._boosted[1:], self._forests[1:], strict=True):
            for part in (boosted, forest):
                trees.append((float(each[place]), part.gains(LAGS + count)[LAGS:]))
                place += 1
        return float(each[0]), trees

    @property
    def _stored_labels(self) -> int:
        return 2

    def _as_outcomes(self, y: Vector) -> NDArray[np.int8]:
        return np.where(y > 0.0, 1, -1).astype(np.int8)

    def _views(self, lags: Vector, x: Vector) -> list[tuple[ForgettingLogistic, Vector]]:
        """Return each regression that forgets with its columns."""
        if not self._forgetters:
            return []
        some = x[:, : self.forgetting_width]
        both = np.hstack([lags, some])
        return list(zip(self._forgetters, (both, both, some), strict=True))

    def scores_many(self, batch: Batch) -> Vector:
        scores = super().scores_many(batch)
        if not self.full:
            return scores
        copies = self._copies.scores_many(batch) if self._mixes_copies else None
        return self._looked(self._columns_of(batch), scores, copies)

    def score_one(self, x: Example) -> float:
        score = super().score_one(x)
        if not self.full:
            return score
        copies = np.array([self._copies.score_one(x)]) if self._mixes_copies else None
        return self._looked(self._columns_of(x), np.array([score]), copies).item(0)

    def tracker(self) -> Tracker:
        """Return a recorder of forecasts, or the comparators of the linear mixture, for a game that starts now."""
        if self.full is False:
            return super().tracker()
        prior = prior_of(self.drift)
        top = BayesTracker(prior) if self.drift is False else SwitchingTracker(prior, self._joins)
        return AutoTracker(super().tracker(), top, len(self.forecasters) + 1)

    def facts(self) -> LinearMixtureFacts:
        """Return the facts for the theorems of the linear mixture; the theorem of the whole uses its tracker's."""
        return LinearMixtureFacts(self.rounds, [], [], [], [], [], [], []) if self.full else super().facts()


def _odds(chances: Vector) -> Vector:
    """Return the log-odds of probabilities, which may be 0 or 1."""
    with np.errstate(divide="ignore"):
        found: Vector = np.log(chances) - np.log1p(-chances)
    return found


def _inputs(
    linear: Vector, boosted: list[Vector], forests: list[Vector], forgetting: list[Vector], copies: Vector | None
) -> Vector:
    """Return the log-odds of the inputs (rows, inputs).

    Args:
        linear: (rows,) Log-odds of the linear mixture.
        boosted: (rows, prefixes, 1) Scores of boosted trees.
        forests: (rows, 2) ln P of forests.
        forgetting: (rows,) Log-odds of regressions that forget.
        copies: (rows,) Log-odds of the copies; None without them.
    """
    odds = [linear, *boosted[0][:, :, 0].T, forests[0][:, 1] - forests[0][:, 0]]
    for trees, forest in zip(boosted[1:], forests[1:], strict=True):
        odds += [trees[:, -1, 0], forest[:, 1] - forest[:, 0]]
    return np.column_stack([*odds, *forgetting, *([] if copies is None else [copies.clip(-MOST, MOST)])])
