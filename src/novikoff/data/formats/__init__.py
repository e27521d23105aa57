"""File formats: text, svmlight, Vowpal Wabbit, JSON lines, Arrow, compressed files, URLs. CSV is in data/tables."""
