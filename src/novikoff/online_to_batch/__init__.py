"""Conversion of an online game into one classifier with a bound on its risk."""
