"""Finite classes: Consistent, Halving and its efficient forms."""
