"""Foundations of the package: examples, labels, streams, learners, certificates, the registry, errors, saved state."""
