"""File formats: text, svmlight, Vowpal Wabbit, JSON lines, Arrow, archives, URLs. CSV is in data/tables."""
