"""Compiled loops over flat arrays. Importing a kernel imports numba, so learners do it at their first sweep."""
