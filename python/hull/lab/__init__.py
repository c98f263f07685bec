"""The lab (`hull lab`): a local page on which schemes are watched while the simulator runs."""
