"""Constants and records of trees/_loops/forest.py; this module needs no numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FLOOR = 2.0**-30
"""Least probability of a label at a node: p becomes (1 - k FLOOR) p + FLOOR."""
SHRINK = 2.0
"""Weight of the parent's forecast in the forecast of a node, in rows."""
LEAST = 2
"""Fewest rows on either side of a cut."""
GAIN = 1.0
"""Nats that a cut must gain, after the fine."""
FINE = 0.5
"""Nats subtracted from the gain of a cut on categories, per category beyond the second."""
BAG = 0.7
"""Probability that a row is in the bag of a tree."""
SMOOTHING = 2.0
"""Rows with the node's share of labels that are added to a category when categories are ordered."""
SCAN = 64
"""Approximate cost of finding the best cut of a column beyond visiting its rows, in row visits."""
DEPTH = 64
"""Largest number of nodes on a path."""

PHASE, DONE, TREE, NODE = range(4)
"""Places of the counters of a build; DONE counts row visits, NODE is the next node to examine."""
BAGS, GROW, PLAY = range(3)
"""Phases of a tree: its bag, its nodes, the rows out of its bag."""
LOOK, LEARN, OUT = range(3)
"""Ways to play rows: see `play` in trees/_loops/forest.py."""


class Forest(NamedTuple):
    """M trees with at most N nodes each, for k labels; node 0 is the root, and children come after their parents.

    Sums are pairs: the sum and its compensation for rounding.
    """

    column: NDArray[np.int32]  # (M, N) column of the cut; -1 for a leaf
    cut: NDArray[np.float64]  # (M, N) values up to this go left
    left: NDArray[np.int32]  # (M, N) left child; the right child is the next node
    missing: NDArray[np.int8]  # (M, N) 1 if missing values go left
    sets: NDArray[np.uint64]  # (M, N, 2) bits of the bins of categories that go left
    counts: NDArray[np.float64]  # (M, N, k) rows of each label that the forecast of the node counts
    odds: NDArray[np.float64]  # (M, N) ln(weight of stopping at an inner node / weight of going on)
    prior: NDArray[np.float64]  # (M, N) the same when the trees took over
    losses: NDArray[np.float64]  # (M, N, 2) log loss of the node since then
    rounds: NDArray[np.int64]  # (M, N, k) rounds of each label that passed the node since then
    played: NDArray[np.float64]  # (M, 2) log loss of each tree since then
    nodes: NDArray[np.int64]  # (M,) number of nodes


class Growing(NamedTuple):
    """State of a build on m rows with d columns; trees are grown one after the other."""

    counters: NDArray[np.int64]  # (4,) see PHASE .. NODE
    coins: NDArray[np.uint64]  # (1,) state of the random numbers
    codes: NDArray[np.uint8]  # (d, m) bin of each value
    edges: NDArray[np.float64]  # (d, ROOM) edges between bins, ascending, then infinite
    edge_counts: NDArray[np.int64]  # (d,) two less than the number of bins
    labels: NDArray[np.int64]  # (m,) label of each row
    begins: NDArray[np.intp]  # (m,) first round of the row; a weighted row has several
    bagged: NDArray[np.bool_]  # (m,) whether the row is in the bag of the current tree
    rows: NDArray[np.int32]  # (m,) bag, ordered by node
    spare: NDArray[np.int32]  # (m,) rows that go right
    places: NDArray[np.int64]  # (N, 2) first row and end of each node
    depths: NDArray[np.int64]  # (N,) depth of each node
    columns: NDArray[np.int64]  # (d,) working memory
    histogram: NDArray[np.int64]  # (BINS + 1, k + 1) zeros between cuts: see `label_cut`
    order: NDArray[np.int64]  # (BINS,) working memory
    means: NDArray[np.float64]  # (BINS,) working memory
    sets: NDArray[np.uint64]  # (2,) bins left of the best cut, as bits
    picked: NDArray[np.int64]  # (m,) labels of the rows of a node
    whole: NDArray[np.int64]  # (k,) rows of the node by label
