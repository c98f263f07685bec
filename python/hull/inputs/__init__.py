"""What a caller gives beside files: dicts, graphs of NetworkX, congestion controls of his own."""
