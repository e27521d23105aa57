"""Comparators of the theorems on convex losses."""
