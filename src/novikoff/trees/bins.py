"""Edges between the bins of columns."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.trees._loops.layout import EDGES, ROOM


def quantile_edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ascending edges between bins: midpoints of distinct values, or of quantiles if there are more than 126.

    >>> quantile_edges(np.array([3.0, 1.0, 1.0, np.nan, 2.0])).tolist()
    [1.5, 2.5]
    """
    values = np.sort(values)  # missing values are last
    values = values[: len(values) - np.count_nonzero(np.isnan(values))]
    places = np.flatnonzero(values[1:] > values[:-1]) + 1
    if len(places) >= EDGES:
        places = np.arange(1, EDGES) * len(values) // EDGES
    low, high = values[places - 1], values[places]
    middle = 0.5 * low + 0.5 * high
    edges = np.where(middle < high, middle, low)
    return edges[np.append(True, edges[1:] > edges[:-1])] if len(edges) else edges


class Edges(NamedTuple):
    """Edges of all columns."""

    edges: NDArray[np.float64]  # (columns, ROOM) ascending, infinite beyond the last
    counts: NDArray[np.int64]  # (columns,) number of edges; EDGES for categories, which use all bins

    @classmethod
    def none(cls, columns: int) -> Edges:
        """Return edges for columns of categories; `find` replaces those of columns of numbers."""
        return cls(np.full((columns, ROOM), np.inf), np.full(columns, EDGES))

    def find(self, column: int, values: NDArray[np.float64]) -> None:
        """Find the edges of a column of numbers."""
        found = quantile_edges(values)
        self.edges[column, : len(found)], self.edges[column, len(found) :] = found, np.inf
        self.counts[column] = len(found)


@cache
def _x_log_x(bits: int) -> NDArray[np.float64]:
    x = np.arange(2**bits, dtype=np.float64)
    return x * np.log(np.maximum(x, 1.0))


def x_log_x(most: int) -> NDArray[np.float64]:
    """Return x ln x for 0, 1, ..., most and perhaps more."""
    return _x_log_x(max(most, 1).bit_length())
