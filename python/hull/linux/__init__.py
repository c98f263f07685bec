"""`hull linux`: the programs for real machines, and their defaults."""
