"""A tree that grows while it plays: the mixture over all its prunings (trees/tree.py has the algorithm).

Every kind of tree plays the same loop: labels, numbers and residuals differ in the forecast of a node, in the weight of
stopping there, and in what a node learns. Forecasts of labels contain the probability of every label, never 1 - p.

Arguments of the loops
    x       (columns,) a row; (rows, columns)
    y       (rows,) outcomes
    kinds   (columns,) 1 for a column of categories, else 0
    path    (PATH,) nodes from the root to the leaf
    p, q    (PATH, k) forecast of each node of the path, and of the mixture from it down
    slots   (rows,) places of stored rows in the arrays of Growth
    sets    (2,) one bit for each bin that goes to the left child
    table   (rows + 1 or more,) x ln x of whole numbers
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import borrowing_inner, compiled, inner
from novikoff.numerics.exp import exp
from novikoff.numerics.totals import put
from novikoff.trees._loops.cuts import Limits, bin_of, count_row, goes_left, label_cut, set_of, sum_cut
from novikoff.trees._loops.layout import (
    AFTER,
    BEFORE,
    BETA,
    BINS,
    CELLS,
    CHECK,
    COLUMN,
    CONCENTRATION,
    COUNT,
    DEEPEST,
    DEPTH,
    EDITION,
    EXAMINED,
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
    STRIDE,
    SUMS,
    WHOLE,
    Growth,
    Nodes,
    Rule,
)  # fmt: skip
from novikoff.trees._loops.mixing import entropy, log_add, shares, softplus

Vector = NDArray[np.float64]
LN2 = math.log(2.0)
SPLITS = 32
"""Largest number of cuts in one round."""
GROWTH = 0.3
"""A leaf is examined again when its rows have grown by this fraction."""
NEVER = 2**62
"""Number of rows at which a leaf that cannot be split is examined next."""
CLIP = 1e-6
"""Least probability of a label at a node of a residual tree."""
LEAST_CURVATURE = 1e-3
"""Least curvature of a row of a residual tree when cuts are compared."""


@borrowing_inner
def stopping(nodes: Nodes, kind: int, v: int) -> tuple[float, float]:
    """Return the weights of stopping at a node and of going on: each is computed, neither is 1 minus the other."""
    z = nodes.sums[v, BETA] + nodes.sums[v, BETA + 1]
    if kind == NUMBERS:
        gap = nodes.sums[v, GAP]
        if gap == 0.0:  # AdaHedge with an infinite rate: follow the leader
            return (0.5, 0.5) if z == 0.0 else (1.0, 0.0) if z > 0.0 else (0.0, 1.0)
        z = z / gap * LN2
    return shares(z)


@borrowing_inner
def forecast(
    nodes: Nodes, rule: Rule, x: Vector, kinds: NDArray[np.int8], offset: float, path: NDArray[np.int64],
    p: NDArray[np.float64], q: NDArray[np.float64],
) -> int:  # fmt: skip
    """Write the path of x, the forecast of each node to p and of the mixture from it down to q; return its length.

    path   (PATH,) nodes from the root to the leaf
    p, q   (PATH, k) probability of each label; the first column for numbers
    """
    known, kind, n = 1 if rule.kind == NUMBERS else nodes.numbers[KNOWN], rule.kind, nodes.n
    v, depth = 0, 0
    while True:
        path[depth] = v
        if kind == LABELS:
            total = 0.0
            for c in range(known):
                total += n[v, c]
            if depth == 0:
                for c in range(known):
                    p[0, c] = (n[0, c] + 0.5) / (total + 0.5 * known)
            else:
                scale = (1.0 - known * FLOOR) / (total + CONCENTRATION)
                for c in range(known):
                    p[depth, c] = (n[v, c] + CONCENTRATION * p[depth - 1, c]) * scale + FLOOR
        elif kind == NUMBERS:
            if depth == 0:
                p[0, 0] = (n[0, 0] + rule.middle) / (n[0, 1] + 1.0)
            else:
                p[depth, 0] = (n[v, 0] + CONCENTRATION * p[depth - 1, 0]) / (n[v, 1] + CONCENTRATION)
        else:
            p[depth, 1], p[depth, 0] = shares(offset + n[v, 0])
            for c in range(2):
                if p[depth, c] < CLIP:
                    p[depth, c], p[depth, 1 - c] = CLIP, 1.0 - CLIP
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


@borrowing_inner
def gap_of(difference: float, gap: float, stop: float, go: float) -> float:
    """Return the mixability gap of a round: AdaHedge of two, with log-weights.

    difference   loss so far of going on, less that of stopping
    gap          sum of the gaps so far
    stop, go     losses in this round
    """
    low = min(stop, go)
    if gap == 0.0:  # infinite rate: the mix loss is the increase of the smaller total
        if difference > 0.0:
            return max(0.0, stop - min(stop, difference + go))
        if difference < 0.0:
            return max(0.0, go - min(go, stop - difference))
        return 0.5 * (stop - low) + 0.5 * (go - low)
    z, rate = difference / gap * LN2, LN2 / gap
    log_stop, log_go = -softplus(-z), -softplus(z)
    mean = exp(log_stop) * (stop - low) + exp(log_go) * (go - low)
    # -most / rate is the mix loss, both losses taken relative to the smaller one.
    most = log_add(log_stop - (stop - low) / gap * LN2, log_go - (go - low) / gap * LN2)
    return max(0.0, mean + most / rate) if rate > 0.0 and rate < np.inf else max(0.0, mean + most * gap / LN2)


@borrowing_inner
def learn(
    nodes: Nodes, rule: Rule, length: int, y: float, path: NDArray[np.int64], p: NDArray[np.float64],
    q: NDArray[np.float64],
) -> None:  # fmt: skip
    """Learn the outcome of the row that was forecast last, at every node of its path."""
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
                # Online Newton step of the correction w = n[0] with curvature A = n[1].
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


@borrowing_inner
def add_node(nodes: Nodes, v: int, parent: int, depth: int) -> None:
    """Write a new leaf without rows."""
    for k in range(WHOLE):
        nodes.whole[v, k] = 0
    nodes.whole[v, COLUMN], nodes.whole[v, LEFT], nodes.whole[v, HEAD] = -1, -1, -1
    nodes.whole[v, PARENT], nodes.whole[v, DEPTH], nodes.cut[v] = parent, depth, 0.0
    for k in range(2):
        nodes.sets[v, k] = np.uint64(0)
    for c in range(nodes.n.shape[1]):
        nodes.n[v, c], nodes.start[v, c], nodes.c[v, c], nodes.split[v, c] = 0.0, 0.0, 0, 0
        if len(nodes.low) > 0:
            nodes.low[v, c], nodes.high[v, c] = np.inf, -np.inf
    for k in range(SUMS):
        nodes.sums[v, k] = 0.0


@borrowing_inner
def split(nodes: Nodes, v: int, column: int, cut: float, sets: NDArray[np.uint64], side: int) -> int:
    """Split a leaf; return its left child."""
    left = nodes.numbers[COUNT]
    nodes.numbers[COUNT] += 2
    nodes.whole[v, COLUMN], nodes.whole[v, LEFT], nodes.whole[v, MISSING_LEFT] = column, left, side
    nodes.cut[v], nodes.sets[v, 0], nodes.sets[v, 1] = cut, sets[0], sets[1]
    for c in range(nodes.c.shape[1]):
        nodes.split[v, c] = nodes.c[v, c]
    for child in range(left, left + 2):
        add_node(nodes, child, v, nodes.whole[v, DEPTH] + 1)
    return left


@inner
def correct(
    nodes: Nodes, rule: Rule, growth: Growth, y: Vector, v: int, slots: NDArray[np.int32], begin: float
) -> None:
    """Fit w and A of a new node of a residual tree to its rows, by three Newton steps from the parent's w."""
    w, curvature = begin, 0.0
    for _ in range(3):
        gradient = 0.0
        curvature = 0.0
        for i in slots:
            up, down = shares(growth.offsets[i] + w)
            gradient += up if y[i] == 0.0 else -down
            curvature += up * down
        w -= (gradient + rule.ridge * (w - begin)) / (curvature + rule.ridge)
    nodes.n[v, 0], nodes.n[v, 1] = w, rule.ridge + curvature


@inner
def best_cut(
    rule: Rule, growth: Growth, slots: NDArray[np.int32], labels: NDArray[np.int64], slopes: NDArray[np.float64],
    whole: NDArray[np.int64], kinds: NDArray[np.int8], table: Vector, sets: NDArray[np.uint64],
) -> tuple[float, int, int, int]:  # fmt: skip
    """Return the best cut of a leaf: gain, column (-1 for none), last bin on the left, whether missing values go left.

    Args:
        rule: Constants of the tree.
        growth: Bins of the rows.
        slots: (n,) places of the leaf's rows in the store.
        labels: (n,) their labels; not used unless the tree is for labels.
        slopes: (2, n) gradients and curvatures, or numbers less their mean and 1; not used for labels.
        whole: (k,) number of rows with each label.
        kinds: (columns,) 1 for categories.
        table: x ln x of whole numbers.
        sets: (2,) written: bins of categories on the left, as bits; zeros for numbers.
    """
    order, means, squares = np.empty(BINS, dtype=np.int64), np.empty(BINS), 0.0
    counts = np.zeros((BINS + 1, len(whole) + 1), dtype=np.int64)
    here, left = np.zeros(STRIDE * BINS), np.empty((6, BINS))
    limits = Limits(rule.least, 0.0, 0.0, 2.0)
    if rule.kind == RESIDUALS:
        limits = Limits(rule.least, rule.ridge, 0.0, rule.ridge)
    elif rule.kind == NUMBERS:
        for a in range(len(slots)):
            squares += slopes[0, a] * slopes[0, a]
    best, column, last, side = 0.0, -1, 0, 0
    for j in range(len(kinds)):
        codes, category = growth.codes[j], kinds[j] == 1
        if rule.kind == LABELS:
            gain, where, go = label_cut(codes, slots, labels, category, whole, limits, table, counts, order, means)
        else:
            for a in range(len(slots)):
                count_row(here, int(codes[slots[a]]), slopes[0, a], slopes[1, a])
            gain, where, go = sum_cut(here, BINS, -1, category, squares, limits, order, left)
            for e in range(STRIDE * BINS):
                here[e] = 0.0
        if where > 0 and gain > best:
            best, column, last, side = gain, j, order[where - 1], go
            set_of(order, where if category else 0, sets)
    return best, column, last, side


@borrowing_inner
def collect(
    nodes: Nodes, growth: Growth, v: int, oldest: int, most: int, rows: NDArray[np.int64], slots: NDArray[np.int32]
) -> int:
    """Write the last rows of a leaf, at most `most` and none below `oldest`, and their places; return their number."""
    room, n, i = len(growth.chain), 0, nodes.whole[v, HEAD]
    while i >= oldest and n < most:
        rows[n] = i
        slots[n] = i % room
        i = growth.chain[slots[n]]
        n += 1
    return n


@inner
def grow(
    nodes: Nodes, rule: Rule, growth: Growth, x: NDArray[np.float64], y: Vector, kinds: NDArray[np.int8], oldest: int,
    leaf: int, table: Vector,
) -> None:  # fmt: skip
    """Examine a leaf; split it if the best cut gains enough, and examine its children.

    Rows below `oldest` are not used.
    """
    columns, edition, kind = x.shape[1], nodes.numbers[EDITION], rule.kind
    most = min(EXAMINED, max(CELLS // max(columns, 1), 16), nodes.whole[leaf, ROWS])
    rows, slots = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int32)
    labels, slopes = np.empty(most, dtype=np.int64), np.empty((2, most if kind != LABELS else 0))
    whole, sets = np.zeros(nodes.numbers[KNOWN], dtype=np.int64), np.zeros(2, dtype=np.uint64)
    waiting, pending, cuts = np.empty(2 * SPLITS + 2, dtype=np.int64), 1, 0
    waiting[0] = leaf
    while pending > 0:
        pending -= 1
        v = waiting[pending]
        n, got = collect(nodes, growth, v, oldest, most, rows, slots), nodes.whole[v, ROWS]
        nodes.whole[v, CHECK] = got + max(rule.least, int(GROWTH * n))
        # Do not examine it again without room for nodes; wait for more rows; or, after SPLITS cuts, for the next row.
        if nodes.whole[v, DEPTH] >= DEEPEST or nodes.numbers[COUNT] + 2 > min(len(nodes.cut), rule.most_nodes):
            nodes.whole[v, CHECK] = NEVER
            continue
        if n < 2 * rule.least:
            nodes.whole[v, CHECK] = got + 2 * rule.least - n
            continue
        if cuts == SPLITS:
            nodes.whole[v, CHECK] = 0
            continue
        several, mean = False, 0.0
        for c in range(len(whole)):
            whole[c] = 0
        for a in range(n):
            s = slots[a]
            mean += y[s] / n
            if kind == LABELS:
                labels[a] = int(y[s])
                whole[labels[a]] += 1
            elif kind == RESIDUALS:
                up, down = shares(growth.offsets[s] + nodes.n[v, 0])
                slopes[0, a] = up if y[s] == 0.0 else -down
                slopes[1, a] = max(up * down, LEAST_CURVATURE)
            several |= y[s] != y[slots[0]]
            if growth.editions[s] != edition:
                for j in range(columns):
                    growth.codes[j, s] = bin_of(x[s, j], kinds[j] == 1, growth.edges[j])
                growth.editions[s] = edition
        if kind == NUMBERS:
            for a in range(n):
                slopes[0, a], slopes[1, a] = y[slots[a]] - mean, 1.0
        if not several and kind != RESIDUALS:  # all outcomes are equal: nothing to gain
            continue
        best, column, last, side = best_cut(
            rule, growth, slots[:n], labels[:n], slopes, whole, kinds, table, sets
        )  # fmt: skip
        if column < 0 or best < rule.threshold:
            continue
        category, cut = kinds[column] == 1, np.inf
        if not category and last <= growth.edge_counts[column]:
            cut = growth.edges[column, last - 1]
        left = split(nodes, v, column, cut, sets, side)
        cuts += 1
        for a in range(n - 1, -1, -1):  # oldest first, so that the newest row heads the chain
            s = slots[a]
            child = left + (0 if goes_left(x[s, column], category, cut, sets, side) else 1)
            growth.chain[s] = nodes.whole[child, HEAD]
            nodes.whole[child, HEAD] = rows[a]
            nodes.whole[child, ROWS] += 1
            if kind == LABELS:
                nodes.n[child, labels[a]] += 1.0
            elif kind == NUMBERS:
                nodes.n[child, 0] += y[s]
                nodes.n[child, 1] += 1.0
        nodes.whole[v, HEAD] = -1
        for child in range(left, left + 2):
            if kind == RESIDUALS:
                count = collect(nodes, growth, child, oldest, most, rows, slots)
                correct(nodes, rule, growth, y, child, slots[:count], nodes.n[v, 0])
            for c in range(nodes.n.shape[1]):
                nodes.start[child, c] = nodes.n[child, c]
            waiting[pending] = child
            pending += 1


@compiled
def play(
    nodes: Nodes, rule: Rule, growth: Growth, x: NDArray[np.float64], y: Vector, kinds: NDArray[np.int8], begin: int,
    window: int, first: int, stop: int, table: Vector, out: NDArray[np.float64],
) -> int:  # fmt: skip
    """Forecast and learn the stored rows first .. stop - 1; return the number of the first row not played.

    It is below `stop` if the arrays need room for more nodes, or edges have to be renewed.

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
        s, oldest = t % room, max(begin, t + 1 - window)
        if nodes.numbers[COUNT] + 2 * SPLITS > len(nodes.cut) and len(nodes.cut) < rule.most_nodes:
            return t
        if t >= nodes.numbers[NEXT_EDGES] and t > oldest:
            return t
        for j in range(columns):
            growth.codes[j, s] = bin_of(x[s, j], kinds[j] == 1, growth.edges[j])
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
    """Count the stored row t, x (columns,), whose label is new, in the nodes of its path; they do not play its round.

    Its bins, and its place in the chain of its leaf, are stored as in `play`.
    """
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
        growth.codes[j, s] = bin_of(x[j], kinds[j] == 1, growth.edges[j])
    growth.editions[s] = nodes.numbers[EDITION]
    growth.chain[s] = nodes.whole[v, HEAD]
    nodes.whole[v, HEAD] = t
    nodes.whole[v, ROWS] += 1


@inner
def log_gamma_ratio(a: float, n: float) -> float:
    """Return ln Gamma(a + n) - ln Gamma(a)."""
    return math.lgamma(a + n) - math.lgamma(a) if n > 0.0 else 0.0


@inner
def between_forms(nodes: Nodes, v: int) -> tuple[float, float]:
    """Return a lower and an upper bound on the loss of a node below the root.

    They follow from whole numbers and the range of the parent's forecasts: trees/theorems/tree_pruning.py.
    """
    k, n, begun = nodes.numbers[KNOWN], 0.0, 0.0  # n rounds since birth, `begun` counts at birth
    for c in range(k):
        n += nodes.c[v, c]
        begun += nodes.start[v, c]
    if n == 0.0:
        return 0.0, 0.0
    most = log_gamma_ratio(begun + CONCENTRATION, n)
    least, scale = most, begun + n + CONCENTRATION
    most -= n * np.log1p(-k * FLOOR)
    for c in range(k):
        rounds, inherited = float(nodes.c[v, c]), nodes.start[v, c]
        if rounds > 0.0:
            most -= log_gamma_ratio(inherited + CONCENTRATION * nodes.low[v, c], rounds)
            high = inherited + CONCENTRATION * nodes.high[v, c]
            # The floor lowers the loss of the j-th such round by at most FLOOR * scale / (high + j - 1).
            least -= log_gamma_ratio(high, rounds) + np.log1p(FLOOR * scale / high)
            least -= FLOOR * scale * (1.0 + np.log(rounds))
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
    # First pass: losses, bounds and checks of every node. Children have larger numbers than their parent.
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
    # Second pass: the nodes of the best pruning, from the root down.
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
    found[0], found[1], found[2], found[3], found[4] = max(bounds[0], mixed[0]), mixed[0], constants, regret, price
    found[5], found[6], found[7], found[8] = float(leaves), drift, sound, width
