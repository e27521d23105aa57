"""Rounds in which experts may be asleep.

R_i = far_i + near_i (as in experts/_loops/weights.py) is the sum, over the rounds in which i was awake, of the mix loss
less its own loss. The weight of an awake expert is prior_i exp(rate (R_i - R_lead)), lead an awake expert with the
largest R.

Arguments of the loops, for N experts
    table    (5 N,) far from 0, near from N, and sums over its awake rounds: losses from 2N, gaps from 3N, rates from 4N
    awake    (N,) number of rounds in which each was awake
    prior    (N,) log prior, or empty if all are the same
    counts   (10,) and numbers: see standings_layout.py
    room     (5 N + chunks,) scratch: losses from 0, predictions from N, exp(-rate l) - c from 2N, ones from 3N, weights
             from 4N, sums of the weights of each chunk from 5N
    p        (rows * N,) predictions, or losses of a table, row-major, NaN for sleeping experts; a round starts at index
             `of`
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.experts._loops.advice import LOG, TABLE, cost, find, lose
from novikoff.experts._loops.sharing import chance_of, parts_of, total_of
from novikoff.experts._loops.standings import flush
from novikoff.experts._loops.standings_layout import (
    GAPS,
    LAST_GAP,
    LEAST,
    MIXED,
    PLAYED,
    RATE,
    RATES,
    ROUNDS,
    Results,
    SleepingRule,
)
from novikoff.experts._loops.weights import FLUSH, Vector, decay
from novikoff.numerics.compiled import compiled, inlined
from novikoff.numerics.exp import exp
from novikoff.numerics.splitmix import uniform
from novikoff.numerics.totals import put

Counts = NDArray[np.int64]


@inlined
def rate_of(rule: SleepingRule, t: int) -> float:
    """Return the rate of the t-th round in which an expert is awake."""
    return rule.rate * (2.0 * np.sqrt(rule.log_n / t)) if rule.anytime else rule.rate


@inlined
def leader(table: Vector, p: Vector, of: int, count: int) -> int:
    """Return an awake expert (p is not NaN) with the largest R; -1 if all are asleep."""
    lead = -1
    for i in range(count):
        more = lead < 0 or (table[i] - table[lead]) + (table[count + i] - table[count + lead]) > 0.0
        if more and p[of + i] == p[of + i]:
            lead = i
    return lead


@inlined
def weigh(table: Vector, prior: Vector, rate: float, p: Vector, of: int, count: int, lead: int, room: Vector) -> float:
    """Write the weights of the awake experts, 0 for the others; return their sum."""
    a, b, weights = table[lead], table[count + lead], 4 * count
    for i in range(count):
        x = rate * ((table[i] - a) + (table[count + i] - b))
        if len(prior) > 0:
            x += prior[i]
        room[weights + i] = exp(x) if p[of + i] == p[of + i] else 0.0
    return total_of(room, weights, room, 3 * count, count)


@inlined
def fill(p: Vector, of: int, count: int, room: Vector, at: int) -> None:
    """Write the predictions, 0 for sleeping experts."""
    for i in range(count):
        room[at + i] = p[of + i] if p[of + i] == p[of + i] else 0.0


@inlined
def forecast(
    rule: SleepingRule, t: int, p: Vector, of: int, count: int, room: Vector, total: float
) -> tuple[float, int]:
    """Return the prediction of round t and the expert followed; -1 for the weighted mean."""
    code, clip, draws, coins = rule.code, rule.clip, rule.draws, rule.coins
    weights = 4 * count
    if draws:
        parts_of(room, weights, room, 3 * count, count, 5 * count)
        i = find(room, weights, count, 5 * count, uniform(coins, t - 1) * total)
        return (p[of + i] if code != TABLE else np.float64(i)), i
    if code == TABLE:
        return -1.0, -1
    fill(p, of, count, room, count)
    if code == LOG:
        for i in range(count, 2 * count):
            room[i] = min(max(room[i], clip), 1.0 - clip)
    return min(max(total_of(room, weights, room, count, count) / total, 0.0), 1.0), -1


@compiled
def predict(table: Vector, prior: Vector, counts: Counts, rule: SleepingRule, p: Vector, room: Vector) -> float:
    """Return the current prediction; p is (N,), with 0 for awake experts of a table."""
    rule, count = SleepingRule(*rule), len(p)
    rate = max(rate_of(rule, counts[PLAYED] + 1), LEAST)
    lead = leader(table, p, 0, count)
    if lead < 0:
        return -1.0 if rule.code == TABLE else 0.5
    total = weigh(table, prior, rate, p, 0, count, lead, room)
    return forecast(rule, counts[ROUNDS] + 1, p, 0, count, room, total)[0]


@inlined
def play(
    table: Vector, awake: Counts, prior: Vector, counts: Counts, numbers: Vector, rule: SleepingRule, p: Vector,
    of: int, y: float, room: Vector,
) -> tuple[float, float, float]:  # fmt: skip
    """Play one round; return prediction, loss and mean loss."""
    _, _, _, top, code, clip, draws, _ = rule
    count, t = len(awake), counts[ROUNDS] + 1
    counts[ROUNDS] = t
    rate = rate_of(rule, counts[PLAYED] + 1)
    lead = leader(table, p, of, count)
    predicted, paid, mean = (-1.0 if code == TABLE else 0.5), 0.0, 0.0
    if lead >= 0:
        total = weigh(table, prior, max(rate, LEAST), p, of, count, lead, room)
        predicted, i = forecast(rule, t, p, of, count, room, total)
        fill(p, of, count, room, 2 * count)
        lose(code, clip, room, 2 * count, count, y, room, 0, count)
        h = total_of(room, 4 * count, room, 0, count) / total
        paid, mean = h, h
        if draws:  # the loss of the expert followed; its mean over the draw is h
            paid = room[i]
        elif code == LOG:
            paid = max(-np.log(chance_of(room, 4 * count, y, room, count, count) / total), 0.0)
            mean = paid
        elif code != TABLE:
            paid = cost(code, predicted, y)
            mean = paid
        m = mix(table, prior, rate, top, p, of, count, lead, room, total) if rate > 0.0 else h
        m = min(m, h)
        for j in range(count):
            if p[of + j] == p[of + j]:  # awake
                table[count + j] += m - room[j]
                table[2 * count + j] += room[j]
                table[3 * count + j] += h - m
                table[4 * count + j] += rate
                awake[j] += 1
        put(numbers, MIXED, h)
        put(numbers, GAPS, h - m)
        put(numbers, RATES, rate)
        numbers[RATE], numbers[LAST_GAP] = rate, h - m
        counts[PLAYED] += 1
    if t % FLUSH == 0:
        flush(table, 0, count, count)
    return predicted, paid, mean


@inlined
def mix(
    table: Vector, prior: Vector, rate: float, top: float, p: Vector, of: int, count: int, lead: int, room: Vector,
    total: float,
) -> float:  # fmt: skip
    """Return the mix loss of the awake experts."""
    if rate * top > 300.0:  # exp(-rate l) may underflow
        return far_mix(table, prior, rate, p, of, count, lead, room)
    c = 1.0 if rate * top <= 0.6 else 0.0  # small rates: sum exp(-rate l) - 1, so that the logarithm does not cancel
    place = 2 * count
    for j in range(count):
        room[place + j] = decay(-rate * room[j], c)
    left = total_of(room, 4 * count, room, place, count) / total
    return -np.log1p(left) / rate if c == 1.0 else -np.log(left) / rate


@inlined
def far_mix(
    table: Vector, prior: Vector, rate: float, p: Vector, of: int, count: int, lead: int, room: Vector
) -> float:
    """Return the mix loss where exp(-rate l) may underflow: a difference of two logarithms of scaled sums."""
    a, b = table[lead], table[count + lead]
    best = -np.inf
    for i in range(count):
        if p[of + i] == p[of + i]:
            best = max(best, (table[i] - a) + (table[count + i] - b) - room[i])
    before = after = 0.0
    for i in range(count):
        if p[of + i] == p[of + i]:
            gap = (table[i] - a) + (table[count + i] - b)
            extra = prior[i] if len(prior) > 0 else 0.0
            before += exp(rate * gap + extra)
            after += exp(rate * (gap - room[i] - best) + extra)
    return -best - (np.log(after) - np.log(before)) / rate


@compiled
def learn_many(
    table: Vector, awake: Counts, prior: Vector, counts: Counts, numbers: Vector, rule: SleepingRule, p: Vector,
    y: Vector, room: Vector, results: Results,
) -> None:  # fmt: skip
    """Play every row in order.

    Args:
        table: (5 N,) gains and sums of each expert, changed.
        awake: (N,) rounds in which each was awake, changed.
        prior: (N,) log prior, or empty.
        counts: Counters, changed.
        numbers: Sums over the rounds, changed.
        rule: Constants of the game.
        p: (rows * N,) predictions, or losses of a table; NaN for sleeping experts.
        y: (rows,) outcomes; not read with a table.
        room: (5 N + chunks,) scratch.
        results: Output arrays.
    """
    rule, count = SleepingRule(*rule), len(awake)
    predicted, paid, mean = results
    for t in range(len(y)):
        predicted[t], paid[t], mean[t] = play(table, awake, prior, counts, numbers, rule, p, t * count, y[t], room)
