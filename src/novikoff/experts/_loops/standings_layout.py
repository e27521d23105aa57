"""Records and indices of the arrays of experts/_loops/standings.py, sharing.py and sleeping.py.

This module does not import numba.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FIXED, ANYTIME, DOUBLING, ADAPTIVE = range(4)
"""Kinds of rates."""

ROUNDS, LEAD, EXPERTS, WIDTH, PRIOR, KIND, CODE, DRAWS, COINS, KEPT = range(10)
PLAYED = 1
"""Indices into `counts`: rounds; leader; number of experts; room for experts in the table; whether there is a prior;
kind of rate; code of the loss; whether an expert is drawn; state of its coins; room for weights. For sleeping experts,
index 1 (PLAYED) is the number of rounds in which an expert was awake."""

MIXED, GAPS, RATES, EPOCH, SPAN, RATE, LAST_GAP, LAST_H, LAST_W, LAST_STEP = 0, 2, 4, 6, 8, 10, 11, 12, 13, 14
NUMBERS = 15
GIVEN, LOG_N, TOP, CLIP = 15, 16, 17, 18
"""Indices into `numbers`. The first five are sums of two numbers each (value and compensation): of h, of h - m, of the
rates, of h in this epoch, of 1/rate over epochs. Then the last rate and, of the last round, h - m (if the rate moves),
h, the sum W of the weights, and the increase of the leader's loss. The first NUMBERS change; the others are constants:
the rate (of FIXED, otherwise 1/unit), ln N, the largest loss and the clip."""

CHUNK = 1024
"""Number of experts per partial sum: the rounding error of a sum grows with its length."""
PAD, TOTALS, LOST, MOVED, OUT = 40, 56, 72, 72 + CHUNK, 72 + 2 * CHUNK
"""Indices into the scratch array `room`: from 0 the lanes of sums; padding; totals; losses and predictions of a chunk;
weights, of a chunk or of all, followed by the sum of each chunk. It is one array, because passing each costs time."""

MOST, LEAST = 1e300, 1e-300
"""Limits of the rate of a pass. At the least rate all weights are those of the prior; it cannot be 0, because `far` is
infinite in the padding, and 0 times infinity is NaN."""


class Results(NamedTuple):
    """Outputs of n rounds."""

    predicted: NDArray[np.float64]  # (n,): prediction; in a game of losses the expert drawn, -1 without a draw
    paid: NDArray[np.float64]  # (n,): its loss
    mean: NDArray[np.float64]  # (n,): expected loss over the draw


class SharingRule(NamedTuple):
    """Constants of a game of fixed share."""

    rate: float  # learning rate on the loss itself
    alpha: float  # share redistributed per round
    top: float  # largest possible loss
    code: int  # code of the loss
    clip: float  # clip of predictions under log loss
    draws: bool  # whether one expert is drawn and followed
    coins: int  # state of the coins before the first


class SleepingRule(NamedTuple):
    """Constants of a game with sleeping experts."""

    anytime: bool  # whether the rate decreases with the rounds
    rate: float  # learning rate on the loss itself; 1/unit if anytime
    log_n: float  # ln N
    top: float  # this and the following as in SharingRule
    code: int
    clip: float
    draws: bool
    coins: int


class Paths(NamedTuple):
    """Best paths of N experts with 0 .. levels - 1 switches."""

    paths: NDArray[np.float64]  # (2 levels N,): loss of each level and expert as far, then as near
    costs: NDArray[np.float64]  # the same including the cost `entry` of every segment; empty without a prior
    entry: NDArray[np.float64]  # (N,): cost of an expert at the start of a segment; empty without a prior
    levels: int  # largest number of switches + 1
