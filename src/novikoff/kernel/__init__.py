"""Kernel Perceptron and the learners on a memory budget."""
