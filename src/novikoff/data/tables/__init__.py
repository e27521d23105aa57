"""Tables: columns of every kind, how they become features, and the label column."""
