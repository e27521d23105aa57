"""Mixtures of forecasters: fixed share for probabilities, AdaHedge for numbers, and the exact cheapest path of each.

Fixed share: P = sum of w_i P_i, w = pi before the first round. After round t, v_i = w_i P_i(y) / P(y) and
w = (1 - a) v + a pi with a = 1/(t+1). Weights are stored as they are, since none is below a pi_i; P_i(y) may be tiny,
and is given as a logarithm. Forecasters may join after given rounds: pi is that of the forecasters awake, A, and those
that join take pi(new)/pi(A) of the weight before it is shared. The weight of the others is 0 until then.
Bayes: w_i is proportional to pi_i times the product of the P_i(y) so far, whose logarithms are compensated sums: a
forecaster that trails by thousands of nats keeps its exact weight, and can return.
AdaHedge: weights and gaps are computed from logarithms, never as 1 - w or h - m. Otherwise, once the weight of a
trailing forecaster rounds to 0, a failure of the leader would add no gap, and the bound would be false.

Paths: a path names one forecaster per round. V_i is the least loss + price of the paths that end with i. It is a pair
(a sum and its compensation), which is copied on a change, so that its error does not grow with the rounds.

Arguments of the loops, for N forecasters
    prior       (N,) pi
    joins       (N,) number of rounds after which each joins
    shares      (N,) sum of the weights of each over all rounds, changed
    odds        (rows, N) ln P_i(+1)/P_i(-1)
    logs        (N,) ln P_i of one label; (rows, N, labels) of each label
    forecasts   (N,) numbers; (rows, N)
    lost        (N,) losses of a round
    played      (rows,) out: log-odds or number of the mixture; (rows, labels) ln P of each label
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.mixtures._loops.top_layout import (
    BEGUN,
    CHANGES,
    GAPS,
    LAST_GAP,
    LOSS,
    LOSS_LOST,
    PATH_LOSS,
    RATE,
    VALUE,
    VALUE_LOST,
    HedgeArrays,
)
from novikoff.numerics.compiled import compiled, inlined, inner
from novikoff.numerics.exp import exp
from novikoff.numerics.logits import log_loss

Vector = NDArray[np.float64]

LEAST = 5e-324
"""Smallest number above 0: losses are divided by 1/eta, which may round to 0."""


@inner
def log_sum(weights: Vector, logs: Vector) -> float:
    """Return ln(sum of w_i e^logs_i) over the positive weights; -inf if every term is 0."""
    most = -np.inf
    for i in range(len(weights)):
        if weights[i] > 0.0:
            most = max(most, logs[i])
    if most == -np.inf:
        return -np.inf
    total = 0.0
    for i in range(len(weights)):
        if weights[i] > 0.0:
            total += weights[i] * exp(logs[i] - most)
    return most + np.log(total)


@inner
def awake(prior: Vector, joins: NDArray[np.int64], rounds: float) -> tuple[float, float]:
    """Return the prior of the forecasters awake after `rounds` rounds, and of those among them that join now.

    prior   (N,) pi
    joins   (N,) number of rounds after which each joins; 0 for those awake from the start
    """
    whole, new, asleep = 0.0, 0.0, 0
    for i in range(len(prior)):
        if joins[i] <= rounds:
            whole += prior[i]
            if joins[i] == rounds and rounds > 0.0:
                new += prior[i]
        else:
            asleep += 1
    return 1.0 if asleep == 0 else whole, new  # exactly 1: priors of all forecasters need no division


@inner
def share(weights: Vector, prior: Vector, joins: NDArray[np.int64], logs: Vector, rounds: float) -> None:
    """Update the weights after round number `rounds`, from 1 on; if every P_i(y) is 0, only let forecasters join.

    weights, prior, joins   (N,)
    logs                    (N,) ln P_i(y)
    """
    most, total = -np.inf, 0.0
    for i in range(len(weights)):
        if weights[i] > 0.0:
            most = max(most, logs[i])
    stay, some = 1.0, 0.0
    if most > -np.inf:
        stay, some = rounds / (rounds + 1.0), 1.0 / (rounds + 1.0)
        for i in range(len(weights)):
            if weights[i] > 0.0:
                weights[i] *= exp(logs[i] - most)
            total += weights[i]
    else:
        total = 1.0
    whole, new = awake(prior, joins, rounds)
    left = 1.0 - new / whole
    for i in range(len(weights)):
        if joins[i] <= rounds:
            mine = prior[i] / whole
            before = mine if joins[i] == rounds else left * (weights[i] / total)
            weights[i] = stay * before + some * mine


@inlined
def log_chance(z: float) -> float:
    """Return ln P(+1) of the log-odds z, which may be infinite."""
    return 0.0 if z == np.inf else -log_loss(z)


@compiled
def play_odds(
    weights: Vector, shares: Vector, prior: Vector, joins: NDArray[np.int64], rounds: int, odds: Vector,
    y: NDArray[np.int8], learns: bool, played: Vector,
) -> None:  # fmt: skip
    """Play fixed share for two labels.

    weights   (N,) changed if it learns; 0 for forecasters that have not joined
    shares    (N,) sums of the weights over the rounds learned
    prior     (N,) pi
    joins     (N,) number of rounds after which each forecaster joins
    rounds    rounds learned before these
    odds      (rows, N) log-odds of each forecaster, possibly infinite
    y         (rows,) labels -1 and +1; not read unless `learns`
    played    (rows,) out: log-odds of the mixture
    """
    up, down = np.empty(len(weights)), np.empty(len(weights))
    for t in range(len(odds)):
        for i in range(len(weights)):
            up[i] = log_chance(odds[t, i])
            down[i] = log_chance(-odds[t, i])
        plus, minus = log_sum(weights, up), log_sum(weights, down)
        played[t] = plus - minus
        if learns:
            for i in range(len(weights)):
                shares[i] += weights[i]
            share(weights, prior, joins, up if y[t] == 1 else down, rounds + t + 1.0)


@compiled
def play_labels(
    weights: Vector, shares: Vector, prior: Vector, joins: NDArray[np.int64], rounds: int, logs: Vector,
    y: NDArray[np.int64], learns: bool, played: Vector,
) -> None:  # fmt: skip
    """Play fixed share for many labels; arguments that are not listed are as in `play_odds`.

    logs     (rows, N, labels) ln P_i of each label, -inf for labels of probability 0
    y        (rows,) labels from 0 on; not read unless `learns`
    played   (rows, labels) out: ln P of the mixture
    """
    for t in range(len(logs)):
        for c in range(logs.shape[2]):
            played[t, c] = log_sum(weights, logs[t, :, c])
        if learns:
            for i in range(len(weights)):
                shares[i] += weights[i]
            share(weights, prior, joins, logs[t, :, y[t]], rounds + t + 1.0)


@inlined
def add(sums: Vector, row: int, i: int, value: float) -> None:
    """Add to the compensated sum in rows `row` and `row` + 1; infinite sums have no compensation."""
    old = sums[row, i]
    new = old + value
    if abs(new) == np.inf:
        sums[row + 1, i] = 0.0
    elif abs(old) >= abs(value):
        sums[row + 1, i] += (old - new) + value
    else:
        sums[row + 1, i] += (value - new) + old
    sums[row, i] = new


@inner
def posterior(sums: Vector, prior: Vector, logs: Vector) -> None:
    """Write the log-weights of Bayes.

    sums   (LOSSES, N) compensated sums of ln P_i(y)
    logs   (N,) out: ln w_i
    """
    most, total = -np.inf, 0.0
    for i in range(len(prior)):
        logs[i] = np.log(prior[i]) + sums[LOSS, i]
        most = max(most, logs[i])
    for i in range(len(prior)):
        logs[i] = (logs[i] - most) + sums[LOSS_LOST, i]
        total += exp(logs[i])
    for i in range(len(prior)):
        logs[i] -= np.log(total)


@inner
def log_mean(weights: Vector, logs: Vector) -> float:
    """Return ln(sum of e^(weights_i + logs_i)) of log-weights; -inf if every term is 0."""
    most, total = -np.inf, 0.0
    for i in range(len(weights)):
        most = max(most, weights[i] + logs[i])
    if most == -np.inf:
        return -np.inf
    for i in range(len(weights)):
        total += exp(weights[i] + logs[i] - most)
    return most + np.log(total)


@inner
def condition(sums: Vector, logs: Vector) -> None:
    """Add ln P_i(y) of a round; if every forecaster with a weight above 0 excluded the label, nothing is learned."""
    some = False
    for i in range(len(logs)):
        some = some or sums[LOSS, i] + logs[i] > -np.inf
    if some:
        for i in range(len(logs)):
            add(sums, LOSS, i, logs[i])


@compiled
def bayes_odds(
    sums: Vector, shares: Vector, prior: Vector, odds: Vector, y: NDArray[np.int8], learns: bool, played: Vector
) -> None:
    """Play the Bayes mixture for two labels.

    sums     (LOSSES, N) compensated sums of ln P_i(y); changed if it learns
    others   as in play_odds
    """
    up, down, weights = np.empty(len(prior)), np.empty(len(prior)), np.empty(len(prior))
    for t in range(len(odds)):
        for i in range(len(prior)):
            up[i] = log_chance(odds[t, i])
            down[i] = log_chance(-odds[t, i])
        posterior(sums, prior, weights)
        played[t] = log_mean(weights, up) - log_mean(weights, down)
        if learns:
            for i in range(len(prior)):
                shares[i] += exp(weights[i])
            condition(sums, up if y[t] == 1 else down)


@compiled
def bayes_labels(
    sums: Vector, shares: Vector, prior: Vector, logs: Vector, y: NDArray[np.int64], learns: bool, played: Vector
) -> None:
    """Play the Bayes mixture for many labels; arrays as in bayes_odds and play_labels."""
    weights = np.empty(len(prior))
    for t in range(len(logs)):
        posterior(sums, prior, weights)
        for c in range(logs.shape[2]):
            played[t, c] = log_mean(weights, logs[t, :, c])
        if learns:
            for i in range(len(prior)):
                shares[i] += exp(weights[i])
            condition(sums, logs[t, :, y[t]])


@compiled
def track_bayes(sums: Vector, prior: Vector, losses: Vector, logs: Vector, allowed: float) -> tuple[float, int]:
    """Replay the Bayes mixture on what was recorded; arrays, `losses` among them, and result as in `track`."""
    count, worst, where = len(prior), 0.0, -1
    weights = np.empty(count)
    for t in range(len(logs)):
        posterior(sums, prior, weights)
        mine, said = log_mean(weights, logs[t, :count]), logs[t, count]
        off = 0.0 if mine == said else abs(mine - said)  # both may be -inf
        worst = max(worst, off)
        if not off <= allowed and where < 0:
            where = t
        for i in range(count + 1):
            add(losses, LOSS, i, -logs[t, i])
        condition(sums, logs[t, :count])
    return worst, where


@inner
def cheapest(paths: Vector) -> int:
    """Return the forecaster with which the cheapest path ends; the first of several."""
    best = 0
    for i in range(1, paths.shape[1]):
        if paths[VALUE, i] < np.inf:
            ahead = (paths[VALUE, best] - paths[VALUE, i]) + (paths[VALUE_LOST, best] - paths[VALUE_LOST, i])
            if paths[VALUE, best] == np.inf or ahead > 0.0:
                best = i
    return best


@inner
def extend(paths: Vector, stay: Vector, enter: Vector, lost: Vector) -> None:
    """Extend the cheapest paths by one round; on a tie a path stays with its forecaster.

    paths   (PATHS, N) changed
    stay    (N,) price of staying with i
    enter   (N,) price of a change to i; infinite for a forecaster that has not joined
    lost    (N,) loss of each forecaster in this round
    """
    count = paths.shape[1]
    best = cheapest(paths)
    from_best = np.empty(len(paths))
    for k in range(len(paths)):
        from_best[k] = paths[k, best]
    for i in range(count):
        if enter[i] == np.inf:
            paths[VALUE, i] = np.inf
            paths[VALUE_LOST, i] = 0.0
            continue
        price = stay[i]
        moved = paths[VALUE, i] == np.inf
        if not moved:
            more = (paths[VALUE, i] - from_best[VALUE]) + (paths[VALUE_LOST, i] - from_best[VALUE_LOST])
            moved = more + stay[i] > enter[i]
        if moved:
            for k in range(len(paths)):
                paths[k, i] = from_best[k]
            paths[CHANGES, i] += 1.0
            price = enter[i]
        add(paths, VALUE, i, price)
        add(paths, VALUE, i, lost[i])
        add(paths, PATH_LOSS, i, lost[i])


@compiled
def odds_of_labels(odds: Vector, y: NDArray[np.int8]) -> Vector:
    """Return ln P(y) (rows, N) of log-odds (rows, N) and labels -1 and +1."""
    found = np.empty(odds.shape)
    for t in range(len(y)):
        for i in range(odds.shape[1]):
            found[t, i] = log_chance(y[t] * odds[t, i])
    return found


@compiled
def track(
    weights: Vector, prior: Vector, joins: NDArray[np.int64], paths: Vector, losses: Vector, rounds: int, logs: Vector,
    allowed: float,
) -> tuple[float, int]:  # fmt: skip
    """Replay fixed share on recorded forecasts, and extend the cheapest paths.

    weights, prior, joins   (N,) weights are changed
    paths                   (PATHS, N) changed
    losses                  (LOSSES, N + 1) changed; before a forecaster joins, the loss of the mixture counts for it
    rounds                  rounds before these
    logs                    (rows, N + 1) ln P(y) of each forecaster and, last, of the forecast played

    Returns:
        The largest |ln P(y) played - ln P(y) replayed|, and the first row in which it is above `allowed`, -1 for none.
    """
    count, worst, where = len(weights), 0.0, -1
    lost, stay, enter = np.empty(count), np.empty(count), np.empty(count)
    for t in range(len(logs)):
        now = rounds + t + 1.0
        replayed, played = log_sum(weights, logs[t, :count]), logs[t, count]
        off = 0.0 if replayed == played else abs(replayed - played)  # both may be -inf
        worst = max(worst, off)
        if not off <= allowed and where < 0:
            where = t
        whole, new = awake(prior, joins, now - 1.0)
        for i in range(count):
            if joins[i] >= now:
                lost[i], stay[i], enter[i] = -played, np.inf, np.inf
            else:
                mine = prior[i] / whole
                lost[i] = -logs[t, i]
                enter[i] = np.log(now) - np.log(mine)
                stay[i] = -np.log1p(-((1.0 - mine) + new / whole * (now - 1.0)) / now)
                if joins[i] == now - 1.0:  # a path pays ln 1/pi for its first forecaster, and for one that joins
                    enter[i] = -np.log(mine)
                    stay[i] = enter[i]
            add(losses, LOSS, i, lost[i])
        add(losses, LOSS, count, -played)
        if now == 1.0 or paths[VALUE, cheapest(paths)] < np.inf:
            extend(paths, stay, enter, lost)
        share(weights, prior, joins, logs[t, :count], now)
    return worst, where


@inner
def log_weights(table: Vector, gaps: float, a: Vector) -> None:
    """Write AdaHedge's log-weights; before the first gap only the leaders have weight.

    table   (N,) losses so far
    gaps    sum of the gaps so far
    a       (N,) out
    """
    count, least, total = len(table), table[0], 0.0
    for i in range(count):
        least = min(least, table[i])
    for i in range(count):
        behind = table[i] - least
        if gaps > 0.0:
            a[i] = -(behind / gaps) * np.log(np.float64(count))  # not behind * rate: the rate may be infinite
        else:
            a[i] = 0.0 if behind == 0.0 else -np.inf
        total += exp(a[i])
    for i in range(count):
        a[i] -= np.log(total)


@inner
def gap_of(a: Vector, rate: float, lost: Vector, after: Vector) -> float:
    """Return h - m >= 0 of a round with 1/eta = `rate` above 0.

    a       (N,) log-weights
    lost    (N,) losses
    after   (N,) out: ln v
    """
    count, least, mean, most, total = len(a), lost[0], 0.0, -np.inf, 0.0
    for i in range(count):
        least = min(least, lost[i])
    for i in range(count):
        mean += exp(a[i]) * (lost[i] - least)
        after[i] = a[i] - (lost[i] - least) / rate
        most = max(most, after[i])
    for i in range(count):
        total += exp(after[i] - most)
    whole = most + np.log(total)
    for i in range(count):
        after[i] -= whole
    return max(mean + rate * whole, 0.0)


@inlined
def gap_without_rate(a: Vector, behind: Vector, lost: Vector) -> float:
    """Return h - m of a round before which there was no gap; m is the increase of the least loss.

    a        (N,) log-weights
    behind   (N,) losses so far, less the least
    lost     (N,) losses
    """
    mixed, gap = np.inf, 0.0
    for i in range(len(a)):
        mixed = min(mixed, behind[i] + lost[i])
    for i in range(len(a)):
        if a[i] > -np.inf:
            gap += exp(a[i]) * (lost[i] - mixed)
    return max(gap, 0.0)


@inner
def mean_of(a: Vector, forecasts: Vector) -> float:
    """Return the mean under log-weights a."""
    mean = 0.0
    for i in range(len(a)):
        mean += exp(a[i]) * forecasts[i]
    return mean


@compiled
def play_hedge(hedge: HedgeArrays, shares: Vector, forecasts: Vector, y: Vector, learns: bool, played: Vector) -> None:
    """Play AdaHedge on squared losses.

    hedge       changed if it learns
    shares      (N,) sums of the weights over the rounds learned; empty if they are not recorded
    forecasts   (rows, N)
    y           (rows,) outcomes; not read unless `learns`
    played      (rows,) out: the mean
    """
    prior, table, numbers = hedge
    count = len(table)
    a, after, lost = np.empty(count), np.empty(count), np.empty(count)
    for t in range(len(forecasts)):
        log_weights(table, numbers[GAPS], a)
        played[t] = mean_of(a, forecasts[t])
        if not learns:
            continue
        for i in range(count):
            lost[i] = (forecasts[t, i] - y[t]) ** 2
        for i in range(len(shares)):
            shares[i] += exp(a[i])
        learn_hedge(HedgeArrays(prior, table, numbers), a, lost, after)


@inner
def learn_hedge(hedge: HedgeArrays, a: Vector, lost: Vector, after: Vector) -> None:
    """Update after a round of AdaHedge.

    a       (N,) log-weights of the round
    lost    (N,) losses of the round
    after   (N,) working memory
    """
    _, table, numbers = hedge
    count, least, gap = len(table), table.min(), 0.0
    for i in range(count):
        after[i] = table[i] - least
    if count > 1 and numbers[GAPS] > 0.0:
        gap = gap_of(a, max(numbers[GAPS] / np.log(np.float64(count)), LEAST), lost, after)
    elif count > 1:
        gap = gap_without_rate(a, after, lost)
    for i in range(count):
        table[i] += lost[i]
    numbers[GAPS] += gap
    numbers[LAST_GAP] = gap


@inner
def shared_weights(hedge: HedgeArrays, rounds: float, temper: float, a: Vector) -> tuple[float, float]:
    """Write the log-weights of round number `rounds` of AdaHedge with sharing.

    Returns:
        1/eta, and the price of staying, in units of loss.
    """
    prior, table, numbers = hedge
    count, rate = len(table), numbers[GAPS] / temper
    if not rate > 0.0 or numbers[BEGUN] == 0.0:
        for i in range(count):
            a[i] = np.log(prior[i])
        return rate, 0.0
    power, most, total = numbers[RATE] / rate, -np.inf, 0.0
    for i in range(count):
        a[i] = power * table[i] if table[i] > -np.inf else -np.inf  # the power may be 0
        most = max(most, a[i])
    for i in range(count):
        total += exp(a[i] - most)
    whole = most + np.log(total)
    log_stay, log_share = np.log1p(-1.0 / rounds), -np.log(rounds)
    for i in range(count):
        one, other = log_stay + a[i] - whole, log_share + np.log(prior[i])
        a[i] = max(one, other) + np.log1p(exp(-abs(one - other)))
    return rate, rate * (max(whole, 0.0) - log_stay)


@compiled
def play_shared(
    hedge: HedgeArrays, shares: Vector, temper: float, rounds: int, forecasts: Vector, y: Vector, learns: bool,
    played: Vector,
) -> None:  # fmt: skip
    """Play AdaHedge with sharing on squared losses: eta = `temper` / sum of the gaps so far.

    rounds   rounds before these; other arguments are as in `play_hedge`
    """
    prior, table, numbers = hedge
    count = len(table)
    a, after, lost = np.empty(count), np.empty(count), np.empty(count)
    for t in range(len(forecasts)):
        arrays, now = HedgeArrays(prior, table, numbers), rounds + 1.0 + (t if learns else 0)
        rate, _ = shared_weights(arrays, now, temper, a)
        played[t] = mean_of(a, forecasts[t])
        if learns:
            for i in range(count):
                lost[i] = (forecasts[t, i] - y[t]) ** 2
            for i in range(len(shares)):
                shares[i] += exp(a[i])
            learn_shared(arrays, rate, a, lost, after)


@inner
def learn_shared(hedge: HedgeArrays, rate: float, a: Vector, lost: Vector, after: Vector) -> None:
    """Update after a round of AdaHedge with sharing."""
    _, table, numbers = hedge
    count, gap = len(table), 0.0
    if count > 1 and rate > 0.0:
        gap = gap_of(a, rate, lost, after)
        for i in range(count):
            table[i] = after[i]
        numbers[RATE] = rate
        numbers[BEGUN] = 1.0
    elif count > 1:
        for i in range(count):
            after[i] = 0.0
        gap = gap_without_rate(a, after, lost)
    numbers[GAPS] += gap
    numbers[LAST_GAP] = gap


@compiled
def track_numbers(
    hedge: HedgeArrays, shared: bool, temper: float, paths: Vector, losses: Vector, rounds: int, forecasts: Vector,
    y: Vector, allowed: float,
) -> tuple[float, int]:  # fmt: skip
    """Replay AdaHedge, with sharing or without, on recorded forecasts, and extend the cheapest paths if shared.

    hedge       changed
    paths       (PATHS, N) changed if shared
    losses      (LOSSES, N + 1) changed
    rounds      rounds before these
    forecasts   (rows, N + 1) forecast of each forecaster and, last, the one played
    y           (rows,) outcomes

    Returns:
        The largest |played - mean|, as a fraction of the largest forecast of the round, and the first row in which it
        is above `allowed`, -1 for none.
    """
    prior, table, numbers = hedge
    count, worst, where = len(table), 0.0, -1
    a, after, lost, stay, enter = np.empty(count), np.empty(count), np.empty(count), np.empty(count), np.empty(count)
    for t in range(len(y)):
        arrays, now, rate, price = HedgeArrays(prior, table, numbers), rounds + t + 1.0, 0.0, 0.0
        begun = numbers[BEGUN] > 0.0
        if shared:
            rate, price = shared_weights(arrays, now, temper, a)
        else:
            log_weights(table, numbers[GAPS], a)
        mean, played, largest = mean_of(a, forecasts[t, :count]), forecasts[t, count], 0.0
        for i in range(count):
            lost[i] = (forecasts[t, i] - y[t]) ** 2
            add(losses, LOSS, i, lost[i])
            largest = max(largest, abs(forecasts[t, i]))
            stay[i] = price if begun else -rate * np.log(prior[i])
            enter[i] = rate * (np.log(now) - np.log(prior[i])) if begun else stay[i]
        add(losses, LOSS, count, (played - y[t]) ** 2)
        off = 0.0 if mean == played else abs(mean - played) / largest if largest > 0.0 else np.inf
        worst = max(worst, off)
        if not off <= allowed and where < 0:
            where = t
        if shared:
            extend(paths, stay, enter, lost)
            learn_shared(arrays, rate, a, lost, after)
        else:
            learn_hedge(arrays, a, lost, after)
    return worst, where


@compiled
def add_squares(squares: Vector, first: float, y: Vector) -> None:
    """Add (y - first)^2 of every outcome to a compensated sum, `squares` (2, 1)."""
    for t in range(len(y)):
        add(squares, 0, 0, (y[t] - first) ** 2)
