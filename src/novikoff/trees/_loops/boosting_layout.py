"""Constants and records of trees/_loops/boosting.py; this module needs no numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SAMPLE = 8192
"""Approximate number of evenly spaced rows from which quantile edges are computed."""
CHUNK = 4096
"""Number of rows whose bins are found in one unit of work."""

LOGISTIC, SOFTMAX, SQUARED = 0, 1, 2
"""Losses, by their outcomes: labels 0 and 1, labels from 0 on, numbers."""

PHASE, DONE, TREE, NODES, LEAVES, USED = range(6)
"""Places of the counters of a build; DONE counts units, USED the rows drawn for the current tree."""
ROOT, SPLIT, READY = range(3)
"""Phases of a build: the root of a tree, its splits and their end, all trees are finished."""

GAIN, SLOT, BIN, SIDE = range(4)
"""Columns of the best cut of a leaf: its gain, the slot of its column, its last bin on the left, the side of the
missing values (1: left)."""


class Settings(NamedTuple):
    """Constants of a build."""

    loss: int
    rounds: int  # boosting rounds; each fits one tree per output
    leaves: int  # largest number of leaves of a tree
    rate: float  # learning rate
    ridge: float  # added to the curvature of a leaf
    least: int  # fewest rows on either side of a cut
    gain: float  # a cut must gain more than this
    fine: float  # subtracted from the gain of a cut on categories, per category beyond the second
    rows: float  # fraction of the rows drawn for each round
    columns: int  # columns drawn for each tree


class Trees(NamedTuple):
    """Fitted trees: tree r * outputs + c is that of round r and output c; node 0 is its root."""

    column: NDArray[np.int32]  # (trees, nodes) column of the cut; -1 for a leaf
    cut: NDArray[np.float64]  # (trees, nodes) values up to this go left
    left: NDArray[np.int32]  # (trees, nodes) left child; the right child is the next node
    missing: NDArray[np.int8]  # (trees, nodes) 1 if missing values go left
    sets: NDArray[np.uint64]  # (trees, nodes, 2) bits of the bins of categories that go left
    value: NDArray[np.float64]  # (trees, nodes) step of the score
    gains: NDArray[np.float64]  # (trees, nodes) gain of the cut
    bias: NDArray[np.float64]  # (outputs,) score before the first tree


class Work(NamedTuple):
    """State of a build on m rows with d columns."""

    counters: NDArray[np.int64]  # (6,) see PHASE .. USED
    coins: NDArray[np.uint64]  # (1,) state of the random numbers
    codes: NDArray[np.uint8]  # (d, m) bin of each value
    edges: NDArray[np.float64]  # (d, ROOM) edges between bins, ascending, then infinite
    edge_counts: NDArray[np.int64]  # (d,) two less than the number of bins
    target: NDArray[np.float64]  # (m,) outcome, label number, or label 0 or 1
    scores: NDArray[np.float64]  # (outputs, m) current scores
    chances: NDArray[np.float64]  # (outputs, m) probabilities at the start of the round; the scores for squared loss
    drawn: NDArray[np.int32]  # (m,) rows drawn for the round
    rows: NDArray[np.int32]  # (m,) the same, ordered by leaf
    spare: NDArray[np.int32]  # (m,) rows that go right
    slopes: NDArray[np.float64]  # (2, m) gradient and curvature of `rows`, in their order
    spares: NDArray[np.float64]  # (2, m) the same of `spare`
    columns: NDArray[np.int64]  # (d,) drawn columns first
    histograms: NDArray[np.float64]  # (leaves, columns drawn, STRIDE BINS) gradient, curvature and rows by bin
    places: NDArray[np.int64]  # (nodes, 3) first row, end, and histogram of each node
    best: NDArray[np.float64]  # (nodes, 4) best cut of each leaf
    sets: NDArray[np.uint64]  # (nodes, 2) bins of categories left of the best cut, as bits
    order: NDArray[np.int64]  # (BINS,) working memory
    left: NDArray[np.float64]  # (6, BINS) working memory of `sum_cut`
    few: NDArray[np.float64]  # (STRIDE BINS,) zeros between uses: histogram of a column of a node of few rows
    unit: NDArray[np.float64]  # (1,) unit of the gradients of the current tree
