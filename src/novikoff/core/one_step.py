"""Playing: a learner that predicts and learns in one step, so that to learn is to play and not to ask what was said."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any

from novikoff.core.display import Written
from novikoff.core.errors import InputError, MismatchError
from novikoff.core.types import Batch, Example

OF_BATCHES = ("learn_many", "predict_many", "scores_many", "probabilities_many")
"""Methods that are given a batch."""


class Playing(ABC, Written):
    """A learner brings `play_one`.

    Its methods on batches refuse one that was encoded by another table than that which the learner learned from.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name in OF_BATCHES:
            if name in cls.__dict__:
                setattr(cls, name, _checked(cls.__dict__[name]))

    @abstractmethod
    def play_one(self, x: Example, y: Any) -> Any:
        """Predict, then learn, looking at x once."""

    def learn_one(self, x: Example, y: Any) -> None:
        self.play_one(x, y)


def check_batch(own: Any, batch: Any) -> None:
    """Refuse what is not a batch, and one whose features have other places than those of the encoding `own`, if any."""
    if not isinstance(batch, Batch):
        raise InputError(
            "a batch must be a Batch",
            f"got {type(batch).__name__}",
            "Pass nk.Batch(X, y, 1), or the batches of nk.read(new, like=ledger).",
        )
    if own is not None and batch.encoding is not None and not own.agrees(batch.encoding):
        raise MismatchError(
            "a batch must be encoded as the rows that were learned from",
            "this one was encoded by its own table, where features have other places",
            "Read new rows with nk.read(new, like=ledger), and take its batches.",
        )


def _checked(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, after a look at the encoding of its batch."""

    @wraps(method)
    def checked(self: Any, batch: Batch, *more: Any, **named: Any) -> Any:
        check_batch(self.__dict__.get("encoding"), batch)
        return method(self, batch, *more, **named)

    return checked
