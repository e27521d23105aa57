"""The arrays of mixtures/_loops/auto.py and multiclass_auto.py, and names for the places in them. No numba here."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.sizes import CLIP as CLIP
from novikoff.numerics.sizes import WAVES as WAVES

LIGHT = 1e-6
"""A weight in the mixture below which a member may rest."""
LITTLE = 0.25
"""Fraction of the largest stack weight, over the members awake, up to which a member may rest."""
PATIENCE = 1000
"""Consecutive rounds with a weight below LIGHT after which a member may rest."""
FALL = 10.0
"""Nats that the log weight must have lost in these rounds for the member to rest."""
WAKE = 2048
"""Sleepers wake after rounds WAKE, 2 WAKE, 4 WAKE, ..."""
ASLEEP, RETIRED = -1.0, -2.0
"""Values of IDLE for a member that sleeps until the next wake, and for one that never wakes again."""

LOG_WEIGHT, IDLE, LOSS, SHARE, SLEPT, START, STANDING = range(7)
"""Rows of `standing`, one column per forecaster: log weight; consecutive hopeless rounds (negative while asleep); log
loss summed over the rounds awake; weight among those awake, summed; rounds asleep; log weight when the count of
hopeless rounds began. The last name is the number of rows."""


class Matrices(NamedTuple):
    """Members of the second order: as linear/_loops/second_order_layout.py, with an axis of members in front.

    For two labels the members on random features and the stack, which need no slots, follow those on x. For many
    labels there is an axis of labels behind that of members, as in linear/_loops/one_vs_rest.py.
    """

    slots: NDArray[np.int32]  # (places + 1,): shared by all
    ridges: NDArray[np.float64]  # (members on x,)
    held: NDArray[np.float64]
    inverse: NDArray[np.float64]
    sums: NDArray[np.float64]
    totals: NDArray[np.float64]


class Waves(NamedTuple):
    """Random features (numerics/fourier.py)."""

    turns: NDArray[np.float64]  # (WAVES - 1, width)
    shifts: NDArray[np.float64]  # (WAVES - 1,)
    widths: NDArray[np.float64]  # (members on random features,): g of each
    moments: NDArray[np.float64]  # (2, width): mean of each feature, and the sum of squared distances from it


class MulticlassWaves(NamedTuple):
    """Random features, and the matrices of the members on them, for many labels."""

    turns: NDArray[np.float64]
    shifts: NDArray[np.float64]
    widths: NDArray[np.float64]
    moments: NDArray[np.float64]
    held: NDArray[np.float64]  # from here on as in Matrices
    inverse: NDArray[np.float64]
    sums: NDArray[np.float64]
    totals: NDArray[np.float64]


class Discriminant(NamedTuple):
    """The linear discriminant analysis of mixtures/_loops/discriminant.py, with one matrix for all labels."""

    normal: NDArray[np.float64]  # (2, width): mean and deviation of each feature when the inverse was last found
    means: NDArray[np.float64]  # (labels, width): of the rows of each label
    counts: NDArray[np.float64]  # (labels,): rows of each that it learned from; fewer than came, if it slept
    held: NDArray[np.float64]  # from here on as in linear/_loops/second_order_layout.py
    inverse: NDArray[np.float64]
    sums: NDArray[np.float64]
    totals: NDArray[np.float64]


class MulticlassMixture(NamedTuple):
    """The stack for many labels, and the weights of all J members and of the stack, the last."""

    stack: NDArray[np.float64]  # (J,): w
    moment: NDArray[np.float64]  # (J,): b
    matrix: NDArray[np.float64]  # (J, J): A
    standing: NDArray[np.float64]  # (STANDING, J+1)
    paid: NDArray[np.float64]  # (multiclass_layout.TOTALS,): sums over all rounds


class MulticlassSetting(NamedTuple):
    """Constants of a multiclass game."""

    kappa: float  # of the curvature of members of the second order
    sparse: bool  # rows are not arrays: a feature beyond the 256th retires the members on random features
    shown: int  # the softmax member whose scores are shown


class MulticlassAnswers(NamedTuple):
    """What multiclass_auto.py writes, a row each; but for `scores` only where it learns."""

    scores: NDArray[np.float64]  # (rows, labels): P of the mixture; where it learns, scores of the member `shown`
    rest: NDArray[np.float64]  # (rows, members on x, labels + 1): scores of those against the rest; of labels never
    # seen, that of their learner; 0 of members asleep
    said: NDArray[np.int64]  # (rows,): the label predicted
    chances: NDArray[np.float64]  # (rows,): what the label of the row was given
    confidences: NDArray[np.float64]  # (rows,): as in StepResult; where a label is new, not a number
    briers: NDArray[np.float64]  # (rows,): as in StepResult; where a label is new, the most there is
