"""Arrays of a tree. Imports no numba.

Node 0 is the root; children have larger numbers than their parent, and the right child is the left child + 1. The first
entry of `numbers` counts the nodes in use.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BINS = 128
"""Bins of a column: 0 for missing values, 1 to 127 for numbers between edges, or categories 0, 1, ...; 127 holds all
categories from 126 on."""
STRIDE = 4
"""Numbers per bin of a histogram of sums: gradient, curvature, rows, and one that is not used."""
EDGES = BINS - 2
"""Largest number of edges of a column."""
ROOM = BINS - 1
"""Room for the edges of a column; infinite beyond the last."""
EXAMINED, CELLS = 20_000, 2**19
"""Largest number of rows, and of cells, that are examined for one cut of a growing tree."""
DEEPEST = 30
"""Largest depth of a node; the root has depth 0."""
PATH = DEEPEST + 2
"""Room for the nodes of a path."""
FLOOR = 2.0**-30
"""Least probability of a label at a node below the root: p becomes (1 - k FLOOR) p + FLOOR."""
CONCENTRATION = 2.0
"""Weight of the parent's forecast in the forecast of a node, in rows."""

LABELS, NUMBERS, RESIDUALS = range(3)
"""Kinds of trees: probabilities of labels with log loss; numbers with squared loss; corrections of a logit."""

COLUMN, LEFT, PARENT, DEPTH, MISSING_LEFT, HEAD, ROWS, CHECK, WHOLE = range(9)
"""Columns of `whole`: column of the cut (-1 for a leaf), left child, parent, depth, whether missing values go left; the
newest stored row of a leaf (-1 for none), the number of rows it has received, and the number at which it is examined
next."""

BEFORE, AFTER, BETA, MIXED, GAP, PRIOR, SUMS = 0, 2, 4, 6, 8, 9, 10
"""Columns of `sums`: the node's own loss until it was split and from then on; ln of the weight of stopping over going
on (for numbers: the difference of their losses); the loss of the mixture since the split; each a sum followed by its
compensation. Then the sum of the mixability gaps, and beta when the node was split or the tree took over."""

COUNT, EDITION, NEXT_EDGES, KNOWN, WHOLES = range(5)
"""Entries of `numbers`: nodes in use, edition of the edges, row before which edges are renewed, labels known."""


class Nodes(NamedTuple):
    """Nodes of a tree for k labels; for numbers and residuals k = 2 and the meaning of `n` differs."""

    numbers: NDArray[np.int64]  # (WHOLES,)
    whole: NDArray[np.int64]  # (nodes, WHOLE)
    cut: NDArray[np.float64]  # (nodes,): numbers up to it go left
    sets: NDArray[np.uint64]  # (nodes, 2): bins of categories that go left, as bits
    n: NDArray[np.float64]  # (nodes, k): counts of the forecaster; sum and count of numbers; w and A of residuals
    c: NDArray[np.int64]  # (nodes, k): rounds with each label since birth; for numbers all are in the first column
    split: NDArray[np.int64]  # (nodes, k): the same when the node was split
    start: NDArray[np.float64]  # (nodes, k): n at birth
    low: NDArray[np.float64]  # (nodes, k): least forecast of the parent in these rounds; no nodes if not recorded
    high: NDArray[np.float64]  # (nodes, k): largest forecast of the parent, likewise
    sums: NDArray[np.float64]  # (nodes, SUMS)


class Growth(NamedTuple):
    """Arrays of a growing tree: an entry per row of the store, and the edges of its bins."""

    chain: NDArray[np.int64]  # (room,): the next older row of the same leaf
    codes: NDArray[np.uint8]  # (columns, room): bins
    editions: NDArray[np.int64]  # (room,): edition of the edges by which the bins of a row were found
    offsets: NDArray[np.float64]  # (room,): base logits of residuals; empty otherwise
    edges: NDArray[np.float64]  # (columns, ROOM): rising, then infinite
    edge_counts: NDArray[np.int64]  # (columns,): number of edges


class Rule(NamedTuple):
    """Constants of a tree."""

    kind: int
    threshold: float  # least gain of a cut, in nats
    least: int  # least number of rows on each side
    forgetting: float  # factor of the counts per round; 1 for none
    ridge: float  # of residuals
    most_nodes: int
    middle: float  # forecast before the first outcome, for numbers
