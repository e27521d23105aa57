"""A tree that grows while it plays: the mixture over all its prunings (trees/tree.py has the algorithm).

Every kind of tree plays the same loop: labels, numbers and residuals differ in the forecast of a node, in the weight of
stopping there, and in what a node learns. Forecasts of labels carry the probability of every label, never 1 - p.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inner
from novikoff.numerics.exp import exp
from novikoff.numerics.totals import put
from novikoff.trees._loops.cuts import best_cut, bin_of, column_edges, goes_left, sample_step, set_of
from novikoff.trees._loops.layout import (
    AFTER,
    BEFORE,
    BETA,
    BINS,
    CHECK,
    COLUMN,
    CONCENTRATION,
    COUNT,
    DEEPEST,
    DEPTH,
    EDITION,
    FLOOR,
    GAP,
    HEAD,
    KNOWN,
    LABELS,
    LEFT,
    MISSING_LEFT,
    MIXED,
    NEXT_EDGES,
    NUMBERS,
    PARENT,
    PATH,
    PRIOR,
    RESIDUALS,
    ROWS,
    Growth,
    Nodes,
    Rule,
)  # fmt: skip

Vector = NDArray[np.float64]
LN2 = math.log(2.0)
EXAMINED, CELLS = 20_000, 2**19
"""Largest number of rows, and of cells, that are examined for one cut."""
SPLITS = 32
"""Largest number of cuts in one round."""
GROWTH = 0.3
"""A leaf is examined again when its rows have grown by this fraction."""
NEVER = 2**62
CLIP = 1e-6
"""Least probability of a label at a node of a residual tree."""
LEAST_CURVATURE = 1e-3


@inner
def softplus(z: float) -> float:
    """Return ln(1 + e^z)."""
    return max(z, 0.0) + np.log1p(exp(-abs(z)))


@inner
def log_add(a: float, b: float) -> float:
    """Return ln(e^a + e^b)."""
    return max(a, b) + np.log1p(exp(-abs(a - b)))


@inner
def stopping(nodes: Nodes, kind: int, v: int) -> tuple[float, float]:
    """Return the weights of stopping at a node and of going on: each is computed, neither is 1 minus the other."""
    z = nodes.sums[v, BETA] + nodes.sums[v, BETA + 1]
    if kind == NUMBERS:
        gap = nodes.sums[v, GAP]
        if gap == 0.0:  # follow the leader
            return (0.5, 0.5) if z == 0.0 else (1.0, 0.0) if z > 0.0 else (0.0, 1.0)
        z = z / gap * LN2
    return 1.0 / (1.0 + exp(-z)), 1.0 / (1.0 + exp(z))


@inner
def forecast(
    nodes: Nodes, rule: Rule, x: Vector, kinds: NDArray[np.int8], offset: float, path: NDArray[np.int64],
    p: NDArray[np.float64], q: NDArray[np.float64],
) -> int:  # fmt: skip
    """Write the path of x, the forecast of each of its nodes to p and of each mixture to q; return its length.

    path   (PATH,) nodes from the root to the leaf
    p, q   (PATH, k) probability of each label; the first column for numbers
    """
    known = 1 if rule.kind == NUMBERS else nodes.numbers[KNOWN]
    v, depth = 0, 0
    while True:
        path[depth], n, own = v, nodes.n[v], p[depth]
        if rule.kind == LABELS:
            total = 0.0
            for c in range(known):
                total += n[c]
            for c in range(known):
                if depth == 0:
                    own[c] = (n[c] + 0.5) / (total + 0.5 * known)
                else:
                    near = (n[c] + CONCENTRATION * p[depth - 1, c]) / (total + CONCENTRATION)
                    own[c] = (1.0 - known * FLOOR) * near + FLOOR
        elif rule.kind == NUMBERS:
            if depth == 0:
                own[0] = (n[0] + rule.middle) / (n[1] + 1.0)
            else:
                own[0] = (n[0] + CONCENTRATION * p[depth - 1, 0]) / (n[1] + CONCENTRATION)
        else:
            z = offset + n[0]
            own[0], own[1] = 1.0 / (1.0 + exp(z)), 1.0 / (1.0 + exp(-z))
            for c in range(2):
                if own[c] < CLIP:
                    own[c], own[1 - c] = CLIP, 1.0 - CLIP
        depth += 1
        column = nodes.whole[v, COLUMN]
        if column < 0:
            break
        value = x[column] if column < len(x) else np.nan
        left = goes_left(value, kinds[column] == 1, nodes.cut[v], nodes.sets[v], nodes.whole[v, MISSING_LEFT])
        v = nodes.whole[v, LEFT] + (0 if left else 1)
    for c in range(known):
        q[depth - 1, c] = p[depth - 1, c]
    for i in range(depth - 2, -1, -1):
        stop, go = stopping(nodes, rule.kind, path[i])
        for c in range(known):
            q[i, c] = stop * p[i, c] + go * q[i + 1, c]
    return depth


@inner
def gap_of(difference: float, gap: float, stop: float, go: float) -> float:
    """Return the mixability gap of a round: AdaHedge of two, with log-weights.

    difference   of the losses so far, those of going on less those of stopping
    gap          the sum of the gaps so far
    stop, go     losses in this round
    """
    low = min(stop, go)
    if gap == 0.0:
        if difference > 0.0:
            return max(0.0, stop - min(stop, difference + go))
        if difference < 0.0:
            return max(0.0, go - min(go, stop - difference))
        return 0.5 * (stop - low) + 0.5 * (go - low)
    z, rate = difference / gap * LN2, LN2 / gap
    log_stop, log_go = -softplus(-z), -softplus(z)
    mean = exp(log_stop) * (stop - low) + exp(log_go) * (go - low)
    most = log_add(log_stop - (stop - low) / gap * LN2, log_go - (go - low) / gap * LN2)
    return max(0.0, mean + most / rate) if rate > 0.0 and rate < np.inf else max(0.0, mean + most * gap / LN2)


@inner
def learn(
    nodes: Nodes, rule: Rule, length: int, y: float, path: NDArray[np.int64], p: NDArray[np.float64],
    q: NDArray[np.float64],
) -> None:  # fmt: skip
    """Learn the outcome of the row that was forecast last."""
    label, recorded = int(y) if rule.kind != NUMBERS else 0, len(nodes.low) > 0
    known = nodes.numbers[KNOWN]
    for i in range(length):
        v, inside = path[i], i < length - 1
        sums, n = nodes.sums[v], nodes.n[v]
        if rule.kind == NUMBERS:
            lost = (y - p[i, 0]) ** 2
            if inside:
                other = (y - q[i + 1, 0]) ** 2
                sums[GAP] += gap_of(sums[BETA] + sums[BETA + 1], sums[GAP], lost, other)
                put(sums, MIXED, (y - q[i, 0]) ** 2)
                put(sums, BETA, other - lost)
            n[0] += y
            n[1] += 1.0
        else:
            lost = -np.log(p[i, label])
            if inside:
                put(sums, BETA, -np.log(q[i + 1, label]) - lost)
            if rule.kind == RESIDUALS:
                n[1] = rule.forgetting * n[1] + p[i, 1] * p[i, 0] + (1.0 - rule.forgetting) * rule.ridge
                n[0] -= (p[i, 1] if label == 0 else -p[i, 0]) / n[1]
            else:
                if rule.forgetting < 1.0:
                    for c in range(known):
                        n[c] *= rule.forgetting
                n[label] += 1.0
                if recorded and i > 0:
                    for c in range(known):
                        nodes.low[v, c] = min(nodes.low[v, c], p[i - 1, c])
                        nodes.high[v, c] = max(nodes.high[v, c], p[i - 1, c])
        put(sums, AFTER if inside else BEFORE, lost)
        nodes.c[v, label] += 1


@inner
def add_node(nodes: Nodes, v: int, parent: int, depth: int) -> None:
    """Write a new leaf without rows."""
    whole = nodes.whole[v]
    whole[:] = 0
    whole[COLUMN], whole[LEFT], whole[PARENT], whole[DEPTH], whole[HEAD] = -1, -1, parent, depth, -1
    nodes.cut[v] = 0.0
    nodes.sets[v] = np.uint64(0)
    nodes.n[v] = 0.0
    nodes.c[v] = 0
    nodes.split[v] = 0
    nodes.start[v] = 0.0
    nodes.sums[v] = 0.0
    if len(nodes.low) > 0:
        nodes.low[v] = np.inf
        nodes.high[v] = -np.inf


@inner
def split(nodes: Nodes, v: int, column: int, cut: float, sets: NDArray[np.uint64], side: int) -> int:
    """Split a leaf; return its left child."""
    left, whole = nodes.numbers[COUNT], nodes.whole[v]
    nodes.numbers[COUNT] += 2
    whole[COLUMN], whole[LEFT], whole[MISSING_LEFT], nodes.cut[v] = column, left, side, cut
    nodes.sets[v] = sets
    nodes.split[v] = nodes.c[v]
    add_node(nodes, left, v, whole[DEPTH] + 1)
    add_node(nodes, left + 1, v, whole[DEPTH] + 1)
    return left


@inner
def correct(
    nodes: Nodes, rule: Rule, growth: Growth, y: Vector, v: int, rows: NDArray[np.int64], count: int, begin: float
) -> None:
    """Fit w and A of a new node of a residual tree to its rows, by three Newton steps from the parent's w."""
    w, room = begin, len(y)
    curvature = 0.0
    for _ in range(3):
        gradient = 0.0
        curvature = 0.0
        for a in range(count):
            i = rows[a] % room
            z = growth.offsets[i] + w
            up, down = 1.0 / (1.0 + exp(-z)), 1.0 / (1.0 + exp(z))
            gradient += up if y[i] == 0.0 else -down
            curvature += up * down
        w -= (gradient + rule.ridge * (w - begin)) / (curvature + rule.ridge)
    nodes.n[v, 0], nodes.n[v, 1] = w, rule.ridge + curvature


@inner
def grow(
    nodes: Nodes, rule: Rule, growth: Growth, x: NDArray[np.float64], y: Vector, kinds: NDArray[np.int8], oldest: int,
    leaf: int, table: Vector,
) -> None:  # fmt: skip
    """Examine a leaf; split it if the best cut gains enough, and examine its children.

    Rows below `oldest` are not used.
    """
    room, columns, edition = len(y), x.shape[1], nodes.numbers[EDITION]
    most = min(EXAMINED, max(CELLS // max(columns, 1), 16))
    labels = nodes.numbers[KNOWN] if rule.kind == LABELS else 1
    width = labels if rule.kind == LABELS else 2
    sums, counts = np.zeros((columns, BINS, width)), np.zeros((columns, BINS), dtype=np.int64)
    rows, totals, first = np.empty(most, dtype=np.int64), np.empty(width + 1), np.empty(most)
    second = np.empty(most)
    order, kept_order = np.empty(BINS, dtype=np.int64), np.empty(BINS, dtype=np.int64)
    spare, sets = np.empty((3, max(width, BINS))), np.zeros(2, dtype=np.uint64)
    waiting, pending, cuts = np.empty(2 * SPLITS + 2, dtype=np.int64), 1, 0
    waiting[0] = leaf
    while pending > 0:
        pending -= 1
        v = waiting[pending]
        whole = nodes.whole[v]
        n, i = 0, whole[HEAD]
        while i >= oldest and n < most:
            rows[n] = i
            n += 1
            i = growth.chain[i % room]
        whole[CHECK] = whole[ROWS] + max(rule.least, int(GROWTH * n))
        if whole[DEPTH] >= DEEPEST or nodes.numbers[COUNT] + 2 > min(len(nodes.cut), rule.most_nodes):
            whole[CHECK] = NEVER
            continue
        if n < 2 * rule.least:
            whole[CHECK] = whole[ROWS] + 2 * rule.least - n
            continue
        if cuts == SPLITS:
            whole[CHECK] = 0
            continue
        totals[:] = 0.0
        mean = 0.0
        if rule.kind == NUMBERS:
            for a in range(n):
                mean += y[rows[a] % room] / n
        for a in range(n):
            s = rows[a] % room
            if rule.kind == LABELS:
                totals[int(y[s])] += 1.0
            elif rule.kind == NUMBERS:
                first[a], second[a] = y[s] - mean, 0.0
                totals[0] += first[a]
                totals[1] += first[a] * first[a]
            else:
                z = growth.offsets[s] + nodes.n[v, 0]
                up, down = 1.0 / (1.0 + exp(-z)), 1.0 / (1.0 + exp(z))
                first[a] = up if y[s] == 0.0 else -down
                second[a] = max(up * down, LEAST_CURVATURE)
                totals[0] += first[a]
                totals[1] += second[a]
        pure = False
        if rule.kind == LABELS:
            for c in range(labels):
                pure |= totals[c] == n
        elif rule.kind == NUMBERS:
            pure = totals[1] <= 0.0
        if pure:
            continue
        sums[:] = 0.0
        if rule.kind != LABELS:
            counts[:] = 0
        for a in range(n):
            s = rows[a] % room
            code = growth.codes[s]
            if growth.editions[s] != edition:
                for j in range(columns):
                    code[j] = bin_of(x[s, j], kinds[j] == 1, growth.edges[j])
                growth.editions[s] = edition
            if rule.kind == LABELS:
                label = int(y[s])
                for j in range(columns):
                    sums[j, code[j], label] += 1.0
            else:
                for j in range(columns):
                    sums[j, code[j], 0] += first[a]
                    sums[j, code[j], 1] += second[a]
                    counts[j, code[j]] += 1
        best, column, side, where = 0.0, -1, 0, 0
        used = 1 if rule.kind == NUMBERS else width
        for j in range(columns):
            gain, here, go = best_cut(
                rule.kind, sums[j], counts[j], kinds[j] == 1, totals, used, n, rule.least, rule.ridge, 0.0, table,
                order, spare,
            )  # fmt: skip
            if here > 0 and gain > best:
                best, column, side, where = gain, j, go, here
                kept_order[:] = order
        if column < 0 or best < rule.threshold:
            continue
        cut = np.inf
        last = kept_order[where - 1]
        if kinds[column] == 1:
            set_of(kept_order, where, sets)
        elif last <= growth.edge_counts[column]:
            cut = growth.edges[column, last - 1]
        left = split(nodes, v, column, cut, sets, side)
        cuts += 1
        for a in range(n - 1, -1, -1):  # oldest first, so that the newest row heads the chain
            i = rows[a]
            s = i % room
            child = left if goes_left(x[s, column], kinds[column] == 1, cut, nodes.sets[v], side) else left + 1
            growth.chain[s] = nodes.whole[child, HEAD]
            nodes.whole[child, HEAD] = i
            nodes.whole[child, ROWS] += 1
            if rule.kind == LABELS:
                nodes.n[child, int(y[s])] += 1.0
            elif rule.kind == NUMBERS:
                nodes.n[child, 0] += y[s]
                nodes.n[child, 1] += 1.0
        nodes.whole[v, HEAD] = -1
        for child in range(left, left + 2):
            if rule.kind == RESIDUALS:
                count, i = 0, nodes.whole[child, HEAD]
                while count < nodes.whole[child, ROWS]:
                    rows[count] = i
                    count += 1
                    i = growth.chain[i % room]
                correct(nodes, rule, growth, y, child, rows, count, nodes.n[v, 0])
            nodes.start[child] = nodes.n[child]
            waiting[pending] = child
            pending += 1


@inner
def renew_edges(
    nodes: Nodes, growth: Growth, x: NDArray[np.float64], kinds: NDArray[np.int8], oldest: int, t: int, window: int
) -> None:
    """Find the edges of all columns of numbers from the stored rows before row t."""
    columns = x.shape[1]
    step = sample_step(t - oldest, columns)
    spare = np.empty((t - oldest) // step + 1)
    for j in range(columns):
        if kinds[j] == 0:
            growth.edge_counts[j] = column_edges(x, j, oldest, t, step, spare, growth.edges[j])
    nodes.numbers[EDITION] += 1
    nodes.numbers[NEXT_EDGES] = t + max(1, min(t, window // 2))


@compiled
def play(
    nodes: Nodes, rule: Rule, growth: Growth, x: NDArray[np.float64], y: Vector, kinds: NDArray[np.int8], begin: int,
    window: int, first: int, stop: int, table: Vector, out: NDArray[np.float64],
) -> int:  # fmt: skip
    """Forecast and learn the stored rows first .. stop - 1; return the first that was not played for want of nodes.

    Args:
        nodes: The tree.
        rule: Its constants.
        growth: Its bins and chains of rows.
        x: (room, columns) stored rows.
        y: (room,) their outcomes.
        kinds: (columns,) 1 for categories.
        begin: Oldest row that was ever stored.
        window: Number of last rows that may be used.
        first: Number of the first row to play.
        stop: Number of the row to stop before.
        table: x ln x of whole numbers.
        out: (stop - first, k) forecasts made before learning, written: probabilities, or numbers in the first column.
    """
    nodes, rule, growth = Nodes(*nodes), Rule(*rule), Growth(*growth)
    room, columns = len(y), x.shape[1]
    known = 1 if rule.kind == NUMBERS else nodes.numbers[KNOWN]
    path, p, q = np.empty(PATH, dtype=np.int64), np.empty((PATH, out.shape[1])), np.empty((PATH, out.shape[1]))
    for t in range(first, stop):
        if nodes.numbers[COUNT] + 2 * SPLITS > len(nodes.cut) and len(nodes.cut) < rule.most_nodes:
            return t
        s, oldest = t % room, max(begin, t + 1 - window)
        if t >= nodes.numbers[NEXT_EDGES] and t > oldest:
            renew_edges(nodes, growth, x, kinds, oldest, t, window)
        code = growth.codes[s]
        for j in range(columns):
            code[j] = bin_of(x[s, j], kinds[j] == 1, growth.edges[j])
        growth.editions[s] = nodes.numbers[EDITION]
        offset = growth.offsets[s] if rule.kind == RESIDUALS else 0.0
        length = forecast(nodes, rule, x[s], kinds, offset, path, p, q)
        whole = 0.0
        for c in range(known):
            whole += q[0, c]
        for c in range(known):
            out[t - first, c] = q[0, c] if rule.kind == NUMBERS else q[0, c] / whole
        learn(nodes, rule, length, y[s], path, p, q)
        leaf = path[length - 1]
        growth.chain[s] = nodes.whole[leaf, HEAD]
        nodes.whole[leaf, HEAD] = t
        nodes.whole[leaf, ROWS] += 1
        if nodes.whole[leaf, ROWS] >= nodes.whole[leaf, CHECK]:
            grow(nodes, rule, growth, x, y, kinds, oldest, leaf, table)
    return stop


@compiled
def look(
    nodes: Nodes, rule: Rule, x: NDArray[np.float64], offsets: Vector, kinds: NDArray[np.int8], out: NDArray[np.float64]
) -> None:
    """Forecast rows x (rows, columns) without learning: out (rows, k) as in `play`; offsets (rows,) of residuals."""
    nodes, rule = Nodes(*nodes), Rule(*rule)
    known = 1 if rule.kind == NUMBERS else nodes.numbers[KNOWN]
    path, p, q = np.empty(PATH, dtype=np.int64), np.empty((PATH, out.shape[1])), np.empty((PATH, out.shape[1]))
    for t in range(len(x)):
        forecast(nodes, rule, x[t], kinds, offsets[t] if rule.kind == RESIDUALS else 0.0, path, p, q)
        whole = 0.0
        for c in range(known):
            whole += q[0, c]
        for c in range(known):
            out[t, c] = q[0, c] if rule.kind == NUMBERS else q[0, c] / whole


@compiled
def count_new(nodes: Nodes, growth: Growth, x: Vector, kinds: NDArray[np.int8], room: int, t: int, label: int) -> None:
    """Enter the stored row t with a label that is new: its nodes count it, but it is not a round of theirs."""
    nodes, growth = Nodes(*nodes), Growth(*growth)
    v = 0
    while True:
        nodes.n[v, label] += 1.0
        column = nodes.whole[v, COLUMN]
        if column < 0:
            break
        left = goes_left(x[column], kinds[column] == 1, nodes.cut[v], nodes.sets[v], nodes.whole[v, MISSING_LEFT])
        v = nodes.whole[v, LEFT] + (0 if left else 1)
    s = t % room
    for j in range(len(x)):
        growth.codes[s, j] = bin_of(x[j], kinds[j] == 1, growth.edges[j])
    growth.editions[s] = nodes.numbers[EDITION]
    growth.chain[s] = nodes.whole[v, HEAD]
    nodes.whole[v, HEAD] = t
    nodes.whole[v, ROWS] += 1


@inner
def entropy(c: NDArray[np.int64]) -> float:
    """Return the log loss of the best constant probabilities on rounds with these labels."""
    total, lost = 0.0, 0.0
    for k in range(len(c)):
        total += c[k]
        lost -= c[k] * np.log(c[k]) if c[k] > 0 else 0.0
    return lost + total * np.log(total) if total > 0.0 else 0.0


@inner
def log_gamma_ratio(a: float, n: float) -> float:
    """Return ln Gamma(a + n) - ln Gamma(a)."""
    return math.lgamma(a + n) - math.lgamma(a) if n > 0.0 else 0.0


@inner
def between_forms(nodes: Nodes, v: int) -> tuple[float, float]:
    """Return a lower and an upper bound on the loss of a node below the root.

    They follow from whole numbers and the range of the parent's forecasts: trees/theorems/tree_pruning.py.
    """
    k, n, begun = nodes.numbers[KNOWN], 0.0, 0.0
    for c in range(k):
        n += nodes.c[v, c]
        begun += nodes.start[v, c]
    if n == 0.0:
        return 0.0, 0.0
    most = log_gamma_ratio(begun + CONCENTRATION, n)
    least, scale = most, begun + n + CONCENTRATION
    most -= n * np.log1p(-k * FLOOR)
    for c in range(k):
        came, inherited = float(nodes.c[v, c]), nodes.start[v, c]
        if came > 0.0:
            most -= log_gamma_ratio(inherited + CONCENTRATION * nodes.low[v, c], came)
            high = inherited + CONCENTRATION * nodes.high[v, c]
            least -= log_gamma_ratio(high, came) + np.log1p(FLOOR * scale / high)
            least -= FLOOR * scale * (1.0 + np.log(came))
    slack = 1e-9 * (1.0 + most) + 1e-14 * math.lgamma(scale)
    return least - slack, most + slack


@compiled
def settle(nodes: Nodes, kind: int, bounds: Vector, mixed: Vector, stops: NDArray[np.bool_], found: Vector) -> None:
    """Find the best pruning and check the state, children before parents.

    Args:
        nodes: The tree.
        kind: Its kind.
        bounds: (nodes,) written: least loss plus price of a pruning below each node.
        mixed: (nodes,) written: loss of each mixture, from the losses of the nodes (for numbers, as recorded).
        stops: (nodes,) written: whether the best pruning stops at a node that was split.
        found: (9,) written: bound, at least the loss of the mixture; that loss; constants, regret of the nodes, price
            and leaves of the pruning; largest error of a beta relative to 1 + its terms (for numbers, excess of a price
            over twice its gaps); 1 if whole numbers and structure agree; width of the closed forms, or -1 if one does
            not hold.
    """
    nodes = Nodes(*nodes)
    count, whole, c, known = nodes.numbers[COUNT], nodes.whole, nodes.c, nodes.n.shape[1]
    drift, sound, width = 0.0, 1.0, 0.0
    prices = np.zeros(count)
    for v in range(count - 1, -1, -1):
        sums = nodes.sums[v]
        before, after = sums[BEFORE] + sums[BEFORE + 1], sums[AFTER] + sums[AFTER + 1]
        left = whole[v, LEFT]
        inside = whole[v, COLUMN] >= 0
        if not (before >= 0.0 and after >= 0.0 and before < np.inf and after < np.inf):
            sound = 0.0
        for k in range(known):
            if c[v, k] < 0 or nodes.split[v, k] < 0 or nodes.split[v, k] > c[v, k]:
                sound = 0.0
        if not inside:
            bounds[v] = mixed[v] = before
            continue
        if not (left > v and left + 1 < count and whole[left, PARENT] == v and whole[left + 1, PARENT] == v):
            sound = 0.0
            bounds[v] = mixed[v] = before
            continue
        for k in range(known):
            if c[v, k] - nodes.split[v, k] != c[left, k] + c[left + 1, k]:
                sound = 0.0
        go_mixed, go_bound = mixed[left] + mixed[left + 1], bounds[left] + bounds[left + 1]
        if kind == NUMBERS:
            paid = sums[MIXED] + sums[MIXED + 1]
            over = paid - min(after, go_mixed)
            prices[v] = max(2.0 * sums[GAP], over)
            drift = max(drift, (over - 2.0 * sums[GAP]) / (1e-300 + paid))
            mixed[v] = before + paid
            stops[v] = after <= go_bound
            bounds[v] = before + min(after, go_bound) + prices[v]
            continue
        prior, beta = sums[PRIOR], sums[BETA] + sums[BETA + 1]
        stop_price, go_price = softplus(-prior), softplus(prior)
        mixed[v] = before - log_add(-(after + stop_price), -(go_mixed + go_price))
        drift = max(drift, abs(beta - (prior + go_mixed - after)) / (1.0 + after + go_mixed + abs(prior)))
        if beta != beta:
            drift = np.inf
        stops[v] = after + stop_price <= go_bound + go_price
        prices[v] = stop_price if stops[v] else go_price
        bounds[v] = before + min(after + stop_price, go_bound + go_price)
    constants, regret, price, leaves = 0.0, 0.0, 0.0, 0
    waiting, pending = np.empty(count + 1, dtype=np.int64), 1
    waiting[0] = 0
    while pending > 0 and sound == 1.0:
        pending -= 1
        v = waiting[pending]
        sums, inside = nodes.sums[v], whole[v, COLUMN] >= 0
        before, after = sums[BEFORE] + sums[BEFORE + 1], sums[AFTER] + sums[AFTER + 1]
        price += prices[v]
        if inside and not stops[v]:
            best = entropy(nodes.split[v]) if kind == LABELS else 0.0
            constants += best
            regret += before - best
            waiting[pending], waiting[pending + 1] = whole[v, LEFT], whole[v, LEFT] + 1
            pending += 2
        else:
            best = entropy(c[v]) if kind == LABELS else 0.0
            constants += best
            regret += before + after - best
            leaves += 1
        if kind == LABELS and v > 0 and len(nodes.low) > 0 and width >= 0.0:
            least, most = between_forms(nodes, v)
            width += most - least
    if kind == LABELS and len(nodes.low) > 0:
        for v in range(1, count):
            least, most = between_forms(nodes, v)
            own = nodes.sums[v, BEFORE] + nodes.sums[v, BEFORE + 1] + nodes.sums[v, AFTER] + nodes.sums[v, AFTER + 1]
            if not least <= own <= most:
                width = -1.0
    found[:] = np.array(
        [max(bounds[0], mixed[0]), mixed[0], constants, regret, price, float(leaves), drift, sound, width]
    )
