"""Regrown trees: the mixture over the prunings of each tree, and growing new trees in slices.

Forecast of one tree, on the path v_0 (root) .. v_n (leaf) of a row:
    node      p_i = (rows of the label + 2 p_{i-1}) / (rows + 2), at the root (rows of the label + 1/2) / (rows + k/2);
              then p = (1 - k 2^-30) p + 2^-30
    mixture   q_n = p_n,  q_i = s_i p_i + (1 - s_i) q_{i+1},  s_i = 1/(1 + e^-odds of v_i)
Learning a label y: odds_i += ln p_i(y) - ln q_{i+1}(y), and every node of the path counts the row. Both s and 1 - s are
computed from the odds, and the probability of every label is stored: nothing is computed as one minus a rounded number.

Arguments of the loops, for k labels
    kinds          (columns,) 1 for a column of categories, else 0
    x              (skipped + columns,) a row; (rows, skipped + columns)
    path           (DEPTH,) nodes from the root to the leaf
    nodes, mixed   (DEPTH, k) p_i and q_i of the nodes on the path
    forecasts      (rows, k) out: probabilities of each row; `disagreement` (2,) as in `play`
    table          (rows + 1 or more,) x ln x of whole numbers
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import borrowing, borrowing_inner, compiled, inlined
from novikoff.numerics.quotient import quotient
from novikoff.numerics.totals import put
from novikoff.trees._loops.cuts import CONSTANT, Limits, divide, draw, goes_left, label_cut, set_of
from novikoff.trees._loops.forest_layout import (
    BAG,
    BAGS,
    DEPTH,
    DONE,
    FINE,
    FLOOR,
    GAIN,
    GROW,
    LEARN,
    LEAST,
    LOOK,
    NODE,
    OUT,
    PHASE,
    PLAY,
    SCAN,
    SHRINK,
    SMOOTHING,
    TREE,
    Forest,
    Growing,
)
from novikoff.trees._loops.mixing import entropy, log_add, shares, softplus


@borrowing_inner
def mixture(
    counts: NDArray[np.float64], odds: NDArray[np.float64], length: int, path: NDArray[np.int64],
    nodes: NDArray[np.float64], mixed: NDArray[np.float64],
) -> None:  # fmt: skip
    """Compute the forecast of each node of a path, and of the mixture from each node down.

    Args:
        counts: (N, k) Rows of each label that the nodes of the tree count.
        odds: (N,) ln(weight of stopping / weight of going on).
        length: Number of nodes on the path.
        path: (DEPTH,) The path.
        nodes: (DEPTH, k) Out: p of each node.
        mixed: (DEPTH, k) Out: q of each node.
    """
    labels = nodes.shape[1]
    for i in range(length):
        total, v = 0.0, path[i]
        for c in range(labels):
            total += counts[v, c]
        scale = quotient(1.0 - labels * FLOOR, total + (0.5 * labels if i == 0 else SHRINK))
        for c in range(labels):
            above = 0.5 if i == 0 else SHRINK * nodes[i - 1, c]
            nodes[i, c] = (counts[v, c] + above) * scale + FLOOR
    for c in range(labels):
        mixed[length - 1, c] = nodes[length - 1, c]
    for i in range(length - 2, -1, -1):
        stop, go = shares(odds[path[i]])
        for c in range(labels):
            mixed[i, c] = stop * nodes[i, c] + go * mixed[i + 1, c]


@inlined
def learn(forest: Forest, m: int, length: int, path: NDArray[np.int64], nodes: NDArray[np.float64],
          mixed: NDArray[np.float64], y: int, recorded: bool) -> None:  # fmt: skip
    """Learn the label of a row whose `mixture` was just computed; record losses and rounds if `recorded`."""
    for i in range(length):
        v, loss = path[i], -np.log(nodes[i, y])
        if i < length - 1:
            forest.odds[m, v] -= loss + np.log(mixed[i + 1, y])
        forest.counts[m, v, y] += 1.0
        if recorded:
            put(forest.losses[m, v], 0, loss)
            forest.rounds[m, v, y] += 1


@inlined
def find_path(forest: Forest, kinds: NDArray[np.int8], m: int, x: NDArray[np.float64], skipped: int,
              path: NDArray[np.int64]) -> int:  # fmt: skip
    """Write the path of a row and return its length."""
    v, length = 0, 0
    while True:
        path[length] = v
        length += 1
        j = forest.column[m, v]
        if j < 0:
            return length
        left = goes_left(
            x[skipped + j], kinds[j] == 1, forest.cut[m, v], forest.sets[m, v], forest.missing[m, v]
        )  # fmt: skip
        v = forest.left[m, v] + (0 if left else 1)


@borrowing_inner
def play_rows(
    forest: Forest, kinds: NDArray[np.int8], x: NDArray[np.float64], skipped: int, y: NDArray[np.int64], mode: int,
    begin: int, stop: int, forecasts: NDArray[np.float64], disagreement: NDArray[np.float64], path: NDArray[np.int64],
    nodes: NDArray[np.float64], mixed: NDArray[np.float64], logs: NDArray[np.float64],
) -> None:  # fmt: skip
    """Do what `play` does, with working memory: path (DEPTH,), nodes and mixed (DEPTH, k), and zeros in logs (k,)."""
    forest, trees, labels = Forest(*forest), float(stop - begin), len(logs)
    for t in range(len(x)):
        for m in range(begin, stop):
            length = find_path(forest, kinds, m, x[t], skipped, path)
            mixture(forest.counts[m], forest.odds[m], length, path, nodes, mixed)
            if mode != OUT:
                whole = 0.0
                for c in range(labels):
                    whole += mixed[0, c]
                scale = np.log(whole)
                for c in range(labels):
                    logs[c] += quotient(np.log(mixed[0, c]) - scale, trees)
                if mode == LEARN:
                    put(forest.played[m], 0, scale - np.log(mixed[0, y[t]]))
            if mode != LOOK:
                learn(forest, m, length, path, nodes, mixed, y[t], mode == LEARN)
        if mode != OUT:
            # The geometric mean is normalised by a sum of exponentials relative to the largest.
            most, total = logs[0], 0.0
            for c in range(1, labels):
                most = max(most, logs[c])
            for c in range(labels):
                total += np.exp(logs[c] - most)
            scale = most + np.log(total)
            if mode == LEARN:
                put(disagreement, 0, -scale)
            for c in range(labels):
                forecasts[t, c] = logs[c] - scale
                logs[c] = 0.0


@compiled
def play(forest: Forest, kinds: NDArray[np.int8], x: NDArray[np.float64], skipped: int, y: NDArray[np.int64],
         mode: int, begin: int, stop: int, forecasts: NDArray[np.float64], disagreement: NDArray[np.float64],
         ) -> None:  # fmt: skip
    """Play every row with the trees begin .. stop - 1.

    Args:
        forest: Trees.
        kinds: (d,) 0 for numbers, 1 for categories.
        x: (rows, skipped + d) rows; NaN is missing.
        skipped: Leading columns that are not used.
        y: (rows,) labels; not read for LOOK.
        mode: LOOK to forecast without learning; LEARN to forecast each row, then learn it; OUT to learn rows out of
            the bag, without forecasts and without recording losses.
        begin: First tree.
        stop: Tree to stop before.
        forecasts: (rows, k) Out: ln P, the normalised mean of the trees' ln P; not written for OUT.
        disagreement: (2,) Sum of -ln(sum of e^mean of ln P), which needs no label, and its compensation.
    """
    labels = Forest(*forest).counts.shape[2]
    path, nodes, mixed = np.empty(DEPTH, np.int64), np.empty((DEPTH, labels)), np.empty((DEPTH, labels))
    logs = np.zeros(labels)  # sum over the trees
    play_rows(
        forest, kinds, x, skipped, y, mode, begin, stop, forecasts, disagreement, path, nodes, mixed, logs
    )  # fmt: skip


@inlined
def examine(
    forest: Forest, growing: Growing, kinds: NDArray[np.int8], tried: int, node: int, table: NDArray[np.float64]
) -> int:
    """Split a node of the current tree if a cut gains enough; return the number of row visits that this took.

    The best of `tried` random columns is taken; columns that are constant in the node do not count.
    """
    m, d, coins, order = growing.counters[TREE], len(kinds), growing.coins, growing.order
    start, stop = growing.places[node, 0], growing.places[node, 1]
    n, rows, whole, columns = stop - start, growing.rows[start:stop], growing.whole, growing.columns
    labels, several = growing.picked[:n], 0
    forest.column[m, node] = -1
    for c in range(len(whole)):
        whole[c] = 0
    for a in range(n):
        c = growing.labels[rows[a]]
        labels[a] = c
        whole[c] += 1
    for c in range(len(whole)):
        forest.counts[m, node, c] = whole[c]
        several += whole[c] > 0
    visits, depth, child = 2 * n, growing.depths[node], forest.nodes[m]
    room = child + 2 <= forest.column.shape[1] and depth + 2 < DEPTH
    if several < 2 or n < 2 * LEAST or not room:
        return visits
    best, column, last, side = GAIN, -1, 0, 0
    for j in range(d):
        columns[j] = j
    useful, drawn = 0, 0  # columns are drawn by the steps of a Fisher-Yates shuffle
    while drawn < d and useful < tried:
        b = drawn + int(draw(coins) * (d - drawn))
        j = columns[b]
        columns[b] = columns[drawn]
        columns[drawn] = j
        drawn += 1
        visits += n + SCAN
        gain, where, go = label_cut(
            growing.codes[j], rows, labels, kinds[j] == 1, whole, Limits(LEAST, 0.0, FINE, SMOOTHING), table,
            growing.histogram, order, growing.means,
        )  # fmt: skip
        if where != CONSTANT:
            useful += 1
        if where > 0 and gain > best:
            best, column, last, side = gain, j, order[where - 1], go
            if kinds[j] == 1:
                set_of(order, where, growing.sets)
    if column < 0:
        return visits
    category = kinds[column] == 1
    middle = start + divide(rows, growing.spare, growing.codes[column], category, last, side, growing.sets)
    forest.nodes[m] += 2
    forest.column[m, node], forest.left[m, node], forest.missing[m, node] = column, child, side
    forest.cut[m, node] = np.inf  # also of categories, which have a set instead
    if not category and last <= growing.edge_counts[column]:
        forest.cut[m, node] = growing.edges[column, last - 1]
    for b in range(2):
        forest.sets[m, node, b] = growing.sets[b] if category else np.uint64(0)
        v = child + b
        growing.places[v, 0], growing.places[v, 1] = (start, middle) if b == 0 else (middle, stop)
        growing.depths[v], forest.column[m, v] = depth + 1, -1
    return visits


@borrowing
def grow(
    forest: Forest, growing: Growing, kinds: NDArray[np.int8], tried: int, table: NDArray[np.float64], until: int
) -> None:
    """Grow the current tree until it is complete or `until` row visits are done.

    Args:
        forest: Out: trees.
        growing: State of the build.
        kinds: (d,) 0 for numbers, 1 for categories.
        tried: Columns tried at each node.
        table: (rows + 1 or more,) x ln x of whole numbers.
        until: Number of row visits done at which to return.
    """
    forest, growing = Forest(*forest), Growing(*growing)
    counters, m = growing.counters, growing.counters[TREE]
    if counters[PHASE] == BAGS:
        used = 0
        for i in range(len(growing.labels)):
            # All rounds of a row share its coin: out of the bag, a copy of a row in it would seem well forecast.
            first = growing.begins[i]
            growing.bagged[i] = growing.bagged[first] if first < i else draw(growing.coins) < BAG
            growing.rows[used] = i
            used += 1 if growing.bagged[i] else 0
        growing.places[0, 0] = 0
        growing.places[0, 1] = used
        growing.depths[0] = 0
        forest.nodes[m] = 1
        counters[NODE] = 0
        counters[PHASE] = GROW
        counters[DONE] += len(growing.labels)
    while counters[NODE] < forest.nodes[m] and counters[DONE] < until:
        counters[DONE] += examine(forest, growing, kinds, tried, counters[NODE], table)
        counters[NODE] += 1
    if counters[NODE] == forest.nodes[m]:
        counters[PHASE] = PLAY


@compiled
def bounds(forest: Forest, least: NDArray[np.float64], whole: NDArray[np.float64], found: NDArray[np.float64]) -> None:
    """Evaluate the theorem of every tree since it took over (trees/theorems/tree_pruning.py).

    Args:
        forest: Trees.
        least: (N,) Working memory: the least bound of the prunings below each node.
        whole: (N,) Working memory: the loss of the mixture at each node.
        found: (M, 7) Out: loss as played; loss of the mixture, by the nodes' losses; the bound of the best pruning; its
            parts: loss of the best constants, regret of the nodes, price; and the largest difference of the odds from
            those that the losses imply, or of the loss as played from that of the mixture.
    """
    forest = Forest(*forest)
    stack = np.empty(2 * DEPTH, np.int64)  # depth first: at most one waiting sibling per level
    for m in range(forest.column.shape[0]):
        off = 0.0
        for v in range(forest.nodes[m] - 1, -1, -1):
            own = forest.losses[m, v, 0] + forest.losses[m, v, 1]
            if forest.column[m, v] < 0:
                least[v], whole[v] = own, own
                continue
            child, prior = forest.left[m, v], forest.prior[m, v]
            below = whole[child] + whole[child + 1]
            stop, go = softplus(-prior), softplus(prior)  # ln(1/probability) of stopping and of going on
            least[v] = min(own + stop, least[child] + least[child + 1] + go)
            whole[v] = -log_add(-(own + stop), -(below + go))
            off = max(off, abs(forest.odds[m, v] - (prior + below - own)))
        constants, regret, price = 0.0, 0.0, 0.0
        waiting = 1
        stack[0] = 0
        while waiting > 0:
            waiting -= 1
            v = stack[waiting]
            own = forest.losses[m, v, 0] + forest.losses[m, v, 1]
            if forest.column[m, v] >= 0:
                child, prior = forest.left[m, v], forest.prior[m, v]
                stop, go = softplus(-prior), softplus(prior)
                if own + stop > least[child] + least[child + 1] + go:
                    price += go
                    stack[waiting], stack[waiting + 1] = child, child + 1
                    waiting += 2
                    continue
                price += stop
            best = entropy(forest.rounds[m, v])
            constants += best
            regret += own - best
        found[m, 0] = forest.played[m, 0] + forest.played[m, 1]
        found[m, 1], found[m, 2], found[m, 3] = whole[0], least[0], constants
        found[m, 4], found[m, 5], found[m, 6] = regret, price, max(off, abs(found[m, 0] - whole[0]))
