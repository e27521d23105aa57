"""Theorems of `novikoff.kernel`: statement, assumptions and proof, one per file."""
