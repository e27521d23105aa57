"""Mistakes with delayed labels of a learner that draws its answers: high-probability bound plus changed answers.

Theorem (upper; kind P, delta = 0.05, for all T simultaneously)
    As in game/delayed/theorems/delayed_mistakes.py, for a learner that follows an expert drawn by its weights. A
    theorem of kind P (experts/theorems/drawn_loss.py) allows B mistakes in the game of arrivals with probability at
    least 1 - delta, at every time at once. F is the number of labelled rounds whose served answer differs from the draw
    when the label arrived. Then
        M  <=  B + F     with probability at least 1 - delta, at every time at once.
    F is counted, not bounded; here it also counts answers that only the draws changed. Without delay F is 0.
Assumptions
    those of the learner's theorem on the game of arrivals: that label and example of a round do not depend on the draw
    when the label arrives (trusted). Labels that depend on the served answer, or are sent depending on it, may break
    this: an answer requested just before a label arrives uses the same draw. The rounds of that game are the labelled
    ones (checked).
Proof
    For every outcome of the draws,
        1[served != y]  <=  1[drawn on arrival != y] + 1[served != drawn on arrival].
    Sum over the labelled rounds: M <= U + F on every run, where U are the mistakes of the game of arrivals. So
    M > B + F implies U > B, which ever happens with probability at most delta. []
Reference
    [howard2020] for B; [joulani2013] for games with delays.
"""

from __future__ import annotations

from novikoff.core.certificate import Bound, Words, theorem
from novikoff.core.types import Run
from novikoff.game.delayed.theorems.late_facts import QUANTITY, facts_of, least, nothing, passed


@theorem(
    "P",
    "howard2020",
    QUANTITY,
    words=Words(
        covers="delayed labels that do not depend on the learner's random draws",
        why=(
            "in the order in which the labels came, it makes at most {its_bound} mistakes with high probability "
            "({its_theorem}); {changed} answers had changed when their labels came"
        ),
    ),
)
def delayed_drawn(run: Run[object]) -> Bound | None:
    """Return the least bound on the draws in the game of arrivals plus the number of changed answers."""
    found = least(run, "P")
    if found is None:
        return nothing(run, "P")
    limit, by = found
    return passed(run, limit + facts_of(run).changed, by, limit, {"delta": by.quantities["delta"]})
