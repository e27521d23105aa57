"""What the theorems on a risk need to know of a run, and what they all assume.

The sample is the examples of the first pass, (x_1, y_1), .., (x_n, y_n). Before example t the learner is the hypothesis
H_{t-1}, a function of the earlier examples and of coins of its own; RISK(H) is the chance that H errs on a fresh
example, and rbar the mean of RISK(H_0), .., RISK(H_{n-1}).
All of them assume that the examples are independent draws of one distribution. That cannot be checked; the tests of
drift.py can refute it, and then the certificate is void. H_0 may be any hypothesis that does not depend on the sample:
a learner that had learned from other examples before is as good as a fresh one, as every proof is given H_0; one that
had learned from these is not. Where labels come late the sample is in the order of arrival: it is one of independent
draws if whether and when a label comes does not depend on the example, its label or the answer. Shuffling rows does not
make them independent, and a second pass shows nothing new. The rounds of a row whose weight is above 1 are equal: they
refute it.
Each certificate holds with probability 1 - delta by itself. Whoever takes the smallest of k, of several classifiers
say, needs delta/k for each. That of ensemble_risk_fixed.py is never above that of ensemble_risk.py (as ln(1-p) <= -p),
so of these two nothing is chosen by looking.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from novikoff.core.certificate import Assumption, Bound, number
from novikoff.online_to_batch.risk import kl_limit, poisson_limit, share

Independence = Literal["trusted", "refuted"]

INDEPENDENT = "the examples are independent draws from one distribution, new to the learner"
ARRIVAL = "whether and when a label came did not depend on the example, its label or the prediction"
MEAN = "mean risk"
"""rbar: what the theorems on all hypotheses limit."""

IN_ADVANCE = "the number of examples was fixed in advance"


@dataclass(frozen=True, slots=True)
class EnsembleFacts:
    """Of a run and its hypotheses H_0, .., H_{n-1}.

    rounds         n, of the first pass
    mistakes       M; or the sum of losses in [0, 1], rounded up
    delta          the chance that the limit fails
    horizon        n was fixed in advance (it is in a whole file), and the run was not stopped by what it saw
    independence   refuted if a test of drift raised an alarm
    evidence       the largest wealth of that test: 1 in so many, if the examples were independent
    drawn          for a vote: its hypotheses were drawn, so its limit is one on average over the draw
    brier          the losses are Brier scores, (1 - P(y))^2, and the risk is the expected one of a fresh example
    late           labels came late: the sample is in the order of their arrival, without those that did not come
    copies         rows of weight above 1 were played, each as several examples: independence is refuted
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
        """What is limited."""
        return f"{MEAN} in Brier score" if self.brier else ""


@dataclass(frozen=True, slots=True)
class BestFacts:
    """Of the hypothesis that was kept: that of the smallest limit.

    rounds         n, of the first pass
    delta          the chance that the limit fails
    candidates     hypotheses whose limits were compared
    first          t: the hypothesis is H_t, which learned from t examples (of several equal ones, the first)
    errors         on the examples after t
    trials         how many these were: n - t
    mistakes       M, of the run
    independence   refuted if a test of drift raised an alarm
    evidence       the largest wealth of that test
    horizon        n was fixed in advance
    copies         rows of weight above 1 were played, each as several examples: independence is refuted
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
    """Of the hypothesis with the fewest errors on examples that were held back.

    candidates     how many hypotheses there could be, fixed in advance
    compared       how many there were
    errors         of the one that was kept, on all examples held back
    trials         how many these were
    delta          the chance that the limit fails
    independence   refuted if something showed that the examples are not independent
    copies         rows of weight above 1 were held back, each as several examples: independence is refuted
    """

    candidates: int
    compared: int
    errors: int
    trials: int
    delta: float = 0.05
    independence: Independence = "trusted"
    copies: bool = False


def independent(facts: EnsembleFacts | BestFacts | HeldFacts) -> Assumption:
    """What cannot be checked; with the evidence, if it was refuted."""
    late = isinstance(facts, EnsembleFacts) and facts.late
    claim = f"{INDEPENDENT}, and {ARRIVAL}" if late else INDEPENDENT
    if facts.copies:
        return Assumption(f"{claim} (rows of weight above 1 were played as several equal examples)", "refuted")
    if isinstance(facts, HeldFacts):
        return Assumption(claim, facts.independence)
    if facts.independence == "trusted":
        return Assumption(claim, "trusted")
    return Assumption(f"{claim} (the drift test's wealth grew from 1 to {number(facts.evidence)})", "refuted")


def in_advance(facts: EnsembleFacts | BestFacts) -> Assumption:
    """That nobody looked when to stop."""
    return Assumption(IN_ADVANCE, "trusted" if facts.horizon else "refuted")


def ensemble_limit(facts: EnsembleFacts) -> float:
    """Of rbar: for the n fixed in advance, else for all n."""
    if facts.horizon:
        return kl_limit(facts.mistakes, facts.rounds, facts.delta)
    return share(poisson_limit(facts.mistakes, facts.delta), facts.rounds)


def told(facts: EnsembleFacts | BestFacts, when: str) -> dict[str, Any]:
    """The quantities that every certificate on a risk shows."""
    lost = "brier" if isinstance(facts, EnsembleFacts) and facts.brier else "mistakes"
    return {"rounds": facts.rounds, lost: facts.mistakes, "delta": facts.delta, "when": when,
            "evidence": facts.evidence}  # fmt: skip


def risk_bound(
    bound: float | None, errors: int, trials: int, assumptions: list[Assumption], quantities: Mapping[str, Any],
    quantity: str = "",
) -> Bound:  # fmt: skip
    """A limit on a risk, which was rounded up already, beside the rate of errors; None if there were no examples."""
    if bound is None:
        return Bound(None, assumptions, quantities, 0.0, trivial=1, quantity=quantity, void="there were no examples")
    return Bound(min(bound, 1.0), assumptions, quantities, errors / trials, trivial=1, quantity=quantity)
