"""Conformal prediction: sets with a coverage that holds on every stream."""
