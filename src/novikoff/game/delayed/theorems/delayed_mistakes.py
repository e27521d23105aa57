"""Mistakes with labels that arrive late, in any order, or never: the learner's bound plus changed answers.

Theorem (upper)
    Rounds are served in one order and their labels arrive in another, with any delay; some never arrive. The game is
    played in the order of arrival (game/delayed/theorems/late_facts.py), and a theorem of the learner allows it B
    mistakes there. M is the number of labelled rounds whose served answer was wrong, and F that of labelled rounds
    whose served answer differs from the learner's prediction on x when the label arrives. Then
        M  <=  B + F.
    For a bound B_L on the log loss, B is B_L / ln 2, rounded down.
    F is counted, not bounded: the number of answers that changed before their labels arrived. Counting it needs no
    label. Without delay F is 0.
Assumptions
    those of the learner's theorem on the game of arrivals; its rounds are the labelled ones (checked).
Proof
    A wrong served answer either equals the prediction on arrival, which is then wrong too, or differs from it:
        1[served != y]  <=  1[arrival != y] + 1[served != arrival].
    Sum over the labelled rounds: the first sum is at most B, the second is F. With probabilities P a mistake of the
    game of arrivals has P(y) <= P(prediction), so P(y) <= 1/2 and its log loss is at least ln 2. []
    Rounds whose labels never arrive are not covered. Tight: e_1 .. e_k, each served tau+1 times before its labels
    arrive, all of them -1: the Perceptron makes B = k mistakes on arrival, tau k answers changed, and M = (tau+1) k.
Reference
    [joulani2013] for games with delays.
"""

from __future__ import annotations

from novikoff.core.certificate import Bound, Words, theorem
from novikoff.core.types import Run
from novikoff.game.delayed.theorems.late_facts import QUANTITY, facts_of, least, nothing, passed


@theorem(
    "D",
    "joulani2013",
    QUANTITY,
    words=Words(
        covers="delayed labels",
        why=(
            "in the order in which the labels came, it makes at most {its_bound} mistakes ({its_theorem}); {changed} "
            "answers had changed when their labels came"
        ),
    ),
)
def delayed_mistakes(run: Run[object]) -> Bound | None:
    """Return the least bound on the game of arrivals plus the number of changed answers."""
    found = least(run)
    if found is None:
        return nothing(run)
    limit, by = found
    return passed(run, limit + facts_of(run).changed, by, limit, {})
