"""Validation of one example: every function returns the form that learners compute with, or raises `InputError`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.batch import CheckedRow, Sparse
from novikoff.core.errors import InputError, shown, whole

LARGEST_COORDINATE = 2**31 - 1
"""Largest coordinate of a point."""
LARGEST_INDEX = 2**28 - 1
"""Largest index of a feature: 2^28 weights of 8 bytes take 2 GB."""
SHORT = 64
"""Array length up to which a Python loop is faster than a numpy call."""


def number(value: object) -> float:
    """Return a real number of any type as a float; raise TypeError, ValueError or OverflowError for anything else."""
    if type(value) is float:  # the most frequent case: the isinstance checks below take a microsecond
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not isinstance(value, (Real, Decimal, np.bool_)):
        raise TypeError(f"not a number: {type(value).__name__}")
    return float(value)


def doubles(values: object) -> NDArray[np.float64]:
    """Return real numbers of any type as float64, each rounded once.

    Raise TypeError, ValueError or OverflowError for anything else: texts, complex numbers and dates are not numbers.
    """
    array = np.asarray(values)
    if array.dtype.type is np.float64 and array.flags.c_contiguous:
        return array
    if array.dtype.kind == "O":
        return np.array([number(value) for value in array.reshape(-1).tolist()], dtype=np.float64).reshape(array.shape)
    if array.dtype.kind not in "iufb":
        raise TypeError(f"not numbers: {array.dtype}")
    with np.errstate(over="ignore"):  # a long double out of range becomes infinite, and is rejected as such
        return np.asarray(array, dtype=np.float64, order="C")


def finite(values: NDArray[np.float64]) -> bool:
    """Return whether all numbers are finite."""
    if len(values) <= SHORT:
        return all(map(math.isfinite, values.tolist()))
    return bool(np.isfinite(values).all())


def index(x: object, width: int) -> int:
    """Return an integer from 0 to width - 1; a vector of one integer is accepted."""
    value = x
    if type(value) is not int:
        if isinstance(value, (np.ndarray, list, tuple)):
            count = value.size if isinstance(value, np.ndarray) else len(value)
            if count != 1:
                raise InputError(f"x must be one integer from 0 to {whole(width - 1)}: got {count} numbers.")
            value = value.item() if isinstance(value, np.ndarray) else value[0]
        if isinstance(value, Integral) or (isinstance(value, (float, np.floating)) and float(value).is_integer()):
            value = int(value)
        else:
            raise InputError(f"x must be an integer from 0 to {whole(width - 1)}: got {shown(x)}.")
    if not 0 <= value < width:
        raise InputError(f"x must be from 0 to {whole(width - 1)}: got {whole(value)}.")
    return int(value)


def point(x: object, width: int, low: int, high: int) -> NDArray[np.int64]:
    """Return `width` integers from `low` to `high`."""
    try:
        values = np.asarray(x)
    except ValueError:
        raise InputError(f"x must have {whole(width)} whole numbers: got {shown(x)}.") from None
    if values.shape != (width,):
        raise InputError(f"x must have {whole(width)} whole numbers: got shape {values.shape}.")
    if values.dtype.kind == "f":
        if not np.all(np.isfinite(values)):
            raise InputError(f"x must be finite: got {shown(values.tolist())}.")
        if not np.all(values == np.floor(values)):
            given = shown(values.tolist())
            raise InputError(f"x must be integers: got {given}. Multiply by the grid's n and round.")
    elif values.dtype.kind not in "iu":
        raise InputError(f"x must be integers: got {shown(x)}.")
    if width and (values.min() < low or values.max() > high):
        raise InputError(f"x must be from {low} to {high} in every coordinate: got {shown(values.tolist())}.")
    return values.astype(np.int64)


def vector(x: object, width: int) -> NDArray[np.float64]:
    """Return `width` finite numbers in a contiguous array, as compiled loops need them."""
    try:
        values = doubles(x)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"x must be {whole(width)} number{'' if width == 1 else 's'}: got {shown(x)}.") from None
    if values.shape != (width,):
        raise InputError(f"x must have {whole(width)} numbers: got shape {values.shape}.")
    if not finite(values):
        where = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(f"x must be finite: feature {where} is {values[where]}. Clean or drop the row.")
    return values


def pair(indices: object, values: object) -> CheckedRow:
    """Return a sparse row after checking that indices are distinct integers from 0 and values are finite."""
    places = np.asarray(indices)
    try:
        reals = doubles(values)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"values must be numbers: got {shown(values)}.") from None
    if places.ndim != 1 or places.shape != reals.shape:
        raise InputError(f"indices and values must be of one length: got {places.shape} and {reals.shape}.")
    if len(places) == 0:
        return CheckedRow((places.astype(np.uint32), reals))
    if places.dtype.kind not in "iu" or places.min() < 0 or places.max() > LARGEST_INDEX:
        raise InputError(f"indices must be integers from 0 to {LARGEST_INDEX:,}: got {places.tolist()}.")
    if len(places) > 1 and not np.all(places[1:] > places[:-1]) and len(np.unique(places)) < len(places):
        raise InputError(f"no index may be repeated in a row: got {places.tolist()}. Sum their values first.")
    check_finite(reals)
    return CheckedRow((places.astype(np.uint32), reals))


def mapping(x: Mapping[Any, Any], names: dict[str, int], learn: bool = True) -> CheckedRow:
    """Return a sparse row from {name: number} or {index: number}; if `learn`, add new names to `names`, all or none."""
    values = mapped_values(x)
    check_finite(values)
    keys = list(x)
    if set(map(type, keys)) != {int}:
        try:  # the most frequent case: every name already has a place
            return CheckedRow((np.fromiter(map(names.__getitem__, keys), np.uint32, len(keys)), values))
        except KeyError:  # a new name, or a key that is not a string
            pass
        if all(isinstance(key, str) for key in keys):
            places = {name: len(names) + k for k, name in enumerate(name for name in keys if name not in names)}
            row = pair(np.array([places.get(name, names.get(name)) for name in keys], dtype=np.int64), values)
            if learn:
                names.update(places)
            return row
        if not all(isinstance(key, Integral) for key in keys):
            raise InputError(f"features must all be names or all whole numbers: got {keys!r}.")
    if min(keys) < 0 or max(keys) > LARGEST_INDEX:
        raise InputError(f"indices must be integers from 0 to {LARGEST_INDEX:,}: got {keys!r}.")
    return CheckedRow((np.array(keys, dtype=np.uint32), values))


def mapped_values(x: Mapping[object, object]) -> NDArray[np.float64]:
    """Return the values of a mapping as float64 in a new array."""
    try:
        values = doubles(list(x.values()))
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"values must be numbers: got {shown(dict(x))}.") from None
    if values.ndim != 1:
        raise InputError(f"values must be one number for each feature: got {shown(dict(x))}.")
    return values


def check_finite(values: NDArray[np.float64]) -> None:
    """Raise `InputError` if a value of a row is not finite."""
    if not finite(values):
        raise InputError(f"x must be finite: got {values.tolist()}. Clean or drop the row.")


def mappings(rows: Sequence[Mapping[str, float]], names: Mapping[str, int], width: int = 0) -> Sparse:
    """Return several mappings as sparse rows, which is faster than converting them one by one.

    Args:
        rows: Mappings from features to values.
        names: Column of every key; empty if the keys are column numbers.
        width: Minimum number of columns.
    """
    ends = np.zeros(len(rows) + 1, dtype=np.uint64)
    np.cumsum([len(x) for x in rows], out=ends[1:])
    keys = chain.from_iterable(rows)
    indices = np.fromiter(map(names.__getitem__, keys) if names else keys, np.uint32, int(ends[-1]))
    values = np.fromiter(chain.from_iterable(x.values() for x in rows), np.float64, int(ends[-1]))
    return Sparse(ends, indices, values, max(int(indices.max(initial=0)) + 1, width), checked=True)


def scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values scaled by a power of two, exact except for denormals, so that the largest is in [1, 2)."""
    largest = float(np.max(np.abs(values), initial=0.0))
    if largest == 0.0:
        return values
    return np.ldexp(values, 1 - math.frexp(largest)[1])
