"""Records and row indices of the arrays of mixtures/_loops/linear_mixture.py and multiclass_linear_mixture.py.

This module does not import numba.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.numerics.sizes import CLIP as CLIP
from novikoff.numerics.sizes import WAVES as WAVES

LIGHT = 1e-6
"""Weight in the mixture below which a member may rest."""
LITTLE = 0.25
"""Fraction of the largest stack weight, over the members awake, up to which a member may rest."""
PATIENCE = 1000
"""Consecutive rounds with a weight below LIGHT after which a member may rest."""
FALL = 10.0
"""Nats that the log weight must have lost in these rounds for the member to rest."""
WAKE = 2048
"""First round after which sleepers wake; the next are 2 WAKE, 4 WAKE, 8 WAKE, ..."""
ASLEEP, RETIRED = -1.0, -2.0
"""Values of IDLE for a member that sleeps until the next wake, and for one that never wakes again."""

LOG_WEIGHT, IDLE, LOSS, SHARE, SLEPT, START, STANDING = range(7)
"""Rows of `standing`, one column per forecaster: log weight; consecutive rounds in which it was eligible to rest
(negative while asleep); sum of log losses over the rounds awake; sum of its weights relative to the forecasters awake;
rounds asleep; log weight when the count of eligible rounds began. The last name is the number of rows."""


class Matrices(NamedTuple):
    """Second-order members: arrays of linear/_loops/second_order_layout.py with an axis of members in front.

    For two labels the members on random features and the stack, which need no slots, follow the members on x. For
    several labels the second axis is that of labels, as in linear/_loops/one_vs_rest.py.
    """

    slots: NDArray[np.int32]  # (places + 1,): index of each feature in the matrices; shared by all members
    ridges: NDArray[np.float64]  # (members on x,)
    held: NDArray[np.float64]
    inverse: NDArray[np.float64]
    sums: NDArray[np.float64]
    totals: NDArray[np.float64]


class Waves(NamedTuple):
    """Random features (numerics/fourier.py)."""

    turns: NDArray[np.float64]  # (WAVES - 1, width): normal directions, in turns
    shifts: NDArray[np.float64]  # (WAVES - 1,): phases, in turns
    widths: NDArray[np.float64]  # (members on random features,): kernel width g of each
    moments: NDArray[np.float64]  # (2, width): mean of each feature, and the sum of squared deviations from it


class MulticlassWaves(NamedTuple):
    """Random features, and the matrices of the members on them, for several labels."""

    turns: NDArray[np.float64]  # as in Waves
    shifts: NDArray[np.float64]
    widths: NDArray[np.float64]
    moments: NDArray[np.float64]
    held: NDArray[np.float64]  # this and the following as in Matrices
    inverse: NDArray[np.float64]
    sums: NDArray[np.float64]
    totals: NDArray[np.float64]


class Discriminant(NamedTuple):
    """Linear discriminant analysis of mixtures/_loops/discriminant.py, with one matrix for all labels."""

    normal: NDArray[np.float64]  # (2, width): mean and deviation of each feature when the inverse was last recomputed
    means: NDArray[np.float64]  # (labels, width): mean row of each label
    counts: NDArray[np.float64]  # (labels,): rows of each label that it learned from, without those it slept through
    held: NDArray[np.float64]  # this and the following as in linear/_loops/second_order_layout.py
    inverse: NDArray[np.float64]
    sums: NDArray[np.float64]
    totals: NDArray[np.float64]


class MulticlassMixture(NamedTuple):
    """Stack for several labels, and the weights of the J members and, last, of the stack."""

    stack: NDArray[np.float64]  # (J,): w, the stack's weight of each member
    moment: NDArray[np.float64]  # (J,): b, with w = A^-1 b
    matrix: NDArray[np.float64]  # (J, J): A, the identity plus the sum of the Hessians
    standing: NDArray[np.float64]  # (STANDING, J+1): weights in the mixture
    paid: NDArray[np.float64]  # (multiclass_layout.TOTALS,): sums over all rounds


class MulticlassSetting(NamedTuple):
    """Constants of a multiclass game."""

    kappa: float  # curvature constant of the second-order members
    sparse: bool  # whether rows are sparse: then a feature beyond the 256th retires the members on random features
    shown: int  # index of the softmax member whose scores are returned


class MulticlassAnswers(NamedTuple):
    """Output arrays of multiclass_linear_mixture.py; predictions without learning write `scores` only."""

    scores: NDArray[np.float64]  # (rows, labels): P of the mixture or, when learning, scores of the member `shown`
    rest: NDArray[np.float64]  # (rows, members on x, labels + 1): scores of the one-versus-rest members; for labels
    # never seen, the score of the learner of new labels; 0 for members asleep
    predicted: NDArray[np.int64]  # (rows,): predicted label
    chances: NDArray[np.float64]  # (rows,): probability given to the row's label
    confidences: NDArray[np.float64]  # (rows,): as in StepResult; nan if the label is new
    briers: NDArray[np.float64]  # (rows,): as in StepResult; the largest possible value if the label is new
    mixes: NDArray[np.float64]  # (rows, labels): P of the mixture, of the labels known before the row
