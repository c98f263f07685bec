"""Numbers of a finished run: summaries, statistics over seeds, and how schemes differ."""
