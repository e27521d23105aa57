"""Theorems of `novikoff.adversaries`: statement, assumptions and proof, one per file."""
