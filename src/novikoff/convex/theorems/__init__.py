"""Theorems of `novikoff.convex`: statement, assumptions and proof, one per file."""
