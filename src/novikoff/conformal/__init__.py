"""Conformal prediction: prediction sets with coverage on every stream."""
