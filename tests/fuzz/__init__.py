"""Wrong and random inputs, made from a seed: `make fuzz SEED=1`, a bounded share in `make test`."""
