"""Theorems of `novikoff.conformal`: statement, assumptions and proof, one per file."""
