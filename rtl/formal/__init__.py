"""Proofs of the hardware with SymbiYosys."""
