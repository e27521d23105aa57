"""Gradient boosting of small trees, in slices: one call of `advance` does a share of the work of a build.

A build fits trees to rows that were stored when it began. Its work is divided into units: the quantile edges of one
column, the codes of a chunk of rows, the root of a tree, one split, the scores after a tree. The first two are done by
trees/boosting.py; `advance` runs the others until a given number is done, so the work of a build can be spread over
rounds; how it is spread changes no bit of the result.

Codes
    A column of numbers has at most 126 edges: bin 1 + the number of edges below the value. A category c has bin c + 1,
    those beyond the 126th share bin 127. Bin 0 is a missing value.
Trees
    Best first: the leaf whose best cut gains most is split, until no cut gains enough or the tree has all its leaves.
    Categories are ordered by their mean gradient, missing values go to the better side. Only the smaller child's
    histogram is counted, and its sibling's is the difference; nodes of at most 64 rows keep no histogram, and are
    counted column by column, in the bins that they use. The leaf of gradient sum G and curvature sum H has value
    -G / (H + ridge).
Kinds
    `kinds` (columns,) is 1 for a column of categories, else 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import borrowing, borrowing_inner, inlined
from novikoff.numerics.exp import exp
from novikoff.numerics.quotient import quotient
from novikoff.trees._loops.boosting_layout import (
    BIN,
    DONE,
    GAIN,
    LEAVES,
    LOGISTIC,
    NODES,
    PHASE,
    READY,
    ROOT,
    SIDE,
    SLOT,
    SOFTMAX,
    SPLIT,
    SQUARED,
    TREE,
    USED,
    Settings,
    Trees,
    Work,
)  # fmt: skip
from novikoff.trees._loops.cuts import (
    FEW,
    Limits,
    bin_goes_left,
    count_row,
    draw,
    goes_left,
    list_bins,
    set_of,
    sum_cut,
)
from novikoff.trees._loops.layout import STRIDE


@inlined
def forecast_all(work: Work, settings: Settings) -> None:
    """Write the probability of each label of every row; for squared loss, `chances` are the scores themselves."""
    scores, chances, outputs = work.scores, work.chances, len(work.scores)
    if settings.loss == LOGISTIC:
        for i in range(scores.shape[1]):
            chances[0, i] = quotient(1.0, 1.0 + exp(-scores[0, i]))
    elif settings.loss == SOFTMAX:
        for i in range(scores.shape[1]):
            most, total = scores[0, i], 0.0
            for c in range(1, outputs):
                most = max(most, scores[c, i])
            for c in range(outputs):
                chances[c, i] = exp(scores[c, i] - most)
                total += chances[c, i]
            for c in range(outputs):
                chances[c, i] = quotient(chances[c, i], total)


@inlined
def slopes(work: Work, settings: Settings, output: int, used: int) -> None:
    """Write gradient and curvature of the drawn rows, and the unit of the gradient: 1 except for squared loss."""
    chances, target, rows, unit = work.chances[output], work.target, work.rows, 1.0
    gradient, curvature = work.slopes[0], work.slopes[1]
    if settings.loss == SQUARED:
        # Residuals are divided by their standard deviation, so that gains do not depend on the unit of y.
        total = 0.0
        for i in range(len(target)):
            total += (chances[i] - target[i]) ** 2
        unit = np.sqrt(max(quotient(total, float(len(target))), 1e-280))
    hit = float(output + 1 if settings.loss == LOGISTIC else output)
    for a in range(used):
        i = rows[a]
        p = chances[i]
        if settings.loss == SQUARED:
            gradient[a] = quotient(p - target[i], unit)
            curvature[a] = 1.0
        else:
            gradient[a] = p - (1.0 if target[i] == hit else 0.0)
            curvature[a] = p * (1.0 - p) + 1e-12
    work.unit[0] = unit


@borrowing_inner
def begin_tree(work: Work, settings: Settings, outputs: int, d: int) -> bool:
    """Draw rows and columns and compute the slopes; return False if too few rows were drawn."""
    counters, drawn, rows, columns, coins = work.counters, work.drawn, work.rows, work.columns, work.coins
    output = counters[TREE] % outputs
    if output == 0:
        used = 0
        for i in range(len(work.target)):
            drawn[used] = i
            used += 1 if settings.rows >= 1.0 or draw(coins) < settings.rows else 0
        counters[USED] = used
        forecast_all(work, settings)
    used = counters[USED]
    if used < 2 * settings.least:
        return False
    for a in range(used):
        rows[a] = drawn[a]
    for j in range(d):
        columns[j] = j
    for a in range(settings.columns):  # the first steps of a Fisher-Yates shuffle
        b = a + int(draw(coins) * (d - a))
        j = columns[a]
        columns[a] = columns[b]
        columns[b] = j
    slopes(work, settings, output, used)
    return True


@inlined
def divide_rows(work: Work, codes: NDArray[np.uint8], category: bool, node: int) -> int:
    """Move rows of a node that go left, with their slopes, to the front, in order; return where the others begin."""
    rows, spare, sets = work.rows, work.spare, work.sets[node]
    gradient, curvature, spare_g, spare_h = work.slopes[0], work.slopes[1], work.spares[0], work.spares[1]
    last, side = int(work.best[node, BIN]), int(work.best[node, SIDE])
    kept, moved = work.places[node, 0], 0
    for a in range(work.places[node, 0], work.places[node, 1]):
        i, g, h = rows[a], gradient[a], curvature[a]
        stays = bin_goes_left(int(codes[i]), category, last, side, sets)
        # Written to both sides, kept on one: no branch to mispredict.
        rows[kept] = i
        gradient[kept] = g
        curvature[kept] = h
        spare[moved] = i
        spare_g[moved] = g
        spare_h[moved] = h
        kept += 1 if stays else 0
        moved += 0 if stays else 1
    for a in range(moved):
        rows[kept + a] = spare[a]
        gradient[kept + a] = spare_g[a]
        curvature[kept + a] = spare_h[a]
    return kept


@inlined
def offer(
    work: Work, kinds: NDArray[np.int8], settings: Settings, node: int, c: int, here: NDArray[np.float64], met: int
) -> None:  # fmt: skip
    """Keep the best cut of the c-th drawn column in a leaf if it gains more than those of the columns before it.

    Args:
        work: State of the build.
        kinds: (d,) 0 for numbers, 1 for categories.
        settings: Constants.
        node: The leaf.
        c: Column, among those drawn.
        here: (STRIDE BINS,) its histogram.
        met: As in `sum_cut`.
    """
    best, order, j = work.best[node], work.order, work.columns[c]
    # Categories are ordered by their mean gradient, shrunk to 0 by four times the ridge.
    limits = Limits(settings.least, settings.ridge, settings.fine, 4.0 * settings.ridge)
    bins, category = work.edge_counts[j] + 2, kinds[j] == 1
    gain, where, side = sum_cut(here, bins, met, category, 0.0, limits, order, work.left)
    if where > 0 and gain > best[GAIN]:
        best[GAIN] = gain
        best[SLOT] = c
        best[BIN] = order[where - 1]
        best[SIDE] = side
        set_of(order, where if category else 0, work.sets[node])


@borrowing_inner
def examine(work: Work, kinds: NDArray[np.int8], settings: Settings, node: int, large: int) -> float:
    """Find the best cut of a leaf, with gain 0 and slot -1 if none is allowed; return its value, -G / (H + ridge).

    Args:
        work: State of the build.
        kinds: (d,) 0 for numbers, 1 for categories.
        settings: Constants.
        node: The leaf. Its histograms are known, unless it has few rows: then they are counted here, one at a time.
        large: Leaf whose histograms still contain these rows, which are subtracted; -1 if there is none.
    """
    best, columns, places, rows, few, g, h = work.best[node], work.columns, work.places, work.rows, work.few, 0.0, 0.0
    start, stop, gradient, curvature = places[node, 0], places[node, 1], work.slopes[0], work.slopes[1]
    slot, enough = places[node, 2], stop - start >= 2 * settings.least
    best[GAIN] = 0.0
    best[SLOT] = -1.0
    if stop - start > FEW:
        for c in range(settings.columns):
            offer(work, kinds, settings, node, c, work.histograms[slot, c], -1)
        # The histograms of all drawn columns have the same totals: those of the first are taken.
        here = work.histograms[slot, 0]
        for e in range(work.edge_counts[columns[0]] + 2):
            g += here[STRIDE * e]
            h += here[STRIDE * e + 1]
        return -quotient(g, h + settings.ridge)
    for a in range(start, stop):
        g += gradient[a]
        h += curvature[a]
    if enough or large >= 0:
        for c in range(settings.columns):
            codes, low, high = work.codes[columns[c]], np.uint64(0), np.uint64(0)
            for a in range(start, stop):
                e = int(codes[rows[a]])
                count_row(few, e, gradient[a], curvature[a])
                bit = np.uint64(1) << np.uint64(e & 63)
                low |= bit if e < 64 else np.uint64(0)
                high |= bit if e >= 64 else np.uint64(0)
            met = list_bins(low, high, work.order)
            if large >= 0:
                whole = work.histograms[places[large, 2], c]
                for i in range(-1, met):
                    e = STRIDE * work.order[i] if i >= 0 else 0
                    whole[e] -= few[e]
                    whole[e + 1] -= few[e + 1]
                    whole[e + 2] -= few[e + 2]
            if enough:
                offer(work, kinds, settings, node, c, few, met)
            for i in range(-1, met):
                e = STRIDE * work.order[i] if i >= 0 else 0
                few[e] = 0.0
                few[e + 1] = 0.0
                few[e + 2] = 0.0
    return -quotient(g, h + settings.ridge)


@borrowing_inner
def add_nodes(
    work: Work, trees: Trees, kinds: NDArray[np.int8], settings: Settings, first: int, small: int, large: int
) -> None:
    """Count the histograms of new leaves and find their best cuts.

    Args:
        work: State of the build.
        trees: Out: the leaves.
        kinds: (d,) 0 for numbers, 1 for categories.
        settings: Constants.
        first: First of the new leaves.
        small: Leaf whose rows are counted.
        large: Its sibling, whose histogram is its parent's less that of `small`, unless it has few rows; -1 if there is
            none.
    """
    counters, rows, columns = work.counters, work.rows, work.columns
    gradient, curvature, start, stop = work.slopes[0], work.slopes[1], work.places[small, 0], work.places[small, 1]
    wide = large if large >= 0 and work.places[large, 1] - work.places[large, 0] > FEW else -1
    for c in range(settings.columns if stop - start > FEW else 0):
        codes, here = work.codes[columns[c]], work.histograms[work.places[small, 2], c]
        size = STRIDE * (work.edge_counts[columns[c]] + 2)
        for e in range(size):
            here[e] = 0.0
        for a in range(start, stop):
            count_row(here, int(codes[rows[a]]), gradient[a], curvature[a])
        if wide >= 0:
            whole = work.histograms[work.places[wide, 2], c]
            for e in range(size):
                whole[e] -= here[e]
    tree, leaves = counters[TREE], 1 if large < 0 else 2
    for b in range(leaves):  # the small one first: its rows are subtracted from the histograms of the other
        v = small if b == 0 else large
        trees.column[tree, v] = -1
        trees.gains[tree, v] = 0.0
        trees.value[tree, v] = examine(work, kinds, settings, v, wide if b == 0 else -1)
    counters[NODES] = first + leaves
    counters[LEAVES] += 1


@inlined
def best_leaf(work: Work, trees: Trees, settings: Settings) -> int:
    """Return the leaf whose best cut gains most; -1 if none gains enough, or if the tree has all its leaves."""
    node, most, best, column = -1, settings.gain, work.best, trees.column[work.counters[TREE]]
    if work.counters[LEAVES] < settings.leaves:
        for v in range(work.counters[NODES]):
            if column[v] < 0 and best[v, SLOT] >= 0.0 and best[v, GAIN] > most:
                node, most = v, best[v, GAIN]
    return node


@borrowing_inner
def split(work: Work, trees: Trees, kinds: NDArray[np.int8], node: int) -> tuple[int, int]:
    """Split a leaf; return its smaller and its larger child, whose histograms are not known yet."""
    tree, left, places, best = work.counters[TREE], work.counters[NODES], work.places, work.best[node]
    column, last = work.columns[int(best[SLOT])], int(best[BIN])
    category = kinds[column] == 1
    middle = divide_rows(work, work.codes[column], category, node)
    trees.column[tree, node] = column
    trees.left[tree, node] = left
    trees.missing[tree, node] = int(best[SIDE])
    numbers = not category and last <= work.edge_counts[column]
    trees.cut[tree, node] = work.edges[column, last - 1] if numbers else np.inf  # categories have a set instead
    trees.gains[tree, node] = best[GAIN]
    for k in range(2):
        trees.sets[tree, node, k] = work.sets[node, k]
    places[left, 0] = places[node, 0]
    places[left, 1] = middle
    places[left + 1, 0] = middle
    places[left + 1, 1] = places[node, 1]
    # The smaller child is counted into a new histogram; the larger takes over its parent's.
    right = 1 if 2 * middle > places[node, 0] + places[node, 1] else 0
    places[left + right, 2] = work.counters[LEAVES]
    places[left + 1 - right, 2] = places[node, 2]
    return left + right, left + 1 - right


@borrowing_inner
def add_tree(work: Work, trees: Trees, kinds: NDArray[np.int8], settings: Settings) -> None:
    """Scale the values of the current tree and add it to the scores of all rows."""
    tree, places, rows, drawn, used = work.counters[TREE], work.places, work.rows, work.drawn, work.counters[USED]
    column, left, value = trees.column[tree], trees.left[tree], trees.value[tree]
    scores, met, step = work.scores[tree % len(work.scores)], 0, settings.rate * work.unit[0]
    for v in range(work.counters[NODES]):
        value[v] *= step
        if column[v] < 0:  # drawn rows lie at their leaves
            for a in range(places[v, 0], places[v, 1]):
                scores[rows[a]] += value[v]
    for i in range(len(work.target)):
        if met < used and drawn[met] == i:
            met += 1
            continue
        v = 0
        while column[v] >= 0:
            e, category = int(work.codes[column[v], i]), kinds[column[v]] == 1
            stays = bin_goes_left(e, category, int(work.best[v, BIN]), int(work.best[v, SIDE]), work.sets[v])
            v = left[v] + (0 if stays else 1)
        scores[i] += value[v]


@borrowing
def advance(work: Work, trees: Trees, settings: Settings, kinds: NDArray[np.int8], prepared: int, until: int) -> None:
    """Do units of work until `until` are done or the trees are finished.

    Args:
        work: State of the build; its codes and first scores are ready.
        trees: Out: the trees.
        settings: Constants.
        kinds: (d,) 0 for numbers, 1 for categories.
        prepared: Number of units done before the first tree.
        until: Number of units done at which to return.
    """
    work, trees, settings = Work(*work), Trees(*trees), Settings(*settings)
    counters, places, outputs = work.counters, work.places, len(trees.bias)
    total, per_tree = len(trees.column), settings.leaves + 1
    while counters[PHASE] != READY and counters[DONE] < until:
        tree, node, first, small, large = counters[TREE], -1, 0, 0, -1
        grows = True
        if counters[PHASE] == ROOT:
            counters[NODES] = 0
            counters[LEAVES] = 0
            trees.column[tree, 0] = -1
            trees.value[tree, 0] = 0.0
            trees.gains[tree, 0] = 0.0
            grows = begin_tree(work, settings, outputs, len(kinds))
            places[0, 0] = 0
            places[0, 1] = counters[USED]
            places[0, 2] = 0
            counters[PHASE] = SPLIT
        else:
            node = best_leaf(work, trees, settings)
            grows = node >= 0
            if grows:
                first = counters[NODES]
                small, large = split(work, trees, kinds, node)
        if grows:
            add_nodes(work, trees, kinds, settings, first, small, large)
            counters[DONE] += 1
            continue
        if counters[NODES] > 0:  # a tree without nodes, because too few rows were drawn, has no effect
            add_tree(work, trees, kinds, settings)
        counters[TREE] += 1
        counters[DONE] = prepared + per_tree * counters[TREE]  # a tree with fewer leaves counts as a full one
        counters[PHASE] = READY if counters[TREE] == total else ROOT


@borrowing
def forecast(
    trees: Trees, kinds: NDArray[np.int8], x: NDArray[np.float64], skipped: int, prefixes: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> None:  # fmt: skip
    """Write the scores of each row after each of some numbers of boosting rounds.

    Args:
        trees: Fitted trees.
        kinds: (d,) 0 for numbers, 1 for categories.
        x: (rows, skipped + d) rows; NaN is missing.
        skipped: Leading columns that are not used.
        prefixes: Numbers of boosting rounds, ascending.
        scores: (rows, prefixes, outputs) Out.
    """
    trees = Trees(*trees)
    outputs = len(trees.bias)
    for t in range(len(x)):
        for c in range(outputs):
            score, done = trees.bias[c], 0
            for p in range(len(prefixes)):
                while done < prefixes[p]:
                    tree, v = done * outputs + c, 0
                    while trees.column[tree, v] >= 0:
                        j = trees.column[tree, v]
                        left = goes_left(
                            x[t, skipped + j], kinds[j] == 1, trees.cut[tree, v], trees.sets[tree, v],
                            trees.missing[tree, v],
                        )  # fmt: skip
                        v = trees.left[tree, v] + (0 if left else 1)
                    score += trees.value[tree, v]
                    done += 1
                scores[t, p, c] = score
