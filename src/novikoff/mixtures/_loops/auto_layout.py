"""Where mixtures/_loops/auto.py keeps what: names for places in its arrays. No numba here."""

from __future__ import annotations

from novikoff.numerics.sizes import CLIP as CLIP
from novikoff.numerics.sizes import WAVES as WAVES

LIGHT = 1e-6
"""A weight in the mixture below which a member may rest."""
LITTLE = 0.25
"""Fraction of the largest stack weight, over the members awake, up to which a member may rest."""
PATIENCE = 1000
"""Consecutive rounds with a weight below LIGHT after which a member may rest."""
FALL = 10.0
"""Nats that the log weight must have lost in these rounds for the member to rest."""
WAKE = 2048
"""Sleepers wake after rounds WAKE, 2 WAKE, 4 WAKE, ..."""
ASLEEP, RETIRED = -1.0, -2.0
"""Values of IDLE for a member that sleeps until the next wake, and for one that never wakes again."""

LOG_WEIGHT, IDLE, LOSS, SHARE, SLEPT, START, STANDING = range(7)
"""Rows of `standing`, one column per forecaster: log weight; consecutive hopeless rounds (negative while asleep); log
loss summed over the rounds awake; weight among those awake, summed; rounds asleep; log weight when the count of
hopeless rounds began. The last name is the number of rows."""
