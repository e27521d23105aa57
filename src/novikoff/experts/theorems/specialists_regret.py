"""Log loss of specialists on the whole stream, against the copy that never rests.

Theorem (upper)
    Forecasters i start with weights w_i, which sum to at most 1; before each y, any of them may be awake. The
    prediction is P = sum of w_i P_i / sum of w_i over those awake, and for these each w_i *= P_i(y) / P(y). For every i
        the sum over the rounds in which i was awake of (loss - loss of i)  <=  ln 1/w_i.
    The steady copy is awake in every round and starts with w = 1/2:
        L  <=  its loss + ln 2.
Assumptions
    the copies started untrained; their rounds and the loss of the mixture are those of the ledger; the loss of the
    steady copy is that of its ledger (all checked; the last only if it has a theorem on log loss).
Proof
    A round does not change the sum of the weights awake, since the sum of w_i P_i(y)/P(y) is the sum of w_i by the
    choice of P; the others do not move. So no w_i ever exceeds 1, and that of i at the end is the initial w_i times
    e^(loss - loss of i), summed over its rounds. []
Reference
    [freund1997b]; [hazan2009] for copies started at different times.
"""

from __future__ import annotations

import math

from novikoff.comparators.metric_facts import best_constant
from novikoff.core.certificate import Bound, Words, outward, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.specialists_facts import EPS, SpecialistsFacts, assumptions, why_void


@theorem(
    "D",
    "freund1997b",
    "log loss",
    words=Words(
        covers="a mixture of copies that start at different times",
        why=(
            "the copy that started in the first round lost {steady_loss:up}; mixing it with others adds at most "
            "{price:up}"
        ),
    ),
)
def specialists_regret(run: Run[SpecialistsFacts]) -> Bound | None:
    """Return the loss of the steady copy + ln 2; None without probabilities."""
    if run.log_loss is None:
        return None
    lost, trivial = run.after.steady_loss, run.rounds * math.log(2.0)
    quantities = {"steady_loss": lost, "price": math.log(2.0), "best_constant": best_constant(run)}
    bound = outward(lost + math.log(2.0) + EPS * lost)
    return Bound(bound, assumptions(run), quantities, run.log_loss, trivial, void=why_void(run))
