"""Facts of a learner with expert advice, and functions shared by their theorems.

Units. Losses lie in [0, top]. The rule works on losses divided by `unit`: weights are proportional to
    prior * exp(-eta L / unit),
so eta / unit is the rate on the loss itself. `unit` is `top` unless the loss is exp-concave and the mixture is
played (rate 1 for log loss, 1/2 for squared loss, on the loss itself): there it is 1. Every sum below is in units
of the loss itself.
Notation
    h_t     the mean loss of the experts under the weights of round t: the expected loss of a drawn expert
    m_t     the mix loss, -(unit/eta_t) ln of the mean of exp(-eta_t l / unit) under the same weights; m_t <= h_t
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from novikoff.core.certificate import (
    NO_LARGER,
    Assumption,
    Bound,
    largest_regret,
    outward,
    seen,
    warm_start,
)
from novikoff.core.types import Run

CONVEX = ("absolute", "squared", "log")
"""Convex losses, whose value at a mixture is at most the mean over the experts."""


@dataclass(frozen=True, slots=True)
class ExpertsFacts:
    """State of a learner with expert advice.

    Attributes:
        rule: How the rate is set: "fixed", "anytime", "doubling", "adaptive", "share" or "sleeping".
        rounds: Rounds of the learner, from its first.
        experts: Number of experts N.
        loss: Name of the loss.
        play: "mean" (the mixture is played) or "draw" (an expert is drawn).
        top: Largest loss.
        unit: Divisor of the losses in the rule (see above).
        eta: Rate of the last round, per unit; 0 if none was needed yet.
        rates: Sum of the rates over all rounds.
        gaps: Sum of h_t - m_t over all rounds.
        last_gap: The last h_t - m_t.
        mixed: Sum of h_t.
        best: Expert with the least loss, the first of equals.
        best_loss: Its loss.
        comparator: Expert with the smallest bound: L_i + unit ln(1/prior_i) * span is least, where span is
            1/eta, or for "doubling" the sum of 1/eta over its epochs.
        comparator_loss: Loss of the comparator.
        price: Its ln(1/prior): 0 for one expert.
        uniform: Whether all experts have the same prior.
        rounding: Upper limit on the effect of rounding on the regret.
        horizon: Expected rounds ("fixed", "share"); 0 if unknown.
        epochs: "doubling": number of epochs started.
        span: "doubling": sum of 1/eta over the epochs.
        switches: "share": expected number of switches.
        alpha: "share": share that is redistributed per round.
        path_losses: "share": least loss of a path of experts with at most k switches, k = 0, 1, ...
        path_costs: "share": the same for its loss + (unit/eta) ln(1/prior) of each segment's expert.
        sleeper: "sleeping": expert whose regret is nearest to its bound; -1 if none was ever awake.
        sleeper_regret: Sum of h_t - l over the rounds in which it was awake.
        sleeper_gaps: Sum of h_t - m_t over these.
        sleeper_rates: Sum of the rates over these.
        sleeper_price: Its ln(1/prior).
        sleeper_rounds: Number of these rounds.
        sleeper_loss: Its loss in them.
        clip: Log loss: predictions are clipped to [clip, 1 - clip].
        apart: Team: whether no learner has the coins of the rule; None if unknown.
    """

    rule: str
    rounds: int
    experts: int
    loss: str
    play: str
    top: float
    unit: float
    eta: float
    rates: float
    gaps: float
    last_gap: float
    mixed: float
    best: int
    best_loss: float
    comparator: int
    comparator_loss: float
    price: float
    uniform: bool
    rounding: float
    horizon: int = 0
    epochs: int = 0
    span: float = 0.0
    switches: int = 0
    alpha: float = 0.0
    path_losses: tuple[float, ...] = ()
    path_costs: tuple[float, ...] = ()
    sleeper: int = -1
    sleeper_regret: float = 0.0
    sleeper_gaps: float = 0.0
    sleeper_rates: float = 0.0
    sleeper_price: float = 0.0
    sleeper_rounds: int = 0
    sleeper_loss: float = 0.0
    clip: float = 0.0
    apart: bool | None = None

    def __post_init__(self) -> None:
        for name in ("path_losses", "path_costs"):  # lists, when they come from a file
            object.__setattr__(self, name, tuple(getattr(self, name)))

    @property
    def settled(self) -> bool:
        """Whether no rate is needed: one expert, or no round yet."""
        return self.experts == 1 or self.rounds == 0

    @property
    def rate(self) -> float:
        """Last rate on the loss itself."""
        return self.eta / self.unit

    @property
    def entrance(self) -> float:
        """Largest cost of starting from the prior, for the comparator: ln(1/prior) / rate."""
        if self.settled:
            return 0.0
        if self.rule == "doubling":
            return self.unit * self.price * self.span
        return self.unit * self.price / self.eta if self.eta else math.inf

    @property
    def detour(self) -> float:
        """Excess loss of the comparator over the best expert; 0 if the prior is uniform."""
        return self.comparator_loss - self.best_loss

    @property
    def variation(self) -> float:
        """Bound on the gaps by Hoeffding's lemma: the sum over rounds of rate * top^2 / 8."""
        return self.rates / self.unit * self.top * self.top / 8.0


def regret_bound(
    run: Run[ExpertsFacts],
    bound: float,
    assumptions: Sequence[Assumption] = (),
    quantities: Mapping[str, object] | None = None,
    *,
    observed: float | None = None,
    trivial: float | None = None,
    why: str = NO_LARGER,
) -> Bound:
    """Return the bound of a theorem, with the effect of rounding added.

    It is void if the learner had played before the ledger was opened, or a number in it is not finite; or if the
    learner did not play by its weights and still kept the bound.

    Args:
        run: The run.
        bound: Bound without rounding.
        assumptions: Assumptions beyond those of every theorem here.
        quantities: Quantities to report.
        observed: Observed value; None for the regret against the best expert, of the expected loss if one is drawn.
        trivial: Largest possible value; None for T top - L*.
        why: Why no larger value is possible.
    """
    after = run.after
    paid = run.expected - after.best_loss if observed is None else observed
    limit = outward(bound + slack(run))
    return Bound(
        limit,
        [*game(run), *(() if paid > limit else (by_its_weights(run),)), *assumptions],
        {**common(after), **(quantities or {})},
        observed=paid,
        trivial=largest_regret(run.rounds, after.top, after.best_loss) if trivial is None else trivial,
        expected=after.play == "draw",
        why=why,
        void=why_void(run) or ("" if math.isfinite(bound) else "the bound is not finite"),
    )


IN_RANGE = Assumption("every loss is in [0, top]", "checked")
"""Assumption that the panel checks on every row."""


def every_round(run: Run[ExpertsFacts]) -> Assumption:
    """Return whether the learner learned from exactly the rounds of the ledger."""
    whole = run.after.rounds - run.before.rounds == run.rounds
    return seen("the ledger recorded every round the learner learned from", whole)


def game(run: Run[ExpertsFacts]) -> list[Assumption]:
    """Return the assumptions of every theorem here, and whether they were observed to hold."""
    after, found = run.after, [IN_RANGE, every_round(run)]
    if after.play == "mean" and after.loss != "table":  # of a table the mean itself is paid
        found.append(seen("the loss is convex in the prediction", after.loss in CONVEX))
    return found


def one_rate(after: ExpertsFacts) -> Assumption:
    """Return the assumption of theorems on a fixed rate."""
    same = after.settled or math.isclose(after.rates, after.rounds * after.eta, rel_tol=1e-9)
    return seen("the learning rate was constant", same)


def the_rate_never_rose(after: ExpertsFacts) -> Assumption:
    """Return the assumption of theorems on falling rates: the last is no larger than the mean."""
    falling = after.settled or after.rule == "doubling" or after.rates >= after.rounds * after.eta * (1.0 - 1e-9)
    return seen("the learning rate never increased", falling)


def by_its_weights(run: Run[ExpertsFacts]) -> Assumption:
    """Return the assumption that the losses paid agree with the weights in the learner's facts.

    An expert drawn by them loses h_t on average. A mixture pays no more than that, as the loss is convex.
    """
    more = run.expected - (run.after.mixed - run.before.mixed)
    error = 2.0 * slack(run)  # of both sums
    if run.after.play == "draw":
        claim, holds = "the expected loss agrees with the weights", abs(more) <= error
    else:
        claim, holds = "the mixture lost no more than the weighted mean of its experts", more <= error
    return seen(claim, holds)


def why_void(run: Run[ExpertsFacts]) -> str:
    """Return why the theorem does not apply to this run; "" if it does."""
    if warm := warm_start(run.before.rounds):
        return warm
    after = run.after
    if not (after.top > 0.0 and after.unit > 0.0):
        return "the losses have no range"
    used = (after.top, after.unit, after.rates, after.gaps, after.mixed, after.best_loss, after.comparator_loss,
            after.price, after.rounding, run.expected)  # fmt: skip
    if not all(math.isfinite(value) for value in used):
        return "a loss, a rate or a prior is not finite"
    asleep = after.rule == "sleeping" and after.sleeper < 0
    if after.rule != "adaptive" and not asleep and not after.settled and not 0.0 < after.eta < math.inf:
        return f"the learning rate must be positive and finite, but was {after.eta}"
    return ""


def slack(run: Run[ExpertsFacts]) -> float:
    """Bound the effect of rounding in the learner, in the ledger's sum, and in the sums of a bound."""
    after = run.after
    sums = abs(run.expected) + abs(after.mixed) + abs(after.best_loss) + abs(after.comparator_loss)
    return after.rounding + 2.0**-49 * sums


def common(after: ExpertsFacts) -> dict[str, object]:
    """Return the quantities reported of every learner with expert advice."""
    return {"experts": after.experts, "best": after.best, "best_loss": after.best_loss, "eta": after.eta,
            "top": after.top, "rounding": after.rounding}  # fmt: skip


def witness_of(run: Run[ExpertsFacts], **more: float) -> dict[str, object] | None:
    """Return the exact quantities of a proof file; None unless losses are a table's, whose mean is paid.

    Args:
        run: The run.
        more: Quantities in addition to those of every theorem.
    """
    after = run.after
    if after.loss != "table" or after.settled:
        return None
    own = {"top": after.top, "best_loss": after.best_loss, "comparator_loss": after.comparator_loss,
           "rounding": slack(run), **more}  # fmt: skip
    exact: dict[str, object] = {name: str(Fraction(value)) for name, value in own.items()}
    return {"experts": after.experts, "comparator": after.comparator, **exact}
