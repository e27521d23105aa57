"""Fixed Share's rounds, and the best paths of experts with few switches.

The state is the weights themselves: with a share alpha > 0 each is at least alpha * prior, so none can vanish. A round
multiplies them by exp(-rate (l - low)), low the least loss if rate * top is not small, so that the best expert's weight
does not underflow; then w = (1 - alpha) times that, normalised, + alpha * prior.
The loss of a path is two numbers, far + near, as in experts/_loops/weights.py: entry (s, i) is the least loss of a path
with at most s switches that is now at expert i. If `entry` is not empty, it is the cost of an expert at the start of a
segment.

Arguments of the loops, for N experts
    weights   (N + chunks,) weights, followed by the sum of each chunk
    prior     (N,) positive, sum 1
    counts    (10,) and numbers: see standings_layout.py
    room      (4 N,) scratch: losses from 0, predictions from N, exp(-rate l) - c from 2N, ones from 3N
    p         (rows * N,) predictions, or losses of a table, row-major; a round starts at index `of`
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.experts._loops.advice import LOG, TABLE, cost, find, lose, move
from novikoff.experts._loops.standings import flush
from novikoff.experts._loops.standings_layout import (
    CHUNK,
    GAPS,
    LAST_GAP,
    MIXED,
    RATE,
    RATES,
    ROUNDS,
    Paths,
    Results,
    SharingRule,
)
from novikoff.experts._loops.weights import FLUSH, Vector, decay
from novikoff.numerics.compiled import compiled, inlined, inner
from novikoff.numerics.lanes import dense
from novikoff.numerics.splitmix import uniform
from novikoff.numerics.totals import put

Counts = NDArray[np.int64]


@inner
def total_of(one: Vector, first: int, two: Vector, second: int, count: int) -> float:
    """Return the sum of one[first + i] * two[second + i], chunk by chunk."""
    total = lost = 0.0
    for start in range(0, count, CHUNK):
        size = min(CHUNK, count - start)
        a, b = first + start, second + start
        value = dense(one[a : a + size], two[b : b + size])
        new = total + value
        lost += (total - new) + value if abs(total) >= abs(value) else (value - new) + total
        total = new
    return total + lost


@inlined
def parts_of(weights: Vector, at: int, room: Vector, ones: int, count: int, parts: int) -> None:
    """Write the sum of the weights of each chunk behind the weights."""
    for start in range(0, count, CHUNK):
        size = min(CHUNK, count - start)
        a, b = at + start, ones + start
        weights[parts + start // CHUNK] = dense(weights[a : a + size], room[b : b + size])


@inlined
def forecast(
    weights: Vector, rule: SharingRule, t: int, p: Vector, of: int, count: int, room: Vector, total: float
) -> tuple[float, int]:
    """Return the prediction of round t and the expert followed; -1 for the weighted mean."""
    _, _, _, code, clip, draws, coins = rule
    if draws:
        parts_of(weights, 0, room, 3 * count, count, count)
        i = find(weights, 0, count, count, uniform(coins, t - 1) * total)
        return (p[of + i] if code != TABLE else np.float64(i)), i
    if code == TABLE:
        return -1.0, -1
    if code == LOG:
        move(clip, p, of, count, room, count)
        return min(max(total_of(weights, 0, room, count, count) / total, 0.0), 1.0), -1
    return min(max(total_of(weights, 0, p, of, count) / total, 0.0), 1.0), -1


@compiled
def predict(weights: Vector, counts: Counts, rule: SharingRule, p: Vector, room: Vector) -> float:
    """Return the current prediction; p is (N,)."""
    rule, count = SharingRule(*rule), len(p)
    return forecast(weights, rule, counts[ROUNDS] + 1, p, 0, count, room, total_of(weights, 0, room, 3 * count, count))[
        0
    ]


@inlined
def play(
    weights: Vector, prior: Vector, counts: Counts, numbers: Vector, rule: SharingRule, p: Vector, of: int, y: float,
    room: Vector,
) -> tuple[float, float, float]:  # fmt: skip
    """Play one round; return prediction, loss and mean loss. The losses are left in room."""
    rate, alpha, top, code, clip, draws, _ = rule
    t, count = counts[ROUNDS] + 1, len(prior)
    total = total_of(weights, 0, room, 3 * count, count)
    predicted, i = forecast(weights, rule, t, p, of, count, room, total)
    lose(code, clip, p, of, count, y, room, 0, count)
    h = total_of(weights, 0, room, 0, count) / total
    paid, mean = h, h
    if draws:
        paid = room[i]
    elif code == LOG:
        paid = max(-np.log(chance_of(weights, 0, y, room, count, count) / total), 0.0)
        mean = paid
    elif code != TABLE:
        paid = cost(code, predicted, y)
        mean = paid
    gap = 0.0
    if count > 1:
        # Small rates: c = 1, sums of exp(-rate l) - 1, so that the logarithm does not cancel. Otherwise c = 0.
        c = 1.0 if rate * top <= 0.6 else 0.0
        low = np.inf
        for j in range(count):
            low = min(low, room[j])
        low = 0.0 if c == 1.0 else low
        place = 2 * count
        for j in range(count):
            room[place + j] = decay(-rate * (room[j] - low), c)
        left = total_of(weights, 0, room, place, count) / total
        m = -np.log1p(left) / rate if c == 1.0 else low - np.log(left) / rate
        gap = max(h - m, 0.0)
        stay = (1.0 - alpha) / (total * (left + c))
        for j in range(count):
            weights[j] = weights[j] * (room[place + j] + c) * stay + alpha * prior[j]
    put(numbers, MIXED, h)
    put(numbers, GAPS, gap)
    put(numbers, RATES, rate)
    numbers[RATE], numbers[LAST_GAP] = rate, gap
    counts[ROUNDS] = t
    return predicted, paid, mean


@inlined
def chance_of(weights: Vector, at: int, y: float, room: Vector, moved: int, count: int) -> float:
    """Return the weight of the outcome y, 0 or 1."""
    if y != 1.0:
        for i in range(count):
            room[moved + i] = 1.0 - room[moved + i]
    return total_of(weights, at, room, moved, count)


@inner
def advance(paths: Vector, levels: int, entry: Vector, losses: Vector, count: int) -> None:
    """Advance all paths by one round: stay at the expert, or switch to it from the best path with one switch less.

    Args:
        paths: (2 levels N,) losses of the paths, far then near; changed.
        levels: Largest number of switches + 1.
        entry: (N,) cost of an expert at the start of a segment, or empty.
        losses: (N,) losses of the round.
        count: Number N of experts.
    """
    half = levels * count
    for s in range(levels - 1, -1, -1):
        here, below = s * count, (s - 1) * count
        if s > 0:  # (a, b): the best path with s - 1 switches, whose losses do not yet contain this round
            a, b = paths[below], paths[half + below]
            for i in range(1, count):
                if (paths[below + i] - a) + (paths[half + below + i] - b) < 0.0:
                    a, b = paths[below + i], paths[half + below + i]
            for i in range(count):  # both are written in either case, so that the loop vectorises
                far, near = paths[here + i], paths[half + here + i]
                come = b + entry[i] if len(entry) > 0 else b
                moves = (far - a) + (near - come) > 0.0
                paths[here + i] = a if moves else far
                paths[half + here + i] = come if moves else near
        for i in range(count):
            paths[half + here + i] += losses[i]


@compiled
def learn_many(
    weights: Vector, prior: Vector, paths: Paths, counts: Counts, numbers: Vector, rule: SharingRule, p: Vector,
    y: Vector, room: Vector, results: Results,
) -> None:  # fmt: skip
    """Play every row in order; with alpha = 0 only the paths are updated.

    Args:
        weights: (N + chunks,) weights, changed.
        prior: (N,) prior weights.
        paths: Best paths, changed.
        counts: Counters, changed.
        numbers: Sums over the rounds, changed.
        rule: Constants of the game.
        p: (rows * N,) predictions, or losses of a table.
        y: (rows,) outcomes; not read with a table.
        room: (4 N,) scratch.
        results: Output arrays.
    """
    rule, count = SharingRule(*rule), len(prior)
    best, costs, entry, levels = paths
    predicted, paid, mean = results
    for t in range(len(y)):
        if rule.alpha > 0.0:
            predicted[t], paid[t], mean[t] = play(weights, prior, counts, numbers, rule, p, t * count, y[t], room)
        else:
            lose(rule.code, rule.clip, p, t * count, count, y[t], room, 0, count)
            counts[ROUNDS] += 1
        advance(best, levels, entry[:0], room, count)
        if len(costs) > 0:
            advance(costs, levels, entry, room, count)
        if counts[ROUNDS] % FLUSH == 0:
            flush(best, 0, levels * count, levels * count)
            if len(costs) > 0:
                flush(costs, 0, levels * count, levels * count)
