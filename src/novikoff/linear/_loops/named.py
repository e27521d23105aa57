"""Rows given as a dict from keys to numbers: plain Python, summed from left to right as `lanes.sparse` does.

For a few dozen features this is quicker than making arrays of them. The weights are found by key: in a dict, or in the
memory of an array where keys are places. A name without a weight is a KeyError.
A product with a float16 of numpy's is a float16, and so is every sum from there on: a score that is not one of
Python's floats is of such numbers, and must not be used.
"""

from __future__ import annotations

import math
from typing import Any

Weights = Any
"""Weights by key: a dict, or a memoryview where keys are places."""


def inverse_norm(x: dict[Any, float]) -> float:
    """1 / sqrt of the sum of squares; 0 for a zero row."""
    total = 0.0
    for value in map(float, x.values()):  # whole numbers are squared as doubles too
        total += value * value
    return 1.0 / math.sqrt(total) if total > 0.0 else 0.0


def score(weights: Weights, x: dict[Any, float]) -> float:
    """Sum of weight * value."""
    total = 0.0
    for name, value in x.items():
        total += weights[name] * value
    return total


def score_scaled(weights: Weights, x: dict[Any, float], scale: float) -> float:
    """Sum of weight * (value * scale)."""
    total = 0.0
    for name, value in x.items():
        total += weights[name] * (value * scale)
    return total


def add(weights: Weights, x: dict[Any, float], y: int, scale: float) -> None:
    """weights += y * (value * scale), for a row that has a score."""
    for name, value in x.items():
        weights[name] += y * (value * scale)
