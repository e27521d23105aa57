"""Exponential weights (Hedge): every expert counts, with a weight that falls exponentially with its loss.

Algorithm
    w_{t,i} is proportional to prior_i exp(-eta_t L_{t-1,i} / unit), L the losses so far and `unit` the largest loss.
    Predict the weighted mean of the experts ("mean", for convex losses) or follow an expert drawn by the weights
    ("draw"). The rate eta_t
        fixed      as given; or sqrt(8 ln N / T) for a `horizon` of T rounds (more rounds are allowed)
        anytime    2 sqrt(ln N / t) on all losses so far, without knowing T
        doubling   epochs of 1, 2, 4, ... rounds, each restarted with sqrt(8 ln N / length)
    For the mean under log or squared loss the default is a fixed rate of 1 or 1/2 on the loss itself (`unit` is 1),
    where exp(-eta loss) is concave in the prediction. With one expert there is nothing to choose, and the rate is 0.
    Experts are columns of advice, a table of losses (loss="table"), or the hypotheses of a class (experts/panel.py).
Promise
    experts/theorems/fixed_rate_regret.py, anytime_regret.py, doubling_regret.py: regret at most S sqrt(T ln N / 2),
    S sqrt(T ln N), 3.42 S sqrt(T ln N / 2) for losses in [0, S], on every stream.
    experts/theorems/mixability_gaps.py: regret by the cost of mixing in each round; small_losses.py: small, if one
    expert is good; exp_concave_regret.py: ln N (log loss) and 2 ln N (squared), for any T; drawn_loss.py: for the
    expert drawn.
Cost
    O(N) per round: one exp per expert if the rate is fixed, two if it changes; 24 bytes per expert, 8 more if one is
    drawn.
    A million experts take less time than one np.exp of a million numbers.
Reference
    [cesabianchi2006]; [freund1997]; [littlestone1994].
"""

from __future__ import annotations

import math
from typing import ClassVar

from novikoff.core.errors import InputError, shown
from novikoff.core.losses import CLIP
from novikoff.core.sizes import integer
from novikoff.core.state import Argument
from novikoff.core.types import Theorem
from novikoff.experts.expert_learner import PANEL, ExpertLearner
from novikoff.experts.panel import Panel, positive
from novikoff.experts.proofs import ExponentialWeightsProof
from novikoff.experts.standings import Standings
from novikoff.experts.theorems.anytime_regret import anytime_regret
from novikoff.experts.theorems.doubling_regret import doubling_regret
from novikoff.experts.theorems.drawn_loss import drawn_loss
from novikoff.experts.theorems.exp_concave_regret import exp_concave_regret
from novikoff.experts.theorems.fixed_rate_regret import fixed_rate_regret
from novikoff.experts.theorems.mixability_gaps import mixability_gaps
from novikoff.experts.theorems.small_losses import small_losses


class ExponentialWeights(ExpertLearner):
    """Weighted mean of experts, or one drawn expert, with weights that fall exponentially with the loss.

    Args:
        experts: Number of experts, or a hypothesis class whose hypotheses are the experts.
        eta: Fixed learning rate; None to tune it.
        horizon: Number of rounds for which to tune a fixed rate.
        rate: "fixed", "anytime" or "doubling"; None for "fixed" where possible, otherwise "anytime".
        loss: "zero-one", "absolute", "squared", "log", or "table" for rows of losses.
        play: "mean" to predict the weighted mean, "draw" to follow one expert; None for the default of the loss.
        prior: Prior weights of the experts; None for equal ones.
        clip: Distance from 0 and 1 that predictions keep under log loss.
        seed: Seed of the draws.

    Guarantee:
        Regret against the best expert at most S sqrt(T ln N) for losses in [0, S] (`anytime_regret`),
        S sqrt(T ln N / 2) with a known horizon (`fixed_rate_regret`), and a constant for the mean under log
        or squared loss (`exp_concave_regret`).

    Example:
        >>> import novikoff as nk
        >>> learner = nk.ExponentialWeights(2, loss="squared")
        >>> for advice, outcome in [([0.0, 1.0], 1), ([0.2, 0.9], 1)]:
        ...     step = learner.play_one(advice, outcome)
        >>> learner.weights.round(2).tolist()
        [0.31, 0.69]
    """

    promises: ClassVar[tuple[Theorem, ...]] = (
        fixed_rate_regret, anytime_regret, doubling_regret, mixability_gaps, exp_concave_regret, small_losses,
        drawn_loss,
    )  # fmt: skip
    fields = (
        *PANEL,
        Argument("eta", float | None, at="_given.eta"),
        Argument("horizon", int | None, at="_given.horizon"),
        Argument("rate", str | None, at="_given.rate"),
        *ExpertLearner.fields,
    )

    def __init__(
        self, experts: object, eta: float | None = None, horizon: int | None = None, rate: str | None = None,
        loss: str = "zero-one", play: str | None = None, prior: object = None, clip: float = CLIP, seed: int = 0,
    ) -> None:  # fmt: skip
        panel = Panel(experts, loss, play, prior, clip, seed)
        concave = None if panel.draws else panel.loss.concave_rate
        given = eta is not None or horizon is not None
        rule = rate if rate is not None else "fixed" if given or concave is not None else "anytime"
        if rule not in ("fixed", "anytime", "doubling"):
            raise InputError(f'rate must be "fixed", "anytime" or "doubling": got {shown(rate)}.')
        if rule != "fixed" and given:
            raise InputError(f'eta and horizon are for rate="fixed": got one with rate="{rule}". Leave it out.')
        unit, fixed, length = panel.loss.top, 0.0, 0
        if rule == "fixed":
            if horizon is not None:
                must = "a horizon must be a positive whole number of rounds"
                horizon = length = integer(horizon, "horizon", must, 1)
            if eta is not None:
                eta = fixed = positive(eta, "eta", " Leave it out to have it tuned.")
                unit = unit if concave is None else 1.0
            elif concave is not None:
                unit, fixed = 1.0, concave
            elif length:
                fixed = math.sqrt(8.0 * math.log(panel.size) / length)
            else:
                raise InputError('rate="fixed" needs eta or horizon: got neither.')
        super().__init__(panel, Standings(panel, rule, unit, fixed, length), eta=eta, horizon=horizon, rate=rate)

    survivor = ExpertLearner.heaviest

    def proof(self) -> ExponentialWeightsProof:
        return ExponentialWeightsProof(self.facts())
