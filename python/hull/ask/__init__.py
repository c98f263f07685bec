"""`hull ask`: what headroom would bring on a network, answered from its own traffic."""
