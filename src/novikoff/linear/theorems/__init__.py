"""Theorems of `novikoff.linear`: statement, assumptions and proof, one per file."""
