"""Where examples come from: memory, generators, files of any format, tables."""
