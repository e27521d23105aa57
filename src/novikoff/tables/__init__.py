"""Anyone's table: what its columns are, how its rows become features, and where its labels are."""
