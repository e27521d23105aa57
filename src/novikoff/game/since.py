"""Results of the last part of a game: since it was resumed, or after a given round.

All counts and sums of a game only grow, so those of its last part are differences: of now, and of a `Mark` that copied
them. Sums of losses lose at most a few units in the last place of the total. The certificates are about the whole game.
"""

from __future__ import annotations

import math
from copy import deepcopy
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from novikoff.core.errors import InputError, shown
from novikoff.core.observer import Observer
from novikoff.core.types import Prediction
from novikoff.game.metrics import Metrics

if TYPE_CHECKING:
    from novikoff.game.ledger import Ledger


class Since(NamedTuple):
    """Results of the rounds after a mark; None where the learner has no such figure.

    Attributes:
        after: Rounds before the part.
        rounds: Rounds of the part.
        weight: Rows of the part; their weight, if rows have weights.
        mistakes: Mistakes, by weight.
        mistake_rate: Mistakes per row, or per unit of weight, as all rates.
        loss_rate: Mean loss.
        log_loss: Mean of -ln P(y).
        brier: Mean Brier score.
        auc: Area under the ROC curve of the part.
        rmse: Root mean squared error.
        mae: Mean absolute error.
        best_constant: Mistake rate of the constant label that is best on the part.
        last_label: Mistake rate of repeating the previous label.
    """

    after: int
    rounds: int
    weight: int
    mistakes: int | None = None
    mistake_rate: float | None = None
    loss_rate: float | None = None
    log_loss: float | None = None
    brier: float | None = None
    auc: float | None = None
    rmse: float | None = None
    mae: float | None = None
    best_constant: float | None = None
    last_label: float | None = None


class Mark:
    """Counts and sums of a game at one round.

    Args:
        ledger: Ledger of the game, as it is now.
    """

    def __init__(self, ledger: Ledger) -> None:
        metrics = ledger.metrics
        self.after, self.weight = ledger.rounds, metrics.rounds
        self.sums = _sums(metrics)
        self.changes = metrics.baselines.changes
        self.shown = _shown(metrics)
        self.ranking = deepcopy(metrics.ranking) if metrics.ranking.rounds == metrics.rounds else None

    def since(self, ledger: Ledger) -> Since:
        """Return the results of the rounds after it."""
        metrics, player = ledger.metrics, ledger.player
        rounds, weight = ledger.rounds - self.after, metrics.rounds - self.weight
        found = Since(self.after, rounds, weight)
        if weight <= 0:
            return found
        now = _sums(metrics)
        mean = {name: (now[name] - before) / weight for name, before in self.sums.items()}
        if player.probable:
            impossible = now["impossible"] > self.sums["impossible"]
            found = found._replace(log_loss=math.inf if impossible else mean["log_loss"], brier=mean["brier"])
        if player.task == "regression":
            squared = player.loss == "squared"
            found = found._replace(mae=mean["absolute"], rmse=math.sqrt(max(mean["loss"], 0.0)) if squared else None)
        if not metrics.counts:
            return found._replace(loss_rate=mean["loss"])
        mistakes = metrics.mistakes - int(self.sums["mistakes"])
        found = found._replace(mistakes=mistakes, mistake_rate=mistakes / weight, loss_rate=mistakes / weight)
        if player.learns_labels:
            often = max((times - self.shown.get(label, 0) for label, times in _shown(metrics).items()), default=0)
            changes = metrics.baselines.changes - self.changes
            found = found._replace(best_constant=1.0 - often / weight if often else None, last_label=changes / weight)
        return found._replace(auc=self._auc(metrics))

    def _auc(self, metrics: Metrics) -> float | None:
        """Return the area under the ROC curve of the rows after the mark."""
        if self.ranking is None or not metrics.ranking.rounds or metrics.ranking.rounds != metrics.rounds:
            return None
        area = metrics.ranking.less(self.ranking).area()
        return None if area is None else area.value


def _sums(metrics: Metrics) -> dict[str, float]:
    """Return the sums whose differences are reported."""
    finite = metrics.player.probable
    return {
        "mistakes": metrics.mistakes,
        "loss": metrics.loss,
        "log_loss": float(metrics._log_loss) if finite else 0.0,
        "impossible": metrics.impossible,
        "brier": (metrics.brier or 0.0) if finite else 0.0,
        "absolute": metrics.absolute,
    }


def _shown(metrics: Metrics) -> dict[Prediction, int]:
    """Return how often each label was observed; empty for other outcomes."""
    return dict(metrics.baselines.shown()) if metrics.counts else {}


class After(Observer):
    """Observer that marks the ledger after a number of rounds.

    Args:
        rounds: Rounds before the mark.
    """

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds

    @classmethod
    def checked(cls, after: object, ledger: Ledger) -> Self:
        """Return the observer; raise `InputError` if the round is not an integer, or has passed."""
        if isinstance(after, bool) or not isinstance(after, (int, np.integer)) or after < 0:
            raise InputError("after must be a number of rounds from 0", f"got {shown(after)}")
        if after < ledger.rounds:
            do = "Leave it out to report on the rounds since the game was resumed."
            raise InputError(
                f"after must be at least the {ledger.rounds:,} rounds that were played", f"got {after}", do
            )
        return cls(int(after))

    def due(self, ledger: Ledger, rounds: int) -> int:
        left = self.rounds - ledger.rounds
        return min(rounds, left) if left > 0 or (left == 0 and not self._marked(ledger)) else rounds

    def look(self, ledger: Ledger) -> None:
        ledger.mark = Mark(ledger)

    def _marked(self, ledger: Ledger) -> bool:
        return ledger.mark is not None and ledger.mark.after == self.rounds
