"""Theorems of `novikoff.experts`: statement, assumptions and proof, one per file."""
