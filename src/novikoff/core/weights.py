"""Weights of rows: in how many rounds each is learned.

Rule
    A row of weight w is learned in floor(w) rounds, and in one more with probability w - floor(w): with a coin that is
    a function of the number of the row (numerics/coins.py), so the same source gives the same game. Whole weights need
    no coin, a row of weight 0 is not learned. Metrics score the prediction before the first of these rounds, as often
    as there are rounds.
Theorem (in expectation)
    In one pass over one source (another pass, and another source, begin with the same coins) let n_t be the rounds of
    row t, and let w_t, x_t, y_t not depend on the coins of t and of later rows. For every loss l of the prediction p_t
    before the first round of row t, and for every fixed comparator u,
        E sum of n_t l(p_t, y_t)  =  E sum of w_t l(p_t, y_t),     E sum of n_t l(u, y_t)  =  E sum of w_t l(u, y_t).
    So the sums of the metrics, which count rounds, are unbiased for the weights. If no weight is above 1, a learner
    whose loss on the rounds played is at most that of u plus R has
        E sum of w_t l(p_t, y_t)  <=  E sum of w_t l(u, y_t) + E R,
    for each of its theorems: n_t is 0 or 1, so the left side is the expected loss of the rounds. With weights up to W,
    divide them by W: the same holds with W E R.
Proof
    p_t and u do not depend on the coin of row t, and E n_t = w_t given the past. Sum over t. []
    A coin has 53 bits: the expectation of n_t differs from w_t by less than 2^-53.
Mistakes, for weights above 1
    A row whose first prediction is wrong adds n_t to the weighted mistakes, and at least 1 to the mistakes of the
    rounds. So with no n_t above N the weighted mistakes are at most N times every bound on the mistakes of the rounds.
    Losses have no such theorem: the copies of a row may lose less than its first prediction.
Balanced
    `Balance`: the weight of a row with label c is max over b of N_b / N_c, at most MOST_BALANCED, where N_b counts the
    rows of label b so far, this one included. It is known before the row is learned, and no later label enters. The
    most frequent label has weight 1, so no row is left out.
Reference
    [zadrozny2003].
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import InputError, shown
from novikoff.numerics.coins import coins

BALANCED: Literal["balanced"] = "balanced"
"""Value of label weights that are computed from the labels seen."""
MOST_WEIGHT = 10_000
"""Largest weight of a row."""
MOST_BALANCED = 100.0
"""Largest balanced weight."""
MUST = f"a weight must be a number from 0 to {MOST_WEIGHT:,}"
"""Beginning of the message about an invalid weight."""

LabelWeights: TypeAlias = (
    Mapping[str, float] | Mapping[bool, float] | Mapping[int, float] | Mapping[float, float] | Literal["balanced"]
)
"""Row weight of each label, by the user's value; or "balanced"."""


def valid(weights: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which weights are valid; NaN is not."""
    allowed: NDArray[np.bool_] = (weights >= 0.0) & (weights <= MOST_WEIGHT)
    return allowed


def check_weight(weight: object) -> float:
    """Return one weight; raise `InputError` if it is invalid."""
    number = isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool)
    if not number or not 0.0 <= weight <= MOST_WEIGHT:  # type: ignore[operator]
        raise InputError(MUST, f"got {shown(weight)}", "Divide all weights by one number, or correct it.")
    return float(weight)  # type: ignore[arg-type]


def check_weights(weights: object, rows: int) -> NDArray[np.float64]:
    """Return the weights of rows as an array; raise `InputError` if one is invalid or their number is."""
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("weights must be numbers, one per row", f"got {shown(weights)}") from None
    if found.shape != (rows,):
        raise InputError(f"weights must be numbers, one per row: got shape {found.shape} for {rows:,} rows.")
    wrong = ~valid(found)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(MUST, f"that of row {row + 1:,} is {found[row]:g}", "Divide all weights by one number.")
    return found


def rounds_of(weights: NDArray[np.float64], first: int = 0, seed: int = 0) -> NDArray[np.int64]:
    """Return the number of rounds of each row, by the rule above.

    Args:
        weights: (rows,) weights, valid.
        first: Number of the first row, which selects its coin.
        seed: Seed of the coins.
    """
    whole = np.floor(weights)
    rest = weights - whole
    if rest.any():
        words = coins(seed, "weight of a row", first, first + len(weights))
        whole += (words >> np.uint64(11)) * 2.0**-53 < rest
    return whole.astype(np.int64)


class Balance:
    """Weights of labels from their counts so far, as defined above.

    Args:
        counts: Counts of an earlier part of the source, by label.
    """

    def __init__(self, counts: Iterable[tuple[float, int]] = ()) -> None:
        self.counts: dict[float, int] = dict(counts)

    def weights(self, y: NDArray[np.number]) -> NDArray[np.float64]:
        """Count the labels of rows in order, and return the weight of each row."""
        found, counts = np.empty(len(y)), self.counts
        most = max(counts.values(), default=0)
        for row, label in enumerate(y.tolist()):
            counts[label] = own = counts.get(label, 0) + 1
            most = max(most, own)
            found[row] = min(most / own, MOST_BALANCED)
        return found
