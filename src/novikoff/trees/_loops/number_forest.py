"""Regrown regression trees: bins of the stored rows, the growing of one tree in slices, and play without growing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled
from novikoff.trees._loops.cuts import best_cut, bin_of, column_edges, goes_left, sample_step, set_of
from novikoff.trees._loops.layout import BINS, COUNT, DEEPEST, DEPTH, NUMBERS, PATH, Nodes, Rule
from novikoff.trees._loops.tree import forecast, learn, split

Vector = NDArray[np.float64]
FINE = 0.5
"""Nats taken off the gain of a cut for each category beyond the second."""


@compiled
def find_edges(
    x: NDArray[np.float64], kinds: NDArray[np.int8], first: int, stop: int, edges: NDArray[np.float64],
    edge_counts: NDArray[np.int64],
) -> None:  # fmt: skip
    """Write the edges of all columns of numbers, from the stored rows first .. stop - 1."""
    step = sample_step(stop - first, len(kinds))
    spare = np.empty((stop - first) // step + 1)
    for j in range(len(kinds)):
        edges[j] = np.inf
        edge_counts[j] = column_edges(x, j, first, stop, step, spare, edges[j]) if kinds[j] == 0 else 0


@compiled
def code(
    x: NDArray[np.float64], kinds: NDArray[np.int8], edges: NDArray[np.float64], first: int, begin: int, stop: int,
    codes: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Write the bins of the rows begin .. stop - 1, counted from the stored row `first`, to codes (rows, columns)."""
    for r in range(begin, stop):
        for j in range(len(kinds)):
            codes[r, j] = bin_of(x[(first + r) % len(x), j], kinds[j] == 1, edges[j])


class Bag(NamedTuple):
    """Rows from which a tree grows, and their bins."""

    codes: NDArray[np.uint8]  # (rows, columns) bins
    edges: NDArray[np.float64]  # (columns, ROOM) edges
    edge_counts: NDArray[np.int64]  # (columns,) their numbers
    rows: NDArray[np.int64]  # (rows,) bag, ordered by node
    spare: NDArray[np.int64]  # (rows,) room for rows that go right
    places: NDArray[np.int64]  # (nodes, 2) first row and end of each node in `rows`


@compiled
def expand(
    nodes: Nodes, rule: Rule, x: NDArray[np.float64], y: Vector, kinds: NDArray[np.int8], first: int, bag: Bag,
    start: int, budget: int, table: Vector,
) -> tuple[int, int]:  # fmt: skip
    """Examine nodes from number `start` on, until all are examined or `budget` cells were visited.

    Args:
        nodes: The tree.
        rule: Its constants.
        x: (room, columns) stored rows.
        y: (room,) their outcomes.
        kinds: (columns,) 1 for categories.
        first: Number of the first stored row of the build.
        bag: Rows from which the tree grows.
        start: Node to examine first.
        budget: Cells to visit.
        table: Not used for numbers.

    Returns:
        The next node to examine, and the cells visited.
    """
    nodes, rule = Nodes(*nodes), Rule(*rule)
    codes, edges, edge_counts, rows, spare_rows, places = bag
    columns, room, v, visited = len(kinds), len(y), start, 0
    sums, counts = np.zeros((columns, BINS, 1)), np.zeros((columns, BINS), dtype=np.int64)
    totals, spare = np.zeros(2), np.empty((3, BINS))
    order, kept_order, sets = np.empty(BINS, np.int64), np.empty(BINS, np.int64), np.zeros(2, np.uint64)
    while v < nodes.numbers[COUNT] and visited < budget:
        a, b = places[v]
        n = b - a
        visited += (n + 8) * (columns + 1)
        total, mean = 0.0, 0.0
        for i in range(a, b):
            value = y[(first + rows[i]) % room]
            total += value
            mean += value / n
        nodes.n[v, 0] = nodes.start[v, 0] = total
        nodes.n[v, 1] = nodes.start[v, 1] = n
        v += 1
        small = n < 2 * rule.least or nodes.whole[v - 1, DEPTH] >= DEEPEST
        if small or nodes.numbers[COUNT] + 2 > min(len(nodes.cut), rule.most_nodes):
            continue
        totals[:] = 0.0
        sums[:] = 0.0
        counts[:] = 0
        for i in range(a, b):
            r = rows[i]
            value = y[(first + r) % room] - mean
            totals[0] += value
            totals[1] += value * value
            for j in range(columns):
                sums[j, codes[r, j], 0] += value
                counts[j, codes[r, j]] += 1
        best, column, side, where = 0.0, -1, 0, 0
        for j in range(columns):
            gain, here, go = best_cut(
                NUMBERS, sums[j], counts[j], kinds[j] == 1, totals, 1, n, rule.least, 0.0, FINE, table, order, spare
            )
            if here > 0 and gain > best:
                best, column, side, where = gain, j, go, here
                kept_order[:] = order
        if column < 0 or best <= rule.threshold:
            continue
        cut, last, category = np.inf, kept_order[where - 1], kinds[column] == 1
        if category:
            set_of(kept_order, where, sets)
        elif last <= edge_counts[column]:
            cut = edges[column, last - 1]
        left = split(nodes, v - 1, column, cut, sets, side)
        here, right = a, 0
        for i in range(a, b):
            r = rows[i]
            if goes_left(x[(first + r) % room, column], category, cut, sets, side):
                rows[here] = r
                here += 1
            else:
                spare_rows[right] = r
                right += 1
        rows[here:b] = spare_rows[:right]
        places[left, 0], places[left, 1] = a, here
        places[left + 1, 0], places[left + 1, 1] = here, b
    return v, visited


@compiled
def follow(
    nodes: Nodes, rule: Rule, x: NDArray[np.float64], y: Vector, kinds: NDArray[np.int8], rows: NDArray[np.int64],
    predicted: Vector,
) -> None:  # fmt: skip
    """Predict the rows x[rows], y[rows], and learn each before the next; predicted (rows,) written."""
    nodes, rule = Nodes(*nodes), Rule(*rule)
    path, p, q = np.empty(PATH, dtype=np.int64), np.empty((PATH, 1)), np.empty((PATH, 1))
    for t in range(len(rows)):
        length = forecast(nodes, rule, x[rows[t]], kinds, 0.0, path, p, q)
        predicted[t] = q[0, 0]
        learn(nodes, rule, length, y[rows[t]], path, p, q)
