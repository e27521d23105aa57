"""Five lecture notes on online learning: their contents, errata and exercises, each with something to run."""
