"""A plan of a run, its parts, and the folder in which they are carried out."""
