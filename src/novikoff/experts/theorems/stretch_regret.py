"""Log loss of specialists on every stretch, against the copy that started with it.

Theorem (upper)
    On every stretch of 2^k blocks from block s on, 2^k a divisor of s and n the largest such k:
        loss - loss of the copy started with it  <=  ln 2s(s+1)(n+1).
    Any blocks a .. b consist of at most 2 log2(b - a + 2) consecutive stretches. So on these blocks the loss is at most
    that of the copies, each on its stretch, plus the sum of their prices. The loss of a copy is at most the bound of
    its theorem for every u on its stretch, so the total bound holds with a different u on each stretch.
    The certificate reports the largest excess over this bound, over all completed stretches: it is at most 0.
Assumptions
    the copies started untrained; their rounds and the loss of the mixture are those of the ledger (checked).
Proof
    experts/theorems/specialists_regret.py, with the weights 1/(2s(s+1)(n+1)) of the n + 1 stretches from s on: they sum
    to 1/2 over all s. Two stretches that start together predict the same while both are awake, so one copy may
    represent all of them. []
Reference
    [daniely2015]; [hazan2009].
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, outward, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.specialists_facts import EPS, SpecialistsFacts, assumptions, why_void


@theorem(
    "D",
    "daniely2015",
    "loss beyond the promise on a stretch",
    words=Words(
        covers="every stretch of blocks, compared with a copy started at its beginning",
        why=(
            "each of the {stretches} completed stretches was checked: on none did the mixture lose more than the copy "
            "started with it, plus its cost"
        ),
    ),
)
def stretch_regret(run: Run[SpecialistsFacts]) -> Bound | None:
    """Return the bound for the worst stretch; None before the first is complete, and without probabilities."""
    if run.log_loss is None or run.after.stretches == 0:
        return None
    quantities = {"stretches": run.after.stretches}
    bound = outward(EPS * run.after.loss)
    return Bound(bound, assumptions(run), quantities, run.after.worst, math.inf, void=why_void(run))
