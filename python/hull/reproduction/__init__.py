"""`hull reproduce`: carries out experiments, and shows measured beside published numbers."""
