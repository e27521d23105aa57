"""Records and row indices of the arrays of bandits/_loops/bandits.py. This module does not import numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LOST, RATE, RATES, SPENT, STABLE, OFF, WORST, NUMBERS = range(8)
"""Indices into `numbers`: total loss of the arms played; last rate; sum of the rates, each increased by exploration;
the two sums of the pathwise bound; largest distance of the sum of the probabilities from 1; largest factor by which
exploration increased a rate. The last name is the length."""


class Coins(NamedTuple):
    """State of the coins of a run, and the number of earlier rounds."""

    start: int
    first: int


class Rates(NamedTuple):
    """Rate, gamma and exploration of EXP3-IX and EXP4."""

    fixed: float  # rate; 0 for a decreasing one
    share: float  # gamma / rate
    explore: float = 0.0  # probability of a uniform draw; negative for a decreasing one


class Sums(NamedTuple):
    """Sums over all rounds, for K arms, or N experts instead."""

    numbers: NDArray[np.float64]  # (NUMBERS,)
    estimates: NDArray[np.float64]  # (K or N,): estimated loss of each
    gammas: NDArray[np.float64]  # (G,): grid of the confidence bounds; never changed
    sums: NDArray[np.float64]  # (K or N, G): estimates with each gamma of the grid
    totals: NDArray[np.float64]  # (K or N,): true losses, if whole rows are known


class Results(NamedTuple):
    """Outputs of n rounds."""

    arms: NDArray[np.float64]  # (n,): arm drawn
    losses: NDArray[np.float64]  # (n,): loss of the arm drawn
    means: NDArray[np.float64]  # (n,): expected loss over the draw, if whole rows are known; otherwise as losses


class Counts(NamedTuple):
    """Counts and sums of a bandit for independent losses, for K arms."""

    numbers: NDArray[np.float64]  # (NUMBERS,): only LOST is used
    plays: NDArray[np.float64]  # (K,): rounds in which each arm was played
    paid: NDArray[np.float64]  # (K,): sum of the observed losses of each arm
    totals: NDArray[np.float64]  # (K,): true losses, if whole rows are known


class Starts(NamedTuple):
    """States of the coins of Thompson sampling."""

    samples: int  # samples of the posterior
    rounding: int  # rounding of losses to 0 or 1
