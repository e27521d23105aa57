"""Base classes for multiclass learners: labels 0, 1, 2, ..., announced or growing.

Labels are numbered in the order of their first appearance. `labels` k announces the labels 0 .. k-1 and no others;
without it no label is known at first, and any round may bring the next one. Predictions are among the known labels,
and 0 while none is known. A new label is learned as if it had been announced just before its first round: so theorems
hold for growing labels, and the extra cost of those rounds is reported separately.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from novikoff.core.labels import CountedLabels
from novikoff.core.state import Argument, Array, Field
from novikoff.core.types import Batch, Example, Outcome, State, StepResult, Task, as_batch
from novikoff.linear.scale_free import Rows

if TYPE_CHECKING:
    from novikoff.numerics.nonzeros import Nonzeros


class MulticlassLearner(CountedLabels, Rows):
    """Base class for multiclass learners, which counts the labels.

    A subclass defines `_learn` and `_look`, whose scores have one column per label.

    Args:
        bias: Value of a constant feature; 0 for none.
        labels: Number of labels; None if new labels may appear.
    """

    def __init__(self, bias: float, labels: int | None) -> None:
        super().__init__(bias)
        self._announce(labels)

    task: Task = "multiclass"
    fields: ClassVar[tuple[Field, ...]] = (
        Argument("labels", int | None, at="announced"),
        *Rows.fields,
        Array("counts", (None,), np.int64, nonnegative=True, at="_counts"),
    )

    def scores_one(self, x: Example) -> NDArray[np.float64]:
        """Return the score of each label."""
        found: NDArray[np.float64] = self._look(self._row(x, learn=False))[0]
        return found

    def _known_before(self, y: NDArray[np.generic], rows: slice) -> int:
        """Return the number of labels known before these rows of a batch."""
        return max(self.labels, int(y[: rows.start].max(initial=-1)) + 1)

    def _predictions(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Return the label with the largest score, the smallest on ties; 0 if none is known."""
        return scores.argmax(axis=1) if scores.shape[1] else np.zeros(len(scores), dtype=np.int64)

    def learn_many(self, batch: Batch) -> StepResult:
        played = super().learn_many(batch)
        self._count(np.asarray(batch.y))
        return played

    def play_one(self, x: Example, y: Outcome) -> StepResult:
        played = super().play_one(x, y)
        self._count(np.array([y]))
        return played

    def _count(self, y: NDArray[np.generic]) -> None:
        counts = np.bincount(y.astype(np.int64), minlength=self.labels)
        counts[: self.labels] += self._counts
        self._counts = counts

    def after_restoring(self, found: State) -> None:
        self._check_counts()


class MulticlassProbabilistic(MulticlassLearner):
    """Base class for multiclass learners with probabilities; a subclass defines `_shares`."""

    @abstractmethod
    def _shares(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of each label given the scores, with nothing reserved for new labels."""

    def learn_many(self, batch: Batch) -> StepResult:
        known, rounds = self.labels, self.rounds
        played = super().learn_many(batch)
        confidences, briers = self._judged(played, np.asarray(batch.y, dtype=np.int64), known, rounds)
        return played._replace(confidences=confidences, briers=briers)

    def play_one(self, x: Example, y: Outcome) -> StepResult:
        known, rounds = self.labels, self.rounds
        played = super().play_one(x, y)
        confidences, briers = self._judged(as_batch(played), np.array([y], dtype=np.int64), known, rounds)
        return played._replace(confidences=confidences.item(), briers=briers.item())

    def _judged(
        self, played: StepResult, y: NDArray[np.int64], known: int, rounds: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the probability of the predicted label and the Brier score, the sum of (P_j - 1[j = y])^2, per round.

        The reserve for a new label counts as one label. In a round with a new label the sum is its largest possible
        value, and the probability is NaN. `known` labels and `rounds` rounds precede the first row.
        """
        scores = np.array(played.scores, dtype=np.float64)
        before = np.maximum.accumulate(np.append(known, y[:-1] + 1)) if len(y) else y
        scores[np.arange(scores.shape[1]) >= before[:, None]] = -np.inf  # labels not known before the row
        # `kept` is the probability reserved for a new label: 1/t^2 in round t, whose sum over all rounds is finite.
        kept = 1.0 / (rounds + 1.0 + np.arange(len(y))) ** 2 if self.grows else np.zeros(len(y))
        chances, rows = (1.0 - kept)[:, None] * self._shares(scores), np.arange(len(y))
        came, new = chances[rows, y], y >= before
        # cumsum, not sum: it adds from left to right, so that one row and a batch agree to the bit.
        squares = np.cumsum(np.append(chances, kept[:, None], axis=1) ** 2, axis=1)[:, -1] if len(y) else kept
        briers = np.where(new, 2.0 * (1.0 - kept) ** 2, squares - came**2 + (1.0 - came) ** 2)
        return np.where(new, np.nan, chances[rows, played.predictions]), briers

    def probabilities_one(self, x: Example) -> NDArray[np.float64]:
        """Return the probability of each label; the rest is reserved for a new label."""
        found: NDArray[np.float64] = self._probabilities(self._row(x, learn=False))[0]
        return found

    def probabilities_many(self, batch: Batch) -> NDArray[np.float64]:
        """Return the probabilities of every row without learning."""
        return self._probabilities(self._rows(batch, learn=False))

    def _probabilities(self, rows: Nonzeros) -> NDArray[np.float64]:
        kept = 1.0 / (self.rounds + 1.0) ** 2 if self.grows else 0.0
        return (1.0 - kept) * self._shares(self._look(rows))
