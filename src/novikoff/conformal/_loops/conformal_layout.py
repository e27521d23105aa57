"""How many bins of scores a conformal learner remembers: shared by its kernel and itself."""

BINS = 256
