"""Theorems of `novikoff.finite`: statement, assumptions and proof, one per file."""
