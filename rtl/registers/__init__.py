"""Registers of hull's hardware: what hull.rdl says, and what is generated from it."""
