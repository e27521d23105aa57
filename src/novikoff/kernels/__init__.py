"""Compiled loops over flat arrays. Importing a kernel imports numba, so learners do it at their first sweep."""

spare_blas = False
"""Set before the first kernel is imported: numba then does not look for scipy's BLAS, which takes 0.2 s. No kernel here
needs it, but a program's own numba functions might, so only our command line, a process of its own, sets it."""
