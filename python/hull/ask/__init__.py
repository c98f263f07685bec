"""`hull ask`: predicts the effect of headroom on a network from a trace of its traffic."""
