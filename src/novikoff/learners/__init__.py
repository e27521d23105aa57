"""One algorithm per file; nothing is inherited. Each names its theorems in `promises`."""
