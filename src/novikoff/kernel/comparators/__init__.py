"""Functions in the kernel's space that theorems compare with."""
