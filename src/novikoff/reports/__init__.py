"""Output of results: terminal, JSON, plots, HTML reports, explanations of names."""
