"""Theorems of `novikoff.online_to_batch.keep`: statement, assumptions and proof, one per file."""
