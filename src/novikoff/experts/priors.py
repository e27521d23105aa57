"""Priors: a weight for each expert, and what it costs to begin with it, ln(1/prior).

They are divided by their sum; where experts may sleep, only if that is above 1, so that some may join later.
"""

from __future__ import annotations

import math
from collections.abc import Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, shown, whole

Vector = NDArray[np.float64]

LIGHTEST = 1e-150
"""A lighter expert could be lost beside one of weight 1 (exp ends at e^-708)."""


def weights_of(prior: Any, size: int, hypotheses: Any) -> Vector:
    """A prior as positive numbers."""
    length = getattr(hypotheses, "length", None)
    if isinstance(prior, str):
        if prior != "length" or length is None:
            raise InputError(f"a prior must be a weight for each expert: got {prior!r}, which programs alone have.")
        return np.array([math.ldexp(1.0, -length(i)) for i in range(size)])
    count = len(prior) if isinstance(prior, Sized) else None
    if count != size:
        given = shown(prior) if count is None else f"{count:,}"
        raise InputError(f"a prior must have one weight for each of {whole(size)} experts: got {given}.")
    try:
        weights = np.array([float(weight) for weight in prior])
    except (TypeError, ValueError, OverflowError):
        raise InputError("a prior must be of positive finite numbers: it is not.") from None
    if not np.all(np.isfinite(weights)) or weights.min() <= 0.0:
        raise InputError(f"a prior must be of positive finite numbers: got {weights.min():g}. Leave that expert out.")
    return weights


def prices_of(given: Vector | None, size: int, uniform: bool, partial: bool) -> Vector:
    """ln(1/prior) of each expert."""
    if given is None or (uniform and not partial):
        return np.broadcast_to(np.float64(math.log(size)), (size,))  # one number, however many experts
    if partial and given.max() <= 1.0 and math.fsum(given.tolist()) <= 1.0:
        share = given
    else:
        scaled = np.ldexp(given, -int(np.frexp(given.max())[1]))  # exact, and the sum does not overflow
        share = scaled / math.fsum(scaled.tolist())
    if float(share.min()) < LIGHTEST:
        raise InputError(f"a prior must give every expert at least {LIGHTEST:g}: got {float(share.min()):g}.")
    return np.asarray(np.maximum(-np.log(share), 0.0))
