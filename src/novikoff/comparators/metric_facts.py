"""Facts shared by the theorems on learners in a metric: about the learner, about each u, and the checks.

The sum that the theorem accumulates round by round is `gained`. `dual` is computed at the end from the learner's sums,
and bounds the regret on EVERY sequence of scores, no matter how they were computed. By the theorem dual is at most
gained. The larger of the two is used: it holds even if rounding, or the learner, changed the scores. The comparators
evaluate dual themselves, from the scores that were played (comparators/goal.py), so no claim of the learner can make
the bound false. If dual is larger by more than rounding explains (`least`), the learner did not follow its rule, and
the certificate is void.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.frozen import FrozenFacts
from novikoff.core.certificate import Assumption, Bound, outward, refutations, seen, warm_start
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class MetricComparator:
    """One comparator u; losses are sums over all rounds, rounded up.

    Attributes:
        log_loss: Log loss of u.
        hinge: Hinge loss of u.
        parabola: Sum of max(l, Q) (comparators/_loops/log_losses.py).
        square: u'Au.
        doubt: Sum of |u_i| times the possible error of the learner's sum.
        unexplained: Distance of the learner's sums, along u, from those of its scores, in units of rounding error.
        promised: Remaining part of the bound of the goal; at least the value that the tracker computed itself.
        member: Member of the goal.
        weights: u by place, the constant feature first.
    """

    log_loss: float
    hinge: float
    parabola: float
    square: float
    doubt: float
    unexplained: float
    promised: float
    member: int
    weights: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)

    def by_place(self) -> dict[str, str]:
        """Return u exactly for a proof file: its weights by place, -1 for the constant feature."""
        return {str(place): weight.hex() for place, weight in enumerate(self.weights.tolist(), -1) if weight}

    @property
    def log_bound(self) -> float:
        """Bound on the log loss of a first-order learner."""
        return self.log_loss + 0.5 * self.square + self.doubt + self.promised

    @property
    def parabola_bound(self) -> float:
        """Bound on the log loss of a second-order learner."""
        return self.parabola + 0.5 * self.square + self.promised


@dataclass(frozen=True, slots=True)
class MetricComparatorFacts:
    """Facts about every comparator; the first is u = 0.

    Attributes:
        rows: Rounds seen.
        fitted: Number of rows that comparators were fitted on.
        comparators: The comparators.
        losses: Sum of the log losses of the scores, for each member.
        unexplained: As in a comparator, for all other comparisons.
        frozen: Facts about copies of the learner's weights, if any were made.
        updates: Number of rounds that were updates according to the scores, for learners with a margin.
        mistakes: Number of mistakes among these updates.
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
        """Whether the learner's sums agree with the scores it played."""
        return self.unexplained <= 1.0 and all(u.unexplained <= 1.0 for u in self.comparators)


SLACK = 1e-6
"""Relative tolerance of the checks."""


@dataclass(frozen=True, slots=True)
class MetricFacts:
    """Present facts about one learner in a metric.

    Attributes:
        rounds: Number of rounds since the learner was made.
        updates: Number of rounds that changed the learner.
        mistakes: Mistakes among the updates, for learners that count only these; else 0.
        loss: Sum of the log losses as the learner computed them; 0 for learners without log loss.
        gained: Sum of the theorem: of Delta, or of v.
        dual: Upper bound on `gained` computed from the learner's sums: the sum of g z (- h z^2/2) + b'A^-1 b/2, or
            b'A^-1 b.
        least: Lower bound on it: the rounding errors of all rounds lie between the two.
        excess: If `constant`, the sum of P(+1) - 1[y = +1], from the gradient of the constant feature.
        constant: Whether there is a constant feature with exactly that gradient.
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
        """Part of the bound that does not depend on the comparator."""
        return max(self.gained, self.dual)


def steady(gained: float, least: float, slack: float = SLACK) -> bool:
    """Return whether the metric never shrank: the lower bound `least` on the learner's sums is at most `gained`."""
    return least <= gained + SLACK * abs(gained) + slack


def assumptions(run: Run[MetricFacts], paid: float) -> list[Assumption]:
    """Return the assumptions of these theorems; `paid` is the learner's loss in the ledger."""
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
    """Return whether the sum of P(+1) minus the number of labels +1 equals the gradient of the constant feature."""
    if run.predicted is None:
        return True
    return abs(run.predicted - run.constants[0] - run.after.excess) <= SLACK * (1.0 + run.rounds)


def why_void(run: Run[Any], needed: list[Assumption]) -> str:
    """Return why a theorem does not apply to this run, of two or many labels; "" if it does."""
    none = "" if run.tracked.comparators else "no comparator could be evaluated: numbers overflowed"
    return warm_start(run.before.rounds) or refutations(needed) or none


def log_loss_bound(
    run: Run[MetricFacts],
    of: Callable[[MetricComparator], float],
    more: Callable[[MetricComparator], dict[str, float]] = lambda u: {},
) -> Bound | None:
    """Return the least bound of a theorem on the log loss over the comparators; None without probabilities.

    Args:
        run: The game.
        of: Bound of the theorem for a comparator.
        more: Further quantities of the best comparator to report.
    """
    if run.log_loss is None:
        return None
    needed, trivial = assumptions(run, run.log_loss), run.rounds * math.log(2.0)
    if reason := why_void(run, needed):
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


def best_constant(run: Run[object]) -> float:
    """Return the least total log loss of a constant probability: T times the entropy of the labels."""
    parts = [count for count in run.constants if count]
    return sum(count * math.log(run.rounds / count) for count in parts)
