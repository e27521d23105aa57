"""NumPy archives (.npz): arrays X and y in one file, or a sparse matrix of scipy and its labels.

Arrays
    X and y by these names, or the only two arrays: y is the one with one dimension, or the second. `label` names
    another y. A matrix in the layout of `scipy.sparse.save_npz` is X; its labels are one more array of the archive.
Outcomes
    y with many different numbers is for regression, as in `nk.play(learner, (X, y))`. Arrays of Python objects are
    refused, since reading them could run code.
Cost
    The arrays are held in memory.
"""

from __future__ import annotations

import io
import os
from typing import Any
from zipfile import BadZipFile

import numpy as np

from novikoff.core.errors import Advice, Option, SourceError, quoted
from novikoff.core.labels import are_numbers
from novikoff.core.registry import Format
from novikoff.core.stream import Stream
from novikoff.data.arrays import Arrays, SparseMatrix, more_than_two
from novikoff.data.formats.origin import is_url, open_url

SPARSE = frozenset({"data", "indices", "indptr", "row", "col", "offsets", "coords", "shape", "format", "_is_array"})
"""Arrays in which scipy saves a matrix."""


def NPZ(  # noqa: N802
    source: object, label: str | None = None, positive: object = None, multiclass: int | None = None,
    outcomes: str = "labels",
) -> Stream:  # fmt: skip
    """Open a NumPy archive as a stream.

    Args:
        source: Path, or binary file object.
        label: Name of the array of labels; None for y, or the one of two arrays that has one dimension.
        positive: Label for +1; every other label is -1.
        multiclass: Number of labels 0 .. k-1, or True to number any labels; None to decide from the labels.
        outcomes: "labels", or "numbers" for regression.

    Returns:
        A stream over the arrays, or over the rows of a sparse matrix.

    Example:
        >>> import io
        >>> import numpy as np
        >>> import novikoff as nk
        >>> file = io.BytesIO()
        >>> np.savez(file, X=np.eye(2), y=["ham", "spam"])
        >>> _ = file.seek(0)
        >>> nk.NPZ(file).labels
        Labels(negative='ham', positive='spam')
    """
    name = os.fsdecode(source) if isinstance(source, (str, os.PathLike)) else f"a {type(source).__name__}"
    x, y = _arrays(source, label, name)
    if outcomes == "numbers" or (positive is None and multiclass is None and _has_numbers(y)):
        from novikoff.data.memory import RegressionArrays

        return RegressionArrays(x, y, name=name)
    if positive is None and multiclass is None and more_than_two(y):
        multiclass = True
    if isinstance(x, np.ndarray):
        return Arrays(x, y, positive, multiclass, name)
    return SparseMatrix(x, y, positive, multiclass, name)


def _has_numbers(y: Any) -> bool:
    return y.ndim == 1 and y.dtype.kind in "iuf" and are_numbers(set(y.astype(np.float64).tolist()))


def _arrays(source: Any, label: str | None, name: str) -> tuple[Any, Any]:
    """Return X and y of an archive."""
    if hasattr(source, "read"):
        return _loaded(source if source.seekable() else io.BytesIO(source.read()), label, name)
    try:
        with open_url(source) if is_url(source) else open(source, "rb") as file:
            return _loaded(file, label, name)
    except FileNotFoundError:
        raise SourceError(f"a source must exist: there is no {name}. Check the path.") from None


def _loaded(file: Any, label: str | None, name: str) -> tuple[object, object]:
    begin = file.tell()
    try:
        found = np.load(file, allow_pickle=False)
        if isinstance(found, np.ndarray):
            raise SourceError(f"an archive must have arrays X and y: {name} has one array. Save both by np.savez.")
        with found as archive:
            x, y = _chosen(list(archive.files), label, name)
            labels = archive[y]
            if x is not None:
                both = archive[x], labels
                swapped = label is None and y != "y" and x != "X" and both[0].ndim == 1 and labels.ndim == 2
                return both[::-1] if swapped else both
    except SourceError:
        raise
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        reason = " ".join(str(error).split())[:120]
        do = "Save numbers or text, without Python objects: np.savez(path, X=X, y=y)."
        raise SourceError("an archive must be readable by NumPy", f"{name} is not ({reason})", do) from None
    from scipy import sparse

    file.seek(begin)
    return sparse.load_npz(file), labels


def _chosen(names: list[str], label: str | None, name: str) -> tuple[str | None, str]:
    """Return the names of X, None for a sparse matrix, and of y."""
    is_matrix = {"data", "shape", "format"} <= {*names}
    others = [one for one in names if not is_matrix or one not in SPARSE]
    if label is not None and label not in others:
        raise SourceError("the label must be an array of the archive", f"{name} has {_listed(others)}")
    y = label
    if y is None:
        y = "y" if "y" in others else others[-1] if len(others) == (1 if is_matrix else 2) else None
    rest = [one for one in others if one != y]
    x = None if is_matrix else "X" if "X" in rest else rest[0] if len(rest) == 1 else None
    if y is None or (x is None and not is_matrix):
        do = Advice("Save both by np.savez(path, X=X, y=y)", *((", or pass ", Option("label")) if others else ()), ".")
        raise SourceError("an archive must have arrays X and y", f"{name} has {_listed(others)}", do)
    return x, y


def _listed(names: list[str]) -> str:
    return ", ".join(map(quoted, names)) if names else "no other arrays than a sparse matrix"


FORMATS = {"npz": Format(NPZ)}
