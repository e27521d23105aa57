"""Thresholds that follow the coverage asked for, the scores that came before, and the scale of what is scored.

A threshold is computed afresh from integers each round, so that nothing drifts: q = start + step (misses - alpha
rounds). The score that came is missed unless it is at most q, or q is 1 or more: then the set is everything. `history`
has a row of counts and one of sums, of the scores in BINS bins of equal width from 0 to 1.

Arguments of the loops
    scores       (rounds,) from 0 on; above 1 they are remembered as 1
    groups       (rounds,) the group of each round
    counts       (groups, 2) rounds and misses of each, changed
    alpha        share of misses that is asked for; step and start: see above
    history      (2, BINS) changed
    thresholds   (rounds,) out; missed: (rounds,) out
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.conformal._loops.conformal_layout import BINS
from novikoff.numerics.compiled import compiled, inlined

MEMORY = 0.01
"""Least weight of a new size in the scale: the mean of the first hundred, then a moving mean."""

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]


@inlined
def remember(history: Numbers, score: float) -> int:
    """Count the score and return its bin."""
    place = min(int(score * BINS), BINS - 1)
    history[0, place] += 1.0
    history[1, place] += score
    return place


@compiled
def track(
    scores: Numbers, groups: Counts, counts: Counts, alpha: float, step: float, start: float, history: Numbers,
    paid: Numbers, thresholds: Numbers, missed: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Play every round with the tracker of its group.

    paid   (groups,) pinball losses, changed
    """
    for t in range(len(scores)):
        g, score = groups[t], min(scores[t], 1.0)
        q = start + step * (counts[g, 1] - alpha * counts[g, 0])
        miss = not (scores[t] <= q or q >= 1.0)
        thresholds[t], missed[t] = q, miss
        counts[g, 0] += 1
        counts[g, 1] += miss
        remember(history, score)
        paid[0] += (1.0 - alpha) * (score - q) if score > q else alpha * (q - score)


@compiled
def track_overlapping(
    scores: Numbers, cells: Counts, inside: Counts, counts: Counts, totals: Counts, alpha: float, step: float,
    start: float, history: Numbers, thresholds: Numbers, missed: NDArray[np.bool_],
) -> None:  # fmt: skip
    """The same with groups that overlap: what each is ahead moves the threshold of every row in it.

    cells    (rounds,) the cell of each round: the rows that are in the same groups
    inside   (cells, groups at most) the groups that each cell is in; -1 for none
    counts   (cells, 2) and totals: (groups, 2), rounds and misses, changed
    """
    for t in range(len(scores)):
        cell, rounds, misses = cells[t], 0, 0
        for k in inside[cell]:
            if k >= 0:
                rounds += totals[k, 0]
                misses += totals[k, 1]
        q = start + step * (misses - alpha * rounds)
        miss = not (scores[t] <= q or q >= 1.0)
        thresholds[t], missed[t] = q, miss
        counts[cell, 0] += 1
        counts[cell, 1] += miss
        for k in inside[cell]:
            if k >= 0:
                totals[k, 0] += 1
                totals[k, 1] += miss
        remember(history, min(scores[t], 1.0))


@compiled
def track_decaying(
    scores: Numbers, groups: Counts, counts: Counts, alpha: float, step: float, moving: Numbers, history: Numbers,
    thresholds: Numbers, missed: NDArray[np.bool_],
) -> None:  # fmt: skip
    """The same with the step step/sqrt(t) in round t of a group.

    moving   (groups, 2) of each, changed: its threshold, and the sum of each threshold times by how much 1/step of its
             round is above that of the round before
    """
    for t in range(len(scores)):
        g = groups[t]
        q, rounds = moving[g, 0], counts[g, 0] + 1
        miss = not (scores[t] <= q or q >= 1.0)
        thresholds[t], missed[t] = q, miss
        moving[g, 1] += q * ((np.sqrt(rounds) - np.sqrt(rounds - 1)) / step)
        moving[g, 0] = q + step / np.sqrt(rounds) * ((1.0 if miss else 0.0) - alpha)
        counts[g, 0] = rounds
        counts[g, 1] += miss
        remember(history, min(scores[t], 1.0))


@compiled
def track_quantile(
    scores: Numbers, counts: Counts, alpha: float, history: Numbers, thresholds: Numbers, missed: NDArray[np.bool_]
) -> None:  # fmt: skip
    """Play every round with the quantile of the scores before, governed: everything or nothing outside the band."""
    place, below = -1, 0.0  # the bins up to `place` have `below` scores
    for t in range(len(scores)):
        rounds = counts[0, 0]
        needed = np.ceil((1.0 - alpha) * (rounds + 1))
        while place >= 0 and below - history[0, place] >= needed:
            below -= history[0, place]
            place -= 1
        while place < BINS - 1 and below < needed:
            place += 1
            below += history[0, place]
        q = governed(counts[0, 1] - alpha * rounds, rounds + 1, 1.0 if below < needed else (place + 1) / BINS)
        miss = not (scores[t] <= q or q >= 1.0)
        thresholds[t], missed[t] = q, miss
        counts[0, 0] += 1
        counts[0, 1] += miss
        if remember(history, min(scores[t], 1.0)) <= place:
            below += 1.0


@compiled
def governed(ahead: float, t: int, q: float) -> float:
    """Return the threshold of round t after `ahead` excess misses: the rule's, or one that restores the coverage."""
    band = np.sqrt(t * np.log(t + 1.0))
    if ahead >= band:
        return 2.0
    return -1.0 if ahead <= -band else q


@compiled
def scales(sizes: Numbers, known: Numbers, found: Numbers) -> None:
    """The scale before each size: a mean in which the last count more; -1 before the first.

    sizes   (rounds,) those that are not finite are skipped
    known   (2,) sizes so far and their mean, changed
    found   (rounds,) out
    """
    for t in range(len(sizes)):
        found[t] = known[1] if known[0] > 0.0 else -1.0
        if np.isfinite(sizes[t]):
            known[0] += 1.0
            known[1] += (sizes[t] - known[1]) * max(1.0 / known[0], MEMORY)
