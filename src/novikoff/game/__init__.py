"""Games from the first round to the certificates: rounds, the ledger, metrics, model files."""
