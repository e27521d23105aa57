"""Facts of the linear mixture for its theorems, and checks that the mixture was played."""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.comparators.metric_facts import SLACK
from novikoff.core.certificate import Assumption, seen
from novikoff.core.types import Run


@dataclass(frozen=True, slots=True)
class LinearMixtureFacts:
    """State of the forecasters: members and, last, the stack; empty lists if the mixture is part of `auto`.

    Attributes:
        rounds: Rounds, from the first.
        names: Names of the forecasters.
        losses: Log loss of each while awake.
        log_weights: ln w of each.
        slept: Whether each slept in any round; such a forecaster may be awake again, and has no bound on all rounds.
        gained: Sum of Delta in each member's theorem.
        dual: Upper bound on the same quantity, computed from the member's sums.
        least: Lower bound on it, likewise.
    """

    rounds: int
    names: list[str]
    losses: list[float]
    log_weights: list[float]
    slept: list[bool]
    gained: list[float]
    dual: list[float]
    least: list[float]

    def promised(self, j: int) -> float:
        """Return the part of a member's bound that does not depend on the comparator."""
        return max(self.gained[j], self.dual[j])


def weights_before(run: Run[LinearMixtureFacts]) -> list[float]:
    """Return ln w of each forecaster when the game started; all equal if it was untrained."""
    before, count = run.before, len(run.after.losses)
    return before.log_weights if before.rounds else [-math.log(count)] * count


def of_a_mixture(run: Run[LinearMixtureFacts]) -> list[Assumption]:
    """Return the assumptions of L <= L_j - ln w_j, w_j the weight when the game started, for all j that never slept."""
    before, after, tracked = run.before, run.after, run.tracked
    assert run.log_loss is not None
    slack, begun = SLACK * (1.0 + run.log_loss), before.losses if before.rounds else [0.0] * len(after.losses)
    awake = [j for j, slept in enumerate(after.slept) if not slept and run.rounds]
    lost = {j: after.losses[j] - begun[j] for j in awake}
    gained = {j: after.log_weights[j] - weights_before(run)[j] for j in awake}
    whole = math.fsum(math.exp(min(weight, 1.0)) for weight in after.log_weights)
    return [
        seen("it learned from exactly the recorded rounds", after.rounds - before.rounds == run.rounds),
        seen("the comparators were evaluated on every round", tracked.rows == run.rounds),
        seen("the losses of the members agree with their scores",
             all(abs(lost[j] - tracked.losses[j]) <= slack for j in awake)),
        seen("the prediction is the mixture of its members",
             all(abs(gained[j] + lost[j] - run.log_loss) <= slack for j in awake)),
        seen("the weights sum to 1", abs(whole - 1.0) <= SLACK),
    ]  # fmt: skip
