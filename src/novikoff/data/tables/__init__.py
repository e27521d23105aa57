"""Tables: kinds of columns, their encoding as features, and the label column."""
