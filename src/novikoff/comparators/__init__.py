"""Comparators: the best functions in hindsight, which theorems compare the learner with."""
