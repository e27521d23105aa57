"""Playing: a learner that predicts and learns in one step, so that to learn is to play and not to ask what was said."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from novikoff.learners.written import Written
from novikoff.types import Example


class Playing(ABC, Written):
    """A learner brings `play_one`."""

    @abstractmethod
    def play_one(self, x: Example, y: Any) -> Any:
        """Predict, then learn, looking at x once."""

    def learn_one(self, x: Example, y: Any) -> None:
        self.play_one(x, y)
