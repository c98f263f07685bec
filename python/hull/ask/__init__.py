"""`hull ask`: from recorded traffic to the headroom that pays for itself."""
