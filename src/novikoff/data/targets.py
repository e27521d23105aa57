"""Examples with numbers to be predicted: arrays, sparse matrices, or any iterable of (x, y).

Outcomes y are finite real numbers, shown as they are; their range is the learner's matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.core.errors import MismatchError, SourceError
from novikoff.core.stream import Stream
from novikoff.core.types import Batch, Example, Position
from novikoff.data.arrays import Arrays
from novikoff.data.frames import SparseMatrix, is_sparse
from novikoff.data.matched import names_of
from novikoff.data.pairs import Pairs, arrays_of


class Targets(Stream):
    """The rows of X with their outcomes y; X may be of scipy.sparse. `features` names the columns, as for arrays."""

    rereadable = True
    outcomes = "numbers"

    def __init__(
        self, X: Any, y: ArrayLike, name: str = "targets", features: Sequence[str] | None = None
    ) -> None:  # fmt: skip
        self.name = name
        self._y = _outcomes(y, name)
        unused = np.ones(len(self._y), dtype=np.int8)  # labels, of which the source of the rows must have some
        if is_sparse(X):
            self._rows: SparseMatrix | Arrays = SparseMatrix(X, unused, name=name)
        else:
            named = names_of(X) if features is None else features
            self._rows = Arrays(_columns(X, name), unused, name=name, features=named)
            self.features = self._rows.features
        self.domain, self.rows = self._rows.domain, len(self._y)
        self.scaled_by_default = self._rows.scaled_by_default

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        for batch in self._rows.batches(start):
            first = batch.first - 1
            yield replace(batch, y=self._y[first : first + len(batch)])


class TargetPairs(Pairs):
    """Pairs (x, y), played one by one; there may be no end of them. A list can be read again."""

    outcomes = "numbers"

    def __init__(self, pairs: Iterable[tuple[Example, float]], name: str = "pairs") -> None:
        super().__init__(pairs, name=name)
        self.labels = None

    def _outcome(self, y: Any, t: int) -> NDArray[np.float64]:
        return _outcomes([y], f"item {t} of {self.name}")


def targets(environment: Any) -> Stream:
    """A stream of numbers to be predicted, from what is no stream yet."""
    if (both := arrays_of(environment)) is not None:
        return Targets(*both)
    if isinstance(environment, Iterable):
        return TargetPairs(environment)
    raise MismatchError(
        f"an environment must be a stream, arrays (X, y) or an iterable of (x, y): got {type(environment).__name__}."
    )


def _columns(X: ArrayLike, name: str) -> NDArray[Any]:
    """X as doubles (rows, width); what else is wrong with it, `Arrays` will say."""
    try:
        examples = np.asarray(X)
    except ValueError:
        raise SourceError(
            f"X must be an array: {name} has rows of different lengths. Make them of one length."
        ) from None
    if examples.dtype.kind in "iub":
        examples = examples.astype(np.float64)
    return examples[:, np.newaxis] if examples.ndim == 1 else examples


def _outcomes(y: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        given = np.asarray(y)
    except ValueError:
        raise SourceError(f"outcomes must be numbers: {name} has rows of several.") from None
    if given.dtype.kind not in "iufb":
        raise SourceError(f"outcomes must be numbers: {name} has {given.dtype}. Labels are for a classifier.")
    if given.ndim != 1:
        raise SourceError(f"y must have one dimension: got shape {given.shape}.")
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf, refused below
        reals = np.ascontiguousarray(given, dtype=np.float64)
    finite = np.isfinite(reals)
    if not finite.all():
        row = int(np.argmin(finite))
        raise SourceError(f"outcomes must be finite: row {row + 1} of {name} has {reals[row]}. Clean or drop the row.")
    return reals
