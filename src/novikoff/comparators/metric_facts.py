"""What theorems on learners in a metric share: what they are told of the learner and of each u, and what is checked.

Beside what the theorem adds up round by round (`gained`) stands what is left of it at the end, from the learner's sums
(`dual`), which bounds the regret on EVERY sequence of scores, however they were computed. The theorem says that dual is
at most gained. Promised is the larger: it is true whatever floats, or the learner, did to the scores. The comparators
evaluate dual themselves, from the scores that were played (comparators/goal.py), so no claim of the learner makes the
bound false. Where dual is the larger by more than rounding explains (`least`), the learner was not what it says, and
the certificate is void.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from novikoff.comparators.frozen import FrozenFacts
from novikoff.core.certificate import Assumption, Bound, outward, refutations, seen
from novikoff.core.errors import counted
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class MetricComparator:
    """One u; losses are sums over all rounds, rounded up.

    log_loss, hinge, parabola   its losses; parabola is the sum of max(l, Q)
    square                      u'Au
    doubt                       the sum of |u_i| times what the learner's sum may be off by
    unexplained                 how far the learner's sums, along u, are from those of what it played, in units of what
                                rounding explains
    promised, member            of the goal it was found for; promised is no less than what the tracker evaluated itself
    """

    log_loss: float
    hinge: float
    parabola: float
    square: float
    doubt: float
    unexplained: float
    promised: float
    member: int

    @property
    def log_bound(self) -> float:
        """The bound on a log loss."""
        return self.log_loss + 0.5 * self.square + self.doubt + self.promised

    @property
    def parabola_bound(self) -> float:
        """The same for a learner of the second order."""
        return self.parabola + 0.5 * self.square + self.promised


@dataclass(frozen=True, slots=True)
class MetricComparatorFacts:
    """Of every comparator; the first is u = 0.

    rows          rounds seen
    fitted        on how many of them
    losses        the sum of the log losses of the scores, for each of those who make up the learner
    unexplained   as of a comparator, of all that was compared besides
    frozen        copies of the learner's own weights, if any were made
    updates       rounds that its scores made updates, and `mistakes` among them; for learners with a margin
    """

    rows: int
    fitted: int
    comparators: tuple[MetricComparator, ...]
    losses: tuple[float, ...] = ()
    unexplained: float = 0.0
    frozen: tuple[FrozenFacts, ...] = ()
    updates: int = 0
    mistakes: int = 0

    @property
    def explained(self) -> bool:
        """Are the learner's sums those of the scores it played?"""
        return self.unexplained <= 1.0 and all(u.unexplained <= 1.0 for u in self.comparators)


SLACK = 1e-6


@dataclass(frozen=True, slots=True)
class MetricFacts:
    """One learner in a metric, now.

    rounds, updates   its rounds from its first, and how many of them changed it
    mistakes          those among the updates that were mistakes, where only these are counted; else 0
    loss              the sum of its log losses, as it saw them; else 0
    gained            what its theorem adds up: the sum of Delta, or of v
    dual              at least what that leaves in its sums: the sum of g z (- h z^2/2) + b'A^-1 b/2, or b'A^-1 b
    least             at most that: what rounding may have done in all rounds is between the two
    excess            where `constant`: the sum of P(+1) - 1[y = +1], as the gradient of its constant feature has it
    constant          has it a constant feature whose gradient is just that?
    """

    rounds: int
    updates: int
    mistakes: int
    loss: float
    gained: float
    dual: float
    least: float
    excess: float = 0.0
    constant: bool = False

    @property
    def penalty(self) -> float:
        """What is promised beside the comparator's own."""
        return max(self.gained, self.dual)


def steady(gained: float, least: float, slack: float = SLACK) -> bool:
    """Did the metric never shrink? Then the sum of its own rounds, at least this, is at most what was gained."""
    return least <= gained + SLACK * abs(gained) + slack


def assumptions(run: Run[MetricFacts], paid: float) -> list[Assumption]:
    """What these theorems need; `paid` is what the ledger says of the learner's own loss."""
    after, tracked = run.after, run.tracked
    assert isinstance(tracked, MetricComparatorFacts)
    agreed = abs(after.loss + after.mistakes - paid) <= SLACK * (1.0 + paid)
    return [
        seen("the learner started untrained", run.before.rounds == 0),
        seen("it learned from exactly the recorded rounds", after.rounds == run.rounds),
        seen("the comparators were evaluated on every round", tracked.rows == run.rounds),
        seen("its total agrees with the ledger's", agreed),
        seen("its sums agree with its scores", tracked.explained),
        seen("its metric never shrank (no drift by rounding)", steady(after.gained, after.least)),
        *([seen("the mean error of its probabilities agrees with its sums", _even(run))] if after.constant else []),
    ]


def _even(run: Run[MetricFacts]) -> bool:
    """Is the sum of P(+1) less that of the labels +1 the gradient of the constant feature, as it must be exactly?"""
    if run.predicted is None:
        return True
    return abs(run.predicted - run.constants[0] - run.after.excess) <= SLACK * (1.0 + run.rounds)


def reason_void(run: Run[MetricFacts], needed: list[Assumption]) -> str:
    """Why nothing can be said of this run; "" if something can."""
    if run.before.rounds:
        return f"warm start: the learner had played {counted(run.before.rounds, 'round')} when the game started"
    return refutations(needed) or (
        "" if run.tracked.comparators else "no comparator could be evaluated: numbers overflowed"
    )


def log_loss_bound(
    run: Run[MetricFacts],
    of: Callable[[MetricComparator], float],
    more: Callable[[MetricComparator], dict[str, float]] = lambda u: {},
) -> Bound | None:
    """The least that a theorem on the log loss promises by a comparator (`of`); None without probabilities.

    more   what else there is to tell of the comparator that is best
    """
    if run.log_loss is None:
        return None
    needed, trivial = assumptions(run, run.log_loss), run.rounds * math.log(2.0)
    if reason := reason_void(run, needed):
        return Bound(None, needed, observed=run.log_loss, trivial=trivial, void=reason)
    u = min(run.tracked.comparators, key=of)
    quantities = {
        "comparator_loss": u.log_loss,
        "penalty": 0.5 * u.square,
        "delta": u.promised,
        **more(u),
        "best_constant": best_constant(run),
        "fitted": run.tracked.fitted,
    }
    return Bound(outward(of(u) + run.rounds * 2.0**-50), needed, quantities, run.log_loss, trivial)


def best_constant(run: Run[Any]) -> float:
    """The least sum of log losses of a probability that never changes: T times the entropy of the labels."""
    parts = [count for count in run.constants if count]
    return sum(count * math.log(run.rounds / count) for count in parts)
