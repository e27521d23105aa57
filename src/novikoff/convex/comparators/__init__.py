"""Weights that theorems on convex losses compare with."""
