"""How many bins of scores a conformal learner remembers: shared by its loops and itself."""

BINS = 256
