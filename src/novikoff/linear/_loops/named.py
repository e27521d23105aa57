"""Dot products of rows given as dicts, in plain Python, summed from left to right as `lanes.sparse` does.

For a few dozen features this is faster than building arrays. Weights are found by key: in a dict, or in the memory of
an array if keys are places. A name without a weight raises KeyError.
A product with a numpy float16 is a float16, and so is every sum after it: a score that is not a Python float has lost
precision and must not be used.
"""

from __future__ import annotations

import math
from typing import Any

Weights = Any
"""Weights by key: a dict, or a memoryview if keys are places."""


def inverse_norm(x: dict[Any, float]) -> float:
    """Return 1 / ||x||; 0 for a zero row."""
    total = 0.0
    for value in map(float, x.values()):  # integers too are squared as doubles
        total += value * value
    return 1.0 / math.sqrt(total) if total > 0.0 else 0.0


def score(weights: Weights, x: dict[Any, float]) -> float:
    """Return the sum of weight * value."""
    total = 0.0
    for name, value in x.items():
        total += weights[name] * value
    return total


def score_scaled(weights: Weights, x: dict[Any, float], scale: float) -> float:
    """Return the sum of weight * (value * scale)."""
    total = 0.0
    for name, value in x.items():
        total += weights[name] * (value * scale)
    return total


def add(weights: Weights, x: dict[Any, float], y: int, scale: float) -> None:
    """Add y * (value * scale) to the weights, for a row whose keys all have weights."""
    for name, value in x.items():
        weights[name] += y * (value * scale)
