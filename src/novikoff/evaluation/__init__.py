"""Comparison of learners, repetition over seeds, and a permutation test."""
