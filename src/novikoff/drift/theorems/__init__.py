"""Theorems of `novikoff.drift`: statement, assumptions and proof, one per file."""
