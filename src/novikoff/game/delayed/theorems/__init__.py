"""Theorems of `novikoff.game.game.delayed`: statement, assumptions and proof, one per file."""
