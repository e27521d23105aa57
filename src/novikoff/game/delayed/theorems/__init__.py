"""Theorems of `novikoff.game.delayed`: statement, assumptions and proof, one per file."""
