"""Delayed labels: rounds by id, counts of served answers, and their theorems."""
