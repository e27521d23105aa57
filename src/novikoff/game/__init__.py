"""A game from its first round to its certificates: rounds, the ledger, metrics, model files."""
