"""Functions shared by the theorems on teams: which bound of a learner carries over, and the cost of following it.

The rule of a team is exponential weights, or a variant, over the learners; the loss of a learner is 1 for a
mistake. Facts are those of the rule (experts/theorems/experts_facts.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from novikoff.core.certificate import Assumption, Bound, Certificate, Standing, outward
from novikoff.core.types import Run
from novikoff.experts.theorems.experts_facts import ExpertsFacts, by_its_weights, common, game, slack, why_void
from novikoff.experts.theorems.fixed_share_regret import sharing

FALLING = ("fixed", "anytime", "share")
"""Rules with one nonincreasing sequence of rates."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Largest cost of following one learner: expected mistakes are at most `factor` times its mistakes, plus `more`."""

    factor: float
    more: float

    def of(self, mistakes: float, error: float) -> float:
        """Return the bound for a learner with at most `mistakes` mistakes; `error` is the effect of rounding."""
        return self.factor * (mistakes + error) + self.more


def costs(after: ExpertsFacts, in_advance: bool) -> Iterator[Cost]:
    """Return all known costs of the rule; with `in_advance`, only those independent of the learners' mistakes."""
    mean = after.rates / after.rounds if after.rounds else 0.0  # mean rate, at least the last one
    if after.settled:
        yield Cost(1.0, 0.0)
    elif after.rule == "adaptive":
        choices = math.log(after.experts)
        first = after.top * (math.sqrt(after.rounds * choices) + 4.0 / 3.0 * choices + 2.0)
        yield Cost(1.0, first if in_advance else 2.0 * after.gaps - after.last_gap)
    elif after.rule == "doubling" or (after.rule in FALLING and mean >= after.eta * (1.0 - 1e-9)):
        mixing = after.variation if in_advance else min(after.gaps, after.variation)
        shared = sharing(0, after) if after.rule == "share" else 0.0
        yield Cost(1.0, after.entrance + shared + mixing)
        power = after.rate * after.top
        if after.rule == "fixed" and 0.0 < power < math.inf and math.isclose(mean, after.eta, rel_tol=1e-9):
            factor = power / -math.expm1(-power)
            yield Cost(factor, factor * after.entrance)


def passed_on(
    run: Run[ExpertsFacts], takes: Callable[[Certificate], bool], in_advance: bool, also: Sequence[Assumption] = ()
) -> Bound | None:
    """Return the least bound on expected mistakes from a learner's certificate; None if none is of the right kind.

    A bound beyond the rounds counts as the rounds.

    Args:
        run: The run.
        takes: Predicate that selects certificates of the right kind.
        in_advance: Whether to use only costs known in advance, as in `costs`; the bound is then in expectation, which
            no single run can violate.
        also: Further assumptions.
    """
    after = run.after
    hindsight = [] if in_advance else [after.comparator]  # chosen in hindsight, possibly depending on the coins
    with_price = range(after.experts) if after.uniform else hindsight
    offered = [(k, one) for k, found in enumerate(run.members) for one in found if one.side == "upper" and takes(one)]
    if not offered:
        return None
    error, known = slack(run), list(costs(after, in_advance))
    sound = [
        (min(cost.of(float(min(one.bound, run.rounds)), error) for cost in known), k, one)
        for k, one in offered
        if known and k in with_price and one.holds and one.bound is not None
    ]
    needed, quantities = [*game(run)], common(after)
    standing: Standing = "trusted" if after.apart is None else "checked" if after.apart else "refuted"
    apart = Assumption("Hedge's random draws are independent of the learners'", standing)
    if reason := why_void(run) or ("" if sound else _why(offered, known)):
        return Bound(None, [*needed, by_its_weights(run), *also, apart], quantities, void=reason)
    least, k, one = min(sound, key=lambda found: found[:2])
    limit = outward(least)
    if in_advance or run.expected <= limit:  # otherwise it is violated, regardless of how the weights were played
        needed.append(by_its_weights(run))
    quantities |= {"learner": k, "its_theorem": one.theorem, "its_bound": one.bound}
    return Bound(limit, [*needed, *also, apart, *one.assumptions], quantities)


def _why(offered: list[tuple[int, Certificate]], known: list[Cost]) -> str:
    """Return why no certificate carried over."""
    if not known:
        return "no bound of this kind is known for the rule"
    void_ones = "; ".join(f"{one.theorem}: {one.reason}" for _, one in offered if not one.holds)
    return (
        f"no learner of the team has a valid bound: {void_ones}"
        if void_ones
        else "the learner with a bound has prior weight 0"
    )
