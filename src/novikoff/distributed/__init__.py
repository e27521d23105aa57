"""Learning on parts of a source, on one machine or several."""
