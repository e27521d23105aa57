"""Service: models over HTTP with delayed labels, durable storage and certificates (docs/decisions/0041)."""
