"""Constants that learners and their comparators share."""

from __future__ import annotations

U0 = 2.0**-53
"""Unit roundoff of doubles."""

LEAST_SIZE, LARGEST_SIZE = 2.0**-500, 2.0**500
"""Smallest and largest size of a number for scale-free learners, so that its square is a double; smaller ones are 0."""

WAVES = 256
"""Number of random Fourier features of a member of a linear mixture, including the constant."""

CLIP = 8.0
"""Largest size of a score that the stack of a linear mixture learns from; members' scores are clipped to it."""
