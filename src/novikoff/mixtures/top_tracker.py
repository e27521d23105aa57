"""Trackers of mixtures: they record the forecasts and replay the mixture, so that certificates need not trust it.

Algorithm
    In every round a tracker receives, as the scores of the learner, the forecast of each of the N forecasters and,
    last, the one that was played, all made before the label was shown. It computes all losses by compensated sums; the
    weights, from the prior and the recorded forecasts alone, to compare the forecast played with the mixture in every
    round; and the cheapest path (mixtures/theorems/switching_regret.py, numbers_switching_regret.py).
Promise
    The facts depend only on forecasts and labels, not on batches or interruptions. They do not show that a forecaster
    is what its name says: that is left to its own certificate.
Cost
    O(N) per round; memory 8 numbers per forecaster. No row is kept.
Reference
    [herbster1998], [derooij2014].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.comparators.tracker import Tracker
from novikoff.core.learner import Learner
from novikoff.core.state import Argument, Array, Count, Number, Part, require
from novikoff.core.types import Batch, State
from novikoff.mixtures import _loops
from novikoff.mixtures._loops import top_layout as at
from novikoff.mixtures.theorems.top_facts import SLACK, PathFacts, TopFacts
from novikoff.mixtures.tops import AdaHedgeTop, BayesTop, FixedShareTop

Vector = NDArray[np.float64]


class TopTracker(Tracker):
    """Base class of the trackers of mixtures.

    Args:
        prior: Prior of each forecaster.
    """

    kind = ""
    rows = 0
    rows_held = 0
    off, off_at = 0.0, 0

    def __init__(self, prior: Sequence[float]) -> None:
        count = len(prior)
        self._paths, self._losses = np.zeros((at.PATHS, count)), np.zeros((at.LOSSES, count + 1))

    def _found(self, off: float, row: int) -> None:
        """Record the result of a replay: the largest difference, and the first row beyond rounding, -1 for none."""
        self.off = max(self.off, off)
        if row >= 0 and not self.off_at:
            self.off_at = self.rows + row + 1

    def _facts(self, learner: Learner, prior: list[float], trivial: float, **more: Any) -> TopFacts:
        total = self._losses.sum(axis=0).tolist()
        return TopFacts(
            self.rows, list(learner.names), prior, total[-1], total[:-1], self.off, self.off_at, trivial, **more
        )

    def _path(self) -> PathFacts:
        paths = self._paths
        last = int(_loops.tops.cheapest(paths))
        value, loss = (float(paths[row, last] + paths[row + 1, last]) for row in (at.VALUE, at.PATH_LOSS))
        return PathFacts(value, loss, int(paths[at.CHANGES, last]) if self.rows else 0, last)

    def after_restoring(self, found: State) -> None:
        sound = not (np.isnan(self._paths).any() or np.isnan(self._losses).any())
        require(sound, "paths of comparators must be numbers", self._paths)


class SwitchingTracker(TopTracker):
    """Tracker of `FixedShareTop` for two or many labels.

    Args:
        prior: Prior of each forecaster.
        joins: Number of rounds after which each forecaster joins; None if all play from the start.

    The scores of a round are log-odds (N + 1,) for two labels, and ln P (N + 1, labels) for many.
    """

    kind = "switching"
    fields = (
        Argument("prior", list),
        Argument("joins", list | None, default=lambda: None),
        Count("rows"),
        Count("labels", least=2),
        Number("off", finite=False),
        Count("off_at", most="rows"),
        Array("paths", finite=False, at="_paths"),
        Array("losses", finite=False, at="_losses"),
        Part("top", at="_top"),
    )

    def __init__(self, prior: Sequence[float], joins: Sequence[int] | None = None) -> None:
        super().__init__(prior)
        self.labels = 2
        self._top: FixedShareTop | BayesTop = FixedShareTop(prior, joins)

    @property
    def joins(self) -> list[int] | None:
        """Number of rounds after which each forecaster joins; None for a mixture that does not share."""
        return self._top.joins if isinstance(self._top, FixedShareTop) else None

    @property
    def prior(self) -> list[float]:
        """Prior of the forecasters."""
        return self._top.prior

    def see(self, batch: Batch, played: NDArray[np.generic]) -> None:
        self._see(np.asarray(batch.y), played)

    def see_row(self, x: Any, y: Any, played: Any) -> None:
        self._see(np.array([y]), np.asarray(played)[np.newaxis])

    def _see(self, y: NDArray[Any], scores: NDArray[Any]) -> None:
        if scores.ndim == 3:
            self.labels = max(self.labels, scores.shape[2])
        self._found(*self._track(self.logs_of(y, scores)))
        self.rows += len(y)

    def _track(self, logs: Vector) -> tuple[float, int]:
        """Replay the mixture on ln P(y) (rows, N + 1)."""
        top: Any = self._top
        found: tuple[float, int] = _loops.tops.track(
            top.weights, top._prior, top._joins, self._paths, self._losses, self.rows, logs, SLACK
        )
        return found

    def logs_of(self, y: NDArray[Any], scores: NDArray[Any]) -> Vector:
        """Return ln P(y) (rows, N + 1) of the forecasts in scores."""
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        if scores.ndim == 2:
            found: Vector = _loops.tops.odds_of_labels(scores, np.ascontiguousarray(y, dtype=np.int8))
            return found
        return np.ascontiguousarray(np.take_along_axis(scores, y.astype(np.int64)[:, None, None], axis=2)[:, :, 0])

    def recorded(self, y: NDArray[Any], scores: NDArray[Any]) -> tuple[str, Vector]:
        """Return the kind of rows of a proof file, and a row of losses for each round."""
        return "forecasts", -self.logs_of(y, scores)

    def textbook(self) -> dict[str, object] | None:
        """Return the rule of the mixture for proof files."""
        rule = "fixed-share" if self.joins is not None else "bayes"
        prior = [weight.hex() for weight in map(float, self.prior)]
        return {"rule": rule, "prior": prior, "joins": list(self.joins or [0] * len(prior))}

    def facts(self, learner: Learner) -> TopFacts:
        """Return the facts so far; the learner names its forecasters."""
        trivial, joins = self.rows * math.log(self.labels), self.joins or []
        return self._facts(learner, self.prior, trivial, path=self._path(), joins=joins)


class BayesTracker(SwitchingTracker):
    """Tracker of `BayesTop` for two or many labels; scores as for `SwitchingTracker`."""

    kind = "bayes"

    def __init__(self, prior: Sequence[float], joins: None = None) -> None:
        super().__init__(prior, joins)
        self._top = BayesTop(prior)

    def _track(self, logs: Vector) -> tuple[float, int]:
        top: Any = self._top
        found: tuple[float, int] = _loops.tops.track_bayes(top._sums, top._prior, self._losses, logs, SLACK)
        return found

    def facts(self, learner: Learner) -> TopFacts:
        """Return the facts so far; the learner names its forecasters."""
        return self._facts(learner, self.prior, self.rows * math.log(self.labels))


class NumbersTracker(TopTracker):
    """Tracker of `AdaHedgeTop` over forecasters of a number; the scores of a round are forecasts (N + 1,)."""

    kind = "numbers"
    fields = (
        Argument("prior", list),
        Argument("shared", bool),
        Count("rows"),
        Number("off", finite=False),
        Count("off_at", most="rows"),
        Number("first"),
        Array("squares", at="_squares"),
        Array("paths", at="_paths"),
        Array("losses", at="_losses"),
        Part("top", at="_top"),
    )

    def __init__(self, prior: Sequence[float], shared: bool = False) -> None:
        super().__init__(prior)
        self._top, self.first, self._squares = AdaHedgeTop(prior, shared), 0.0, np.zeros((2, 1))

    @property
    def prior(self) -> list[float]:
        """Prior of the forecasters."""
        return self._top.prior

    @property
    def shared(self) -> bool:
        """Whether the mixture shares."""
        return self._top.shared

    def see(self, batch: Batch, played: NDArray[np.generic]) -> None:
        self._see(np.ascontiguousarray(batch.y, dtype=np.float64), played)

    def see_row(self, x: Any, y: Any, played: Any) -> None:
        self._see(np.array([y], dtype=np.float64), np.asarray(played)[np.newaxis])

    def _see(self, y: Vector, scores: NDArray[Any]) -> None:
        if not self.rows and len(y):
            self.first = float(y[0])
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        found = _loops.tops.track_numbers(
            self._top.arrays, self.shared, self._top.temper, self._paths, self._losses, self.rows, scores, y, SLACK
        )
        _loops.tops.add_squares(self._squares, self.first, y)
        self._found(*found)
        self.rows += len(y)

    def recorded(self, y: NDArray[Any], scores: NDArray[Any]) -> tuple[str, Vector]:
        """Return the kind of rows of a proof file, and the outcome and forecasts of each round."""
        return "numbers", np.column_stack([np.asarray(y, np.float64), np.asarray(scores, np.float64)])

    def textbook(self) -> dict[str, object] | None:
        """Return the rule of the mixture for proof files; None for one that shares."""
        return None if self.shared else {"rule": "ada-hedge", "experts": len(self.prior)}

    def facts(self, learner: Learner) -> TopFacts:
        """Return the facts so far; the learner names its forecasters."""
        trivial, path = self.first**2 + float(self._squares.sum()), self._path() if self.shared else None
        return self._facts(learner, self.prior, trivial, path=path, gaps=self._top.gaps, last_gap=self._top.last_gap)
