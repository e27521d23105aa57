"""Sizes that learners and their comparators share."""

from __future__ import annotations

LEAST_SIZE, LARGEST_SIZE = 2.0**-500, 2.0**500
"""Of a number, for scale-free learners: its square is then a double too. Smaller ones are read as 0."""

WAVES = 256
"""Random Fourier features of a member of `auto`, the constant among them."""

CLIP = 8.0
"""Largest size of a score that the stack of `auto` learns from; members' scores are clipped to it."""
