"""Rounds of exponential weights on cumulative losses: fixed, anytime, doubling and adaptive rates.

The mix loss of round t is m_t = -(1/rate) ln(sum of w exp(-rate l) / sum of w).
    While the rate is constant the sums telescope: over an epoch, the sum of m is
        L_lead - (ln W_now - ln W_first) / rate,     W the sum of the weights,
    so a round takes one exp per expert, and the gaps h - m are computed on request.
    If the rate moves, m_t is computed in the pass: from log1p of the sum of w (exp(-rate l) - 1) if rate * top is
    small, otherwise from the logarithm of the sum of w exp(-rate l); and if that might underflow, from a second pass
    over the weights after the round, at the same rate.
An adaptive rate is ln N over the gaps so far; while these are 0 or tiny, it is MOST: equal weights for all leaders.
Rates here are on the loss itself.

Arguments of the loops, for N experts
    table     far, near and prior (if present), `width` of each (experts/_loops/weights.py); with doubling, followed by
              far and near of the earlier epochs
    counts    (10,) and numbers: see standings_layout.py
    room      scratch: see standings_layout.py
    p, of     predictions of a round are p[of : of + N]
    results   Results, output
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.experts._loops import standings_layout as at
from novikoff.experts._loops.advice import LOG, SQUARED, TABLE, chance, cost, find, lose, move
from novikoff.experts._loops.weights import FLUSH, LEARN, LEARN_SQUARED, LOOK, MOVE, Spots, Terms, Vector, chunk, tree
from novikoff.numerics.compiled import compiled, inlined, inner
from novikoff.numerics.splitmix import uniform
from novikoff.numerics.totals import put

Counts = NDArray[np.int64]


@inlined
def rate_of(counts: Counts, numbers: Vector, t: int) -> float:
    """Return the rate of round t."""
    kind, given, log_n = counts[at.KIND], numbers[at.GIVEN], numbers[at.LOG_N]
    if kind == at.FIXED or log_n == 0.0:
        return given
    if kind == at.ANYTIME:
        return given * (2.0 * np.sqrt(log_n / t))
    if kind == at.DOUBLING:
        size = 1
        while 2 * size <= t:
            size *= 2
        return given * np.sqrt(8.0 * log_n / size)
    gaps = numbers[at.GAPS] + numbers[at.GAPS + 1]
    if gaps <= log_n / at.MOST:
        return at.MOST
    return min(log_n / gaps, at.MOST)


@inner
def look(table: Vector, counts: Counts, numbers: Vector, rate: float, p: Vector, of: int, room: Vector) -> float:
    """Return the sum of the weights; leave that of w p in totals, and the weights in room, if they fit."""
    width, count, lead, kept = counts[at.WIDTH], counts[at.EXPERTS], counts[at.LEAD], counts[at.KEPT]
    for k in range(at.TOTALS, at.TOTALS + 4):
        room[k] = 0.0
    rate = max(rate, at.LEAST)
    start = 0
    while start < count:
        size = min(at.CHUNK, count - start)
        q, place = p, of + start
        if counts[at.CODE] == LOG:
            move(numbers[at.CLIP], p, of + start, size, room, at.MOVED)
            q, place = room, at.MOVED
        to = at.OUT + (start if kept >= count else 0)
        terms = Terms(width, table[lead], table[width + lead], rate, 0.0, counts[at.PRIOR])
        chunk(table, q, q, room, Spots(start, place, place, to), terms, size, LOOK)
        part = tree(room, 0)
        room[at.OUT + kept + start // at.CHUNK] = part
        put(room, at.TOTALS, part)
        put(room, at.TOTALS + 2, tree(room, 1))
        start += at.CHUNK
    return room[at.TOTALS] + room[at.TOTALS + 1]


@inlined
def follow(table: Vector, counts: Counts, far_lead: float, near_lead: float, least: float, where: int) -> float:
    """Find the leader after a round; return by how much its loss exceeds the old leader's before."""
    width, lead = counts[at.WIDTH], counts[at.LEAD]
    step = (table[lead] - far_lead) + (table[width + lead] - near_lead)
    if least < step:  # another expert leads now: it is in the chunk that starts at `where`
        for i in range(where, min(where + at.CHUNK, counts[at.EXPERTS])):
            here = (table[i] - far_lead) + (table[width + i] - near_lead)
            if here < step:
                step = here
                lead = i
        counts[at.LEAD] = lead
    return step


@inlined
def mix(
    table: Vector, counts: Counts, numbers: Vector, rate: float, h: float, c: float, total: float, decayed: float,
    step: float, p: Vector, of: int, room: Vector,
) -> float:  # fmt: skip
    """Return m_t after the round."""
    if rate == 0.0:
        return h
    if c == 1.0:
        return -np.log1p(decayed / total) / rate
    if rate * numbers[at.TOP] <= 600.0:
        return -np.log(decayed / total) / rate
    return step - (np.log(look(table, counts, numbers, rate, p, of, room)) - np.log(total)) / rate


@inner
def flush(table: Vector, far: int, near: int, count: int) -> None:
    """Move near to far exactly (Knuth): the rounding error stays in near."""
    for i in range(count):
        one, two = table[far + i], table[near + i]
        total = one + two
        part = total - one
        table[near + i] = (one - (total - part)) + (two - part)
        table[far + i] = total


@inlined
def open_gaps(table: Vector, counts: Counts, numbers: Vector, p: Vector, of: int, room: Vector) -> tuple[float, float]:
    """Return the gaps h - m of this epoch, and of its last round, for a constant rate."""
    rate, lead, width = numbers[at.RATE], counts[at.LEAD], counts[at.WIDTH]
    if rate == 0.0 or counts[at.ROUNDS] == 0:
        return 0.0, 0.0
    first = 0.0 if counts[at.PRIOR] else numbers[at.LOG_N]
    log_w = np.log(look(table, counts, numbers, rate, p, of, room))
    mixed = (numbers[at.EPOCH] - table[lead]) + (numbers[at.EPOCH + 1] - table[width + lead])
    last = numbers[at.LAST_H] - (numbers[at.LAST_STEP] - (log_w - np.log(numbers[at.LAST_W])) / rate)
    return max(mixed + (log_w - first) / rate, 0.0), max(last, 0.0)


@inlined
def close(table: Vector, counts: Counts, numbers: Vector, p: Vector, of: int, room: Vector) -> None:
    """End an epoch: store its losses and gaps, and restart all weights."""
    count, width = counts[at.EXPERTS], counts[at.WIDTH]
    gaps, _ = open_gaps(table, counts, numbers, p, of, room)
    put(numbers, at.GAPS, gaps)
    if numbers[at.RATE] > 0.0:
        put(numbers, at.SPAN, 1.0 / numbers[at.RATE])
    flush(table, 0, width, count)
    past = len(table) - 2 * width
    flush(table, past, 0, count)  # past + far, exactly
    for i in range(count):
        table[past + width + i] += table[i] + table[width + i]
        table[i] = 0.0
        table[width + i] = 0.0
    numbers[at.EPOCH] = 0.0
    numbers[at.EPOCH + 1] = 0.0
    counts[at.LEAD] = 0


@compiled
def learn_many(
    table: Vector, counts: Counts, numbers: Vector, p: Vector, y: Vector, room: Vector, results: at.Results
) -> None:
    """Play every row in order.

    A round is not a function of its own, because inlining one into the loop took a second longer to compile.

    Args:
        table: Losses and prior, changed.
        counts: Counters, changed.
        numbers: Sums over the rounds, changed.
        p: (rows * N,) predictions, or losses of a table, row-major.
        y: (rows,) outcomes; not read with a table.
        room: Scratch.
        results: Output arrays.
    """
    predicted, paid, mean = results
    for row in range(len(y)):
        of, outcome = row * counts[at.EXPERTS], y[row]
        kind, code, draws, kept = counts[at.KIND], counts[at.CODE], counts[at.DRAWS], counts[at.KEPT]
        t, count, width, clip = counts[at.ROUNDS] + 1, counts[at.EXPERTS], counts[at.WIDTH], numbers[at.CLIP]
        if kind == at.DOUBLING and t > 1 and t & (t - 1) == 0:
            close(table, counts, numbers, p, of, room)
        rate = rate_of(counts, numbers, t)
        moving = kind in (at.ANYTIME, at.ADAPTIVE)
        what = MOVE if moving else LEARN_SQUARED if code == SQUARED else LEARN
        c = 1.0 if rate * numbers[at.TOP] <= 0.6 else 0.0
        number = outcome if what == LEARN_SQUARED else c
        # One pass over the experts in chunks. Compensated sums from TOTALS on: of the weights w, of w p, of w l, of
        # w (exp(-rate l) - c) if the rate moves, and of w P(y) for log loss.
        far_lead, near_lead = table[counts[at.LEAD]], table[width + counts[at.LEAD]]
        for k in range(at.TOTALS, at.TOTALS + 10):
            room[k] = 0.0
        least, where = np.inf, 0
        start = 0
        while start < count:
            size = min(at.CHUNK, count - start)
            q, place, losses, lost = p, of + start, p, of + start
            if code != TABLE and what != LEARN_SQUARED:
                lose(code, clip, p, of + start, size, outcome, room, at.LOST, at.MOVED)
                losses, lost = room, at.LOST
                if code == LOG:
                    q, place = room, at.MOVED
            to = at.OUT + (start if draws else 0)
            terms = Terms(width, far_lead, near_lead, max(rate, at.LEAST), number, counts[at.PRIOR])
            chunk(table, q, losses, room, Spots(start, place, lost, to), terms, size, what)
            part = tree(room, 0)
            room[at.OUT + kept + start // at.CHUNK] = part
            put(room, at.TOTALS, part)
            put(room, at.TOTALS + 2, tree(room, 1))
            put(room, at.TOTALS + 4, tree(room, 2))
            if moving:
                put(room, at.TOTALS + 6, tree(room, 3))
            for k in range(32, 40):  # least loss relative to the leader, by lane
                if room[k] < least:
                    least, where = room[k], start
            if code == LOG and not draws:
                put(room, at.TOTALS + 8, chance(outcome, room, at.OUT, at.MOVED, size))
            start += at.CHUNK
        # Prediction and loss of the round, then the leader, the gap and the sums.
        total = room[at.TOTALS] + room[at.TOTALS + 1]
        h = (room[at.TOTALS + 4] + room[at.TOTALS + 5]) / total
        decayed = room[at.TOTALS + 6] + room[at.TOTALS + 7]
        prediction, costs, expected = -1.0, h, h
        if draws:
            i = find(room, at.OUT, count, at.OUT + kept, uniform(counts[at.COINS], t - 1) * total)
            prediction = p[of + i] if code != TABLE else np.float64(i)
            lose(code, clip, p, of + i, 1, outcome, room, at.LOST, at.MOVED)
            costs = room[at.LOST]
        elif code != TABLE:
            prediction = min(max((room[at.TOTALS + 2] + room[at.TOTALS + 3]) / total, 0.0), 1.0)
            given = (room[at.TOTALS + 8] + room[at.TOTALS + 9]) / total
            costs = expected = max(-np.log(given) if code == LOG else cost(code, prediction, outcome), 0.0)
        step = follow(table, counts, far_lead, near_lead, least, where)
        if moving:
            gap = max(h - mix(table, counts, numbers, rate, h, c, total, decayed, step, p, of, room), 0.0)
            put(numbers, at.GAPS, gap)
            numbers[at.LAST_GAP] = gap
        put(numbers, at.MIXED, h)
        put(numbers, at.EPOCH, h)
        put(numbers, at.RATES, rate if rate < at.MOST else 0.0)
        numbers[at.RATE], numbers[at.LAST_H], numbers[at.LAST_W], numbers[at.LAST_STEP] = rate, h, total, step
        counts[at.ROUNDS] = t
        if t % FLUSH == 0:
            flush(table, 0, width, count)
        predicted[row], paid[row], mean[row] = prediction, costs, expected


@inlined
def predict(table: Vector, counts: Counts, numbers: Vector, p: Vector, room: Vector) -> float:
    """Return the current prediction; p has zeros where the advice is unknown."""
    t, code = counts[at.ROUNDS] + 1, counts[at.CODE]
    rate = rate_of(counts, numbers, t)
    if counts[at.KIND] == at.DOUBLING and t & (t - 1) == 0:  # a new epoch starts with the initial weights
        rate = 0.0
    total = look(table, counts, numbers, rate, p, 0, room)
    if counts[at.DRAWS]:
        i = find(room, at.OUT, counts[at.EXPERTS], at.OUT + counts[at.KEPT], uniform(counts[at.COINS], t - 1) * total)
        return p[i] if code != TABLE else np.float64(i)
    return -1.0 if code == TABLE else min(max((room[at.TOTALS + 2] + room[at.TOTALS + 3]) / total, 0.0), 1.0)


@compiled
def ask(
    table: Vector, counts: Counts, numbers: Vector, p: Vector, room: Vector, gaps: bool
) -> tuple[float, float]:  # fmt: skip
    """Return `open_gaps`, or `predict` and 0; one function, because most compile time goes into their common pass."""
    if gaps:
        return open_gaps(table, counts, numbers, p, 0, room)
    return predict(table, counts, numbers, p, room), 0.0
