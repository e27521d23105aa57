"""The arrays of bandits/_loops/bandits.py, and names for the places in them. No numba here."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LOST, RATE, RATES, SPENT, STABLE, OFF, WORST, NUMBERS = range(8)
"""What the arms it played cost; the last rate; the sum of all, with what exploration adds to each; what the pathwise
bound adds up, in two parts; the most that its chances were away from a sum of 1; the most that exploration made of a
rate, as a factor; last, how many there are."""


class Coins(NamedTuple):
    """State of the coins of a run, and the number of earlier rounds."""

    start: int
    first: int


class Rates(NamedTuple):
    """How EXP3-IX and EXP4 choose rate, gamma and exploration."""

    fixed: float  # the rate; 0 for one that falls
    share: float  # gamma / rate
    explore: float = 0.0  # chance with which any arm is drawn; negative for one that falls


class Sums(NamedTuple):
    """Sums over all rounds, for K arms, or N experts instead."""

    numbers: NDArray[np.float64]  # (NUMBERS,)
    estimates: NDArray[np.float64]  # (K or N,): estimated loss of each
    gammas: NDArray[np.float64]  # (G,): those of the confidence bounds; never changed
    sums: NDArray[np.float64]  # (K or N, G): estimates with each of these gammas
    totals: NDArray[np.float64]  # (K or N,): true losses, where whole rows are shown


class Results(NamedTuple):
    """Outputs of n rounds."""

    arms: NDArray[np.float64]  # (n,)
    losses: NDArray[np.float64]  # (n,): of the arm drawn
    means: NDArray[np.float64]  # (n,): on average over the coin, where whole rows are shown; else as losses
