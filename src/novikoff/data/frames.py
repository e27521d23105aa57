"""Sparse matrices in memory as streams, and how data frames are recognised; they are read by data/tables/formats.py.

None of the libraries that these come from is imported before it is needed.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novikoff.core.errors import SourceError
from novikoff.core.types import Domain, Sparse
from novikoff.data.arrays import LabelledArray

WIDEST = 2**32
LARGEST_EXACT = 2**53
"""Whole numbers up to here are doubles."""


class SparseMatrix(LabelledArray):
    """The rows of a scipy.sparse matrix or array, with their labels y.

    Repeated entries are added up; explicit zeros stay; float32 stays float32, all else becomes float64. `positive`
    and `many` are as for arrays.
    """

    def __init__(
        self, X: Any, y: ArrayLike, positive: Any = None, many: int | None = None, name: str = "sparse matrix"
    ) -> None:  # fmt: skip
        if not is_sparse(X):
            raise SourceError(f"X must be a matrix of scipy.sparse: got {type(X).__name__}. Play arrays as (X, y).")
        raw = np.asarray(y)
        if len(X.shape) != 2 or raw.ndim != 1:
            raise SourceError(f"X must have two dimensions and y one: got {X.shape} and {raw.shape}.")
        if X.shape[0] != len(raw):
            raise SourceError(f"X and y must be of one length: got {X.shape[0]:,} and {len(raw):,} rows.")
        if len(raw) == 0:
            raise SourceError(f"a source must not be empty: {name} has no rows.")
        if X.shape[1] > WIDEST:
            raise SourceError(f"X must have at most 2^32 columns: got {X.shape[1]:,}. Hash the features.")
        self.name = name
        self._x = matrix_rows(X, name)
        self._raw, self._positive = self._without_spaces(raw), positive
        self._set_labels(many)
        self.domain = Domain("vector", X.shape[1])
        self.rows = len(raw)


def matrix_rows(X: Any, name: str) -> Sparse:
    """The matrix by rows, checked, repeats added up; without a copy if it is in order."""
    if X.dtype.kind not in "iufb":
        raise SourceError(f"X must be real numbers: got {X.dtype}. Encode text and categories first.")
    matrix = X.tocsr()
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise SourceError(f"X must be a valid matrix: {name} is not ({error}). Build it anew.") from None
    if (
        matrix.dtype.kind in "iu"
        and matrix.nnz
        and max(-int(matrix.data.min()), int(matrix.data.max())) > LARGEST_EXACT
    ):
        raise SourceError(f"whole numbers must be at most 2^53: {name} has larger ones. Scale them.")
    if matrix.dtype != np.float32:
        with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf, refused below
            matrix = matrix.astype(np.float64, copy=False)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            matrix.sum_duplicates()
    count = int(matrix.indptr[-1])
    indices, values = matrix.indices[:count], matrix.data[:count]
    finite = np.isfinite(values)
    if not finite.all():
        at = int(np.argmin(finite))
        row = int(np.searchsorted(matrix.indptr, at, side="right"))
        raise SourceError(
            f"X must be finite: row {row:,}, feature {indices[at]} of {name} is {values[at]}. Clean or drop the row."
        )
    return Sparse(matrix.indptr.astype(np.uint64), indices.astype(np.uint32), values, X.shape[1], checked=True)


def is_sparse(X: Any) -> bool:
    """Is it a matrix of scipy.sparse?"""
    module = sys.modules.get("scipy.sparse")  # if X is one of its matrices, it is there
    return module is not None and bool(module.issparse(X))


def is_frame(value: Any) -> bool:
    """Has it columns with names? Only then narwhals is asked."""
    if not hasattr(value, "collect_schema") and not hasattr(value, "columns"):  # lazy frames warn when asked for these
        return False
    import narwhals as nw

    check_names(value)
    return isinstance(nw.from_native(value, pass_through=True), (nw.DataFrame, nw.LazyFrame))


def check_names(frame: Any) -> None:
    """Refuse a frame of pandas in which two columns have one name: any other kind of frame cannot have them."""
    if hasattr(frame, "collect_schema"):  # lazy frames warn when asked for their columns
        return
    twice = getattr(getattr(frame, "columns", None), "duplicated", None)
    if twice is not None and twice().any():
        name = frame.columns[twice()][0]
        do = "Rename or drop one: frame.loc[:, ~frame.columns.duplicated()]."
        raise SourceError("columns must have different names", f"two of the frame are called {name!r}", do)
