"""Mistakes of answers whose labels come late, of a learner that draws them: with high probability, and what changed.

Theorem (upper; kind P, delta = 0.05, for all T simultaneously)
    As in game/delayed/theorems/delayed_mistakes.py, for a learner that follows an expert drawn by its weights. A
    theorem of kind P (experts/theorems/drawn_loss.py) allows the game of arrivals B mistakes with probability at least
    1 - delta, at every time at once. F is the number of labelled rounds whose served answer is not what was drawn when
    the label came. Then
        M  <=  B + F     with probability at least 1 - delta, at every time at once.
    F is counted, not promised; here it also counts answers that only the coins changed. Without delay F is 0.
Assumptions
    those of the learner's theorem on the game of arrivals: that label and example of a round do not depend on the draw
    when the label comes (trusted). Who labels because of the answer that was served, or chooses by it which label to
    send, may break this: an answer that is asked for just before a label comes is drawn by the same coin. The rounds of
    that game are the labelled ones (checked).
Proof
    Whatever the coins were,
        1[served != y]  <=  1[drawn on arrival != y] + 1[served != drawn on arrival].
    Sum over the labelled rounds: M <= U + F on every run, where U are the mistakes of the game of arrivals. So
    M > B + F only where U > B, which ever happens with chance delta at most. []
Reference
    [howard2020] for B; [joulani2013] for games with delays.
"""

from __future__ import annotations

from typing import Any

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
def delayed_drawn(run: Run[Any]) -> Bound | None:
    """The least bound on what was drawn in the game of arrivals, and the answers that changed."""
    found = least(run, "P")
    if found is None:
        return nothing(run, "P")
    limit, by = found
    return passed(run, limit + facts_of(run).changed, by, limit, {"delta": by.quantities["delta"]})
