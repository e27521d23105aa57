"""Sequential tests for drift, and monitors of a certified risk."""
