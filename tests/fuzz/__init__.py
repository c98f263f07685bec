"""Invalid and random inputs from a seed: `make fuzz SEED=1`; `make test` runs a bounded share."""
