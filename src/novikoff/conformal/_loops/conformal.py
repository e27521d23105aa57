"""Thresholds of prediction sets that track a target coverage, and the scale of the scores.

A threshold is recomputed from integers in each round, so that rounding errors do not accumulate:
q = start + step (misses - alpha rounds). An outcome is covered if its score is at most q, or if q is 1 or more: then
the set is everything. `history` has counts and sums of the scores in BINS bins of equal width from 0 to 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.conformal._loops.conformal_layout import BINS
from novikoff.numerics.compiled import compiled, inlined

MEMORY = 0.01
"""Least weight of a new size in the scale: a plain mean of the first hundred, then an exponential moving mean."""

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]


@inlined
def remember(history: Numbers, score: float) -> int:
    """Add a score from 0 to 1 to history (2, BINS), and return its bin."""
    place = min(int(score * BINS), BINS - 1)
    history[0, place] += 1.0
    history[1, place] += score
    return place


@compiled
def track(
    scores: Numbers, groups: Counts, counts: Counts, alpha: float, step: float, start: float, history: Numbers,
    paid: Numbers, thresholds: Numbers, missed: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Play every round with the threshold of its group.

    Args:
        scores: (rounds,) score of each outcome, at least 0; recorded as at most 1.
        groups: (rounds,) group of each round.
        counts: (groups, 2) rounds and misses of each group, changed.
        alpha: Target fraction of misses.
        step: Step of the thresholds.
        start: Initial threshold.
        history: (2, BINS) counts and sums of the scores, changed.
        paid: (1,) pinball loss of all groups, changed.
        thresholds: (rounds,) output: threshold of each round.
        missed: (rounds,) output: whether the outcome was outside its set.
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
    """Play every round with overlapping groups: the excess misses of a group move the threshold of all its rows.

    Args:
        scores: (rounds,) score of each outcome, at least 0; recorded as at most 1.
        cells: (rounds,) cell of each round; a cell is a combination of groups.
        inside: (cells, largest number of groups per cell) groups of each cell, padded with -1.
        counts: (cells, 2) rounds and misses of each cell, changed.
        totals: (groups, 2) rounds and misses of each group, changed.
        alpha: Target fraction of misses.
        step: Step of the thresholds.
        start: Initial threshold.
        history: (2, BINS) counts and sums of the scores, changed.
        thresholds: (rounds,) output: threshold of each round.
        missed: (rounds,) output: whether the outcome was outside its set.
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
    """Play every round with decaying steps: step/sqrt(t) in round t of a group.

    Args:
        scores: (rounds,) score of each outcome, at least 0; recorded as at most 1.
        groups: (rounds,) group of each round.
        counts: (groups, 2) rounds and misses of each group, changed.
        alpha: Target fraction of misses.
        step: Step of the first round.
        moving: (groups, 2) threshold q of each group, and the sum of q_t (1/r_t - 1/r_{t-1}), r_t the step of round t,
            by which the theorem checks the misses (conformal/theorems/coverage_decaying.py); changed.
        history: (2, BINS) counts and sums of the scores, changed.
        thresholds: (rounds,) output: threshold of each round.
        missed: (rounds,) output: whether the outcome was outside its set.
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
    """Play every round with the quantile of the earlier scores, under the governor.

    Args:
        scores: (rounds,) score of each outcome, at least 0; recorded as at most 1.
        counts: (1, 2) rounds and misses, changed.
        alpha: Target fraction of misses.
        history: (2, BINS) counts and sums of the scores, changed.
        thresholds: (rounds,) output: threshold of each round.
        missed: (rounds,) output: whether the outcome was outside its set.
    """
    place, below = -1, 0.0  # invariant: `below` scores lie in the bins up to `place`
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
        return 2.0  # everything is covered
    return -1.0 if ahead <= -band else q  # scores are at least 0: nothing is covered


@compiled
def scales(sizes: Numbers, known: Numbers, found: Numbers) -> None:
    """Write the scale before each size: a moving mean of the earlier sizes, -1 before the first.

    Args:
        sizes: (rounds,) sizes; those that are not finite are skipped.
        known: (2,) number of sizes so far and their mean, changed.
        found: (rounds,) output.
    """
    for t in range(len(sizes)):
        found[t] = known[1] if known[0] > 0.0 else -1.0
        if np.isfinite(sizes[t]):
            known[0] += 1.0
            known[1] += (sizes[t] - known[1]) * max(1.0 / known[0], MEMORY)
