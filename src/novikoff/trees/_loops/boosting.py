"""Gradient boosting of small trees, in slices: one call of `advance` does a share of the work of a build.

A build fits trees to rows that were stored when it began. Its work is divided into units: the quantile edges of one
column, the codes of a chunk of rows, the root of a tree, one split, the scores after a tree. `advance` runs units until
a given number is done, so the work of a build can be spread over rounds; how it is spread changes no bit of the result.

Codes
    A column of numbers has at most 126 edges: bin 1 + the number of edges below the value. A category c has bin c + 1,
    those beyond the 126th share bin 127. Bin 0 is a missing value.
Trees
    Best first: the leaf whose best cut gains most is split, until no cut gains enough or the tree has all its leaves.
    Categories are ordered by their mean gradient, missing values go to the better side. Only the smaller child's
    histogram is counted; its sibling's is the difference. The leaf of gradient sum G and curvature sum H has value
    -G / (H + ridge).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled, inlined, inner
from novikoff.numerics.exp import exp
from novikoff.trees._loops.boosting_layout import (
    BIAS,
    BIN,
    CHUNK,
    CODED,
    CODES,
    DONE,
    GAIN,
    LEAVES,
    LOGISTIC,
    NODES,
    PHASE,
    READY,
    ROOT,
    SCORES,
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
from novikoff.trees._loops.cuts import Limits, bin_goes_left, bin_of, draw, goes_left, set_of, sum_cut


@inner
def count_rows(work: Work, drawn: int, node: int) -> None:
    """Fill the histograms of the rows of a node, by drawn column."""
    start, stop, slot = work.places[node, 0], work.places[node, 1], work.places[node, 2]
    gradient, curvature, rows = work.slopes[0], work.slopes[1], work.rows
    for c in range(drawn):
        codes, here = work.codes[work.columns[c]], work.histograms[slot, c]
        for e in range(3 * work.edge_counts[work.columns[c]] + 6):
            here[e] = 0.0
        for i in range(start, stop):
            e = 3 * int(codes[rows[i]])
            here[e] += gradient[i]
            here[e + 1] += curvature[i]
            here[e + 2] += 1.0


@inner
def examine(work: Work, kinds: NDArray[np.int8], settings: Settings, node: int) -> float:
    """Find the best cut of a leaf, with gain 0 and slot -1 if none is allowed; return its value, -G / (H + ridge)."""
    gain, slot, last, side, g, h = 0.0, -1, 0, 0, 0.0, 0.0
    # Categories are ordered by their mean gradient, shrunk to 0 by four times the ridge.
    for c in range(settings.columns):
        here, j = work.histograms[work.places[node, 2], c], work.columns[c]
        found, where, go = sum_cut(
            here, work.edge_counts[j] + 2, kinds[j] == 1, 0.0,
            Limits(settings.least, settings.ridge, settings.fine, 4.0 * settings.ridge), work.order, work.left,
        )  # fmt: skip
        if where > 0 and found > gain:
            gain, slot, last, side = found, c, work.order[where - 1], go
            set_of(work.order, where if kinds[j] == 1 else 0, work.sets[node])
    work.best[node, GAIN], work.best[node, SLOT], work.best[node, BIN], work.best[node, SIDE] = gain, slot, last, side
    # The histograms of all drawn columns have the same totals: those of the first are taken.
    here = work.histograms[work.places[node, 2], 0]
    for e in range(work.edge_counts[work.columns[0]] + 2):
        g += here[3 * e]
        h += here[3 * e + 1]
    return -g / (h + settings.ridge)


@inlined
def first_scores(work: Work, trees: Trees, settings: Settings) -> None:
    """Set the bias of each output to the best constant on these rows, and all scores to the bias."""
    rows, outputs = len(work.target), len(trees.bias)
    if settings.loss == SQUARED:
        mean = 0.0
        for i in range(rows):
            mean += (work.target[i] - work.base[i] - mean) / (i + 1.0)
        trees.bias[0] = mean
    elif settings.loss == SOFTMAX:
        for c in range(outputs):
            count = 0.0
            for i in range(rows):
                count += work.target[i] == c
            trees.bias[c] = np.log((count + 0.5) / (rows + 0.5 * outputs))
    else:
        ones = 0.0
        for i in range(rows):
            ones += work.target[i]
        bias = np.log((ones + 0.5) / (rows - ones + 0.5))
        for _ in range(4):  # Newton steps; without a base the first step is almost 0
            g, h = 0.0, 1e-3
            for i in range(rows):
                p = 1.0 / (1.0 + exp(-(work.base[i] + bias)))
                g += p - work.target[i]
                h += p * (1.0 - p)
            bias -= min(max(g / h, -4.0), 4.0)
        trees.bias[0] = bias
    for c in range(outputs):
        for i in range(rows):
            work.scores[c, i] = trees.bias[c]


@inlined
def slopes(work: Work, settings: Settings, output: int, used: int) -> float:
    """Write gradient and curvature of the drawn rows; return the unit of the gradient, 1 except for squared loss."""
    if settings.loss == SQUARED:
        # Residuals are divided by their standard deviation, so that gains do not depend on the unit of y.
        total = 0.0
        for i in range(len(work.target)):
            total += (work.scores[0, i] + work.base[i] - work.target[i]) ** 2
        unit = np.sqrt(max(total / len(work.target), 1e-280))
        for a in range(used):
            i = work.rows[a]
            work.slopes[0, a] = (work.scores[0, i] + work.base[i] - work.target[i]) / unit
            work.slopes[1, a] = 1.0
        return unit
    for a in range(used):
        i = work.rows[a]
        if settings.loss == LOGISTIC:
            p = 1.0 / (1.0 + exp(-(work.base[i] + work.scores[0, i])))
            hit = work.target[i]
        else:
            p = work.chances[output, i]
            hit = 1.0 if work.target[i] == output else 0.0
        work.slopes[0, a] = p - hit
        work.slopes[1, a] = p * (1.0 - p) + 1e-12
    return 1.0


@inlined
def softmax_all(work: Work) -> None:
    """Write the probability of every label of every row."""
    outputs, rows = work.scores.shape
    for i in range(rows):
        most, total = work.scores[0, i], 0.0
        for c in range(1, outputs):
            most = max(most, work.scores[c, i])
        for c in range(outputs):
            work.chances[c, i] = exp(work.scores[c, i] - most)
            total += work.chances[c, i]
        for c in range(outputs):
            work.chances[c, i] /= total


@inlined
def begin_tree(work: Work, trees: Trees, kinds: NDArray[np.int8], settings: Settings) -> bool:
    """Draw rows and columns and prepare the root; return False if too few rows were drawn."""
    counters, outputs, rows = work.counters, len(trees.bias), len(work.target)
    tree = counters[TREE]
    if tree % outputs == 0:
        used = 0
        for i in range(rows):
            if settings.rows >= 1.0 or draw(work.coins) < settings.rows:
                work.drawn[used] = i
                used += 1
        counters[USED] = used
        if settings.loss == SOFTMAX:
            softmax_all(work)
    used, d = counters[USED], len(kinds)
    trees.column[tree, 0], trees.value[tree, 0], trees.gains[tree, 0] = -1, 0.0, 0.0
    if used < 2 * settings.least:
        return False
    for a in range(used):
        work.rows[a] = work.drawn[a]
    for j in range(d):
        work.columns[j] = j
    for a in range(settings.columns):  # the first steps of a Fisher-Yates shuffle
        b = a + int(draw(work.coins) * (d - a))
        work.columns[a], work.columns[b] = work.columns[b], work.columns[a]
    work.unit[0] = slopes(work, settings, tree % outputs, used)
    work.places[0, 0], work.places[0, 1], work.places[0, 2] = 0, used, 0
    count_rows(work, settings.columns, 0)
    trees.value[tree, 0] = examine(work, kinds, settings, 0)
    counters[NODES], counters[LEAVES] = 1, 1
    return True


@inlined
def split(work: Work, trees: Trees, kinds: NDArray[np.int8], settings: Settings) -> bool:
    """Split the leaf whose best cut gains most; return False if none gains enough."""
    counters = work.counters
    tree, nodes, node, most = counters[TREE], counters[NODES], -1, settings.gain
    for v in range(nodes):
        if trees.column[tree, v] < 0 and work.best[v, SLOT] >= 0.0 and work.best[v, GAIN] > most:
            node, most = v, work.best[v, GAIN]
    if node < 0:
        return False
    column, last, side = work.columns[int(work.best[node, SLOT])], int(work.best[node, BIN]), int(work.best[node, SIDE])
    category, codes, sets = kinds[column] == 1, work.codes[column], work.sets[node]
    start, stop, slot = work.places[node, 0], work.places[node, 1], work.places[node, 2]
    # Stable partition of the rows with their slopes: rows that go right wait in `spare`.
    kept, moved = start, 0
    for a in range(start, stop):
        i = work.rows[a]
        e = codes[i]
        if bin_goes_left(int(e), category, last, side, sets):
            work.rows[kept] = i
            work.slopes[0, kept], work.slopes[1, kept] = work.slopes[0, a], work.slopes[1, a]
            kept += 1
        else:
            work.spare[moved] = i
            work.spares[0, moved], work.spares[1, moved] = work.slopes[0, a], work.slopes[1, a]
            moved += 1
    for a in range(moved):
        work.rows[kept + a] = work.spare[a]
        work.slopes[0, kept + a], work.slopes[1, kept + a] = work.spares[0, a], work.spares[1, a]
    left = nodes
    trees.column[tree, node], trees.left[tree, node], trees.missing[tree, node] = column, left, side
    trees.cut[tree, node] = np.inf  # also of categories, which have a set instead
    if not category and last <= work.edge_counts[column]:
        trees.cut[tree, node] = work.edges[column, last - 1]
    trees.gains[tree, node] = most
    trees.sets[tree, node, 0], trees.sets[tree, node, 1] = sets[0], sets[1]
    # The smaller child is counted into a new histogram; the larger takes over its parent's, less the new one.
    small, large = (left, left + 1) if kept - start <= stop - kept else (left + 1, left)
    work.places[left, 0], work.places[left, 1] = start, kept
    work.places[left + 1, 0], work.places[left + 1, 1] = kept, stop
    work.places[small, 2], work.places[large, 2] = counters[LEAVES], slot
    count_rows(work, settings.columns, small)
    whole, part = work.histograms[slot], work.histograms[counters[LEAVES]]
    for c in range(settings.columns):
        for e in range(3 * work.edge_counts[work.columns[c]] + 6):
            whole[c, e] -= part[c, e]
    for v in (left, left + 1):
        trees.column[tree, v], trees.gains[tree, v] = -1, 0.0
        trees.value[tree, v] = examine(work, kinds, settings, v)
    counters[NODES], counters[LEAVES] = nodes + 2, counters[LEAVES] + 1
    return True


@inlined
def add_tree(work: Work, trees: Trees, kinds: NDArray[np.int8], settings: Settings) -> None:
    """Scale the values of the current tree and add it to the scores of all rows."""
    tree, outputs, used = work.counters[TREE], len(trees.bias), work.counters[USED]
    step = settings.rate * work.unit[0]
    column, left, value = trees.column[tree], trees.left[tree], trees.value[tree]
    scores, met = work.scores[tree % outputs], 0
    for v in range(work.counters[NODES]):
        value[v] *= step
        if column[v] < 0:  # drawn rows lie at their leaves
            for a in range(work.places[v, 0], work.places[v, 1]):
                scores[work.rows[a]] += value[v]
    for i in range(len(work.target)):
        if met < used and work.drawn[met] == i:
            met += 1
            continue
        v = 0
        while column[v] >= 0:
            e, category = int(work.codes[column[v], i]), kinds[column[v]] == 1
            stays = bin_goes_left(e, category, work.best[v, BIN], trees.missing[tree, v], work.sets[v])
            v = left[v] + (0 if stays else 1)
        scores[i] += value[v]


@compiled
def advance(
    work: Work, trees: Trees, settings: Settings, kinds: NDArray[np.int8], stored: NDArray[np.float64], first: int,
    skipped: int, until: int,
) -> int:  # fmt: skip
    """Do units of work until `until` are done or the trees are finished; return the number done.

    Args:
        work: State of the build.
        trees: Out: the trees.
        settings: Constants.
        kinds: (d,) 0 for numbers, 1 for categories.
        stored: (capacity, skipped + d) ring of stored rows; row number i is at i % capacity.
        first: Number of the first row of the build.
        skipped: Leading columns of the ring that are not used.
        until: Number of units done at which to return.
    """
    work, trees, settings = Work(*work), Trees(*trees), Settings(*settings)
    counters, capacity, rows, d = work.counters, len(stored), len(work.target), len(kinds)
    per_tree, total = settings.leaves + 1, settings.rounds * len(trees.bias)
    prepared = d + (rows + CHUNK - 1) // CHUNK + 1
    while counters[PHASE] != READY and counters[DONE] < until:
        phase = counters[PHASE]
        if phase == CODES:
            stop = min(counters[CODED] + CHUNK, rows)
            for i in range(counters[CODED], stop):
                row = stored[(first + i) % capacity]
                for j in range(d):
                    work.codes[j, i] = bin_of(row[skipped + j], kinds[j] == 1, work.edges[j])
            counters[CODED] = stop
            counters[DONE] += 1
            counters[PHASE] = BIAS if stop == rows else CODES
        elif phase == BIAS:
            first_scores(work, trees, settings)
            counters[DONE] += 1
            counters[PHASE] = ROOT
        elif phase == ROOT:
            if begin_tree(work, trees, kinds, settings):
                counters[DONE] += 1
                counters[PHASE] = SPLIT
            else:  # too few rows: this and the following trees have no effect
                counters[TREE] += 1
                counters[DONE] = prepared + per_tree * counters[TREE]
                counters[PHASE] = READY if counters[TREE] == total else ROOT
        elif phase == SPLIT:
            grown = counters[LEAVES] < settings.leaves and split(work, trees, kinds, settings)
            if grown:
                counters[DONE] += 1
            else:
                counters[PHASE] = SCORES
        else:
            add_tree(work, trees, kinds, settings)
            counters[TREE] += 1
            counters[DONE] = prepared + per_tree * counters[TREE]  # a tree with fewer leaves counts as a full one
            counters[PHASE] = READY if counters[TREE] == total else ROOT
    return counters[DONE]


@compiled
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


@compiled
def without_trees(
    loss: int, sums: NDArray[np.float64], seen: int, y: NDArray[np.float64], base: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:  # fmt: skip
    """Write the scores of rows without trees: constants from the sums so far; add each row to the sums.

    Args:
        loss: Loss of the trees.
        sums: Number of rows of each label (LOGISTIC: of label 1), or the sum of outcome - base; it may have room for
            a label that is not known yet.
        seen: Rows seen before.
        y: (rows,) Outcomes; empty to add nothing.
        base: (rows,) Score that the trees are added to.
        scores: (rows, prefixes, outputs) Out.
    """
    for t in range(len(scores)):
        count = seen + t if len(y) else seen
        for c in range(scores.shape[2]):
            if loss == SQUARED:
                score = sums[0] / count if count else 0.0
            elif loss == SOFTMAX:
                score = np.log((sums[c] + 0.5) / (count + 0.5 * scores.shape[2]))
            else:
                score = np.log((sums[0] + 0.5) / (count - sums[0] + 0.5))
            for p in range(scores.shape[1]):
                scores[t, p, c] = score
        if len(y):
            if loss == SQUARED:
                sums[0] += y[t] - base[t]
            elif loss == SOFTMAX:
                sums[int(y[t])] += 1.0
            else:
                sums[0] += y[t]
