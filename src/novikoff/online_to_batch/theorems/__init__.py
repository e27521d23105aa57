"""Theorems of `novikoff.online_to_batch.finalize`: statement, assumptions and proof, one per file."""
