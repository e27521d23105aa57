"""Sources of examples: arrays in memory, generators, files of every supported format, tables."""
