"""Mistakes with delayed labels of a learner that changes on mistakes only: at most G+1 times its bound.

Theorem (upper)
    As in game/delayed/theorems/delayed_mistakes.py, for a learner that changes on its mistakes only. Let G be the
    largest number of other rounds that were waiting for their labels when a label arrived. If a theorem allows B
    mistakes in the game of arrivals,
        M  <=  (G + 1) B + X,
    where X counts labelled rounds whose answer changed although no mistake on arrival occurred in between. X counts
    only rounds that were served before the first multiclass label was known, and had no answer; otherwise it is 0.
    This bound needs no comparison of answers, and grows with the delay; game/delayed/theorems/delayed_mistakes.py
    grows with the number of changed answers, and is usually much smaller.
Assumptions
    those of the learner's theorem on the game of arrivals; its rounds are the labelled ones (checked). It does not
    apply to learners that change in every round, or scale examples by earlier ones.
Proof
    Let t be a labelled round whose served answer was wrong. If no mistake on arrival occurred between its prediction
    and its label, then either its answer changed, and X counts it, or its label caused a mistake on arrival. Otherwise
    t was waiting when such a mistake occurred. So every wrong answer that X does not count is among the 1 + (other
    rounds waiting) of a mistake on arrival. Of these there are at most B, and each has at most G others. If the learner
    changes on mistakes only, it is unchanged if none occurred in between, and so is its prediction on x: X = 0. []
    Tight: as for game/delayed/theorems/delayed_mistakes.py.
Reference
    [mesterharm2005].
"""

from __future__ import annotations

from novikoff.core.certificate import Bound, Words, theorem
from novikoff.core.types import Run
from novikoff.game.delayed.theorems.late_facts import QUANTITY, facts_of, least, nothing, passed


@theorem(
    "D",
    "mesterharm2005",
    QUANTITY,
    words=Words(
        covers="delayed labels, for a learner that changes only on mistakes",
        why=(
            "in the order in which the labels came, it makes at most {its_bound} mistakes ({its_theorem}); at most "
            "{others} other rounds were waiting when a label came"
        ),
    ),
)
def delayed_conservative(run: Run[object]) -> Bound | None:
    """Return (G+1) times the least bound on the game of arrivals; None for a learner that is not conservative."""
    late = facts_of(run)
    if not late.conservative:
        return None
    found = least(run)
    if found is None:
        return nothing(run)
    limit, by = found
    value = (late.others + 1) * limit + late.unexplained
    return passed(run, value, by, limit, {"others": late.others, "unexplained": late.unexplained})
