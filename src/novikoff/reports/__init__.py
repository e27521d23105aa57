"""How results are told: to a terminal, as JSON."""
