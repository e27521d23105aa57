"""Theorems of `novikoff.bandits`: statement, assumptions and proof, one per file."""
