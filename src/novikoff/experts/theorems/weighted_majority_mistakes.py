"""Weighted Majority's mistakes against the best hypothesis, on any stream.

Theorem (upper)
    Let W be the weight of all hypotheses together and c = ln(2 / (1 + beta)). Then
        M  <=  floor( ln(W before / W after) / c )                              (pathwise)
    and so, if the game is observed from its start, for every hypothesis i with prior weight pi_i that errs m_i times
        M  <=  floor( (m_i ln(1/beta) + ln(W(H) / pi_i)) / c ),                 (a priori)
    which is (m ln(1/beta) + ln|H|) / c without a prior, m being the errors of the best one: 2.41 (m + log2|H|) for
    beta = 1/2. Errors are counted over all rounds. The reported bound is the smaller of the two.
Assumptions
    beta > 0: none. Updates may be on every round or on mistakes only, with two labels or more, with any tie rule.
    beta = 0: the least penalised hypothesis is not penalised again (checked); true if a hypothesis never errs.
Proof
    On a mistake the label y had at most half of the weight: W_y <= W_p for the label p predicted, and both are parts
    of W (the learner compares them exactly). All the others are multiplied by beta, so W' = W_y + beta (W - W_y) <=
    W (1 + beta)/2. No round lets W grow. M mistakes leave W after <= W before ((1 + beta)/2)^M. And W after is at least
    the weight of i, pi_i beta^(penalties) >= pi_i beta^(m_i).
    W before is arbitrary, so the pathwise form holds from any round on.
Factor
    No deterministic learner beats 2 m: adversaries/contrarian.py against "always -1" and "always +1".
Reference
    [littlestone1994]; [cesabianchi2006], chapter 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.core.certificate import Assumption, Bound, Words, outward, seen, theorem
from novikoff.core.errors import ModelFileError, shown
from novikoff.core.hypotheses import check_part
from novikoff.core.types import Run

LOGARITHM_ERROR = 1e-12
"""Slack for a difference of logarithms before division by c, which may be tiny: a hundred times its rounding."""


@dataclass(frozen=True, slots=True)
class WeightedMajorityFacts:
    """State of Weighted Majority.

    Attributes:
        hypotheses: |H|.
        beta: Factor of a weight per penalty.
        rounds: Rounds of the learner so far.
        whole: Prior weight of all of H (|H| if uniform).
        best_mistakes: Fewest errors of a hypothesis over these rounds.
        comparator_errors: Errors of the hypothesis with the smallest bound.
        comparator_weight: Its prior weight.
        fewest: Fewest penalties of a hypothesis.
        spread: ln(W / beta^fewest): total weight, in units in which no float underflows.
    """

    hypotheses: int
    beta: float
    rounds: int
    whole: int
    best_mistakes: int
    comparator_errors: int
    comparator_weight: int
    fewest: int
    spread: float

    def __post_init__(self) -> None:
        check_part("fewest penalties", self.fewest, self.rounds)
        most = math.log(self.whole) + LOGARITHM_ERROR  # equality before the first round
        if not (most - 2.0 * LOGARITHM_ERROR if self.rounds == 0 else -LOGARITHM_ERROR) <= self.spread <= most:
            raise ModelFileError(f"spread must be at most that of the class, {shown(most)}: got {shown(self.spread)}.")


@theorem(
    "D",
    "littlestone1994",
    words=Words(
        covers="a weighted vote in which a mistake reduces the weight",
        why=(
            "the best of {hypotheses} hypotheses made {best_mistakes} mistakes; each mistake multiplies the weight of "
            "the hypotheses that were wrong by {beta}"
        ),
        otherwise=(
            "each mistake multiplies the weight of the hypotheses that were wrong, out of {hypotheses}, by {beta}"
        ),
    ),
)
def weighted_majority_mistakes(run: Run[WeightedMajorityFacts]) -> Bound:
    """Return the smaller of the pathwise and the a priori bound."""
    before, after = run.before, run.after
    beta = after.beta
    quantities: dict[str, object] = {"hypotheses": after.hypotheses, "beta": beta}
    if before.rounds == 0:
        quantities["best_mistakes"] = after.best_mistakes
    needed: list[Assumption] = []
    if beta == 0.0:
        needed = [seen("the least penalised hypothesis stays unpenalised", after.fewest <= before.fewest)]
        if after.fewest > before.fewest:
            reason = "with beta = 0 no weight is left, as every hypothesis was penalised: use a beta above 0"
            return Bound(None, needed, quantities, void=reason)
    fall = _cost(after.fewest - before.fewest, beta) + before.spread - after.spread
    pathwise = max(fall, 0.0) / shrinkage(beta)
    best = (max(fall, 0.0) + LOGARITHM_ERROR) / shrinkage(beta)
    quantities["pathwise"] = pathwise
    if before.rounds == 0:
        a_priori = mistake_bound(after.comparator_errors, after.whole / after.comparator_weight, beta)
        if math.isfinite(a_priori):
            quantities["a_priori"] = a_priori
            best = min(best, a_priori + LOGARITHM_ERROR / shrinkage(beta))
    return Bound(math.floor(outward(best)), needed, quantities)


def mistake_bound(errors: int, hypotheses: float, beta: float) -> float:
    """Return (errors ln(1/beta) + ln hypotheses) / ln(2/(1+beta)); with a prior, `hypotheses` is W(H)/pi."""
    return (_cost(errors, beta) + math.log(hypotheses)) / shrinkage(beta)


def shrinkage(beta: float) -> float:
    """Return c = ln(2/(1+beta)), the least log factor by which a mistake divides W; accurate near beta = 1."""
    return -math.log1p(-(1.0 - beta) / 2.0)


def _cost(errors: int, beta: float) -> float:
    """Return errors * ln(1/beta), which is 0 without errors even if beta is 0."""
    if errors == 0:
        return 0.0
    return math.inf if beta == 0.0 else errors * -math.log(beta)


@weighted_majority_mistakes.witnessed
def witness(run: Run[WeightedMajorityFacts]) -> dict[str, object] | None:
    """Return the hypothesis of the bound in advance: its weight and its errors."""
    after = run.after
    if after.beta == 0.0 or run.before.rounds:
        return None
    bound = mistake_bound(after.comparator_errors, after.whole / after.comparator_weight, after.beta)
    value = math.floor(outward(bound + LOGARITHM_ERROR / shrinkage(after.beta)))
    return {"weight": after.comparator_weight, "errors": after.comparator_errors, "bound": value}
