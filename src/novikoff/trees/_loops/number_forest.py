"""Regrown regression trees: the growing of one tree in slices, and play without growing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.compiled import compiled
from novikoff.trees._loops.cuts import Limits, count_row, divide, set_of, sum_cut
from novikoff.trees._loops.layout import BINS, COUNT, DEEPEST, DEPTH, PATH, STRIDE, Nodes, Rule
from novikoff.trees._loops.tree import forecast, learn, split

Vector = NDArray[np.float64]
FINE = 0.5
"""Nats subtracted from the gain of a cut on categories, per category beyond the second."""


class Bag(NamedTuple):
    """Rows from which a tree grows, and their bins."""

    codes: NDArray[np.uint8]  # (columns, rows) bins
    edges: NDArray[np.float64]  # (columns, ROOM) edges
    edge_counts: NDArray[np.int64]  # (columns,) their numbers
    rows: NDArray[np.int32]  # (rows,) bag, ordered by node
    spare: NDArray[np.int32]  # (rows,) room for rows that go right
    places: NDArray[np.int64]  # (nodes, 2) first row and end of each node in `rows`


@compiled
def expand(
    nodes: Nodes, rule: Rule, y: Vector, kinds: NDArray[np.int8], first: int, bag: Bag, skipped: int, start: int,
    budget: int,
) -> tuple[int, int]:  # fmt: skip
    """Examine nodes from number `start` on, until all are examined or `budget` cells were visited.

    Args:
        nodes: The tree.
        rule: Its constants.
        y: (room,) outcomes of the stored rows.
        kinds: (columns,) 1 for categories.
        first: Number of the first stored row of the build.
        bag: Rows from which the tree grows.
        skipped: Leading columns that are not used.
        start: Node to examine first.
        budget: Number of cells visited at which to return.

    Returns:
        The next node to examine, and the cells visited.
    """
    nodes, rule = Nodes(*nodes), Rule(*rule)
    codes, edges, edge_counts, rows, spare, places = bag
    columns, room, v, visited = len(kinds), len(y), start, 0
    here, order, sides = np.empty(STRIDE * BINS), np.empty(BINS, np.int64), np.empty((6, BINS))
    sets = np.zeros(2, np.uint64)
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
        best, column, last, side, squares = 0.0, -1, 0, 0, 0.0
        for i in range(a, b):
            squares += (y[(first + rows[i]) % room] - mean) ** 2
        for j in range(skipped, columns):
            for e in range(STRIDE * BINS):
                here[e] = 0.0
            for i in range(a, b):
                r = rows[i]
                count_row(here, int(codes[j, r]), y[(first + r) % room] - mean, 1.0)
            gain, where, go = sum_cut(
                here, BINS, -1, kinds[j] == 1, squares, Limits(rule.least, 0.0, FINE, 2.0), order, sides
            )
            if where > 0 and gain > best:
                best, column, last, side = gain, j, order[where - 1], go
                set_of(order, where if kinds[j] == 1 else 0, sets)
        if column < 0 or best <= rule.threshold:
            continue
        cut, category = np.inf, kinds[column] == 1
        if not category and last <= edge_counts[column]:
            cut = edges[column, last - 1]
        left = split(nodes, v - 1, column, cut, sets, side)
        middle = a + divide(rows[a:b], spare, codes[column], category, last, side, sets)
        places[left, 0], places[left, 1] = a, middle
        places[left + 1, 0], places[left + 1, 1] = middle, b
    return v, visited


@compiled
def follow(
    nodes: Nodes, rule: Rule, x: NDArray[np.float64], y: Vector, kinds: NDArray[np.int8], rows: NDArray[np.int64],
    predicted: Vector,
) -> None:  # fmt: skip
    """Predict each of the rows x[rows], write the prediction to predicted (rows,), and learn y[rows].

    kinds   (columns,) 1 for a column of categories, else 0
    """
    nodes, rule = Nodes(*nodes), Rule(*rule)
    path, p, q = np.empty(PATH, dtype=np.int64), np.empty((PATH, 1)), np.empty((PATH, 1))
    for t in range(len(rows)):
        length = forecast(nodes, rule, x[rows[t]], kinds, 0.0, path, p, q)
        predicted[t] = q[0, 0]
        learn(nodes, rule, length, y[rows[t]], path, p, q)
