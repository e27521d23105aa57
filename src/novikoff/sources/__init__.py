"""Where examples come from. Every source is a stream: `name`, `domain`, `labels`, `batches()`."""
