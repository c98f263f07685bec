"""Warnings that follow from a resolved scenario, before it runs."""
