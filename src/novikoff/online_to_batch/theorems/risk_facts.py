"""Facts about a run for the theorems on risk, and the assumptions that these share.

The sample is the examples of the first pass, (x_1, y_1), .., (x_n, y_n). Before example t the learner is the hypothesis
H_{t-1}, a function of the earlier examples and of its random draws; RISK(H) is the probability that H errs on a fresh
example, and rbar the mean of RISK(H_0), .., RISK(H_{n-1}).
All theorems assume that the examples are independent draws from one distribution. This cannot be checked; the tests of
drift.py can refute it, and then the certificate is void. H_0 may be any hypothesis that does not depend on the sample:
earlier training on other examples is allowed, as every proof is conditional on H_0; earlier training on these examples
is not. With delayed labels the sample is in the order of arrival: its examples are independent draws if whether and
when a label arrives does not depend on the example, its label or the prediction. Shuffling rows does not make them
independent, and a second pass adds no information. The rounds of a row of weight above 1 are equal, which refutes
independence.
Each certificate holds with probability 1 - delta by itself. To use the smallest of k certificates, for example of
several classifiers, divide delta by k. The bound of ensemble_risk_fixed.py is never above that of ensemble_risk.py (as
ln(1-p) <= -p), so between these two no choice depends on the data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from novikoff.core.certificate import Assumption, Bound, number, seen
from novikoff.online_to_batch.risk import kl_limit, poisson_limit, share

Independence = Literal["trusted", "refuted"]

INDEPENDENT = "the examples are independent draws from one distribution, new to the learner"
"""Assumption of all theorems on risk."""
ARRIVAL = "whether and when a label came did not depend on the example, its label or the prediction"
"""Further assumption for delayed labels."""
MEAN = "mean risk"
"""Name of rbar, which the theorems on all hypotheses bound."""

IN_ADVANCE = "the number of examples was fixed in advance"
"""Assumption of the bounds for one n."""


@dataclass(frozen=True, slots=True)
class EnsembleFacts:
    """Facts about a run and its hypotheses H_0, .., H_{n-1}.

    Attributes:
        rounds: n, the rounds of the first pass.
        mistakes: M, or the sum of losses in [0, 1], rounded up.
        delta: Probability that the bound may fail.
        horizon: Whether n was fixed in advance (as in a whole file) and the run was not stopped because of its results.
        independence: "refuted" if a drift test raised an alarm.
        evidence: Largest wealth W of that test; independent examples ever reach W with probability at most 1/W.
        drawn: Whether the hypotheses of a vote were drawn, so that its bound is on average over the draw.
        brier: Whether the losses are Brier scores, (1 - P(y))^2, and the risk is the expected one of a fresh example.
        late: Whether labels were delayed: the sample is in the order of arrival, without labels that did not arrive.
        copies: Whether rows had weights, and were played as several examples or left out: independence is refuted.
    """

    rounds: int
    mistakes: int
    delta: float = 0.05
    horizon: bool = True
    independence: Independence = "trusted"
    evidence: float = 1.0
    drawn: bool = False
    brier: bool = False
    late: bool = False
    copies: bool = False

    @property
    def quantity(self) -> str:
        """Name of the bounded quantity; "" for the default."""
        return f"{MEAN} in Brier score" if self.brier else ""


@dataclass(frozen=True, slots=True)
class BestFacts:
    """Facts about the hypothesis with the smallest bound.

    Attributes:
        rounds: n, the rounds of the first pass.
        delta: Probability that the bound may fail.
        candidates: Number of hypotheses whose bounds were compared.
        first: t: the hypothesis is H_t, which learned from t examples (the first of several equal ones).
        errors: Errors on the examples after t.
        trials: Number of these examples, n - t.
        mistakes: M, the mistakes of the run.
        independence: "refuted" if a drift test raised an alarm.
        evidence: Largest wealth of that test.
        horizon: Whether n was fixed in advance.
        copies: Whether rows had weights, and were played as several examples or left out: independence is refuted.
    """

    rounds: int
    delta: float
    candidates: int
    first: int
    errors: int
    trials: int
    mistakes: int
    independence: Independence = "trusted"
    evidence: float = 1.0
    horizon: bool = True
    copies: bool = False


@dataclass(frozen=True, slots=True)
class HeldFacts:
    """Facts about the hypothesis with the fewest errors on held-out examples.

    Attributes:
        candidates: Maximum number of hypotheses, fixed in advance.
        compared: Number of hypotheses compared.
        errors: Errors of that hypothesis on all held-out examples.
        trials: Number of held-out examples.
        delta: Probability that the bound may fail.
        independence: "refuted" if there is evidence that the examples are not independent.
        copies: Whether rows held out had weights, and count as several examples or none: independence is refuted.
    """

    candidates: int
    compared: int
    errors: int
    trials: int
    delta: float = 0.05
    independence: Independence = "trusted"
    copies: bool = False


@dataclass(frozen=True, slots=True)
class ThresholdFacts:
    """Facts about predictions that are +1 if the score reaches a threshold.

    Attributes:
        rounds: n, the rounds of the run, or fresh examples.
        true_positives: Examples labelled +1 whose score reached the threshold.
        false_positives: Examples labelled -1 whose score reached the threshold.
        false_negatives: Examples labelled +1 whose score did not.
        cost_fp: Cost of a false positive.
        cost_fn: Cost of a false negative.
        thresholds: N, the number of thresholds among which one may be chosen, fixed in advance.
        delta: Probability that one of the limits may fail.
        fresh: Whether one hypothesis, which had not learned from the examples, was tested on all of them; otherwise
            each example was predicted by the hypothesis of its round.
        independence: "refuted" if a drift test raised an alarm.
        evidence: Largest wealth of that test.
        late: Whether labels were delayed.
        copies: Whether rows had weights, and were played as several examples or left out: independence is refuted.
        repeated: Whether examples were played more than once.
        single: Whether all examples are of one pass over one source, so that none was played twice.
    """

    rounds: int
    true_positives: int
    false_positives: int
    false_negatives: int
    cost_fp: float = 1.0
    cost_fn: float = 1.0
    thresholds: int = 1
    delta: float = 0.05
    fresh: bool = False
    independence: Independence = "trusted"
    evidence: float = 1.0
    late: bool = False
    copies: bool = False
    repeated: bool = False
    single: bool = True

    @property
    def level(self) -> float:
        """Probability that the limit of one count at one threshold may fail, rounded down."""
        return math.nextafter(self.delta / (3 * self.thresholds), 0.0)

    @property
    def cost(self) -> float:
        """Mean cost of the examples."""
        lost = self.cost_fp * self.false_positives + self.cost_fn * self.false_negatives
        return lost / self.rounds if self.rounds else 0.0


def independent(facts: EnsembleFacts | BestFacts | HeldFacts | ThresholdFacts) -> Assumption:
    """Return the assumption of independence, with the evidence if it was refuted."""
    late = isinstance(facts, (EnsembleFacts, ThresholdFacts)) and facts.late
    claim = f"{INDEPENDENT}, and {ARRIVAL}" if late else INDEPENDENT
    if facts.copies:
        return Assumption(f"{claim} (rows had weights: some were played as several examples, or none)", "refuted")
    if isinstance(facts, HeldFacts):
        return Assumption(claim, facts.independence)
    if facts.independence == "trusted":
        return Assumption(claim, "trusted")
    return Assumption(f"{claim} (the drift test's wealth grew from 1 to {number(facts.evidence)})", "refuted")


def in_advance(facts: EnsembleFacts | BestFacts) -> Assumption:
    """Return the assumption that the stopping time was fixed in advance."""
    return Assumption(IN_ADVANCE, "trusted" if facts.horizon else "refuted")


def ensemble_limit(facts: EnsembleFacts) -> float:
    """Return the bound on rbar: for one n if it was fixed in advance, else for all n."""
    if facts.horizon:
        return kl_limit(facts.mistakes, facts.rounds, facts.delta)
    return share(poisson_limit(facts.mistakes, facts.delta), facts.rounds)


def quantities_of(facts: EnsembleFacts | BestFacts, when: str) -> dict[str, object]:
    """Return the quantities that every certificate on a risk shows."""
    lost = "brier" if isinstance(facts, EnsembleFacts) and facts.brier else "mistakes"
    return {"rounds": facts.rounds, lost: facts.mistakes, "delta": facts.delta, "when": when,
            "evidence": facts.evidence}  # fmt: skip


def risk_bound(
    bound: float | None, errors: int, trials: int, assumptions: list[Assumption], quantities: Mapping[str, object],
    quantity: str = "",
) -> Bound:  # fmt: skip
    """Return a risk bound, which must already be rounded up, with the error rate; void if there were no examples."""
    if bound is None:
        return Bound(None, assumptions, quantities, 0.0, trivial=1, quantity=quantity, void="there were no examples")
    return Bound(min(bound, 1.0), assumptions, quantities, errors / trials, trivial=1, quantity=quantity)


def threshold_bound(facts: ThresholdFacts, what: str, value: float, observed: float, trivial: float) -> Bound:
    """Return the bound of a theorem on a threshold; void if there were no examples.

    Args:
        facts: The facts.
        what: Bounded quantity.
        value: Its limit, rounded outward.
        observed: Its value on the examples.
        trivial: Value at which the limit says nothing.
    """
    claim = "each example was played once" if not facts.fresh else "the learner had not learned from the examples"
    once = Assumption(claim, "trusted")
    if not facts.fresh and (facts.single or facts.repeated):
        once = seen(claim, not facts.repeated)
    names = ("rounds", "true_positives", "false_positives", "false_negatives", "cost_fp", "cost_fn", "thresholds",
             "delta")  # fmt: skip
    quantities = {name: getattr(facts, name) for name in names}
    quantity = what if facts.fresh else f"{what} over the hypotheses of the run"
    void = "" if facts.rounds else "there were no examples"
    return Bound(value if facts.rounds else None, [independent(facts), once], quantities, observed, trivial,
                 quantity=quantity, void=void)  # fmt: skip
