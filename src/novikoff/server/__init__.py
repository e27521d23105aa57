"""The service: predictions now, labels later, nothing lost, always certified (docs/decisions/0041)."""
