"""Rows that comparators in a metric are shown, as learners read them: the places and numbers of what is not zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff import numerics
from novikoff.core.restoring import array, ends, indices, require
from novikoff.core.types import Sparse, State

KEPT = "kept rows"


def nonzeros_of(x: Any, bias: float) -> Any:
    """Rows of a batch, as numerics/nonzeros.py has them; `bias` is the value of the constant feature, 0 for none."""
    if isinstance(x, Sparse):
        rows, _ = numerics.nonzeros.of_sparse(x.indptr, x.indices, x.values, bias)
    else:
        array = np.ascontiguousarray(x, dtype=np.float64)
        rows, _ = numerics.nonzeros.of_dense(array if array.ndim == 2 else array[:, None], bias)
    return rows


def joined(parts: Sequence[Any]) -> Any:
    """Rows of several pieces, one after the other."""
    ends = [part.ends[1:] for part in parts]
    shifts = np.cumsum([0, *(int(end[-1]) if len(end) else 0 for end in ends)])
    return numerics.nonzeros.Nonzeros(
        np.concatenate([np.zeros(1, np.int64), *(end + shift for end, shift in zip(ends, shifts, strict=False))]),
        np.concatenate([np.zeros(0, np.uint32), *(part.places for part in parts)]),
        np.concatenate([np.zeros(0), *(part.values for part in parts)]),
    )


def kept_state(rows: Any, y: NDArray[Any], scores: NDArray[Any]) -> State:
    """Kept rows, their outcomes and the scores played, as plain data."""
    return {"ends": rows.ends, "places": rows.places, "values": rows.values, "y": y, "scores": scores}


def restored_kept(
    kept: State, rows: int, places: int, outcomes: type[np.generic], columns: int | None
) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
    """Return the rows, outcomes and scores whose `kept_state` this is, checked.

    rows       number of rows
    places     every place is below it
    outcomes   type of the outcomes
    columns    scores per row; None where a row has one score and no dimension for it, as outcomes have none
    """
    last = ends(kept, "ends", rows, of=KEPT)
    size = int(last[-1])
    found = numerics.nonzeros.Nonzeros(
        last, indices(kept, "places", size, places, of=KEPT), array(kept, "values", (size,), of=KEPT)
    )
    most = int(found.places.max(initial=0)) + 1 if rows else 0
    require(places == most, f"kept rows must reach the last of {places:,} places", most)
    y = array(kept, "y", (rows,), outcomes, of=KEPT)
    scores = array(kept, "scores", (rows,) if columns is None else (rows, None), finite=False, of=KEPT)
    if columns is not None:
        sound = min(rows, 1) <= scores.shape[1] <= columns
        require(sound, f"scores of kept rows must be from 1 to {columns:,} per row", scores.shape)
    return found, y, scores
