"""Jobs: graphs of work, whose ranks compute, send and receive."""
