"""What learners are made of: examples, labels, streams, certificates, names, errors, saved state."""
