"""Rest and wake of the members of a mixture, for mixtures/_loops/linear_mixture.py and multiclass_linear_mixture.py.

A member with a matrix costs O(d^2) per round. It falls asleep after 1,000 consecutive rounds in which its weight was
below 1e-6 and its weight in the stack was small (or the stack's own weight was below 1e-6), if its log weight also fell
by at least 10 in these rounds; a member that no longer falls behind starts a new count. All sleepers wake after rounds
2048, 4096, 8192, ...: a member that learns slowly gets another 1,000 rounds. Diagonal members and the stack never rest,
so some member is always awake. The member with the least loss among those that never slept does not rest either: it has
the best bound. A sleeper is a specialist: it neither predicts nor learns, and its log weight does not change while it
sleeps or when it wakes (mixtures/theorems/linear_mixture_regret.py).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.linear._loops.second_order_layout import COUNT, LARGEST
from novikoff.mixtures._loops import linear_mixture_layout as at
from novikoff.numerics.compiled import inner

Vector = NDArray[np.float64]


@inner
def settle(standing: Vector, stack: Vector, first: int, rounds: int) -> bool:
    """Decide which members are awake in the next round, and return whether any woke.

    Args:
        standing: (STANDING, J+1) weights and counts of the members and, last, of the stack.
        stack: (J,) weights of the members in the stack.
        first: Index of the first member that may rest.
        rounds: Rounds played so far.
    """
    members, best = len(stack), -1
    little = np.inf  # largest stack weight with which a member may rest; no limit if the stack itself has no weight
    if standing[at.LOG_WEIGHT, members] >= np.log(at.LIGHT):
        little = 0.0
        for j in range(members):
            if standing[at.IDLE, j] >= 0.0:
                little = max(little, at.LITTLE * abs(stack[j]))
    for j in range(members):
        steady = standing[at.IDLE, j] >= 0.0 and standing[at.SLEPT, j] == 0.0
        if steady and (best < 0 or standing[at.LOSS, j] < standing[at.LOSS, best]):
            best = j
    times = rounds // at.WAKE
    due, woke = rounds == times * at.WAKE and times & (times - 1) == 0, False  # rounds is WAKE times a power of 2
    for j in range(first, members):
        if standing[at.IDLE, j] < 0.0:
            standing[at.SLEPT, j] += 1.0
        elif standing[at.LOG_WEIGHT, j] < np.log(at.LIGHT) and abs(stack[j]) <= little and j != best:
            standing[at.IDLE, j] += 1.0
            if standing[at.IDLE, j] >= at.PATIENCE:
                falls = standing[at.START, j] - standing[at.LOG_WEIGHT, j] >= at.FALL
                standing[at.IDLE, j] = at.ASLEEP if falls else 0.0
        else:
            standing[at.IDLE, j] = 0.0
        if due and standing[at.IDLE, j] == at.ASLEEP:
            standing[at.IDLE, j] = 0.0
            woke = True
        if standing[at.IDLE, j] == 0.0:
            standing[at.START, j] = standing[at.LOG_WEIGHT, j]
    return woke


@inner
def catch_up(held: Vector, inverse: Vector, totals: Vector, ridge: float, other: Vector, count: int) -> None:
    """Add to the matrix of a member that woke the features that others met while it slept, without data.

    Args:
        held: Per-feature numbers of the member that woke (linear/_loops/second_order.py).
        inverse: Its inverse matrix.
        totals: Its totals; COUNT becomes `count`.
        ridge: Its ridge.
        other: `held` of the member with the most features.
        count: Number of features of that member.
    """
    for i in range(int(totals[COUNT]), count):
        held[:, i] = 0.0
        held[LARGEST, i] = other[LARGEST, i]
        for j in range(i):
            inverse[i, j] = 0.0
        inverse[i, i] = 1.0 / (ridge * other[LARGEST, i] * other[LARGEST, i])
    totals[COUNT] = count
