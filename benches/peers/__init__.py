"""Other simulators on the lists of flows that hull runs."""
