"""Theorems of `novikoff.trees`: statement, assumptions and proof, one per file."""
