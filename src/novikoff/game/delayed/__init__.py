"""Labels that come late: rounds by id, what was served, and its theorems."""
