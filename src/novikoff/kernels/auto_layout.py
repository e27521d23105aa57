"""Where kernels/auto.py keeps what: names for places in its arrays. No numba here."""

from __future__ import annotations

WAVES = 256
"""Random features of a member, the constant among them."""
CLIP = 8.0
"""The scores that the stack learns from go up to this."""
LIGHT = 1e-6
LITTLE = 0.25
"""Of the largest weight in the stack."""
PATIENCE = 1000
"""A member rests after so many rounds in a row with a weight below LIGHT."""

LOG_WEIGHT, IDLE, LOSS, SHARE, STANDING = range(5)
"""Rows of `standing`: ln of a forecaster's weight, rounds in a row that it was hopeless (-1 if it rests), the sum of
its log losses while awake, and of its weights among those awake; last, how many rows."""
