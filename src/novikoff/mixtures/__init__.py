"""`auto`: mixtures of learners of every kind, for two labels, many labels and numbers."""
