"""`auto`: mixtures of learners of every kind, for binary and multiclass classification and regression."""
