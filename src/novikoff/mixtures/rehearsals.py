"""Short plays of the parts of `auto` on generated rows, to compile their loops in another process (game/assistants.py).

Parts take the columns of a table as dense doubles whatever the source is, so the loops compiled here are those of every
game. They are listed in the order of a game; the linear mixture, which plays first, is left to the game itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novikoff.core.types import Batch
from novikoff.mixtures.forgetting import ForgettingLogistic
from novikoff.mixtures.stacks import Lags, LogisticStack, NumberStack, SoftmaxStack
from novikoff.mixtures.top_tracker import NumbersTracker, SwitchingTracker
from novikoff.mixtures.tops import AdaHedgeTop, FixedShareTop
from novikoff.trees.boosting import MANY_LABELS, NUMBERS, RESIDUALS, TWO_LABELS, BoostedTrees
from novikoff.trees.forest_regression import RegrownNumbers
from novikoff.trees.regrown import RegrownForest
from novikoff.trees.residual import ResidualTree
from novikoff.trees.store import RowStore

ROWS = 48
"""Rows: trees are grown from row 16 or 32 on."""
COLUMNS = 3
"""Columns of a row."""
LABELS = 3
"""Labels, if there are many."""
KINDS = np.zeros(COLUMNS, np.int8)
"""Kinds of the columns: numbers."""


def _columns(count: int) -> NDArray[np.float64]:
    """Return numbers (rows, count) between -1 and 1."""
    return np.sin(np.arange(ROWS * count, dtype=np.float64)).reshape(ROWS, count)


def _numbers() -> NDArray[np.float64]:
    """Return outcomes."""
    return _columns(1)[:, 0].copy()


def _signs() -> NDArray[np.int8]:
    """Return labels -1 and +1."""
    return np.where(_numbers() > 0.0, 1, -1).astype(np.int8)


def _labels() -> NDArray[np.int64]:
    """Return labels 0, 1 and 2."""
    return np.arange(ROWS, dtype=np.int64) % LABELS


def _logs() -> NDArray[np.float64]:
    """Return ln P (rows, forecasters, labels)."""
    return np.full((ROWS, 2, LABELS), -np.log(LABELS))


def _stored(y: NDArray[np.float64]) -> RowStore:
    """Return stored rows."""
    rows = RowStore()
    rows.add(_columns(COLUMNS), y, np.zeros(COLUMNS))
    return rows


def boosted_trees() -> None:
    """Compile boosted trees for two labels."""
    BoostedTrees(TWO_LABELS).play(_stored((_signs() > 0).astype(np.float64)), ROWS, KINDS)


def boosted_trees_of_labels() -> None:
    """Compile boosted trees for many labels."""
    BoostedTrees(MANY_LABELS).play(_stored(_labels().astype(np.float64)), ROWS, KINDS, LABELS)


def boosted_trees_of_numbers() -> None:
    """Compile boosted trees for numbers, also on the forecasts in a column."""
    BoostedTrees(NUMBERS).play(_stored(_numbers()), ROWS, KINDS)
    BoostedTrees(RESIDUALS, skipped=1, base=0).play(_stored(_numbers()), ROWS, KINDS[1:])


def forest() -> None:
    """Compile the forest."""
    RegrownForest(trees=2).play(_stored((_signs() > 0).astype(np.float64)), ROWS, KINDS)


def forest_of_numbers() -> None:
    """Compile the forest for numbers."""
    RegrownNumbers(2, 0).play(_stored(_numbers()), KINDS, 0, ROWS)


def correction() -> None:
    """Compile the tree that corrects a stack."""
    store = _stored((_signs() > 0).astype(np.float64))
    ResidualTree("labels", 0.98).correct(store, KINDS, 0, ROWS, _numbers())


def correction_of_numbers() -> None:
    """Compile the tree that corrects boosted trees."""
    ResidualTree("numbers").correct(_stored(_numbers()), KINDS, 0, ROWS, _numbers())


def forgetting() -> None:
    """Compile lags and the regressions that forget."""
    x, y = _columns(COLUMNS), _signs()
    Lags(0.5).columns((y > 0).astype(np.float64))
    ForgettingLogistic(COLUMNS, 0.998).play(x, y)
    ForgettingLogistic(COLUMNS, 0.998, 10.0, 96, 0.5, 0).play(x, y)


def stacks() -> None:
    """Compile the stacks of two labels."""
    LogisticStack((0.5, 0.5)).play(_columns(2), _signs())
    LogisticStack((0.5, 0.5), 1, 0.998).play(_columns(2), _signs(), _columns(1))


def stacks_of_labels() -> None:
    """Compile the stacks of many labels."""
    SoftmaxStack((0.5, 0.5), LABELS, 0.998).play(_logs(), _labels())


def stacks_of_numbers() -> None:
    """Compile lags and the stacks of numbers."""
    Lags(None).columns(_numbers())
    NumberStack((0.5, 0.5), 1.0, 0.99).play(_columns(2), _numbers())


def top() -> None:
    """Compile the mixture of two labels and its tracker."""
    odds, y = _columns(2), _signs()
    scores = FixedShareTop((0.5, 0.5)).play(odds, y)
    tracker = SwitchingTracker((0.5, 0.5))
    tracker.see(Batch(odds, y, 1), np.column_stack([odds, scores]))


def top_of_labels() -> None:
    """Compile the mixture of many labels and its tracker."""
    logs, y = _logs(), _labels()
    scores = FixedShareTop((0.5, 0.5)).play_labels(logs, y)
    tracker = SwitchingTracker((0.5, 0.5))
    tracker.see(Batch(_columns(2), y, 1), np.concatenate([logs, scores[:, None]], axis=1))


def top_of_numbers() -> None:
    """Compile the mixture of numbers and its tracker."""
    forecasts, y = _columns(2), _numbers()
    played = AdaHedgeTop((0.5, 0.5)).play(forecasts, y)
    tracker = NumbersTracker((0.5, 0.5))
    tracker.see(Batch(forecasts, y, 1), np.column_stack([forecasts, played]))
