"""Rest and wake of the members of a mixture, for mixtures/_loops/auto.py and multiclass_auto.py.

A member with a matrix costs O(d^2) per round. It falls asleep after 1,000 consecutive rounds in which its weight was
below 1e-6 and it counted little in a stack that is heard, if its log weight also fell by at least 10 in these rounds; a
member that no longer falls behind starts a new count. All sleepers wake after rounds 2048, 4096, 8192, ...: a member
that learns slowly gets another 1,000 rounds. Diagonal members and the stack never rest, so there is always a member
awake; neither does the member with the least loss of those that never slept, which has the best bound.
A sleeper is a specialist: it neither predicts nor learns, and its log weight stays as it is, also when it wakes
(mixtures/theorems/auto_regret.py).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.linear._loops.second_order_layout import COUNT, LARGEST
from novikoff.mixtures._loops import auto_layout as at
from novikoff.numerics.compiled import inner

Vector = NDArray[np.float64]


@inner
def settle(standing: Vector, stack: Vector, first: int, rounds: int) -> bool:
    """Choose who is awake in the next round; True if sleepers woke.

    standing   (STANDING, J+1), of the members and, last, the stack
    stack      (J,), the weights that the stack gives the members
    first      number of the first member that may rest
    rounds     rounds played so far
    """
    members, best = len(stack), -1
    little = np.inf  # largest stack weight with which a member may rest
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
    due, woke = rounds == times * at.WAKE and times & (times - 1) == 0, False
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
    """Give a matrix rows for the features that others met while its member slept, as yet without data.

    held, inverse, totals   the arrays of the member that woke (linear/_loops/second_order.py)
    other, count            `held` of the member with the most features, and how many these are
    """
    for i in range(int(totals[COUNT]), count):
        held[:, i] = 0.0
        held[LARGEST, i] = other[LARGEST, i]
        for j in range(i):
            inverse[i, j] = 0.0
        inverse[i, i] = 1.0 / (ridge * other[LARGEST, i] * other[LARGEST, i])
    totals[COUNT] = count
