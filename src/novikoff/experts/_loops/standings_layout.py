"""The arrays of experts/_loops/standings.py, sharing.py and sleeping.py, and names for the places in them. No numba
here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FIXED, ANYTIME, DOUBLING, ADAPTIVE = range(4)
"""Kinds of rates."""

ROUNDS, LEAD, EXPERTS, WIDTH, PRIOR, KIND, CODE, DRAWS, COINS, KEPT = range(10)
PLAYED = 1
"""Places in counts: rounds and leader; how many experts, and how many there is room for in the table; is there a prior;
the kind of rate; the loss's code; is an expert drawn, by which coins; how many weights there is room for.
Of sleeping experts: rounds, and those of them in which someone was awake."""

MIXED, GAPS, RATES, EPOCH, SPAN, RATE, LAST_GAP, LAST_H, LAST_W, LAST_STEP = 0, 2, 4, 6, 8, 10, 11, 12, 13, 14
NUMBERS = 15
GIVEN, LOG_N, TOP, CLIP = 15, 16, 17, 18
"""Places in numbers. Totals take two: sums of h, of h - m, of rates, of h in this epoch, of 1/rate over epochs.
Then the last rate, and of the last round h - m (where the rate moves), h, W, and what the leader's loss grew by.
NUMBERS of these change; then the rate (of FIXED; else 1/unit), ln N, the largest loss and the clip."""

CHUNK = 1024
PAD, TOTALS, LOST, MOVED, OUT = 40, 56, 72, 72 + CHUNK, 72 + 2 * CHUNK
"""Places in `room`, which is worked in: from 0 on lanes of sums; padding; totals; losses and predictions of a chunk;
weights, of a chunk or of all, and after them their sum for each chunk. One array: to pass an array takes time."""

MOST, LEAST = 1e300, 1e-300
"""Rates of a pass. With the least all weights are those of the prior; 0 would not do, as far is infinite at the end."""


class Results(NamedTuple):
    """Outputs of n rounds."""

    said: NDArray[np.float64]  # (n,): the prediction; of a table of losses the expert drawn, else -1
    paid: NDArray[np.float64]  # (n,): what it cost
    mean: NDArray[np.float64]  # (n,): what it costs on average over the coin


class SharingRule(NamedTuple):
    """Constants of a game of fixed share."""

    rate: float  # on the loss itself
    alpha: float
    top: float  # the largest loss there may be
    code: int  # of the loss
    clip: float  # of predictions, for the log loss
    draws: bool  # is one expert followed?
    coins: int  # where they start


class SleepingRule(NamedTuple):
    """Constants of a game with sleeping experts."""

    anytime: bool
    rate: float  # on the loss itself; 1/unit if anytime
    log_n: float
    top: float  # from here on as in SharingRule
    code: int
    clip: float
    draws: bool
    coins: int


class Paths(NamedTuple):
    """The best paths of N experts with 0 .. levels - 1 switches."""

    paths: NDArray[np.float64]  # (2 levels N,): far for each level and expert, then near
    costs: NDArray[np.float64]  # the same with what an expert costs at the start of a segment; no entries without
    entry: NDArray[np.float64]  # (N,): that cost, or no entries
    levels: int
