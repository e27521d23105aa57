"""Number of score bins of a conformal learner, shared with its loops."""

BINS = 256
