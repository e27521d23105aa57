"""Learners for many labels: each has the name, and the arguments, of the one for two."""
