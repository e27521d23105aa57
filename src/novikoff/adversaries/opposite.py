"""The label that was not predicted: what adversaries answer that contradict the learner."""

from __future__ import annotations

from novikoff.core.types import Distribution, Label


def opposite(prediction: Distribution) -> Label:
    """The label that is less likely to be predicted; a tie says -1, as ties predict +1."""
    return -1 if prediction.get(1, 0.0) >= prediction.get(-1, 0.0) else 1
