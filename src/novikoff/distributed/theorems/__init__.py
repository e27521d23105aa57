"""Theorems of `novikoff.distributed`: statement, assumptions and proof, one per file."""
