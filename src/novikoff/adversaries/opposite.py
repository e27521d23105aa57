"""Opposite of a prediction, for adversaries that contradict the learner."""

from __future__ import annotations

from novikoff.core.types import Distribution, Label


def opposite(prediction: Distribution) -> Label:
    """Return the label that is less likely to be predicted; -1 on a tie, as ties predict +1."""
    return -1 if prediction.get(1, 0.0) >= prediction.get(-1, 0.0) else 1
