"""Theorems of `novikoff.mixtures`: statement, assumptions and proof, one per file."""
