"""Supports as plain data: what a learner that keeps some has to save, and how that is checked when it comes back."""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.learners.features import Features
from novikoff.learners.restoring import read, require, whole_number
from novikoff.learners.supports import (
    BORN,
    COEFFICIENTS,
    EVICTIONS,
    LABELS,
    UPDATES,
    Supports,
    arrays,
    kernel,
)
from novikoff.similarity import Similarity
from novikoff.types import State

KINDS = {"coefficients": (COEFFICIENTS, np.float64), "labels": (LABELS, np.int8), "born": (BORN, np.int64)}


def state_of(supports: Supports) -> State:
    """What every learner that keeps supports has to save."""
    known = {name: supports.facts(fact).astype(kind) for name, (fact, kind) in KINDS.items()}
    return {
        "rounds": supports.rounds,
        "features": supports.features.state(),
        "supports": {
            "similarity": supports.similarity.state(),
            "budget": supports.budget,
            "updates": supports.updates,
            "evictions": supports.evictions,
            "examples": supports.examples(),
            "slots": {} if supports.cache is None else known,
        },
    }


def arguments(state: State) -> dict[str, Any]:
    """The budget and the kernel that a learner with this `state` was made with."""
    return {"budget": state["supports"]["budget"], **Similarity.restore(state["supports"]["similarity"]).arguments()}


def load(supports: Supports, state: State) -> None:
    """Become the supports of the learner whose `state` this is."""
    supports.rounds, saved = whole_number(state, "rounds"), state["supports"]
    supports.features.load(state["features"])
    if not saved["examples"]:
        return
    must = "supports must be rows of finite doubles"
    rows = read(saved["examples"], lambda examples: _rows(examples, supports.features), must)
    sparse = rows[3] < 0
    count = len(rows[0]) - 1 if sparse else len(saved["examples"]["points"])
    require(count <= supports.most, f"supports must be at most {supports.most:,}", count)
    supports.cache = cache = arrays().empty(count, supports.features.count, sparse, len(rows[2]) if sparse else 0)
    kernel().fill(cache, supports.rule, rows, count)
    cache.counts[UPDATES] = whole_number(saved, "updates", count)
    cache.counts[EVICTIONS] = whole_number(saved, "evictions", 0, supports.updates - count)
    for name, (fact, kind) in KINDS.items():
        values = read(saved["slots"][name], np.asarray, f"{name} must be an array")
        sound = values.dtype == kind and values.shape == (count,) and bool(np.all(np.isfinite(values)))
        require(sound, f"{name} must be a number for each support", values.shape)
        cache.slots[fact, :count] = values
    sound = bool(np.all(np.abs(cache.slots[LABELS, :count]) == 1.0))
    require(sound, "labels of supports must be -1 or +1", saved["slots"]["labels"].tolist())


def _rows(saved: State, features: Features) -> Any:
    """Saved examples as kernels take them."""
    if ("points" in saved) != (features.kind == "array"):
        raise ValueError("they are of another kind than the features")
    if "points" in saved:
        points = saved["points"]
        if points.dtype != np.float64 or points.ndim != 2 or points.shape[1] != features.count:
            raise ValueError(f"an array of {features.count} features a row is wanted")
        if not np.all(np.isfinite(points)):
            raise ValueError("not all are finite")
        return arrays().rows_of(points)
    indptr, places, numbers = saved["indptr"], saved["places"], saved["numbers"]
    if not (indptr.ndim == places.ndim == numbers.ndim == 1 and len(indptr)) or (features.kind is None and len(places)):
        raise ValueError("they do not fit together")
    kinds = (indptr.dtype, places.dtype, numbers.dtype) == (np.uint64, np.uint32, np.float64)
    ends = indptr.astype(np.int64)
    if not kinds or ends[0] != 0 or np.any(np.diff(ends) < 0) or not ends[-1] == len(places) == len(numbers):
        raise ValueError("they do not fit together")
    if not np.all(np.isfinite(numbers)) or (len(places) and int(places.max()) >= features.count):
        raise ValueError("not all are finite, or of the features")
    rows = indptr.copy(), places.copy(), numbers.copy(), -1
    arrays().tidy(*rows[:3])
    for start, stop in zip(rows[0][:-1].tolist(), rows[0][1:].tolist(), strict=True):
        row = rows[1][start:stop]
        if np.any(row[1:] == row[:-1]):
            raise ValueError("a feature is repeated in a row")
    return rows
