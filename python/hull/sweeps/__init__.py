"""Sweeps: a scenario over values of its keys and over seeds, on any executor, kept in a store.

(`hull.sweep` is the function that does one, so the package has the plural's name.)
"""
