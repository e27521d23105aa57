"""Ranking: how well the scores of a game tell +1 from -1, the area under the ROC curve, in memory that never grows.

Area
    The share of pairs of a round labelled +1 and one labelled -1 in which the first had the higher score; where both
    are the same the pair counts half. 1/2 is what scores do that know nothing. A score is that of its round, before
    the label came.
Bins
    A score is counted in the bin of its sign, its power of 2 from 2^-64 to 2^64 and seven binary digits more: a bin is
    less than 1/128 wide, in parts of the score, whatever its scale. Of two scores in one bin it is not known which is
    higher, unless all in there are the same. So the area lies in an interval for certain; it is told with its middle.
    A score that is not a number counts as one near 0: it says +1, as 0 does.
Cost
    Some nanoseconds a round, 0.8 MB; batches of any size leave the same bins.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.core.errors import ModelFileError
from novikoff.core.types import State

BINS = 2**15


class Area(NamedTuple):
    """The area under the ROC curve.

    value       the middle of what it can be
    low, high   between which it is, for certain
    """

    value: float
    low: float
    high: float


@dataclass(slots=True, eq=False)
class Ranking:
    """The scores so far.

    waiting   scores of single rounds that are still to be counted, a few hundred at a time; `labels` are theirs
    """

    waiting: array[float] = field(default_factory=lambda: array("d"))
    labels: array[int] = field(default_factory=lambda: array("b"))
    _counts: NDArray[np.int64] | None = None
    _only: NDArray[np.float64] | None = None
    _counted: int = 0

    @property
    def rounds(self) -> int:
        """Rounds whose scores are known."""
        return self._counted + len(self.waiting)

    def add(self, scores: NDArray[np.float64], y: NDArray[Any]) -> None:
        """Those of many rounds."""
        from novikoff.game._loops.ranking import count

        self.settle()
        if self._counts is None or self._only is None:
            self._counts, self._only = np.zeros((BINS, 2), dtype=np.int64), np.zeros(BINS)
        count(scores, scores.view(np.int64), y, self._counts, self._only)
        self._counted += len(y)

    def settle(self) -> None:
        """Count those that wait."""
        if self.waiting:
            scores, y = np.array(self.waiting), np.array(self.labels)
            del self.waiting[:], self.labels[:]
            self.add(scores, y)

    @property
    def positives(self) -> int:
        """Rounds labelled +1 that were counted."""
        self.settle()
        return 0 if self._counts is None else int(self._counts[:, 1].sum())

    def area(self) -> Area | None:
        """The area under the ROC curve; None if one of the labels never came."""
        self.settle()
        if self._counts is None or self._only is None:
            return None
        bins = np.flatnonzero(self._counts.any(axis=1))
        same = (~np.isnan(self._only[bins])).tolist()
        below = halves = unknown = positives = 0  # pairs, in whole numbers of Python
        for (negative, positive), alike in zip(self._counts[bins].tolist(), same, strict=True):
            halves += positive * (2 * below + (negative if alike else 0))
            unknown += 0 if alike else positive * negative
            below, positives = below + negative, positives + positive
        if not (pairs := below * positives):
            return None
        if not unknown:
            value = halves / (2 * pairs)
            return Area(value, value, value)
        low, high = Fraction(halves, 2 * pairs), Fraction(halves + 2 * unknown, 2 * pairs)
        return Area(float((low + high) / 2), max(math.nextafter(float(low), -1.0), 0.0),
                    min(math.nextafter(float(high), 2.0), 1.0))  # fmt: skip

    def state(self) -> State | None:
        """As plain data: the bins that are not empty; None if there are none."""
        self.settle()
        if self._counts is None or self._only is None or not self._counted:
            return None
        bins = np.flatnonzero(self._counts.any(axis=1))
        return {"bins": bins, "counts": self._counts[bins], "only": self._only[bins]}

    @classmethod
    def restore(cls, state: State | None) -> Ranking:
        if state is None:
            return cls()
        ranking, (bins, counts, only) = cls(), (np.asarray(state[name]) for name in ("bins", "counts", "only"))
        sound = bins.dtype.kind == counts.dtype.kind == "i" and only.dtype == np.float64
        if not (sound and counts.shape == (len(bins), 2) and only.shape == bins.shape == (len(bins),)
                and (np.diff(bins) > 0).all() and (counts >= 0).all()
                and (not len(bins) or (bins[0] >= 0 and bins[-1] < BINS))):  # fmt: skip
            raise ModelFileError("scores that were counted must have a count in each of their bins, in order.")
        ranking._counts, ranking._only = np.zeros((BINS, 2), dtype=np.int64), np.zeros(BINS)
        ranking._counts[bins], ranking._only[bins] = counts, only
        ranking._counted = int(counts.sum())
        return ranking
